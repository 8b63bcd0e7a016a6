// What a crash left open, closed: the partners that it swallowed.
#pragma once

#include "agent/run_tree.h"
#include "agent/tree_fold.h"

namespace tug {

// Records the missing partners of the run itself, right after its run.resumed. Calls whose effect
// may be repeated stay open and run again; of the others nobody knows.
void close_lost_acts(LiveRun& run);
// The same for the calls that stayed open, when the run ends before it comes to them.
void close_started_calls(LiveRun& run);
// Ends what is left over below the run and cannot be gone on with: children of calls that are over.
// Those that worked in the background are left to whoever starts them again.
void close_orphans(LiveRun& run);
// Ends all that is left over below the run, or one of it.
void close_left_over(LiveRun& run);
void close_left_over(LiveRun& run, const RunId& child);

// What the budget of a run that goes on starts from: the root's, or that of one below it.
BudgetSnapshot spent_by(const TreeFold& fold);
BudgetSnapshot spent_by(const RunState& run, const RunTree& tree);

}  // namespace tug
