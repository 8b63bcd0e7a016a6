// tug resume RUN [PROMPT], tug fork RUN [PROMPT]
#include <charconv>
#include <memory>

#include "amounts.h"
#include "commands.h"
#include "core/try.h"
#include "drive.h"
#include "prompt.h"
#include "tug/agent/fold.h"

namespace tug::cli {
namespace {

struct GoOnRequest {
  std::string run;
  std::string prompt;
  bool last = false;
  std::string at;
  RunFlags flags;
};

struct GoOn {
  std::shared_ptr<RecordStore> store;
  RootInfo root;
  std::string prompt;
};

// The tools of a run that goes on see the folder that it began in, unless another one is named.
Result<RunFlags> with_folder(RunFlags flags, const GoOn& found) {
  std::optional<std::string>& folder = flags.config.by_key["workspace.root"];
  if (folder) return flags;
  TUG_TRY(first, found.store->read(found.root.who->run_id, 0, 1));
  if (first.empty()) return flags;
  TUG_TRY(started, decode(first.front(), *found.store));
  const std::string_view recorded = started.data["root"].as_string();
  if (!recorded.empty()) folder = std::string(recorded);
  return flags;
}

Result<Session> session_of(const Options& options, const GoOnRequest& request, const GoOn& found) {
  TUG_TRY(flags, with_folder(request.flags, found));
  return open_session(options, flags, found.store,
                      std::string(found.root.summary["model"].as_string()));
}

Result<GoOn> find_what(const Options& options, GoOnRequest request) {
  if (request.last) {
    if (!request.prompt.empty()) {
      return fail(ErrorKind::invalid, "both --last and a run are named", "name one of them");
    }
    request.prompt = std::move(request.run);
    request.run = "last";
  }
  if (request.run.empty())
    return fail(ErrorKind::invalid, "no run is named",
                "`tug runs` lists them; --last is the newest");
  if (request.flags.no_session) {
    return fail(ErrorKind::invalid, "with --no-session there is no run to go on with",
                "leave --no-session out");
  }
  GoOn found;
  TUG_TRY(prompt, read_prompt(request.prompt, Piped::leave));
  found.prompt = prompt;
  TUG_TRY(store, find_journal(options));
  if (!store) {
    return fail(ErrorKind::invalid, "there is no run \"" + request.run + "\": no run was made yet",
                "`tug runs` lists the runs");
  }
  found.store = store;
  TUG_TRY(name, find_run(*store, request.run));
  TUG_TRY(root, store->info(name.root));
  found.root = root;
  return found;
}

int resume(const Options& options, const GoOnRequest& request) {
  auto found = find_what(options, request);
  if (!found) return report(options, found.error(), unusable);
  // One that failed or reached a limit may have something left to answer.
  const bool answered = found->root.summary["stop_reason"].as_string() == "end_turn";
  if (answered && found->prompt.empty()) {
    return report(
        options,
        Error(ErrorKind::invalid, "run " + short_id(found->root.who->run_id) + " is finished",
              "say how it goes on: tug resume " + short_id(found->root.who->run_id) +
                  " \"and now ..\""),
        unusable);
  }
  auto session = session_of(options, request, *found);
  if (!session) return report(options, session.error(), unusable);
  return drive(options, *session, [&](Harness& harness, RunOptions run_options) {
    return harness.resume(found->root.who->run_id, found->prompt, std::move(run_options));
  });
}

Result<Seq> seq_from(const std::string& text, Seq last) {
  if (text.empty()) return 0;
  Seq seq = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seq);
  if (problem == std::errc() && end == text.data() + text.size() && seq >= 1 && seq <= last)
    return seq;
  return fail(ErrorKind::invalid,
              "--at " + text + ": the run has the records 1 to " + std::to_string(last),
              "give one of them; `tug show RUN --events` shows them");
}

int fork(const Options& options, const GoOnRequest& request) {
  auto found = find_what(options, request);
  if (!found) return report(options, found.error(), unusable);
  auto at = seq_from(request.at, found->root.last_seq);
  if (!at) return report(options, at.error(), unusable);
  auto session = session_of(options, request, *found);
  if (!session) return report(options, session.error(), unusable);
  return drive(options, *session, [&](Harness& harness, RunOptions run_options) {
    return harness.fork(found->root.who->run_id, *at, found->prompt, std::move(run_options));
  });
}

std::vector<Flag> words_of(GoOnRequest& request) {
  return {{"RUN", "RUN", "An id, 4 letters of its start or end, or last", &request.run},
          {"PROMPT", "PROMPT", "What it is told; - for stdin", &request.prompt}};
}

}  // namespace

Command resume_command(Options& options) {
  auto request = std::make_shared<GoOnRequest>();
  return {.name = "resume",
          .summary = "Go on with a run that was cut off, cancelled or paused, or with a new prompt",
          .examples = "  tug resume --last\n  tug resume 4k2m9x \"now the tests\"\n",
          .flags = words_of(*request) +
                   std::vector<Flag>{{"--last", nullptr, "The newest run", &request->last}} +
                   run_flags(request->flags) + common_flags(options),
          .run = [request, &options] { return resume(options, *request); }};
}

Command fork_command(Options& options) {
  auto request = std::make_shared<GoOnRequest>();
  return {
      .name = "fork",
      .summary = "A new run that shares the history of another",
      .examples = "  tug fork last \"try it the other way\"\n  tug fork 4k2m9x --at 12\n",
      .flags = words_of(*request) +
               std::vector<Flag>{
                   {"--at", "SEQ", "The last record that is shared (default: all)", &request->at}} +
               run_flags(request->flags) + common_flags(options),
      .run = [request, &options] { return fork(options, *request); }};
}

}  // namespace tug::cli
