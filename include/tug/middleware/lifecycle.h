// Nine plain functions around a run: middleware for those who need no `next`.
//
//   harness.use(make_lifecycle({
//       .name = "audit",
//       .before_tool = [](const Context& ctx, const ToolInput& input) -> Result<void> { .. },
//       .after_agent = [](const Context& ctx, RunResult& result) -> Result<void> { .. },
//   }));
//
// Those before and the delta hooks are called in the order in which the middleware was added, those
// after in the reverse order; all of them stand outside of middleware that wraps, so a wrap that
// answers instead of the model is still followed by after_model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tug/middleware/hook_counts.h"
#include "tug/middleware/middleware.h"

namespace tug {

enum class DeltaFate : std::uint8_t { keep, drop };

// Each hook may be left out. They are called on the run's loop and return at once; runs on other
// loops may be in the same hook at the same time. `ctx` is the context that is served: of the run,
// or of the tool call. What is passed as a plain reference may be edited.
//
// An error, or what is thrown, ends the run with that error (`hook.failed` says which hook it was),
// and hooks that would have come after it are not called.
struct Lifecycle {
  std::string name;

  std::function<Result<void>(const Context& ctx, RunInput& input)> before_agent;
  // After every ending that is no failure: completed, and parked.
  std::function<Result<void>(const Context& ctx, RunResult& result)> after_agent;

  std::function<Result<void>(const Context& ctx, ModelRequest& request)> before_model;
  // A piece of text, reasoning or a call, before anyone sees it.
  std::function<Result<DeltaFate>(const Context& ctx, ModelEvent& delta)> on_model_delta;
  std::function<Result<void>(const Context& ctx, ModelTurn& turn)> after_model;

  std::function<Result<void>(const Context& ctx, const ToolInput& input)> before_tool;
  // Whatever the running tool says of itself (`tool.progress`). An error counts once the tool has
  // ended.
  std::function<Result<void>(const Context& ctx, const Json& progress)> on_tool_delta;
  // Also after a call that failed, not after one that ended the run.
  std::function<Result<void>(const Context& ctx, ToolResult& result)> after_tool;

  // Once, after the terminal event of a run that failed or was cancelled. What it throws is
  // dropped: there is no run any more that it could change.
  std::function<void(const Context& ctx, const Error& error)> on_error;

  std::shared_ptr<HookCounts> counts;  // counts the calls of these hooks; may be null
};

MiddlewarePtr make_lifecycle(Lifecycle hooks);

}  // namespace tug
