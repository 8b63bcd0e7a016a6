#include "agent/delta_show.h"

#include <algorithm>

#include "tug/core/extract_json.h"
#include "tug/journal/journal.h"

namespace tug {

void DeltaShow::on_delta(const ModelEvent& event) {
  RootLog& log = run_.ctx.events();
  const OpenAttempt& open = *run_.state.attempt;
  count(event);
  const auto* text = std::get_if<TextDelta>(&event);
  if (text) log.keep_partial(CallId(open.call), text->text);
  if (!log.wants_live()) return;
  Json data = Json::object({{"call", open.call}});
  if (text) {
    data.set("text", text->text);
  } else if (const auto* reasoning = std::get_if<ReasoningDelta>(&event)) {
    data.set("reasoning", reasoning->text);
  } else if (const auto* call = std::get_if<ToolCallDelta>(&event)) {
    const Seq seq = run_.state.offset + open.seq;
    Json piece = Json::object({{"call_id", make_call_id(seq, place_of(call->index)).text()}});
    if (!call->tool.empty()) piece.set("tool", call->tool);
    piece.set("arguments", call->arguments);
    data.set("tool_call", std::move(piece));
  } else {
    return;
  }
  run_.ctx.emit_live(Kind::model_delta, std::move(data));
  if (run_.plan->output) show_output(event);
}

void DeltaShow::count(const ModelEvent& event) noexcept {
  if (const auto* text = std::get_if<TextDelta>(&event)) {
    received_.bytes += text->text.size();
  } else if (const auto* reasoning = std::get_if<ReasoningDelta>(&event)) {
    received_.bytes += reasoning->text.size();
  } else if (const auto* call = std::get_if<ToolCallDelta>(&event)) {
    received_.bytes += call->arguments.size() + call->tool.size();
  } else if (const auto* usage = std::get_if<UsageDelta>(&event)) {
    received_.usage = usage->usage;
  }
}

// The turn counts its calls in this order, whatever numbers a provider or a filter left them.
std::uint32_t DeltaShow::place_of(std::uint32_t index) {
  const auto found = std::ranges::find(calls_, index);
  const auto place = static_cast<std::uint32_t>(found - calls_.begin());
  if (found == calls_.end()) calls_.push_back(index);
  return place;
}

// Read anew when it has grown by an eighth: all the reading together costs a few times the answer.
void DeltaShow::show_output(const ModelEvent& event) {
  const OutputPlan& plan = *run_.plan->output;
  if (const auto* call = std::get_if<ToolCallDelta>(&event)) {
    if (!call->tool.empty()) is_final_ = call->tool == kFinalResult;
    if (!plan.tool || !is_final_) return;
    answer_ += call->arguments;
  } else if (const auto* text = std::get_if<TextDelta>(&event)) {
    if (plan.tool) return;
    answer_ += text->text;
  } else {
    return;
  }
  if (plan.mode == OutputMode::text || answer_.size() < looked_at_ + looked_at_ / 8) return;
  looked_at_ = answer_.size();
  std::optional<Json> value = partial_json(answer_);
  if (!value) return;
  if (plan.wrapped) {
    const Json* inner = value->find("value");
    if (!inner) return;
    Json unwrapped = *inner;
    value = std::move(unwrapped);
  }
  if (*value == shown_) return;
  shown_ = *value;
  run_.ctx.emit_live(Kind::output_delta,
                     Json::object({{"call", run_.state.attempt->call}, {"output", *value}}));
}

}  // namespace tug
