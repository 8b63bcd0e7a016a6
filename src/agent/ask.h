// Asking for a turn: the models of the chain, each with its middleware, its retries, its attempts.
#pragma once

#include <memory>

#include "agent/run_tree.h"
#include "tug/core/task.h"

namespace tug {

// Ends with the next turn in the state, or with what the run ends with instead. An attempt that is
// open when it begins is made first; nothing is open when it ends.
Task<std::unique_ptr<Ending>> ask(LiveRun& run);

// How a run ends that cannot get a turn because of `error`.
Ending ending_after(const LiveRun& run, const Error& error);
Ending cancelled_ending(const LiveRun& run);
// By whoever; not by its own time, which is a limit.
bool is_cancelled(const LiveRun& run);

}  // namespace tug
