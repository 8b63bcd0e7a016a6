#include "agent/calls.h"

#include <algorithm>
#include <deque>

#include "agent/admission.h"
#include "agent/approvals.h"
#include "agent/attempt.h"
#include "agent/tool_chain.h"
#include "tug/core/error_json.h"
#include "tug/journal/journal.h"
#include "tug/tools/batch.h"
#include "tug/tools/invoke.h"

namespace tug {
namespace {

// A failure as its tool wants it told.
void apply_policy(const Tool& tool, ToolResult& result, payload::ToolEnded& ended) {
  if (result.ok || result.metadata["error_type"].as_string() == "Cancelled") return;
  if (tool.spec().on_error == OnError::say) result.content = tool.spec().error_text;
  if (tool.spec().on_error == OnError::fail_run && !result.metadata["retry"].as_bool()) {
    ended.fatal = true;
  }
}

void record_end(LiveRun& run, const OpenCall& open, std::uint32_t index, ToolResult result,
                const CallVerdict& verdict, Duration took) {
  payload::ToolEnded ended{
      .call_id = open.call.id.text(), .tool = open.call.tool, .index = index, .ok = result.ok};
  ended.duration_ms = milliseconds(took);
  const Tool* tool = run.plan->tools.find(open.call.tool);
  if (tool) apply_policy(*tool, result, ended);
  if (verdict.fatal) ended.fatal = true;
  if (verdict.error) ended.error = to_json(*verdict.error);
  ended.output = std::move(result.content);
  Kind kind = result.ok ? Kind::tool_completed : Kind::tool_failed;
  if (!result.ok) {
    if (verdict.error_type == "OutcomeUnknown") kind = Kind::tool_outcome_unknown;
    ended.error_type = verdict.error_type;
    if (verdict.error_type == "ToolCallCancelled") ended.cancelled = true;
    ended.retryable = verdict.retry;
  }
  if (verdict.retry && tool) {
    ended.retryable = true;
    ended.retry_kind = verdict.error_type;
    ended.used = retries_used(run, open.call.tool);
    ended.budget = run.plan->retries_of(*tool);
  }
  if (!result.metadata.is_null()) ended.metadata = std::move(result.metadata);
  record(run, kind, ended);
}

// Records the partner of every call of a batch; calls that are left without one get it from here.
// A call whose child was parked is left open: whoever resumes the root goes on with it.
class CallPartners final : public BatchObserver {
 public:
  CallPartners(LiveRun& run, CancelToken batch) : run_(run), batch_(std::move(batch)) {}
  CallPartners(const CallPartners&) = delete;
  CallPartners& operator=(const CallPartners&) = delete;
  ~CallPartners() override { end_all("the call was left unfinished", "Exception"); }

  bool has(std::uint32_t place) const { return place < known_.size() && known_[place]; }
  void add(std::uint32_t place, const Context& ctx) {
    calls_.push_back({.place = place, .id = run_.state.calls[place].call.id});
    known_.resize(run_.state.calls.size());
    known_[place] = true;
    if (!run_.plan->middleware.empty()) calls_.back().ctx = ctx;
  }
  // Calls that are added from now on wait until that record is on disk.
  void gate_from_now(Seq seq) {
    gate_ = seq;
    gated_from_ = calls_.size();
    while (gated_from_ > 0 && !calls_[gated_from_ - 1].begun) --gated_from_;
  }

  void on_begin(std::size_t index) override { calls_[index].begun = true; }
  // What has not begun when the tree parks begins when it is taken up again.
  bool may_begin() const override { return !run_.tree.parking(); }
  void leave_what_may_not_begin() {
    if (may_begin()) return;
    for (Partner& partner : calls_) partner.ended = partner.ended || !partner.begun;
  }

  Task<ToolResult> run(const BatchCall& call, std::size_t index) override {
    if (gate_ > 0 && index >= gated_from_) return run_gated(call, index);
    return run_now(call, index);
  }

  void on_end(std::size_t index, ToolResult result, Duration took) override {
    Partner& partner = calls_[index];
    partner.ended = true;
    run_.tree.look_later();
    if (run_.tree.is_left_open(partner.id)) return;
    CallVerdict& verdict = partner.verdict;
    if (!verdict.settled) verdict = verdict_on(result);
    // Records first: what stops the others must not come before its cause.
    record_end(run_, run_.state.calls[partner.place], partner.place, std::move(result), verdict,
               took);
    if (verdict.fatal) stop_others(index);
  }

  void end_all(const std::string& why, std::string_view error_type) {
    std::vector<std::uint32_t> left;
    for (Partner& partner : calls_) {
      if (!std::exchange(partner.ended, true)) left.push_back(partner.place);
    }
    end_these(left, why, error_type);
  }

  void end_these(const std::vector<std::uint32_t>& places, const std::string& why,
                 std::string_view error_type) {
    const CallId turn = run_.state.calls.empty() ? CallId() : run_.state.calls[0].call.id;
    for (std::uint32_t place : places) {
      // The last result closes the turn and takes its calls away.
      if (run_.state.calls.empty() || run_.state.calls[0].call.id != turn) break;
      const OpenCall& open = run_.state.calls[place];
      if (open.result) continue;
      ToolResult result = ToolResult::error(why, error_type);
      const CallVerdict verdict = verdict_on(result);
      record_end(run_, open, place, std::move(result), verdict, {});
    }
  }

