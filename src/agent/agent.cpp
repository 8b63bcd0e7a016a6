#include "tug/agent/agent.h"

#include "agent/harness_core.h"
#include "core/try.h"
#include "tug/context/context.h"
#include "tug/journal/journal.h"

namespace tug {
namespace {

using detail::AgentCore;
using detail::HarnessCore;

RunResult gone() {
  return failed_result(
      Error(ErrorKind::invalid, "the harness of this agent is gone", "keep it while runs go on"));
}

std::string prompt_of(const AgentConfig& config, const Json& args) {
  if (config.prompt) return config.prompt(args);
  return config.input_schema ? print_json(args) : std::string(args["input"].as_string());
}

std::unique_ptr<LaunchBelow> launch_of(AgentCorePtr agent, std::string input, bool fork,
                                       RunOptions options = {}) {
  auto launch = std::make_unique<LaunchBelow>();
  launch->prompt = std::move(input);
  launch->options = std::move(options);
  launch->agent = std::move(agent);
  launch->fork = fork;
  return launch;
}

Task<Result<ToolResult>> call_agent(std::shared_ptr<const AgentCore> agent, Context ctx,
                                    Json args) {
  // A tool may be kept longer than the harness that made it.
  const auto harness = agent ? agent->harness.lock() : nullptr;
  if (!harness) co_return result_for_model(ctx.tool()->name, gone(), ctx);
  auto launch = launch_of(agent, prompt_of(agent->config, args), agent->config.fork);
  auto running = harness->run_below(ctx, std::move(launch));
  const std::unique_ptr<RunResult> result = co_await std::move(running);
  co_return result_for_model(agent->name, *result, ctx);
}

std::string limit_text(const std::string& agent, const RunResult& result) {
  std::string text = "The agent \"" + agent + "\" did not finish: it reached a limit";
  if (result.error) text += " (" + result.error->message() + ")";
  text += ". This is a limit, not an answer.";
  if (!result.text.empty()) text += "\nIts last words were:\n" + result.text;
  return text;
}

bool is_limit(const RunResult& result) {
  return result.stop == StopReason::limit_reached ||
         (result.error && result.error->detail_if<Limit>() && result.last_seq == 0);
}

ToolResult failed_for_model(const std::string& agent, const RunResult& result,
                            const Context& caller) {
  if (is_limit(result)) return ToolResult::error(limit_text(agent, result), "SubAgentLimit");
  const std::string why =
      result.error ? result.error->message() : std::string(name_of(result.stop));
  if (result.status == RunStatus::cancelled) {
    return ToolResult::error("The agent \"" + agent + "\" was stopped: " + why,
                             caller.cancelled() ? "Cancelled" : "SubAgentCancelled");
  }
  return ToolResult::error("The agent \"" + agent + "\" failed: " + why, "SubAgentFailed");
}

}  // namespace

Json input_schema() {
  return Json::object(
      {{"type", "object"},
       {"properties", Json::object({{"input", Json::object({{"type", "string"},
                                                            {"description",
                                                             "What the agent is to do, with "
                                                             "everything it needs to know."}})}})},
       {"required", Json::array({"input"})},
       {"additionalProperties", false}});
}

ToolResult result_for_model(const std::string& agent, const RunResult& result,
                            const Context& caller) {
  const bool well = result.ok() && result.stop == StopReason::end_turn;
  ToolResult told =
      well ? ToolResult::text(result.output.is_null() ? result.text : print_json(result.output))
           : failed_for_model(agent, result, caller);
  if (!told.metadata.is_object()) told.metadata = Json::object();
  told.metadata.set("agent", agent);
  told.metadata.set("child_run_id", result.id.text());
  told.metadata.set("stop_reason", name_of(result.stop));
  told.metadata.set("model_calls", result.counts.model_calls);
  told.metadata.set("tool_calls", result.counts.tool_calls);
  told.metadata.set("structured", !result.output.is_null());
  return told;
}

namespace detail {

AgentCore::AgentCore(std::string named, std::string described, AgentConfig configured,
                     std::weak_ptr<HarnessCore> of)
    : name(std::move(named)),
      description(std::move(described)),
      config(std::move(configured)),
      harness(std::move(of)) {}

AgentCorePtr HarnessCore::agent(std::string name, std::string description, AgentConfig config) {
  auto agent = std::make_shared<AgentCore>(std::move(name), std::move(description),
                                           std::move(config), weak_from_this());
  ToolSpec spec = tool_spec(agent->name, agent->description,
                            agent->config.input_schema.value_or(input_schema()),
                            {.effect = Effect::pure, .agent = true});
  // The tool is kept by the harness, the agent by whoever has a handle and by its tool.
  auto tool = make_tool(
      std::move(spec),
      [agent = std::weak_ptr<const AgentCore>(agent)](Context ctx, Json args) -> LoopWork {
        return call_agent(agent.lock(), std::move(ctx), std::move(args));
      });
  if (tool) agent->tool = *tool;
  {
    std::scoped_lock lock(mutex_);
    agents_.push_back(agent);
  }
  add(std::move(tool));
  return agent;
}

AgentCorePtr HarnessCore::find_agent(std::string_view name) const {
  std::scoped_lock lock(mutex_);
  for (const AgentCorePtr& agent : agents_) {
    if (agent->name == name) return agent;
  }
  return nullptr;
}

AgentCorePtr HarnessCore::find_agent_below(std::string_view name) const {
  if (auto found = find_agent(name)) return found;
  std::scoped_lock lock(mutex_);
  return default_agent_ && default_agent_->name == name ? default_agent_ : nullptr;
}

std::string HarnessCore::instructions_of(const AgentCore& agent) const {
  std::scoped_lock lock(mutex_);
  return agent.config.system_prompt.value_or(options_.system_prompt);
}

// The first agent that names what is not there. Looked at when runs start: agents may name each
// other, and one of them comes first.
std::optional<Error> HarnessCore::agent_fault() const {
  for (const AgentCorePtr& agent : agents_) {
    // One that was removed names nothing any more.
    if (!agent->tool || tools_.find(agent->name) != agent->tool.get()) continue;
    for (const auto& names : {agent->config.tools, agent->config.subagents}) {
      if (!names) continue;
      if (auto named = tools_.only(*names); !named) {
        return named.error().within("agent " + agent->name);
      }
    }
    for (const std::string& name : agent->config.subagents.value_or(std::vector<std::string>{})) {
      if (tools_.find(name)->spec().agent) continue;
      return Error(ErrorKind::invalid, "agent " + agent->name + ": \"" + name + "\" is no agent",
                   "list it under tools");
    }
  }
  return std::nullopt;
}

}  // namespace detail

const std::string& Agent::name() const noexcept { return core_->name; }
const std::string& Agent::description() const noexcept { return core_->description; }
const ToolPtr& Agent::tool() const noexcept { return core_->tool; }

Task<RunResult> Agent::run_with(Context ctx, std::string input, RunOptions options) const {
  const auto core = core_;
  const auto harness = core->harness.lock();
  if (!harness) co_return gone();
  auto launch = launch_of(core, std::move(input), core->config.fork, std::move(options));
  auto running = harness->run_below(std::move(ctx), std::move(launch));
  const std::unique_ptr<RunResult> result = co_await std::move(running);
  co_return std::move(*result);
}

Task<RunResult> Agent::run(Context ctx, std::string input) const {
  return run_with(std::move(ctx), std::move(input), {});
}

Task<RunResult> Agent::run(std::string input, RunOptions options) const {
  const auto core = core_;
  const auto harness = core->harness.lock();
  if (!harness) co_return gone();
  auto launch = std::make_unique<Launch>(
      Launch{.prompt = std::move(input), .options = std::move(options), .agent = core});
  auto running = harness->run_here(std::move(launch));
  RunResult result = co_await std::move(running);
  co_return result;
}

Task<RunResult> Agent::fork(Context ctx, std::string input) const {
  const auto core = core_;
  const auto harness = core->harness.lock();
  if (!harness) co_return gone();
  auto launch = launch_of(core, std::move(input), true);
  auto running = harness->run_below(std::move(ctx), std::move(launch));
  const std::unique_ptr<RunResult> result = co_await std::move(running);
  co_return std::move(*result);
}

Run Agent::start(const Context& ctx, std::string input) const {
  const auto harness = core_->harness.lock();
  if (!harness) {
    auto none =
        std::make_shared<RunShared>(RunId(), ctx.services().share<Engine>(), ctx.loop(), nullptr);
    none->end(gone());
    return detail::RunHandle::make(std::move(none));
  }
  return harness->start_below(
      ctx, {.prompt = std::move(input), .agent = core_, .fork = core_->config.fork});
}

}  // namespace tug
