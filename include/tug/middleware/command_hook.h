// A hook that is a shell command.
//
// It runs in the working directory of the run (locals.config.cwd) and reads one JSON object on its
// stdin: what the hook is told (to_json of HookInput). It may print one JSON object:
//   {"decision": "allow" | "deny", "reason": "..", "context": "..", "output": ".." | {..}}
// Every member may be left out, and so may the object: that allows. `output` is the new content, or
// the whole envelope. Exit code 2 denies, with stderr as the reason. Another exit code, a signal,
// the timeout and an answer that is none of this are failures of the hook.
//
// The engine is found in the services of the run. A run that is cancelled, or whose time is over,
// stops its commands, but for those that are told of its end: they have kLastHookTime.
#pragma once

#include <string>
#include <vector>

#include "tug/core/time.h"
#include "tug/middleware/hooks.h"

namespace tug {

inline constexpr Duration kHookTimeout = std::chrono::seconds(60);
inline constexpr Duration kLastHookTime = std::chrono::seconds(5);

struct CommandHook {
  HookEvent event = HookEvent::run_start;
  std::string command;  // for /bin/sh
  std::optional<std::vector<std::string>> tools;
  std::optional<std::vector<std::string>> agents;
  bool strict = false;
  Duration timeout = kHookTimeout;
  std::string name;  // the command when empty
};

Hook make_command_hook(CommandHook command);

}  // namespace tug
