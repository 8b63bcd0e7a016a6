#include "agent/calls.h"

#include "agent/attempt.h"
#include "tug/journal/journal.h"
#include "tug/tools/batch.h"
#include "tug/tools/invoke.h"

namespace tug {
namespace {

std::vector<std::string> names_of(const ToolSet& tools) {
  std::vector<std::string> names;
  for (const ToolPtr& tool : tools.all()) names.push_back(tool->name());
  return names;
}

void record_unknown(LiveRun& run, const ToolCall& call) {
  const std::string nearest = run.plan->tools.nearest(call.tool);
  payload::ToolUnknown unknown{
      .call_id = call.id.text(), .tool = call.tool, .arguments = arguments_of(call)};
  if (!nearest.empty()) unknown.nearest = nearest;
  unknown.output = unknown_tool_result(call.tool, nearest, names_of(run.plan->tools)).content;
  record(run, Kind::tool_unknown, unknown);
}

void record_invalid(LiveRun& run, const ToolCall& call, std::string error, std::string output) {
  record(run, Kind::tool_invalid_args,
         payload::ToolInvalidArgs{.call_id = call.id.text(),
                                  .tool = call.tool,
                                  .arguments = arguments_of(call),
                                  .error = std::move(error),
                                  .output = std::move(output)});
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
  const Tool* tool = run.plan->tools.find(call.tool);
  if (!tool) return record_unknown(run, call);
  auto checked = check_arguments(*tool, call.arguments);
  if (!checked) {
    ToolResult told = invalid_arguments_result(*tool, checked.error());
    return record_invalid(run, call, checked.error().message(), std::move(told.content));
  }
  for (const std::string& field : checked->forged) {
    record(
        run, Kind::tool_forged_argument,
        payload::ToolForgedArgument{.call_id = call.id.text(), .tool = call.tool, .field = field});
  }
  if (tool->spec().requires_approval) return record_denied(run, call);
  record(run, Kind::tool_started,
         payload::ToolStarted{.call_id = call.id.text(),
                              .provider_call_id = call.provider_id,
                              .tool = call.tool,
                              .index = index,
                              .arguments = std::move(checked->args),
                              .effect = std::string(name_of(tool->spec().effect))});
}

void record_end(LiveRun& run, const OpenCall& open, std::uint32_t index, ToolResult result,
                Duration took) {
  payload::ToolEnded ended{.call_id = open.call.id.text(),
                           .tool = open.call.tool,
                           .index = index,
                           .ok = result.ok,
                           .output = std::move(result.content)};
  ended.duration_ms = milliseconds(took);
  Kind kind = Kind::tool_completed;
  if (!result.ok) {
    const std::string type(result.metadata["error_type"].as_string());
    kind = type == "OutcomeUnknown" ? Kind::tool_outcome_unknown : Kind::tool_failed;
    ended.error_type = type;
    if (type == "ToolCallCancelled") ended.cancelled = true;  // by a hook
    ended.retryable = result.metadata["retry"].as_bool();
    if (const Json* kept = result.metadata.find("retry_kind")) {
      ended.retry_kind = std::string(kept->as_string());
    }
  }
  if (!result.metadata.is_null()) ended.metadata = std::move(result.metadata);
  record(run, kind, ended);
}

// Records the partner of every call of a batch; calls that are left without one get it from here.
class CallPartners final : public BatchObserver {
 public:
  CallPartners(LiveRun& run, std::vector<std::uint32_t> places)
      : run_(run), places_(std::move(places)), left_(places_.size()) {}
  CallPartners(const CallPartners&) = delete;
  CallPartners& operator=(const CallPartners&) = delete;
  ~CallPartners() override {
    if (left_ > 0) end_all("the call was left unfinished", "Exception");
  }

  void on_end(std::size_t index, ToolResult result, Duration took) override {
    --left_;
    const std::uint32_t place = places_[index];
    record_end(run_, run_.state.calls[place], place, std::move(result), took);
  }

  void end_all(const std::string& why, std::string_view error_type) {
    const CallId turn = run_.state.calls.empty() ? CallId() : run_.state.calls[0].call.id;
    for (std::uint32_t place : places_) {
      // The last result closes the turn and takes its calls away.
      if (run_.state.calls.empty() || run_.state.calls[0].call.id != turn) break;
      const OpenCall& open = run_.state.calls[place];
      if (open.result) continue;
      --left_;
      record_end(run_, open, place, ToolResult::error(why, error_type), {});
    }
  }

 private:
  LiveRun& run_;
  std::vector<std::uint32_t> places_;
  std::size_t left_;
};

}  // namespace

void admit(LiveRun& run) {
  std::vector<std::uint32_t> undecided;
  for (std::uint32_t i = 0; i < run.state.calls.size(); ++i) {
    if (!run.state.calls[i].started && !run.state.calls[i].result) undecided.push_back(i);
  }
  auto hold = run.ctx.budget().hold({.tool_calls = static_cast<std::int64_t>(undecided.size())});
  if (!hold) {
    record_limit(run, *hold.error().detail_if<Limit>());
    return;
  }
  hold->settle(hold->amount());
  for (std::uint32_t i : undecided) {
    // By value: the record that decides the last call may close the turn.
    const ToolCall call = run.state.calls[i].call;
    admit_call(run, call, i);
  }
}

void refuse_cut_calls(LiveRun& run) {
  std::vector<ToolCall> calls;
  for (const OpenCall& open : run.state.calls) {
    if (!open.started && !open.result) calls.push_back(open.call);
  }
  // A fold counts them, so they are counted here.
  run.ctx.budget().charge({.tool_calls = static_cast<std::int64_t>(calls.size())});
  for (const ToolCall& call : calls) {
    record_invalid(run, call, "the turn was cut by length",
                   "The turn was cut before this call was complete, so it was not run. Send it "
                   "again, smaller.");
  }
}

Task<void> run_calls(LiveRun& run) {
  std::vector<BatchCall> batch;
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
  auto running = run_batch(std::move(batch), partners, run.ctx.cancel(), run.plan->max_concurrency);
  co_await std::move(running);
}

}  // namespace tug
