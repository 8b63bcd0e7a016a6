// One run from its start to its exit code.
#pragma once

#include <functional>

#include "command.h"
#include "session.h"

namespace tug::cli {

// Starts the run with the session's options, shows it in the chosen format, minds signals and a
// reader that goes away, and answers with the exit code of how it ended.
int drive(const Options& options, Session& session,
          const std::function<Run(Harness& harness, RunOptions run)>& begin);

}  // namespace tug::cli
