// The calls of a turn: which may run, which are asked about, and which are answered without.
#pragma once

#include "agent/run_tree.h"

namespace tug {

// Decides every call that can be decided, in order, each with one record; those that wait for
// approval, and what waits with them, are left. A batch that passes a limit is recorded as that and
// decided by nobody.
void admit(LiveRun& run);
// Answers every call of a turn that was cut by length: none of them is complete.
void refuse_cut_calls(LiveRun& run);
// How often the model has had to repair its calls of this tool, this time included.
std::uint32_t retries_used(const LiveRun& run, const std::string& tool);

}  // namespace tug
