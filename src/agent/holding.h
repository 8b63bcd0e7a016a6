// Runs that may not go on for now, and what becomes of a tree in which nothing can move.
#pragma once

#include "agent/run_tree.h"
#include "tug/core/task.h"

namespace tug {

// Whether a steered pause holds the run, one above it, or the whole tree.
bool is_paused(const LiveRun& run);
// Whether the next step has to wait for somebody.
bool must_hold(const LiveRun& run);
// Until something has changed: a command, a decision, the run's cancellation or deadline, or the
// tree parks.
Task<void> hold(LiveRun& run);
// How a segment ends when its tree parks.
Ending parked_ending(const LiveRun& run);
// Its own calls that wait for approval, and those of the runs below it.
std::vector<PendingApproval> pending_of(const LiveRun& run);
// The same where nothing below it is under way any more.
std::vector<PendingApproval> pending_at_end(const LiveRun& run);

}  // namespace tug
