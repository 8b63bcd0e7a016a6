#include "tug/agent/invoke.h"

#include <algorithm>

#include "agent/approvals.h"
#include "agent/attempt.h"
#include "agent/run_tree.h"
#include "agent/tool_chain.h"
#include "core/try.h"
#include "tools/envelope.h"
#include "tug/core/error_json.h"
#include "tug/core/sync.h"
#include "tug/journal/journal.h"
#include "tug/tools/invoke.h"

namespace tug {
namespace {

// The tool in whose invocation the caller stands; null outside of any.
const ToolSpec* calling_tool(const Context& ctx) {
  ConstContext at = ctx;
  if (!at.tool() && ctx.has_other_target()) at = ctx.target();
  while (!at.tool() && at.kind() != NodeKind::run && at.parent()) at = at.parent();
  return at.tool();
}

ToolResult refused(std::string why, std::string_view error_type) {
  return ToolResult::error(std::move(why), error_type);
}

ToolResult no_run() {
  return refused("this context belongs to no run that is under way", "Exception");
}

std::optional<ToolResult> not_allowed(const Context& ctx, const std::string& tool) {
  const ToolSpec* caller = calling_tool(ctx);
  if (!caller || !caller->allowed_tools) return std::nullopt;
  const auto& allowed = *caller->allowed_tools;
  if (std::ranges::find(allowed, tool) != allowed.end()) return std::nullopt;
  return refused("\"" + caller->name + "\" may not call \"" + tool + "\"", "ApprovalRejected");
}

// One call under way. Whatever happens, its start has a partner when this goes.
class CodeCall {
 public:
  CodeCall(RunTree& tree, RunId run) : tree_(tree.shared_from_this()), run_(std::move(run)) {}
  CodeCall(const CodeCall&) = delete;
  CodeCall& operator=(const CodeCall&) = delete;
  ~CodeCall() {
    if (open_) end(refused("the call was left unfinished", "Exception"), {});
  }

  void start(LiveRun& run, const Context& ctx, const Tool& tool, const Json& args) {
    const Seq seq = run.state.offset + run.ctx.events().last_seq() + 1;
    id_ = make_call_id(seq, 0);
    begun_ = run.ctx.loop().now();
    tool_ = tool.name();
    seq_ = record(run, Kind::tool_started,
                  payload::ToolStarted{.call_id = id_.text(),
                                       .provider_call_id = "",
                                       .tool = tool.name(),
                                       .index = 0,
                                       .arguments = args,
                                       .effect = std::string(name_of(tool.spec().effect)),
                                       .called_by = ctx.id().call_id.text()});
    open_ = true;
  }

  const CallId& id() const noexcept { return id_; }
  Seq seq() const noexcept { return seq_; }

  // Without a verdict of those around the tool it is what the result says.
  void end(const ToolResult& result, CallVerdict verdict) {
    open_ = false;
    LiveRun* run = tree_->find(run_);
    if (!run || run->state.ending) return;
    if (!verdict.settled) verdict = verdict_on(result);
    payload::ToolEnded ended{.call_id = id_.text(),
                             .tool = tool_,
                             .index = 0,
                             .ok = result.ok,
                             .output = result.content};
    ended.duration_ms = milliseconds(run->ctx.loop().now() - begun_);
    Kind kind = result.ok ? Kind::tool_completed : Kind::tool_failed;
    if (!result.ok) {
      if (verdict.error_type == "OutcomeUnknown") kind = Kind::tool_outcome_unknown;
      ended.error_type = verdict.error_type;
      if (verdict.error_type == "ToolCallCancelled") ended.cancelled = true;
    }
    if (verdict.fatal) ended.fatal = true;
    if (verdict.error) ended.error = to_json(*verdict.error);
    if (!result.metadata.is_null()) ended.metadata = result.metadata;
    record(*run, kind, ended);
  }

