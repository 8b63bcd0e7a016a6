// One attempt to get a turn from the model.
#pragma once

#include "agent/run_tree.h"
#include "tug/core/task.h"

namespace tug {

// Takes what the call may cost and records the intent. `exhausted` when a limit does not allow it.
Result<void> begin_attempt(LiveRun& run);
// Makes the open attempt and records its partner, whatever happens.
Task<void> make_attempt(LiveRun& run);

// What ends a wait of this run: its cancellation and its deadline.
Until until_of(const LiveRun& run);

}  // namespace tug
