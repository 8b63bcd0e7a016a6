// A run and the runs below it, as they stand in the journal.
#pragma once

#include <string>

#include "tug/agent/fold.h"

namespace tug::cli {

// {run_id, parent_call_id, agent, status, stop_reason, prompt, model, model_calls, tool_calls,
// usage, cost, own{usage, cost}, duration_ms, children[..]}: usage and cost with those of the runs
// below, as in the result of a run.
Json tree_json(const FoldedRoot& root, const FoldedRun& run);

// A table, one line a run. The first column is its state: `+` completed, `x` failed, `-` cancelled,
// `=` parked, `>` under way, `!` cut off.
std::string tree_table(const FoldedRoot& root, const FoldedRun& run);

}  // namespace tug::cli
