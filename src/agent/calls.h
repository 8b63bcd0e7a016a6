// Running the calls of a turn.
#pragma once

#include "agent/run_tree.h"
#include "tug/core/task.h"

namespace tug {

// Runs the calls that were started and have no result, until all have one; calls that are decided
// about meanwhile join them. Calls whose child was parked stay open.
Task<void> run_calls(LiveRun& run);

}  // namespace tug
