#include "agent/delta_show.h"

#include "tug/journal/journal.h"

namespace tug {

void DeltaShow::on_delta(const ModelEvent& event) {
  RootLog& log = run_.ctx.events();
  const OpenAttempt& open = *run_.state.attempt;
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
    Json piece = Json::object({{"call_id", make_call_id(seq, call->index).text()}});
    if (!call->tool.empty()) piece.set("tool", call->tool);
    piece.set("arguments", call->arguments);
    data.set("tool_call", std::move(piece));
  } else {
    return;
  }
  run_.ctx.emit_live(Kind::model_delta, std::move(data));
  if (run_.plan->output) show_output(event);
}

void DeltaShow::show_output(const ModelEvent& event) { static_cast<void>(event); }

}  // namespace tug
