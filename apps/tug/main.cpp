// The wiring of the command: which commands there are. Each is a file of its own.
#include <signal.h>

#include <string>
#include <vector>

#include "commands.h"

namespace {

using namespace tug::cli;

int run(std::vector<std::string> words) {
  Options options;
  std::span<const Command> all;
  const Command commands[] = {
      run_command(options),    resume_command(options),  approve_command(options),
      fork_command(options),   steer_command(options),   runs_command(options),
      show_command(options),   replay_command(options),  tools_command(options),
      models_command(options), schema_command(options),  config_command(options),
      doctor_command(options), version_command(options), completion_command(options, all),
  };
  all = commands;
  return run_command_line(all, options, std::move(words));
}

}  // namespace

int main(int argc, char** argv) {
  claim_standard_descriptors();
  signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error of write
  signal(SIGXFSZ, SIG_IGN);  // and so is a file that may not grow
  signal(SIGCHLD, SIG_DFL);  // ignored, it would take away how a command ended
  std::vector<std::string> words(argv + (argc > 0), argv + argc);
  auto code = tug::guarded("tug", [&] { return run(std::move(words)); });
  if (code) return *code;
  return report({}, code.error(), failed);
}
