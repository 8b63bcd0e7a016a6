// Code around a run, a model call or a tool call.
//
// A hook gets a context of its own (kind `middleware`) whose target() is the context it serves, the
// value that goes in, and `next`: the rest of the chain. What it does before `next.run(..)` happens
// on the way in, what it does after on the way out; the first middleware is outermost. A hook that
// does not call `next` ends the chain with its own answer; one may call it again.
//
//   Task<Result<ModelTurn>> around_model(Context ctx, ModelRequest request, NextModel& next) {
//     auto asking = next.run(std::move(request));
//     Result<ModelTurn> turn = co_await std::move(asking);
//     ..
//     co_return turn;
//   }
//
// A failure, of `next.fail` or thrown, ends the run with `error`. What must survive a crash is kept
// with ctx.remember. A middleware serves many runs at once, each on its own loop: what it keeps in
// members must bear that.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tug/context/context.h"
#include "tug/context/run_result.h"
#include "tug/core/task.h"
#include "tug/model/model.h"
#include "tug/tools/tool.h"

namespace tug {

class Middleware;
using MiddlewarePtr = std::shared_ptr<Middleware>;

// A segment of a run, from its start or from where it is taken up again to its terminal event.
struct RunInput {
  std::string prompt;  // as it was given; changing it changes nothing
  bool resumed = false;
  std::vector<std::string> context;  // what the model is told after the prompt, a message each
};

// One call that was admitted. Arguments are set once: changing them changes nothing.
struct ToolInput {
  ToolPtr tool;
  Json args;
  CallId call;
  std::uint32_t index = 0;  // within its turn
};

namespace detail {
template <class In, class Out>
class ChainRun;
}

// The rest of a chain, as one middleware sees it. Lives as long as the hook's task.
template <class In, class Out>
class Next {
 public:
  // Everything after this middleware, the model or the tool itself included. A model is asked one
  // request at a time: `invalid` for another one beside it.
  Task<Result<Out>> run(In in);
  // Puts another in right after this one and those injected before it, for this invocation. After
  // run() it changes nothing that has run. More than 1000 around one call fail it (`exhausted`).
  void inject(MiddlewarePtr other);
  // To end the chain here: co_return next.finish(..).
  Result<Out> finish(Out out) { return out; }
  Result<Out> fail(Error error) { return Failure(std::move(error)); }

 private:
  friend class detail::ChainRun<In, Out>;
  Next(detail::ChainRun<In, Out>& chain, std::size_t place) : chain_(chain), place_(place) {}
  detail::ChainRun<In, Out>& chain_;
  std::size_t place_;  // of what comes next
  std::size_t injected_ = 0;
};
using NextRun = Next<RunInput, RunResult>;
using NextModel = Next<ModelRequest, ModelTurn>;
using NextTool = Next<ToolInput, ToolResult>;

// Which hooks a middleware has. The others are not entered at all.
struct Around {
  bool run = true;
  bool model = true;
  bool tool = true;
};

class Middleware {
 public:
  virtual ~Middleware() = default;
  virtual std::string name() const = 0;
  virtual Json settings() const { return {}; }  // shown in ctx.chain(); no secrets
  virtual Around around() const noexcept { return {}; }
  // Adapters of before and after hooks: they stand outside of all that wrap, in their own order.
  virtual bool is_hooks() const noexcept { return false; }

  // The result may be changed on the way out: status, stop, error, text and output are what the
  // terminal event says.
  virtual Task<Result<RunResult>> around_run(Context ctx, RunInput input, NextRun& next);
  // One finished request for a known model. Retries are below; a fallback is another call. The turn
  // that comes back is what is recorded. To edit words as they are streamed, add a DeltaFilter.
  virtual Task<Result<ModelTurn>> around_model(Context ctx, ModelRequest request, NextModel& next);
  // A result that is not ok is told to the model; whether it counts as a retry was settled before.
  virtual Task<Result<ToolResult>> around_tool(Context ctx, ToolInput input, NextTool& next);

  // After the terminal event of a run that failed or was cancelled, once. Returns at once.
  virtual void on_error(Context ctx, const Error& error) {
    static_cast<void>(ctx);
    static_cast<void>(error);
  }
};

// Middleware that every run below a context has too, besides its harness's: a typed value of the
// context. `Harness` reads it when a child run starts.
struct InheritedMiddleware {
  std::vector<MiddlewarePtr> list;
};

}  // namespace tug
