// tug resume RUN [PROMPT], tug fork RUN [PROMPT]
#include <charconv>
#include <memory>

#include "amounts.h"
#include "commands.h"
#include "drive.h"
#include "go_on.h"

namespace tug::cli {
namespace {

int resume(const Options& options, const GoOnRequest& request) {
  auto found = find_root(options, request);
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
  if (!session) return report(options, session.error(), exit_before_start(session.error()));
  const bool waits = found->root.status == RootStatus::parked &&
                     found->root.summary["stop_reason"].as_string() == "approval_required";
  if (waits && !found->prompt.empty()) {
    notice("run " + short_id(found->root.who->run_id) +
           " waits for approval; the prompt is kept until it has answered");
  }
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
  auto found = find_root(options, request);
  if (!found) return report(options, found.error(), unusable);
  auto at = seq_from(request.at, found->root.last_seq);
  if (!at) return report(options, at.error(), unusable);
  auto session = session_of(options, request, *found);
  if (!session) return report(options, session.error(), exit_before_start(session.error()));
  return drive(options, *session, [&](Harness& harness, RunOptions run_options) {
    return harness.fork(found->root.who->run_id, *at, found->prompt, std::move(run_options));
  });
}

std::vector<Flag> words_of(GoOnRequest& request) {
  return {run_word(request), {"PROMPT", "PROMPT", "What it is told; - for stdin", &request.prompt}};
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
