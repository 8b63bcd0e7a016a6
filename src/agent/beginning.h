// What the beginnings of all runs have in common, roots and those below others.
#pragma once

#include <string>

#include "agent/run_tree.h"
#include "tug/agent/options.h"
#include "tug/context/context.h"
#include "tug/journal/payloads.h"

namespace tug {

// What a run adds to the contexts below it.
void furnish(ChildSpec& run, const RunOptions& options);
Result<void> check_prompt(const std::string& prompt);
Result<void> check_ids(const RunOptions& options);
// A limit on cost that nothing could ever enforce is `invalid`.
Result<void> check_price(const Limits& limits, const RunPlan& plan);
// What holds for the next segments too, without what the lineage or another field says already.
Json lasting(RunOptions options);
payload::RunStarted started(const LiveRun& run, const std::string& prompt, RunOptions options,
                            const std::string& workspace);
// What a caller hands to a run beside its data, wherever the run hangs.
void link_caller(const Context& ctx, const RunOptions& options);

}  // namespace tug
