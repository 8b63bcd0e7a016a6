// How a segment ends, as a result and as a record.
#pragma once

#include <string>

#include "agent/run_tree.h"

namespace tug {

// The run as it stands, with that ending.
RunResult result_with(const LiveRun& run, const Ending& ending);
// The terminal event of the segment; `reason` is that of a pause.
void record_terminal(LiveRun& run, RunResult result, std::string reason);

}  // namespace tug
