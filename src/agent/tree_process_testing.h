// A process that runs random trees: a simulated engine, a harness, and code for every tool.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "agent/tree_model_testing.h"
#include "tug/agent/invoke.h"
#include "tug/core/scope.h"
#include "tug/core/wait.h"
#include "tug/middleware/control.h"

namespace tug {

// Around everything, and changes nothing.
class Bystander final : public Middleware {
 public:
  std::string name() const override { return "bystander"; }
  Task<Result<RunResult>> around_run(Context, RunInput input, NextRun& next) override {
    co_await yield();
    auto running = next.run(std::move(input));
    Result<RunResult> result = co_await std::move(running);
    co_await yield();
    co_return result;
  }
  Task<Result<ToolResult>> around_tool(Context, ToolInput input, NextTool& next) override {
    co_await yield();
    auto running = next.run(std::move(input));
    Result<ToolResult> result = co_await std::move(running);
    co_return result;
  }
};

class TreeProcess {
 public:
  explicit TreeProcess(TreeWorld& of) : world(of), number(++world.processes) {
    engine = make_sim_engine({.seed = world.seed * 7 + number, .start = world.clock});
    HarnessOptions options;
    options.seed = world.seed * 11 + number;
    options.engine = engine;
    options.store = world.store;
    options.models = make_models();
    options.models->add(std::make_shared<TreeModel>(world));
    options.model = "test/tree";
    options.permissions = world.permissions;
    options.steering = world.steering;
    options.tool_execution = world.execution;
    harness = std::make_unique<Harness>(std::move(options));
    if (world.middleware) harness->use(std::make_shared<Bystander>());
    for (const TreeTool& tool : kTreeTools) add(tool);
    harness->subagents({.background = true});
    for (std::size_t i = 0; i < world.agents.size(); ++i) {
      agents.push_back(harness->agent("a" + std::to_string(i), "Works.", world.agents[i]));
    }
  }
  TreeProcess(const TreeProcess&) = delete;
  TreeProcess& operator=(const TreeProcess&) = delete;
  // Nothing is left when it goes.
  ~TreeProcess() {
    agents.clear();
    harness->close();
    harness.reset();
    const Leftovers left = engine->shutdown();
    for (const std::string& what : left.stranded) world.audit->fault("stranded: " + what);
    for (const Error& error : engine->faults()) world.audit->fault(to_string(error));
    world.clock = engine->wall() + std::chrono::hours(1);
  }

  // The text of a call names the agent that it runs.
  const Agent& agent_for(const Json& args) const {
    return agents[args["text"].as_string().size() % agents.size()];
  }

  TreeWorld& world;
  const std::uint32_t number;
  std::shared_ptr<SimEngine> engine;
  std::unique_ptr<Harness> harness;
  std::vector<Agent> agents;

 private:
  void add(const TreeTool& tool);
};

namespace tree_deeds {

// The code of a call, as long as it runs.
class Body {
 public:
  Body(TreeAudit& audit, const Context& ctx, const Json& args)
      : audit_(audit), run_(ctx.id().run_id), call_(ctx.id().call_id) {
    audit_.enter(run_, call_, *ctx.tool(), args);
  }
  Body(TreeAudit& audit, const ToolSpec& tool, const Invocation& call)
      : audit_(audit), run_(call.run_id()), call_(call.call_id()) {
    audit_.enter(run_, call_, tool, call.args());
  }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;
  ~Body() { audit_.leave(run_, call_); }

