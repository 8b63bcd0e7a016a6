// The loop: an interpreter of a run's state. What it does is written down before it is done, and
// what came of it after; the next step reads nothing but the state.
#pragma once

#include "agent/run_tree.h"
#include "tug/core/task.h"

namespace tug {

// Steps until the run has ended or parked. Leaves exactly one terminal event behind, on every path.
Task<void> drive(LiveRun& run);

}  // namespace tug