 private:
  struct Partner {
    std::uint32_t place = 0;
    CallId id;
    CallVerdict verdict;
    Context ctx;  // where there is middleware
    bool begun = false;
    bool ended = false;
  };

  Task<ToolResult> run_now(const BatchCall& call, std::size_t index) {
    if (run_.plan->middleware.empty()) return BatchObserver::run(call, index);
    return through_middleware(run_.plan->middleware, call, calls_[index].place,
                              calls_[index].verdict);
  }

  Task<ToolResult> run_gated(const BatchCall& call, std::size_t index) {
    auto durable = run_.ctx.events().durable(gate_, until_of(run_));
    Result<void> written = co_await std::move(durable);
    if (!written) co_return ToolResult::error(written.error().message(), "Cancelled");
    auto running = run_now(call, index);
    ToolResult result = co_await std::move(running);
    co_return result;
  }

  void stop_others(std::size_t index) {
    const CancelReason reason{CancelReason::Why::parent, "another call of the turn ended the run"};
    batch_.request(reason);
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (i != index && calls_[i].ctx) calls_[i].ctx.cancel().request(reason);
    }
  }

  LiveRun& run_;
  CancelToken batch_;
  std::deque<Partner> calls_;  // references to them stay good
  std::vector<bool> known_;    // by place
  Seq gate_ = 0;
  std::size_t gated_from_ = 0;
};

// The calls of a turn that run, and those that join them when somebody has decided about them.
class RunningCalls {
 public:
  explicit RunningCalls(LiveRun& run)
      : run_(run),
        stop_(run.plan->middleware.empty() ? run.ctx.cancel() : run.ctx.cancel().child()),
        partners_(run, stop_),
        batch_(run.ctx.loop(), partners_, stop_, run.plan->max_concurrency,
               run.plan->sequential ? BatchOrder::sequential : BatchOrder::automatic) {}
  RunningCalls(const RunningCalls&) = delete;
  RunningCalls& operator=(const RunningCalls&) = delete;
  ~RunningCalls() {
    run_.batch = nullptr;
    run_.on_freed = nullptr;
  }

  // Those that were started and are not among them yet. The newest record that must be on disk
  // before they happen; 0 when there is none.
  Seq collect(std::vector<BatchCall>& calls) {
    Seq gate = 0;
    std::vector<std::uint32_t> gone;
    std::vector<std::pair<std::uint32_t, std::string>> refused;
    for (std::uint32_t i = 0; i < run_.state.calls.size(); ++i) {
      const OpenCall& open = run_.state.calls[i];
      if (!open.started || open.result || partners_.has(i)) continue;
      const ToolPtr tool = run_.plan->tools.share(open.call.tool);
      if (!tool) {
        gone.push_back(i);
        continue;
      }
      if (std::string why = refused_since(run_, open); !why.empty()) {
        refused.emplace_back(i, std::move(why));
        continue;
      }
      auto ctx = run_.ctx.child({.kind = NodeKind::tool,
                                 .call = open.call.id,
                                 .args = open.args,
                                 .tool = tool->shared_spec()});
      if (!ctx) throw std::logic_error(ctx.error().message());
      run_.ctx.add_frame(open.call.tool, open.args);
      if (tool->spec().effect != Effect::pure) gate = std::max(gate, open.started);
      partners_.add(i, *ctx);
      calls.push_back({tool, *std::move(ctx), open.args});
    }
    partners_.end_these(gone, "this tool is not available any more", "UnknownTool");
    for (const auto& [place, why] : refused) partners_.end_these({place}, why, "ApprovalRejected");
    return gate;
  }

  CallPartners& partners() noexcept { return partners_; }

  Task<void> run(std::vector<BatchCall> calls) {
    run_.batch = &batch_;
    run_.on_freed = [this] { add_freed(); };
    batch_.add(std::move(calls));
    auto joining = batch_.join();
    co_await std::move(joining);
    partners_.leave_what_may_not_begin();
  }

 private:
  void add_freed() {
    if (run_.state.doom) return;
    if (run_.state.phase == Phase::admitting) admit(run_);
    std::vector<BatchCall> calls;
    const Seq gate = collect(calls);
    if (calls.empty()) return;
    partners_.gate_from_now(gate);
    batch_.add(std::move(calls));
  }

  LiveRun& run_;
  CancelToken stop_;
  CallPartners partners_;
  CallBatch batch_;
};

}  // namespace

Task<void> run_calls(LiveRun& run) {
  RunningCalls running(run);
  std::vector<BatchCall> calls;
  const Seq gate = running.collect(calls);
  if (calls.empty()) co_return;
  if (gate > 0) {
    // What is not pure is on disk before it happens.
    auto durable = run.ctx.events().durable(gate, until_of(run));
    Result<void> written = co_await std::move(durable);
    if (!written) {
      running.partners().end_all(written.error().message(), "Cancelled");
      co_return;
    }
  }
  auto all = running.run(std::move(calls));
  co_await std::move(all);
}

}  // namespace tug
