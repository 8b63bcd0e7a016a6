#include "agent/calls.h"

#include "agent/attempt.h"
#include "agent/tool_chain.h"
#include "tug/core/error_json.h"
#include "tug/journal/journal.h"
#include "tug/tools/batch.h"
#include "tug/tools/invoke.h"

namespace tug {
namespace {

// What a model may call: a tool for code alone is none of it.
const Tool* callable(const RunPlan& plan, std::string_view name) {
  const Tool* tool = plan.tools.find(name);
  return tool && tool->spec().visibility == Visibility::model ? tool : nullptr;
}

std::vector<std::string> names_of(const RunPlan& plan) {
  std::vector<std::string> names;
  for (const auto& spec : *plan.specs) names.push_back(spec->name);
  return names;
}

bool is_final(const LiveRun& run, const ToolCall& call) {
  return run.plan->output && run.plan->output->tool && call.tool == kFinalResult;
}

void record_unknown(LiveRun& run, const ToolCall& call) {
  const std::string nearest = run.plan->tools.nearest(call.tool);
  payload::ToolUnknown unknown{
      .call_id = call.id.text(), .tool = call.tool, .arguments = arguments_of(call)};
  if (!nearest.empty()) unknown.nearest = nearest;
  unknown.output = unknown_tool_result(call.tool, nearest, names_of(*run.plan)).content;
  record(run, Kind::tool_unknown, unknown);
}

// How often the model has had to repair its calls of this tool, this time included.
std::uint32_t retries_used(const LiveRun& run, const std::string& tool) {
  const auto& counts = run.state.counts.tool_retries;
  const auto found = counts.find(tool);
  return 1 + (found == counts.end() ? 0 : static_cast<std::uint32_t>(found->second));
}

void record_invalid(LiveRun& run, const ToolCall& call, const Tool& tool,
                    const BadArguments& error) {
  ToolResult told = invalid_arguments_result(tool, error);
  payload::ToolInvalidArgs invalid{.call_id = call.id.text(),
                                   .tool = call.tool,
                                   .arguments = arguments_of(call),
                                   .error = error.message(),
                                   .output = std::move(told.content)};
  invalid.error_type = std::string(told.metadata["error_type"].as_string());
  if (const Json* errors = told.metadata.find("errors")) invalid.errors = *errors;
  invalid.retryable = true;
  invalid.used = retries_used(run, call.tool);
  invalid.budget = run.plan->retries_of(tool);
  record(run, Kind::tool_invalid_args, invalid);
}

// Nobody can be asked yet, so what needs approval is never run.
void record_denied(LiveRun& run, const ToolCall& call) {
  record(run, Kind::tool_denied,
         payload::ToolDenied{.call_id = call.id.text(),
                             .tool = call.tool,
                             .reason = "it requires approval, and nobody can be asked",
                             .output = "The call was denied: \"" + call.tool +
                                       "\" requires approval, and nobody can be asked. Do without "
                                       "it."});
}

void admit_call(LiveRun& run, const ToolCall& call, std::uint32_t index) {
  const Tool* tool = callable(*run.plan, call.tool);
  if (!tool) return record_unknown(run, call);
  auto checked = check_arguments(*tool, call.arguments);
  if (!checked) return record_invalid(run, call, *tool, checked.error());
  for (const std::string& field : checked->forged) {
    record(
        run, Kind::tool_forged_argument,
        payload::ToolForgedArgument{.call_id = call.id.text(), .tool = call.tool, .field = field});
  }
  if (tool->spec().requires_approval) return record_denied(run, call);
  payload::ToolStarted started{.call_id = call.id.text(),
                               .provider_call_id = call.provider_id,
                               .tool = call.tool,
                               .index = index,
                               .arguments = std::move(checked->args),
                               .effect = std::string(name_of(tool->spec().effect))};
  if (checked->repaired) started.repaired = true;
  record(run, Kind::tool_started, started);
}

// Calls of final_result that stand beside others: none of them is the answer.
void answer_finals(LiveRun& run, const std::vector<ToolCall>& finals, bool several) {
  for (const ToolCall& call : finals) {
    record(run, Kind::output_retry,
           payload::OutputRetry{
               .attempt = 0,
               .error = several ? "not taken: send exactly one final_result"
                                : "not final: other tools were called in the same turn; send it "
                                  "again, alone, when they are done",
               .reason = several ? "several" : "not_final",
               .call_id = call.id.text()});
  }
}

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
class CallPartners final : public BatchObserver {
 public:
  CallPartners(LiveRun& run, std::vector<std::uint32_t> places)
      : run_(run), places_(std::move(places)), verdicts_(places_.size()), left_(places_.size()) {}
  CallPartners(const CallPartners&) = delete;
  CallPartners& operator=(const CallPartners&) = delete;
  ~CallPartners() override {
    if (left_ > 0) end_all("the call was left unfinished", "Exception");
  }

  void expect(std::vector<Context> contexts, CancelToken batch) {
    contexts_ = std::move(contexts);
    batch_ = std::move(batch);
  }

  Task<ToolResult> run(const BatchCall& call, std::size_t index) override {
    if (run_.plan->middleware.empty()) return BatchObserver::run(call, index);
    return through_middleware(run_.plan->middleware, call, places_[index], verdicts_[index]);
  }

  void on_end(std::size_t index, ToolResult result, Duration took) override {
    --left_;
    CallVerdict& verdict = verdicts_[index];
    if (!verdict.settled) verdict = verdict_on(result);
    // Records first: what stops the others must not come before its cause.
    const std::uint32_t place = places_[index];
    record_end(run_, run_.state.calls[place], place, std::move(result), verdict, took);
    if (verdict.fatal) stop_others(index);
  }

