#include "tug/tools/invoke.h"

#include "tools/envelope.h"
#include "tools/invocation_door.h"
#include "tug/context/context.h"
#include "tug/core/scope.h"
#include "tug/io/engine.h"
#include "tug/tools/detail/handler.h"

namespace tug {
namespace {

struct Deadline {
  Instant at = kNever;
  Duration allowed{};
  bool is_tools_own = false;  // the tool's timeout, not the budget's
};

Deadline deadline_of(const Tool& tool, const Context& ctx) {
  const Instant now = ctx.loop().now();
  Deadline deadline{.at = ctx.budget().deadline(now)};
  if (tool.spec().timeout && later(now, *tool.spec().timeout) <= deadline.at)
    deadline = {later(now, *tool.spec().timeout), {}, true};
  deadline.allowed = deadline.at - now;
  return deadline;
}

std::string in_words(Duration time) {
  using std::chrono::duration_cast;
  const auto milliseconds = duration_cast<std::chrono::milliseconds>(time);
  if (milliseconds == time) return std::to_string(milliseconds.count()) + " ms";
  if (time < std::chrono::milliseconds(1))
    return std::to_string(duration_cast<std::chrono::microseconds>(time).count()) + " us";
  return std::to_string(milliseconds.count()) + " ms";
}

ToolResult timeout_result(const Deadline& deadline) {
  std::string text = "timed out after " + in_words(deadline.allowed);
  if (!deadline.is_tools_own) text += ", when the time of the run was over";
  return ToolResult::error(std::move(text), "Timeout");
}

ToolResult stopped_result(const Context& ctx) {
  std::string text = "the call was cancelled";
  const CancelReason* reason = ctx.cancel_reason();
  if (reason && !reason->text.empty()) text += ": " + reason->text;
  ToolResult result = ToolResult::error(std::move(text), "Cancelled");
  set_metadata(result, "cancelled", true);
  return result;
}

// The handler's answer, or why there is none.
ToolResult settled(Result<ToolResult> answer, const Context& ctx, const Deadline& deadline) {
  if (answer) return *std::move(answer);
  const Error& error = answer.error();
  if (error.detail_if<OutcomeUnknown>()) {
    return ToolResult::error(
        "the tool was asked to stop and did not end; nobody knows whether what it was asked to do "
        "has happened",
        "OutcomeUnknown");
  }
  const Limit* limit = error.detail_if<Limit>();
  const bool late = deadline.at != kNever && ctx.loop().now() >= deadline.at;
  const CancelReason* reason = ctx.cancel_reason();
  const bool stopped_late = late && (!reason || reason->why == CancelReason::Why::deadline);
  if (error.kind() == ErrorKind::cancelled) {
    if (stopped_late) return timeout_result(deadline);
    ToolResult result = stopped_result(ctx);
    if (!reason) result.content = to_string(error);
    return result;
  }
  if (stopped_late && error.kind() == ErrorKind::exhausted && limit &&
      limit->kind == LimitKind::wall_clock) {
    return timeout_result(deadline);
  }
  return ToolResult::error(to_string(error), "Exception");
}

ToolResult refused(const Error& error) {
  if (error.kind() != ErrorKind::invalid) return ToolResult::error(to_string(error), "Exception");
  ToolResult result = ToolResult::error(to_string(error), "InvalidArguments");
  let_model_retry(result);
  return result;
}

Result<ToolWork> bind_call(const Tool& tool, Context& ctx, const Json& args) noexcept {
  try {
    return tool.code().bind(ctx, args);
  } catch (...) {
    return ToolWork(std::in_place_type<Result<ToolResult>>, thrown_result());
  }
}

Task<ToolResult> run_on_loop(LoopWork work, const Context& ctx, Deadline deadline) {
  if (!work) co_return detail::empty_task_result();
  std::optional<detail::DeadlineGuard> guard;
  if (deadline.at != kNever) guard.emplace(ctx.loop(), deadline.at, ctx.cancel());
  try {
    Result<ToolResult> answer = co_await std::move(work);
    co_return settled(std::move(answer), ctx, deadline);
  } catch (...) {
    co_return thrown_result();
  }
}

Task<ToolResult> run_on_pool(const Tool& tool, PoolWork work, const Context& ctx,
                             Deadline deadline) {
  Engine* engine = ctx.services().get<Engine>();
  if (!engine) {
    co_return ToolResult::error("the tool needs the worker pool, and the services have no Engine",
                                "Exception");
  }
  Invocation call(ctx, {});
  InvocationStart::Open open(call);
  auto function = [work = std::move(work),
                   call = std::move(call)](std::stop_token stop) mutable -> Result<ToolResult> {
    InvocationStart::begin(call, std::move(stop));
    try {
      return work(call);
    } catch (...) {
      return thrown_result();
    }
  };
  Until until{ctx.cancel(), deadline.at};
  std::string name = tool.name();
  auto offloading = engine->offload(std::move(name), std::move(function), std::move(until));
  Result<ToolResult> answer = co_await std::move(offloading);
  co_return settled(std::move(answer), ctx, deadline);
}

}  // namespace

ToolResult cancelled_result(const Tool& tool, const Context& ctx) {
  return sealed(tool, ctx.id().call_id, stopped_result(ctx));
}

Task<ToolResult> invoke(const Tool& tool, Context ctx, Json args) {
  const CallId& call = ctx.id().call_id;
  if (ctx.cancelled()) co_return cancelled_result(tool, ctx);
  Result<ToolWork> work = bind_call(tool, ctx, args);
  if (!work) co_return sealed(tool, call, refused(work.error()));
  if (auto* answer = std::get_if<Result<ToolResult>>(&*work))
    co_return sealed(tool, call, settled(std::move(*answer), ctx, {}));
  const Deadline deadline = deadline_of(tool, ctx);
  if (auto* on_loop = std::get_if<LoopWork>(&*work)) {
    auto running = run_on_loop(std::move(*on_loop), ctx, deadline);
    ToolResult result = co_await std::move(running);
    co_return sealed(tool, call, std::move(result));
  }
  auto running = run_on_pool(tool, std::get<PoolWork>(std::move(*work)), ctx, deadline);
  ToolResult result = co_await std::move(running);
  co_return sealed(tool, call, std::move(result));
}

}  // namespace tug
