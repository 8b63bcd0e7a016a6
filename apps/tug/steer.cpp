// tug steer RUN COMMAND [TEXT]
#include <chrono>
#include <memory>
#include <thread>

#include "amounts.h"
#include "commands.h"
#include "core/try.h"
#include "prompt.h"
#include "stored_run.h"
#include "table.h"
#include "tug/agent/steering.h"
#include "tug/core/terminal_text.h"

namespace tug::cli {
namespace {

constexpr auto kWait = std::chrono::seconds(5);
constexpr auto kLook = std::chrono::milliseconds(20);
constexpr std::size_t kPage = 512;

struct SteerRequest {
  std::string run;
  std::string command;
  std::string text;
};

// What became of a command, as far as the journal says it.
struct Outcome {
  enum class Kind : std::uint8_t { applied, rejected, ended, waits };
  Kind kind = Kind::waits;
  Seq seq = 0;
  std::string reason;
};

Result<Steer> command_from(const SteerRequest& request) {
  TUG_TRY(kind, steer_kind_from(request.command));
  Json json = Json::object({{"command", name_of(kind)}});
  if (kind == SteerKind::set_metadata) {
    auto metadata = parse_json(request.text);
    if (!metadata) {
      return Failure(metadata.error()
                         .within("the metadata of set_metadata")
                         .with_fix("give a JSON object: tug steer RUN set_metadata '{\"k\":1}'"));
    }
    json.set("metadata", *metadata);
  } else if (!request.text.empty()) {
    json.set("text", request.text);
  }
  auto command = steer_from(json);
  if (command) return command;
  std::string_view why = command.error().message();
  why.remove_prefix(why.starts_with("$.") ? why.find(' ') + 1 : 0);  // the field is no word of ours
  return fail(ErrorKind::invalid, "tug steer: " + std::string(why),
              "`tug steer --help` says what each command takes");
}

// Why a root that nobody runs cannot be told anything, and what to do instead.
Error not_alive(const RootInfo& root, const RunId& run) {
  const std::string name = short_id(root.who->run_id);
  const std::string_view stop = root.summary["stop_reason"].as_string();
  std::string message = "run " + short_id(run) + " is not under way: ";
  switch (root.status) {
    case RootStatus::pending:
    case RootStatus::running:
      return Error(ErrorKind::invalid, message + "it was cut off",
                   "`tug resume " + name + "` goes on with it");
    case RootStatus::parked:
      if (stop == "approval_required") {
        return Error(ErrorKind::invalid, message + "it waits for approval",
                     "`tug approve " + name + "` decides and goes on; `tug show " + name +
                         "` shows what it asks");
      }
      return Error(ErrorKind::invalid, message + "it is parked",
                   "`tug resume " + name + "` goes on with it");
    case RootStatus::cancelled:
      return Error(ErrorKind::invalid, message + "it was cancelled",
                   "`tug resume " + name + "` goes on with it");
    case RootStatus::completed:
    case RootStatus::failed:
      break;
  }
  return Error(ErrorKind::invalid, message + "it has ended",
               "`tug resume " + name + " \"..\"` goes on with a new prompt");
}

bool ends_run(Kind kind) {
  return kind == Kind::run_completed || kind == Kind::run_failed || kind == Kind::run_cancelled ||
         kind == Kind::run_paused;
}

// Reads on from `after` until something is said about what was sent: by the run it was for, or by
// the root when that run is gone.
Result<Outcome> look(RecordStore& store, const FoundRun& name, const Json& sent, Seq& after) {
  const Json& command = sent["steer"][0];
  while (true) {
    TUG_TRY(records, store.read(name.root, after, kPage));
    for (const Record& record : records) {
      after = record.seq;
      TUG_TRY(event, decode(record, store));
      const Json& data = event.data;
      const std::string reason(data["reason"].as_string());
      if (event.kind == Kind::steering_rejected && data["command"] == sent)
        return Outcome{Outcome::Kind::rejected, event.seq, reason};
      if (!event.who || event.who->run_id != name.run) continue;
      if (event.kind == Kind::steering_applied && data["command"] == command)
        return Outcome{Outcome::Kind::applied, event.seq, reason};
      if (event.kind == Kind::steering_rejected && data["command"] == sent["steer"])
        return Outcome{Outcome::Kind::rejected, event.seq, reason};
      if (ends_run(event.kind)) return Outcome{Outcome::Kind::ended, event.seq, {}};
    }
    if (records.size() < kPage) return Outcome{};
  }
}

Result<Outcome> wait_for(RecordStore& store, const FoundRun& name, const Json& sent, Seq after) {
  const auto end = std::chrono::steady_clock::now() + kWait;
  while (true) {
    TUG_TRY(outcome, look(store, name, sent, after));
    if (outcome.kind != Outcome::Kind::waits) return outcome;
    if (std::chrono::steady_clock::now() >= end) return outcome;
    std::this_thread::sleep_for(kLook);
  }
}

int tell(const Options& options, const FoundRun& name, const Json& command,
         const Outcome& outcome) {
  constexpr const char* kNames[] = {"applied", "rejected", "ended", "sent"};
  const std::string what(command["command"].as_string());
  const std::string who = "run " + short_id(name.run);
  if (options.json()) {
    print(print_json(
              Json::object({{"run_id", name.run.text()},
                            {"root_run_id", name.root.text()},
                            {"command", command},
                            {"status", kNames[static_cast<int>(outcome.kind)]},
                            {"seq", outcome.seq == 0 ? Json() : Json(outcome.seq)},
                            {"reason", outcome.reason.empty() ? Json() : Json(outcome.reason)}})) +
          "\n");
  }
  switch (outcome.kind) {
    case Outcome::Kind::applied:
      if (!options.json()) print(who + " took it: " + what + "\n");
      return ok;
    case Outcome::Kind::rejected:
      notice(who + " refused it: " + (outcome.reason.empty() ? what : outcome.reason));
      return failed;
    case Outcome::Kind::ended:
      notice(who + " ended before it took it: " + what);
      return failed;
    case Outcome::Kind::waits:
      notice(who + " has not taken it yet: it does so at its next step");
      return ok;
  }
  return failed;
}

Result<StoredRun> find_live(const Options& options, const std::string& name) {
  TUG_TRY(stored, find_stored(options, name));
  TUG_TRY(root, stored.store->info(stored.name.root));
  if (!is_alive(root)) return Failure(not_alive(root, stored.name.run));
  if (stored.name.run == stored.name.root) return stored;
  TUG_TRY(folded, fold_root(*stored.store, stored.name.root));
  const FoldedRun* run = find_folded(folded, stored.name.run);
  const bool over = run && run->result.status != RunStatus::running &&
                    run->result.status != RunStatus::pending &&
                    run->result.status != RunStatus::parked;
  if (!over) return stored;
  return fail(ErrorKind::invalid, "run " + short_id(stored.name.run) + " has ended",
              "`tug show " + short_id(stored.name.root) + " --tree` shows what is under way");
}

int steer(const Options& options, SteerRequest request) {
  if (request.text == "-") {
    auto text = read_prompt("-", Piped::leave);
    if (!text) return report(options, text.error(), unusable);
    request.text = *text;
  }
  auto command = command_from(request);
  if (!command) return report(options, command.error(), unusable);
  auto stored = find_live(options, request.run);
  if (!stored) return report(options, stored.error(), unusable);
  auto before = stored->store->info(stored->name.root);
  if (!before) return report(options, before.error(), unusable);
  const Json steer = to_json(*command);
  const Json sent =
      Json::object({{"run", stored->name.run.text()}, {"steer", Json::array({steer})}});
  auto put = stored->store->send(
      stored->name.root, {.command = print_json(sent), .sender = "tug steer", .created = now()});
  if (!put) return report(options, put.error(), unusable);
  auto outcome = wait_for(*stored->store, stored->name, sent, before->last_seq);
  if (!outcome) return report(options, outcome.error(), failed);
  return tell(options, stored->name, steer, *outcome);
}

}  // namespace

Command steer_command(Options& options) {
  auto request = std::make_shared<SteerRequest>();
  return {.name = "steer",
          .summary = "Tell a run that is under way something, from any process",
          .examples =
              "  tug steer last pause\n"
              "  tug steer 4k2m9x inject \"Leave the tests alone.\"\n"
              "  tug steer 4k2m9x cancel\n",
          .flags =
              std::vector<Flag>{
                  {.names = "RUN",
                   .value = "RUN",
                   .help = "An id, 4 letters of its start or end, or last; a child's, too",
                   .target = &request->run,
                   .required = true},
                  {.names = "COMMAND",
                   .value = "COMMAND",
                   .help = "pause, resume, cancel, inject, redirect, follow_up or set_metadata",
                   .target = &request->command,
                   .choices = {"pause", "resume", "cancel", "inject", "redirect", "follow_up",
                               "set_metadata"},
                   .required = true},
                  {"TEXT", "TEXT",
                   "The words of inject, redirect and follow_up, the reason of pause and cancel; "
                   "- for stdin",
                   &request->text}} +
              common_flags(options),
          .run = [request, &options] { return steer(options, *request); }};
}

}  // namespace tug::cli
