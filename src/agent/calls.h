// The calls of a turn: which may run, and running them.
#pragma once

#include "agent/run_tree.h"
#include "tug/core/task.h"

namespace tug {

// Decides every call that is undecided, in order, each with one record. A batch that passes a limit
// is recorded as that and decided by nobody.
void admit(LiveRun& run);
// Answers every call of a turn that was cut by length: none of them is complete.
void refuse_cut_calls(LiveRun& run);
// Runs the calls that were started and have no result, until all have one.
Task<void> run_calls(LiveRun& run);

}  // namespace tug
