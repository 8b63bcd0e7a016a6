// Tools called from code: by a tool, a middleware, or whatever else holds a context of a run.
//
//   ToolResult sun = co_await tug::invoke(ctx, "forecast", Json::object({{"city", "Oslo"}}));
//
// Such a call goes the way of a model's: it must be known, allowed and valid, counts against the
// run's tool calls, passes the run's middleware, is a record before it happens and after, and has a
// context of its own below the caller's. It never fails: what goes wrong is a result that is not
// ok, and using up a limit is one too (LimitReached), not the end of the run. The model does not
// see it, and it does not count as one of the model's retries.
//
// Loop thread of the context. A context that belongs to no run under way gets an error result.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tug/context/context.h"
#include "tug/core/task.h"
#include "tug/core/wait.h"
#include "tug/middleware/middleware.h"
#include "tug/tools/tool.h"

namespace tug {

// What the call's context starts with besides what it inherits.
struct InvokeSeed {
  Json locals;                            // an object
  Inherited inherit;                      // for it and everything below
  std::vector<MiddlewarePtr> middleware;  // around this call alone, inside of the run's
};

// A tool of the run by its name, of any visibility but `hidden`. Where the caller is a tool with
// `allowed_tools`, it must be among them.
Task<ToolResult> invoke(Context ctx, std::string tool, Json args, InvokeSeed seed = {});
// A tool that the run does not have: an inline definition.
Task<ToolResult> invoke(Context ctx, ToolPtr tool, Json args, InvokeSeed seed = {});

// A call that nobody waits for yet. It belongs to the run: its cancellation reaches the call, and
// it is joined before the run ends. Dropping the handle changes nothing.
class DetachedCall {
 public:
  bool ended() const noexcept;
  // Stops the call alone.
  void cancel(std::string reason = {}) const;
  Task<ToolResult> result(Until until = {}) const;

 private:
  friend DetachedCall invoke_detached(Context ctx, std::string tool, Json args, InvokeSeed seed);
  struct Shared;
  explicit DetachedCall(std::shared_ptr<Shared> shared) noexcept : shared_(std::move(shared)) {}
  std::shared_ptr<Shared> shared_;
};
DetachedCall invoke_detached(Context ctx, std::string tool, Json args, InvokeSeed seed = {});

}  // namespace tug
