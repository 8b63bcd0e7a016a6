// What the tests of this area stand on: chains that end in a scripted core.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "middleware/chain.h"
#include "tools/testing.h"

namespace tug {

using Trace = std::vector<std::string>;

// Ends a chain with what `answer` says.
template <class In, class Out>
class EndOfChain final : public detail::ChainCore<In, Out> {
 public:
  using Answer = std::function<Result<Out>(In in)>;
  explicit EndOfChain(Answer answer) : answer_(std::move(answer)) {}
  Task<Result<Out>> call(In in) override {
    Result<Out> out = answer_(std::move(in));
    co_return out;
  }

 private:
  Answer answer_;
};
using EndInRun = EndOfChain<RunInput, RunResult>;
using EndInModel = EndOfChain<ModelRequest, ModelTurn>;
using EndInTool = EndOfChain<ToolInput, ToolResult>;

class HookTest : public ToolTest {
 protected:
  Result<RunResult> run(Middlewares links, RunInput input, EndInRun::Answer answer,
                        std::function<void(Context&)> prepare = {}) {
    EndInRun core(std::move(answer));
    return world.run([&](Context root) {
      if (prepare) prepare(root);
      return run_through(links, root, input, core);
    });
  }
  // The same around a child run of the agent `agent`.
  Result<RunResult> child_run(Middlewares links, std::string agent, RunInput input,
                              EndInRun::Answer answer) {
    EndInRun core(std::move(answer));
    return world.run([&](Context root) {
      auto child = root.child({.kind = NodeKind::run, .agent = agent});
      EXPECT_TRUE(child) << to_string(child.error());
      return run_through(links, *child, input, core);
    });
  }
  Result<ModelTurn> ask(Middlewares links, ModelRequest request, EndInModel::Answer answer) {
    EndInModel core(std::move(answer));
    return world.run([&](Context root) { return ask_through(links, root, request, core); });
  }
  Result<ToolResult> call(Middlewares links, const ToolPtr& tool, EndInTool::Answer answer) {
    EndInTool core(std::move(answer));
    return world.run([&](Context root) {
      served = ToolWorld::child(root, tool, kArgs);
      auto calling = tool_through(links, served, tool, core);
      return forget_served(this, std::move(calling));
    });
  }

  std::vector<Event> records(Kind kind) const {
    std::vector<Event> found;
    for (const Event& event : world.log->records) {
      if (event.kind == kind) found.push_back(event);
    }
    return found;
  }

  static ToolPtr tool_named(std::string name) {
    ToolSpec spec;
    spec.name = std::move(name);
    const JsonPoolHandler handler = [](const Json&, Invocation&) {
      return Result<ToolResult>(ToolResult::text("ran"));
    };
    return made(make_tool(std::move(spec), handler));
  }

  const Json kArgs = Json::object({{"n", 1}});
  Context served;  // of the tool call that is being made

 private:
  static Task<Result<RunResult>> run_through(const Middlewares& links, Context ctx, RunInput input,
                                             RunCore& core) {
    auto going = around_run(links, ctx, std::move(input), core);
    Result<RunResult> result = co_await std::move(going);
    co_return result;
  }
  static Task<Result<ModelTurn>> ask_through(const Middlewares& links, Context ctx,
                                             ModelRequest request, ModelCore& core) {
    auto going = around_model(links, ctx, std::move(request), core);
    Result<ModelTurn> turn = co_await std::move(going);
    co_return turn;
  }
  static Task<Result<ToolResult>> tool_through(const Middlewares& links, Context ctx, ToolPtr tool,
                                               ToolCore& core) {
    ToolInput input{.tool = tool, .args = ctx.args(), .call = ctx.id().call_id, .index = 3};
    auto going = around_tool(links, ctx, std::move(input), core);
    Result<ToolResult> result = co_await std::move(going);
    co_return result;
  }
  // A context must not outlive its loop.
  static Task<Result<ToolResult>> forget_served(HookTest* test, Task<Result<ToolResult>> calling) {
    Result<ToolResult> result = co_await std::move(calling);
    test->served = Context();
    co_return result;
  }
};

}  // namespace tug
