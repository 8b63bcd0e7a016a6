// tug approve RUN
#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <thread>

#include "amounts.h"
#include "approval_text.h"
#include "commands.h"
#include "core/try.h"
#include "drive.h"
#include "go_on.h"
#include "table.h"
#include "tug/agent/fold.h"

namespace tug::cli {
namespace {

constexpr auto kWait = std::chrono::seconds(5);  // for a run in another process
constexpr auto kLook = std::chrono::milliseconds(20);
constexpr std::size_t kPage = 512;

struct ApproveRequest {
  GoOnRequest run;
  std::vector<std::string> calls;
  bool deny = false;
  std::string reason;
  std::optional<std::string> edit;  // JSON
  bool always = false;
  std::string pattern;
};

Result<void> check_request(const ApproveRequest& request) {
  const bool changes = request.edit || request.always || !request.pattern.empty();
  if (request.deny && changes) {
    return fail(ErrorKind::invalid,
                "--deny stands beside --edit, --always or --pattern, which are for what is allowed",
                "leave one of them out");
  }
  return {};
}

std::string ids_of(const std::vector<PendingApproval>& pending) {
  std::string ids;
  for (const PendingApproval& call : pending) ids += (ids.empty() ? "" : ", ") + call.call.text();
  return ids;
}

// The calls that are meant: all that wait, or those that --call names.
Result<std::vector<PendingApproval>> meant(const ApproveRequest& request,
                                           const std::vector<PendingApproval>& pending) {
  if (request.calls.empty()) return pending;
  std::vector<PendingApproval> some;
  for (const std::string& id : request.calls) {
    const std::size_t before = some.size();
    std::ranges::copy_if(pending, std::back_inserter(some),
                         [&id](const PendingApproval& call) { return call.call.text() == id; });
    if (some.size() == before) {
      return fail(ErrorKind::invalid, "--call " + id + ": no such call waits for approval",
                  "these wait: " + ids_of(pending));
    }
    if (some.size() > before + 1) {
      return fail(ErrorKind::invalid, "--call " + id + ": it waits in two runs of the tree",
                  "decide about all of them: leave --call out");
    }
  }
  return some;
}

Result<std::vector<Decision>> decisions(const ApproveRequest& request,
                                        const std::vector<PendingApproval>& pending) {
  TUG_TRY(calls, meant(request, pending));
  std::optional<Json> arguments;
  if (request.edit) {
    if (calls.size() != 1) {
      return fail(ErrorKind::invalid,
                  "--edit is for one call, and " + std::to_string(calls.size()) + " are meant",
                  "name it with --call: " + ids_of(calls));
    }
    auto read = parse_json(*request.edit);
    if (!read) return Failure(read.error().within("--edit").with_fix("give an object of JSON"));
    arguments = *std::move(read);
  }
  std::vector<Decision> all;
  for (const PendingApproval& call : calls) {
    Decision decision = Decision::approve(call.call);
    decision.approved = !request.deny;
    decision.reason = request.reason;
    decision.arguments = arguments;
    const bool stands = request.always || !request.pattern.empty();
    decision.scope = stands ? GrantScope::tree : GrantScope::once;
    decision.pattern = request.pattern;
    decision.run = call.run;
    decision.digest = call.digest;
    all.push_back(std::move(decision));
  }
  return all;
}

Result<std::vector<PendingApproval>> pending_of(const GoOn& found) {
  const RunId& root = found.root.who->run_id;
  TUG_TRY(folded, fold_root(*found.store, root));
  // One that is parked lists those of the whole tree itself.
  std::vector<PendingApproval> pending = folded.runs.front().result.pending;
  if (found.root.status != RootStatus::parked) {
    for (const FoldedRun& run : std::span(folded.runs).subspan(1)) {
      const std::vector<PendingApproval>& below = run.result.pending;
      pending.insert(pending.end(), below.begin(), below.end());
    }
  }
  if (!pending.empty()) return pending;
  return fail(ErrorKind::invalid, "no call of run " + short_id(root) + " waits for approval",
              "`tug show " + short_id(root) + "` says how it stands");
}

// Into the inbox of a run that is not parked: whoever runs it, or takes it up again, looks there.
Result<void> send(const GoOn& found, const std::vector<Decision>& decided) {
  Json list = Json::array();
  for (const Decision& decision : decided) list.push_back(to_json(decision));
  const Json command = Json::object({{"approve", std::move(list)}});
  return found.store->send(found.root.who->run_id,
                           {.command = print_json(command), .sender = "owner", .created = now()});
}

// What a run that is under way in another process said to it: everything decided, or why not.
struct Heard {
  std::size_t decided = 0;
  std::string refused;
};
Result<Heard> hear(const GoOn& found, const std::vector<Decision>& decided) {
  const auto end = std::chrono::steady_clock::now() + kWait;
  Heard heard;
  Seq after = found.root.last_seq;
  const auto is_one = [&](const Event& event) {
    return std::ranges::any_of(decided, [&](const Decision& decision) {
      return event.data["call_id"].as_string() == decision.call.text() && event.who &&
             event.who->run_id == decision.run;
    });
  };
  while (true) {
    TUG_TRY(records, found.store->read(found.root.who->run_id, after, kPage));
    for (const Record& record : records) {
      after = record.seq;
      TUG_TRY(event, decode(record, *found.store));
      if (event.kind == Kind::approval_decided && is_one(event)) ++heard.decided;
      if (event.kind == Kind::steering_rejected && event.data["command"].contains("approve"))
        heard.refused = event.data["reason"].as_string();
    }
    const bool over = heard.decided >= decided.size() || !heard.refused.empty();
    if (over || std::chrono::steady_clock::now() >= end) return heard;
    if (records.size() < kPage) std::this_thread::sleep_for(kLook);
  }
}

int tell_heard(const Options& options, const GoOn& found, const Heard& heard, std::size_t count) {
  const std::string who = "run " + short_id(found.root.who->run_id);
  if (!heard.refused.empty()) {
    return report(options,
                  Error(ErrorKind::invalid,
                        who + " is under way in another process and refused it: " + heard.refused,
                        "`tug show` says how it stands"),
                  unusable);
  }
  const bool all = heard.decided >= count;
  if (options.json()) {
    print(print_json(Json::object(
              {{"run_id", found.root.who->run_id.text()}, {"status", all ? "decided" : "sent"}})) +
          "\n");
  }
  notice(who + (all ? " goes on in another process" : " has not answered yet; it was sent"));
  return ok;
}

int approve(const Options& options, const ApproveRequest& request) {
  if (auto fine = check_request(request); !fine) return report(options, fine.error(), unusable);
  auto found = find_root(options, request.run);
  if (!found) return report(options, found.error(), unusable);
  auto pending = pending_of(*found);
  if (!pending) return report(options, pending.error(), unusable);
  auto decided = decisions(request, *pending);
  if (!decided) return report(options, decided.error(), unusable);
  const bool parked_now = found->root.status == RootStatus::parked;
  if (!parked_now) {
    if (auto sent = send(*found, *decided); !sent) return report(options, sent.error(), unusable);
    const std::optional<Owner>& owner = found->root.owner;
    if (owner && is_alive(owner->process)) {
      auto heard = hear(*found, *decided);
      if (!heard) return report(options, heard.error(), unusable);
      return tell_heard(options, *found, *heard, decided->size());
    }
  }
  auto session = session_of(options, request.run, *found);
  if (!session) return report(options, session.error(), exit_before_start(session.error()));
  return drive(options, *session, [&](Harness& harness, RunOptions run_options) {
    const RunId& root = found->root.who->run_id;
    return parked_now ? harness.approve(root, *decided, std::move(run_options))
                      : harness.resume(root, {}, std::move(run_options));
  });
}

// Here --deny is a decision, not a pattern.
std::vector<Flag> flags_of_a_run(RunFlags& flags) {
  std::vector<Flag> all = run_flags(flags);
  std::erase_if(all, [](const Flag& flag) { return std::string_view(flag.names) == "--deny"; });
  return all;
}

}  // namespace

Command approve_command(Options& options) {
  auto request = std::make_shared<ApproveRequest>();
  return {
      .name = "approve",
      .summary = "Decide about the calls that a run waits with, and go on",
      .examples =
          "  tug approve last\n"
          "  tug approve 4k2m9x --call c1 --deny --reason \"not in this folder\"\n",
      .flags =
          std::vector<Flag>{
              run_word(request->run),
              {"--call", "ID", "Only this one; may be given again", &request->calls},
              {"--deny", nullptr, "Refuse instead of allowing", &request->deny},
              {"--reason", "TEXT", "Told to the model when it is refused", &request->reason},
              {"--edit", "JSON", "Run it with these arguments instead", &request->edit},
              {"--always", nullptr, "And every further call of the tool in this run",
               &request->always},
              {"--pattern", "PATTERN", "And every further call that matches", &request->pattern}} +
          flags_of_a_run(request->run.flags) + common_flags(options),
      .run = [request, &options] { return approve(options, *request); }};
}

}  // namespace tug::cli
