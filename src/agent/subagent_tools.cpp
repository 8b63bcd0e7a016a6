// The tools `subagent` and `subagent_runs`: any agent by its name, and runs in the background.
#include <algorithm>

#include "agent/commands.h"
#include "agent/harness_core.h"
#include "core/try.h"
#include "tug/context/context.h"

namespace tug {
namespace {

using detail::AgentCore;
using detail::HarnessCore;

constexpr std::string_view kDefault = "default";

Json property(const char* type, const char* description) {
  return Json::object({{"type", type}, {"description", description}});
}

Json subagent_schema(bool background) {
  Json properties = Json::object(
      {{"task", property("string", "What the agent is to do, with everything it needs to know.")},
       {"agent", property("string", "Its name; without one, an agent with your own tools.")}});
  if (background) {
    properties.set("background",
                   property("boolean", "Do not wait for it: subagent_runs looks after it."));
  }
  return Json::object({{"type", "object"},
                       {"properties", std::move(properties)},
                       {"required", Json::array({"task"})},
                       {"additionalProperties", false}});
}

// The agents that the caller may call.
std::vector<std::string> agents_of(const LiveRun& run) {
  std::vector<std::string> names;
  for (const ToolPtr& tool : run.plan->tools.all()) {
    if (tool->spec().agent && tool->name() != kSubagentTool) names.push_back(tool->name());
  }
  names.emplace_back(kDefault);
  return names;
}

ToolResult unknown_agent(const std::string& name, const LiveRun& run) {
  std::string known;
  for (const std::string& other : agents_of(run)) known += (known.empty() ? "" : ", ") + other;
  return ToolResult::error("There is no agent \"" + name + "\". There are: " + known + ".",
                           "UnknownSubAgent");
}

Task<Result<ToolResult>> call_subagent(std::weak_ptr<HarnessCore> weak, AgentCorePtr own,
                                       Context ctx, Json args) {
  const auto harness = weak.lock();
  LiveRun* caller = RunTree::of(ctx)->find(ctx.id().run_id);
  if (!harness || !caller) co_return ToolResult::error("this context has no run", "Exception");
  const std::string name(args["agent"].as_string());
  AgentCorePtr agent = harness->find_agent(kDefault);
  if (!agent) agent = own;
  if (!name.empty() && name != kDefault) {
    const auto names = agents_of(*caller);
    agent = std::ranges::find(names, name) == names.end() ? nullptr : harness->find_agent(name);
    if (!agent) co_return unknown_agent(name, *caller);
  }
  LaunchBelow launch{
      .prompt = std::string(args["task"].as_string()), .agent = agent, .fork = agent->config.fork};
  if (args["background"].as_bool()) {
    const Run run = harness->start_below(ctx, std::move(launch));
    run.detach();
    const std::string id = run.id().text();
    ToolResult started = ToolResult::text("Started run " + id + " in the background.");
    started.metadata = Json::object({{"agent", agent->name}, {"child_run_id", id}});
    co_return started;
  }
  auto running = harness->run_below(ctx, std::make_unique<LaunchBelow>(std::move(launch)));
  const std::unique_ptr<RunResult> result = co_await std::move(running);
  co_return result_for_model(agent->name, *result, ctx);
}

Json runs_schema() {
  Json action =
      property("string", "list | poll | wait | cancel | inject | redirect | pause | resume");
  action.set("enum", Json::array({"list", "poll", "wait", "cancel", "inject", "redirect", "pause",
                                  "resume"}));
  return Json::object(
      {{"type", "object"},
       {"properties",
        Json::object({{"action", std::move(action)},
                      {"run", property("string", "Which one; not needed for list.")},
                      {"text", property("string", "What it is told, or why it is stopped.")}})},
       {"required", Json::array({"action"})},
       {"additionalProperties", false}});
}

Json status_json(const std::string& agent, const RunShared& run) {
  const RunStatusRecord status = run.status();
  return Json::object({{"run", run.id().text()},
                       {"agent", agent},
                       {"status", name_of(status.status)},
                       {"turn", status.turn},
                       {"tool_calls", status.counts.tool_calls},
                       {"tokens", status.usage.total()}});
}

Result<Steer> command_in(std::string_view action, const Json& args) {
  Json command = Json::object({{"command", action}});
  if (const Json* text = args.find("text")) command.set("text", *text);
  return steer_from(command);
}

ToolResult tell(LiveRun& caller, const std::string& agent, const RunShared& run,
                const std::string& action, const Json& args) {
  if (run.ended()) return ToolResult::text("It has ended already.");
  auto command = command_in(action, args);
  if (!command) return ToolResult::error(command.error().message(), "InvalidArguments");
  LiveRun* child = caller.tree.find(run.id());
  if (!child) return ToolResult::text("It has not begun.");
  if (!child->hangs.steering.permits(command->kind)) {
    return ToolResult::error("The agent \"" + agent + "\" does not permit " + action + ".",
                             "ApprovalRejected");
  }
  enqueue(*child, {{*command}, "parent"});
  return ToolResult::text("Told.");
}

Task<Result<ToolResult>> call_runs(Context ctx, Json args) {
  LiveRun* caller = RunTree::of(ctx)->find(ctx.id().run_id);
  if (!caller) co_return ToolResult::error("this context has no run", "Exception");
  const auto& runs = caller->background_runs;
  const std::string action(args["action"].as_string());
  if (action == "list") {
    Json list = Json::array();
    for (const BackgroundRun& run : runs) list.push_back(status_json(run.agent, *run.shared));
    co_return ToolResult::json(list);
  }
  const std::string_view wanted = args["run"].as_string();
  const auto found = std::ranges::find_if(
      runs, [&](const BackgroundRun& run) { return run.shared->id().text() == wanted; });
  if (found == runs.end()) {
    co_return ToolResult::error("No run \"" + std::string(wanted) +
                                    "\" works in the background. `list` shows those that do.",
                                "UnknownSubAgent");
  }
  const BackgroundRun run = *found;
  if (action == "poll" && !run.shared->ended()) {
    co_return ToolResult::json(status_json(run.agent, *run.shared));
  }
  if (action == "poll" || action == "wait") {
    const Until until{ctx.cancel(), ctx.budget().deadline(ctx.loop().now())};
    auto waiting = run.shared->attend(until, ctx.id().call_id);
    const RunResult result = co_await std::move(waiting);
    co_return result_for_model(run.agent, result, ctx);
  }
  co_return tell(*caller, run.agent, *run.shared, action, args);
}

}  // namespace

Result<ToolPtr> make_subagent_tool(AgentCorePtr own, SubagentOptions options) {
  ToolSpec spec = tool_spec(
      std::string(kSubagentTool), "Give a task to an agent that works on its own and answers once.",
      subagent_schema(options.background), {.effect = Effect::pure, .agent = true});
  return make_tool(std::move(spec), [own = std::move(own)](Context ctx, Json args) -> LoopWork {
    return call_subagent(own->harness, own, std::move(ctx), std::move(args));
  });
}

Result<ToolPtr> make_subagent_runs_tool() {
  ToolSpec spec = tool_spec(std::string(kSubagentRunsTool),
                            "Look after agents that work in the background: list them, look at "
                            "one, wait for its answer, tell it something, stop it.",
                            runs_schema(), {.effect = Effect::pure, .agent = true});
  return make_tool(std::move(spec), [](Context ctx, Json args) -> LoopWork {
    return call_runs(std::move(ctx), std::move(args));
  });
}

void detail::HarnessCore::subagents(SubagentOptions options) {
  auto own =
      std::make_shared<const AgentCore>(std::string(kDefault), "", AgentConfig{}, weak_from_this());
  {
    std::scoped_lock lock(mutex_);
    default_agent_ = own;
  }
  add(make_subagent_tool(std::move(own), options));
  if (options.background) add(make_subagent_runs_tool());
}

}  // namespace tug