 private:
  std::shared_ptr<RunTree> tree_;
  RunId run_;
  CallId id_;
  std::string tool_;
  Instant begun_{};
  Seq seq_ = 0;
  bool open_ = false;
};

Result<Json> checked(const Tool& tool, const Json& args) {
  auto checked = check_arguments(tool, print_json(args.is_null() ? Json::object() : args));
  if (checked) return std::move(checked->args);
  return fail(ErrorKind::invalid, checked.error().message());
}

Task<ToolResult> call_from_code(Context ctx, ToolPtr tool, Json args, InvokeSeed seed) {
  const auto tree = RunTree::of(ctx);
  const RunId run_id = ctx.id().run_id;
  LiveRun* run = tree->find(run_id);
  if (!run || run->state.ending) co_return no_run();
  if (auto no = not_allowed(ctx, tool->name())) co_return *std::move(no);
  auto valid = checked(*tool, args);
  if (!valid) co_return refused(to_string(valid.error()), "ValidationError");
  const Judgement judgement = judge_call(*run, *tool, *valid);
  if (judgement.verdict != Judgement::Verdict::allow) {
    const bool asks = judgement.verdict == Judgement::Verdict::ask;
    co_return refused(judgement.reason + (asks ? ", and nobody can be asked inside code" : ""),
                      "ApprovalRejected");
  }
  auto hold = ctx.budget().hold({.tool_calls = 1});
  if (!hold) co_return refused(hold.error().message(), "LimitReached");
  hold->settle(hold->amount());
  CodeCall call(*tree, run_id);
  call.start(*run, ctx, *tool, *valid);
  const RunPlanPtr plan = run->plan;
  auto child = ctx.child({.kind = NodeKind::tool,
                          .call = call.id(),
                          .args = *valid,
                          .tool = tool->shared_spec(),
                          .locals = std::move(seed.locals),
                          .inherit = std::move(seed.inherit)});
  if (!child) {
    ToolResult failed = refused(to_string(child.error()), "Exception");
    call.end(failed, {});
    co_return failed;
  }
  ctx.add_frame(tool->name(), *valid);
  if (tool->spec().effect != Effect::pure) {
    // What is not pure is on disk before it happens.
    auto durable = ctx.events().durable(call.seq(), until_of(*run));
    Result<void> written = co_await std::move(durable);
    if (!written) {
      ToolResult failed = refused(written.error().message(), "Cancelled");
      call.end(failed, {});
      co_return failed;
    }
  }
  const BatchCall made{tool, *child, *valid};
  CallVerdict verdict;
  std::vector<MiddlewarePtr> chain = plan->middleware;
  chain.insert(chain.end(), seed.middleware.begin(), seed.middleware.end());
  auto running = through_middleware(chain, made, 0, verdict);
  ToolResult result = co_await std::move(running);
  call.end(result, verdict);
  co_return result;
}

}  // namespace

Task<ToolResult> invoke(Context ctx, ToolPtr tool, Json args, InvokeSeed seed) {
  return call_from_code(std::move(ctx), std::move(tool), std::move(args), std::move(seed));
}

Task<ToolResult> invoke(Context ctx, std::string name, Json args, InvokeSeed seed) {
  LiveRun* run = RunTree::of(ctx)->find(ctx.id().run_id);
  if (!run) co_return no_run();
  ToolPtr tool = run->plan->tools.share(name);
  if (!tool) {
    std::vector<std::string> names;
    for (const ToolPtr& known : run->plan->tools.all()) names.push_back(known->name());
    co_return unknown_tool_result(name, run->plan->tools.nearest(name), names);
  }
  auto calling = call_from_code(std::move(ctx), std::move(tool), std::move(args), std::move(seed));
  ToolResult result = co_await std::move(calling);
  co_return result;
}

struct DetachedCall::Shared {
  explicit Shared(CancelToken token) : cancel(std::move(token)) {}
  CancelToken cancel;
  std::optional<ToolResult> result;
  Signal done{"the end of a call"};
};

bool DetachedCall::ended() const noexcept { return shared_->result.has_value(); }

void DetachedCall::cancel(std::string reason) const {
  shared_->cancel.request({CancelReason::Why::user, std::move(reason)});
}

Task<ToolResult> DetachedCall::result(Until until) const {
  const auto shared = shared_;
  const Woken woken = co_await shared->done.wait(until);
  if (shared->result) co_return *shared->result;
  co_return refused(wait_error(woken, until, "the end of a call").message(), "Cancelled");
}

DetachedCall invoke_detached(Context ctx, std::string tool, Json args, InvokeSeed seed) {
  LiveRun* run = RunTree::of(ctx)->find(ctx.id().run_id);
  // The context's own cancellation reaches the call anyway.
  const CancelToken& above = run ? run->background.token() : ctx.cancel();
  auto shared = std::make_shared<DetachedCall::Shared>(above.child());
  if (!run) {
    shared->result = no_run();
    shared->done.set();
    return DetachedCall(std::move(shared));
  }
  struct Detached {
    static Task<void> go(std::shared_ptr<DetachedCall::Shared> shared, Context ctx,
                         std::string tool, Json args, InvokeSeed seed) {
      auto calling = invoke(std::move(ctx), std::move(tool), std::move(args), std::move(seed));
      ToolResult result = co_await std::move(calling);
      shared->result = std::move(result);
      shared->done.set();
    }
    // As long as it runs, its run can move.
    static Task<void> count(LiveRun& run, Task<void> call) {
      ++run.detached;
      co_await std::move(call);
      --run.detached;
      run.tree.look_later();
    }
  };
  // A node of its own, so that the call can be stopped without its caller.
  auto own = ctx.child({.kind = NodeKind::tool,
                        .call = ctx.id().call_id,
                        .tool = nullptr,
                        .cancel = shared->cancel});
  auto call =
      Detached::go(shared, own ? *own : ctx, std::move(tool), std::move(args), std::move(seed));
  run->background.spawn(Detached::count(*run, std::move(call)));
  return DetachedCall(std::move(shared));
}

}  // namespace tug
