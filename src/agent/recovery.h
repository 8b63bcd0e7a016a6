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
// Ends the runs below the root that the crash cut off, in the names of those runs.
void close_lost_children(RootLog& log, Loop& loop, const TreeFold& fold);

// What the budget of a resumed root starts from.
BudgetSnapshot spent_by(const TreeFold& fold);

}  // namespace tug