 private:
  TreeAudit& audit_;
  RunId run_;
  CallId call_;
};

inline Result<ToolResult> told(const RunResult& result) {
  return ToolResult::text(std::string(name_of(result.status)) + ": " + result.text);
}

inline std::chrono::milliseconds time_in(const Json& args) {
  return std::chrono::milliseconds(args["ms"].as_int().value_or(30));
}

inline std::string prompt_for(const Context& ctx, const Json& args) {
  return tree_prompt(ctx.id().depth + 1, args["text"].as_string());
}

inline LoopWork sleep(Context ctx, Json args, bool deaf) {
  const Until until = deaf ? Until{} : Until{.cancel = ctx.cancel()};
  const Woken woken = co_await sleep_for(time_in(args), until);
  co_return ToolResult::text(woken == Woken::ready ? "rested" : "woken");
}

inline LoopWork invoke_others(Context ctx, Json args) {
  const Json nap = Json::object({{"ms", time_in(args).count()}});
  if (args.contains("ms")) (void)invoke_detached(ctx, "nap", nap);
  auto calling = invoke(ctx, args["text"].as_string() == kBig ? "pay" : "note", Json::object());
  const ToolResult result = co_await std::move(calling);
  co_return ToolResult::text(result.content);
}

inline LoopWork run_agent(TreeProcess& process, Context ctx, Json args) {
  const Agent agent = process.agent_for(args);
  const std::string prompt = prompt_for(ctx, args);
  auto running = agent.run(ctx, prompt);
  RunResult result = co_await std::move(running);
  if (result.ok() && args.contains("ms") && process.world.may_grow()) {
    auto again = agent.run(ctx, prompt + " more");
    result = co_await std::move(again);
  }
  co_return told(result);
}

inline LoopWork run_several(TreeProcess& process, Context ctx, Json args) {
  std::vector<Task<RunResult>> tasks;
  const std::string prompt = prompt_for(ctx, args);
  for (std::size_t i = 0; i < 2 + args["text"].as_string().size() % 2; ++i) {
    const Agent& agent = process.agents[i % process.agents.size()];
    tasks.push_back(agent.run(ctx, prompt));
  }
  if (args.contains("ms")) co_await sleep_for(time_in(args), Until{.cancel = ctx.cancel()});
  auto all = when_all(std::move(tasks));
  const std::vector<RunResult> results = co_await std::move(all);
  std::string text;
  for (const RunResult& result : results) text += std::string(name_of(result.status)) + " ";
  co_return ToolResult::text(text);
}

inline LoopWork talk(TreeProcess& process, Context ctx, Json args) {
  const Agent agent = process.agent_for(args);
  AgentSession session = agent.session(ctx);
  auto first = session.send(prompt_for(ctx, args));
  RunResult result = co_await std::move(first);
  auto second = session.send(prompt_for(ctx, args) + " and then");
  result = co_await std::move(second);
  co_return told(result);
}

inline LoopWork fork(TreeProcess& process, Context ctx, Json args) {
  const Agent agent = process.agent_for(args);
  auto running = agent.fork(ctx, prompt_for(ctx, args));
  const RunResult result = co_await std::move(running);
  co_return told(result);
}

inline LoopWork start(TreeProcess& process, Context ctx, Json args, bool waits) {
  const Agent agent = process.agent_for(args);
  const tug::Run run = agent.start(ctx, prompt_for(ctx, args));
  run.detach();
  if (!waits) co_return ToolResult::text("started");
  auto waiting = run.result({ctx.cancel()});
  const RunResult result = co_await std::move(waiting);
  co_return told(result);
}

inline LoopWork run_harness(TreeProcess& process, Context ctx, Json args) {
  auto running = process.harness->run_async(ctx, prompt_for(ctx, args));
  const RunResult result = co_await std::move(running);
  co_return told(result);
}

inline LoopWork drop(TreeProcess& process, Context ctx, Json args) {
  (void)process.harness->start(ctx, prompt_for(ctx, args));
  co_await yield();
  co_return ToolResult::text("dropped");
}

inline LoopWork work_of(TreeProcess& process, Deed deed, const Context& ctx, const Json& args) {
  switch (deed) {
    case Deed::sleeps:
    case Deed::sleeps_deaf:
      return sleep(ctx, args, deed == Deed::sleeps_deaf);
    case Deed::invokes:
      return invoke_others(ctx, args);
    case Deed::runs_agent:
      return run_agent(process, ctx, args);
    case Deed::runs_several:
      return run_several(process, ctx, args);
    case Deed::talks:
      return talk(process, ctx, args);
    case Deed::forks:
      return fork(process, ctx, args);
    case Deed::starts:
    case Deed::starts_waits:
      return start(process, ctx, args, deed == Deed::starts_waits);
    case Deed::runs_harness:
      return run_harness(process, ctx, args);
    default:
      return drop(process, ctx, args);
  }
}

inline LoopWork do_deed(TreeProcess* process, Deed deed, Context ctx, Json args) {
  const Body body(*process->world.audit, ctx, args);
  if (deed == Deed::answers) co_return ToolResult::text("done");
  if (deed == Deed::finishes) stop_with_final(ctx, "enough");
  if (deed == Deed::interrupts) interrupt(ctx, "somebody should look");
  if (deed == Deed::finishes || deed == Deed::interrupts) co_return ToolResult::text("asked for");
  if (deed == Deed::throws) throw std::runtime_error("boom");
  if (deed == Deed::wants_retry) throw ModelRetry("something else, please");
  auto working = work_of(*process, deed, ctx, args);
  Result<ToolResult> result = co_await std::move(working);
  co_return result;
}

}  // namespace tree_deeds

inline void TreeProcess::add(const TreeTool& tool) {
  static const Json kParameters = *parse_json(
      R"({"type":"object","properties":{"text":{"type":"string"},"ms":{"type":"integer"}}})");
  ToolSpec spec{.name = tool.name,
                .description = "Does it",
                .parameters = kParameters,
                .effect = tool.effect,
                .lane = tool.lane,
                .sequential = tool.sequential,
                .requires_approval = tool.approval,
                .on_error = tool.on_error};
  if (tool.timeout_ms) spec.timeout = std::chrono::milliseconds(tool.timeout_ms);
  ToolChecks checks;
  if (spec.name == "sign") {
    checks.approve_when = [](const Json& args) { return args["text"].as_string() == kBig; };
  }
  if (tool.deed == Deed::answers_on_pool) {
    const JsonPoolHandler handler = [this, spec](const Json&, Invocation& call) {
      const tree_deeds::Body body(*world.audit, spec, call);
      return Result<ToolResult>(ToolResult::text("done"));
    };
    harness->add(make_tool(std::move(spec), handler, std::move(checks)));
    return;
  }
  const JsonLoopHandler handler = [this, deed = tool.deed](Context ctx, Json args) {
    return tree_deeds::do_deed(this, deed, std::move(ctx), std::move(args));
  };
  harness->add(make_tool(std::move(spec), handler, std::move(checks)));
}

}  // namespace tug
