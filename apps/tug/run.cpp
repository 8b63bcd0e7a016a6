// tug run PROMPT
#include <memory>

#include "commands.h"
#include "drive.h"
#include "prompt.h"

namespace tug::cli {
namespace {

struct RunRequest {
  std::string prompt;
  RunFlags flags;
};

int run(const Options& options, const RunRequest& request) {
  auto prompt = read_prompt(request.prompt, Piped::append);
  if (!prompt) return report(options, prompt.error(), unusable);
  if (prompt->empty()) {
    return report(options,
                  Error(ErrorKind::invalid, "there is no prompt",
                        "say what to do: tug \"list the files here\"; `tug --help` says more"),
                  unusable);
  }
  auto session = open_session(options, request.flags, nullptr);
  if (!session) return report(options, session.error(), exit_before_start(session.error()));
  return drive(options, *session, [&](Harness& harness, RunOptions run_options) {
    return harness.start(*prompt, std::move(run_options));
  });
}

}  // namespace

Command run_command(Options& options) {
  auto request = std::make_shared<RunRequest>();
  return {.name = "run",
          .summary = "Run a prompt: tools are called, everything is in the journal",
          .examples =
              "  tug run \"count the words of README.md\"\n"
              "  tug run -o json -m script/turns.jsonl \"go\"\n"
              "  cat notes.txt | tug run \"what is missing?\"\n",
          .flags = std::vector<Flag>{{"PROMPT", "PROMPT",
                                      "What to do; - for stdin. What is piped in follows it",
                                      &request->prompt}} +
                   run_flags(request->flags) + common_flags(options),
          .run = [request, &options] { return run(options, *request); }};
}

}  // namespace tug::cli
