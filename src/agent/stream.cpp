#include "tug/agent/stream.h"

namespace tug {
namespace {

bool is_delta(Kind kind) noexcept {
  return kind == Kind::model_delta || kind == Kind::output_delta || kind == Kind::tool_progress;
}

bool in_modes(const StreamModes& modes, const Event& event) noexcept {
  if (modes.events) return true;
  if (modes.updates && event.kind == Kind::model_completed) return true;
  const std::string_view name = event.name();
  if (modes.tools && name.starts_with("tool.")) return true;
  const bool arguments = event.kind == Kind::model_delta && event.data.contains("tool_call");
  return modes.messages && name.starts_with("model.") && !arguments;
}

}  // namespace

bool ends_segment(Kind kind) noexcept {
  return kind == Kind::run_completed || kind == Kind::run_failed || kind == Kind::run_cancelled ||
         kind == Kind::run_paused;
}

bool shows(const StreamOptions& options, const Event& event, const RunId& run) noexcept {
  const Seq seq = event.live > 0 ? event.seq + 1 : event.seq;  // of the next record, or its own
  if (seq < options.from_seq) return false;
  const bool own = event.who && event.who->run_id == run;
  if (own && ends_segment(event.kind)) return true;
  if (!own && !options.subagents) return false;
  if (!options.deltas && is_delta(event.kind)) return false;
  return in_modes(options.modes, event);
}

}  // namespace tug