  void end_all(const std::string& why, std::string_view error_type) {
    const CallId turn = run_.state.calls.empty() ? CallId() : run_.state.calls[0].call.id;
    for (std::uint32_t place : places_) {
      // The last result closes the turn and takes its calls away.
      if (run_.state.calls.empty() || run_.state.calls[0].call.id != turn) break;
      const OpenCall& open = run_.state.calls[place];
      if (open.result) continue;
      --left_;
      ToolResult result = ToolResult::error(why, error_type);
      const CallVerdict verdict = verdict_on(result);
      record_end(run_, open, place, std::move(result), verdict, {});
    }
  }

 private:
  void stop_others(std::size_t index) {
    const CancelReason reason{CancelReason::Why::parent, "another call of the turn ended the run"};
    batch_.request(reason);
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
      if (i != index) contexts_[i].cancel().request(reason);
    }
  }

  LiveRun& run_;
  std::vector<std::uint32_t> places_;
  std::vector<CallVerdict> verdicts_;
  std::vector<Context> contexts_;
  CancelToken batch_;
  std::size_t left_;
};

}  // namespace

void admit(LiveRun& run) {
  std::vector<std::uint32_t> undecided;
  std::vector<ToolCall> finals;
  std::size_t all_finals = 0;
  for (std::uint32_t i = 0; i < run.state.calls.size(); ++i) {
    const OpenCall& open = run.state.calls[i];
    all_finals += is_final(run, open.call);
    if (open.started || open.result) continue;
    if (is_final(run, open.call)) {
      finals.push_back(open.call);
    } else {
      undecided.push_back(i);
    }
  }
  auto hold = run.ctx.budget().hold({.tool_calls = static_cast<std::int64_t>(undecided.size())});
  if (!hold) {
    record_limit(run, *hold.error().detail_if<Limit>());
    return;
  }
  hold->settle(hold->amount());
  answer_finals(run, finals, all_finals > 1);
  for (std::uint32_t i : undecided) {
    // By value: the record that decides the last call may close the turn.
    const ToolCall call = run.state.calls[i].call;
    admit_call(run, call, i);
  }
}

void refuse_cut_calls(LiveRun& run) {
  std::vector<ToolCall> calls;
  std::int64_t counted = 0;
  for (const OpenCall& open : run.state.calls) {
    if (open.started || open.result) continue;
    calls.push_back(open.call);
    counted += !is_final(run, open.call);
  }
  // They are not run, but they count, so they are held like others.
  auto hold = run.ctx.budget().hold({.tool_calls = counted});
  if (!hold) {
    record_limit(run, *hold.error().detail_if<Limit>());
    return;
  }
  hold->settle(hold->amount());
  constexpr std::string_view kWhy =
      "The turn was cut before this call was complete, so it was not run. Send it again, smaller.";
  for (const ToolCall& call : calls) {
    if (is_final(run, call)) {
      record(run, Kind::output_retry,
             payload::OutputRetry{.attempt = 0,
                                  .error = std::string(kWhy),
                                  .reason = "length",
                                  .call_id = call.id.text()});
      continue;
    }
    record(run, Kind::tool_invalid_args,
           payload::ToolInvalidArgs{.call_id = call.id.text(),
                                    .tool = call.tool,
                                    .arguments = arguments_of(call),
                                    .error = "the turn was cut by length",
                                    .output = std::string(kWhy)});
  }
}

Task<void> run_calls(LiveRun& run) {
  std::vector<BatchCall> batch;
  std::vector<Context> contexts;
  std::vector<std::uint32_t> places;
  std::vector<std::uint32_t> gone;
  Seq gate = 0;
  for (std::uint32_t i = 0; i < run.state.calls.size(); ++i) {
    const OpenCall& open = run.state.calls[i];
    if (!open.started || open.result) continue;
    const ToolPtr tool = run.plan->tools.share(open.call.tool);
    if (!tool) {
      gone.push_back(i);
      continue;
    }
    auto ctx = run.ctx.child({.kind = NodeKind::tool,
                              .call = open.call.id,
                              .args = open.args,
                              .tool = tool->shared_spec()});
    if (!ctx) throw std::logic_error(ctx.error().message());
    run.ctx.add_frame(open.call.tool, open.args);
    if (tool->spec().effect != Effect::pure) gate = std::max(gate, open.started);
    places.push_back(i);
    if (!run.plan->middleware.empty()) contexts.push_back(*ctx);
    batch.push_back({tool, *std::move(ctx), open.args});
  }
  CallPartners lost(run, std::move(gone));
  lost.end_all("this tool is not available any more", "UnknownTool");
  CallPartners partners(run, std::move(places));
  if (batch.empty()) co_return;
  if (gate > 0) {
    // What is not pure is on disk before it happens.
    auto durable = run.ctx.events().durable(gate, until_of(run));
    Result<void> written = co_await std::move(durable);
    if (!written) {
      partners.end_all(written.error().message(), "Cancelled");
      co_return;
    }
  }
  CancelToken stop = run.ctx.cancel();
  if (!contexts.empty()) {
    stop = run.ctx.cancel().child();
    partners.expect(std::move(contexts), stop);
  }
  const std::uint32_t cap = run.plan->sequential ? 1 : run.plan->max_concurrency;
  auto running = run_batch(std::move(batch), partners, std::move(stop), cap);
  co_await std::move(running);
}

}  // namespace tug
