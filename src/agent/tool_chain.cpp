#include "agent/tool_chain.h"

#include "agent/run_tree.h"
#include "middleware/chain.h"
#include "tools/envelope.h"
#include "tug/tools/invoke.h"

namespace tug {
namespace {

// The tool itself.
class Invoking final : public ToolCore {
 public:
  Invoking(const BatchCall& call, CallVerdict& verdict) noexcept : call_(call), verdict_(verdict) {}

  Task<Result<ToolResult>> call(ToolInput) override {
    auto running = invoke(*call_.tool, call_.ctx, call_.args);
    ToolResult result = co_await std::move(running);
    // It is not over, so there is nothing that anybody could make of its end.
    if (RunTree::of(call_.ctx)->is_left_open(call_.ctx.id().call_id)) {
      co_return fail(ErrorKind::cancelled,
                     "the run below this call was parked; the call goes on with it");
    }
    verdict_ = verdict_on(result);
    call_.ctx.set_result(Json(result.content));
    co_return result;
  }

 private:
  const BatchCall& call_;
  CallVerdict& verdict_;
};

}  // namespace

CallVerdict verdict_on(const ToolResult& result) {
  CallVerdict verdict{.settled = true};
  if (result.ok) return verdict;
  verdict.error_type = std::string(result.metadata["error_type"].as_string());
  verdict.retry = result.metadata["retry"].as_bool() && !verdict.error_type.empty();
  return verdict;
}

Task<ToolResult> through_middleware(const std::vector<MiddlewarePtr>& chain, const BatchCall& call,
                                    std::uint32_t place, CallVerdict& verdict) {
  Invoking core(call, verdict);
  ToolInput input{
      .tool = call.tool, .args = call.args, .call = call.ctx.id().call_id, .index = place};
  auto around = around_tool(chain, call.ctx, std::move(input), core);
  Result<ToolResult> result = co_await std::move(around);
  const CallId& id = call.ctx.id().call_id;
  if (result) {
    ToolResult given = sealed(*call.tool, id, *std::move(result));
    if (!verdict.settled) {
      // Whoever answered instead of the tool does not use up the model's retries.
      verdict = verdict_on(given);
      verdict.retry = false;
    }
    if (!given.ok && verdict.error_type.empty()) {
      verdict.error_type = std::string(given.metadata["error_type"].as_string());
    }
    co_return given;
  }
  call.ctx.set_error(result.error());
  verdict = {.settled = true, .fatal = true, .error_type = "Exception", .error = result.error()};
  co_return sealed(*call.tool, id, ToolResult::error(to_string(result.error()), "Exception"));
}

}  // namespace tug
