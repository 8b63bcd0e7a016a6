// An agent as its harness knows it.
#pragma once

#include <memory>
#include <string>

#include "agent/run_plan.h"
#include "tug/agent/agent.h"

namespace tug {

class RunTree;

namespace detail {

class HarnessCore;

class AgentCore : public std::enable_shared_from_this<AgentCore> {
 public:
  AgentCore(std::string name, std::string description, AgentConfig config,
            std::weak_ptr<HarnessCore> harness);

  const std::string name;
  const std::string description;
  const AgentConfig config;
  const std::weak_ptr<HarnessCore> harness;
  ToolPtr tool;  // set once, when it is made
};

// The plan of an agent's runs is the same for all callers with the same plan. Kept by the harness:
// a plan holds tools, and the code of a tool may hold the agent.
struct AgentPlan {
  std::weak_ptr<const RunPlan> caller;
  RunPlanPtr plan;

  // A caller that is gone is not the same as none.
  bool is_for(const RunPlanPtr& other) const noexcept {
    return !caller.owner_before(other) && !other.owner_before(caller);
  }
};

}  // namespace detail

using AgentCorePtr = std::shared_ptr<const detail::AgentCore>;

inline constexpr std::string_view kDefaultAgent = "default";
inline constexpr std::string_view kSubagentTool = "subagent";
inline constexpr std::string_view kSubagentRunsTool = "subagent_runs";

// What the model of a caller reads of a child's run.
ToolResult result_for_model(const std::string& agent, const RunResult& result,
                            const Context& caller);
// The schema {input: string}.
Json input_schema();
// `subagent`, with the agent that it runs where no other is named, and `subagent_runs`.
Result<ToolPtr> make_subagent_tool(AgentCorePtr own, SubagentOptions options);
Result<ToolPtr> make_subagent_runs_tool();

}  // namespace tug
