// One invocation going through its middleware.
#pragma once

#include <memory>
#include <vector>

#include "tug/middleware/middleware.h"

namespace tug {

using Middlewares = std::vector<MiddlewarePtr>;

namespace detail {

// What a chain ends in: the model, the tool, the run itself.
template <class In, class Out>
class ChainCore {
 public:
  virtual ~ChainCore() = default;
  virtual Task<Result<Out>> call(In in) = 0;
};

template <class In, class Out>
class ChainRun {
 public:
  ChainRun(const Middlewares& links, Context served, ChainCore<In, Out>& core);
  // Everything from `place` on.
  Task<Result<Out>> from(std::size_t place, In in);
  void inject(std::size_t place, MiddlewarePtr other);

 private:
  Task<Result<Out>> enter(std::size_t place, In in);

  Middlewares links_;
  Context served_;
  ChainCore<In, Out>& core_;
};

}  // namespace detail

using RunCore = detail::ChainCore<RunInput, RunResult>;
using ModelCore = detail::ChainCore<ModelRequest, ModelTurn>;
using ToolCore = detail::ChainCore<ToolInput, ToolResult>;

// Goes through `links`, those that have the hook, to `core`. What a middleware throws is its
// failure and a record (`middleware.failed`). Both must outlive the task. Loop thread.
Task<Result<RunResult>> around_run(const Middlewares& links, Context served, RunInput input,
                                   RunCore& core);
Task<Result<ModelTurn>> around_model(const Middlewares& links, Context served, ModelRequest request,
                                     ModelCore& core);
Task<Result<ToolResult>> around_tool(const Middlewares& links, Context served, ToolInput input,
                                     ToolCore& core);

// Adapters of hooks first, then what wraps, each in the order given.
Middlewares in_order(const Middlewares& list);

}  // namespace tug
