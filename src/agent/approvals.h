// Calls that wait for somebody to decide about them: who is asked, and what a decision does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/run_tree.h"
#include "tug/agent/approval.h"
#include "tug/tools/permissions.h"

namespace tug {

// What the permissions of the run say, and what those above it forbid.
Judgement judge_call(const LiveRun& run, const Tool& tool, const Json& args);

// A decision that fits a call that waits.
struct Ruling {
  RunId run;
  payload::ApprovalDecided decided;
};
using FindTool = std::function<const Tool*(const RunState& run, const std::string& name)>;
// All of them or none: `invalid` for a call that does not wait or is named twice, arguments that do
// not fit, a digest of something else; `denied` for a grant that cannot be given.
Result<std::vector<Ruling>> check_decisions(const std::vector<const RunState*>& runs,
                                            const std::vector<Decision>& decisions,
                                            const FindTool& find_tool);
// Records them, in the names of runs that are under way or left over; what is freed goes on.
void rule(RunTree& tree, const std::vector<Ruling>& rulings);
// For a tree under way: both. `scope` and what is below it.
Result<void> decide_calls(LiveRun& scope, const std::vector<Decision>& decisions);

// Refuses every call of the run that waits.
void deny_waiting(LiveRun& run, const std::string& reason);
// What was asked in an earlier segment must still be what would be run, and must still be asked
// about; where it is not, the call is denied.
void check_asked_again(LiveRun& run);
// Why a call that was admitted in an earlier segment may not be run in this one; empty when it may.
std::string refused_since(const LiveRun& run, const OpenCall& open);
// Why a call that was asked about may not be run as it was shown; empty when it may.
std::string changed_since(const LiveRun& run, const OpenCall& open);

// One record in the name of a run that no segment drives at the moment.
void record_left_over(RunTree& tree, RunState& state, Kind kind, Json data);

}  // namespace tug
