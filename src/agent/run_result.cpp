#include "agent/run_state.h"
#include "tug/core/codec.h"
#include "tug/core/enum_names.h"
#include "tug/core/error_json.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

constexpr std::size_t kSummaryPrompt = 200;

Json to_json(const Spending& spending) {
  return Json::object({{"usage", JsonForm<Usage>::write(spending.usage)},
                       {"cost", JsonForm<Cost>::write(spending.cost)}});
}

Json to_json(const RunCounts& counts) {
  Json retries = Json::object();
  for (const auto& [tool, count] : counts.tool_retries) retries.set(tool, count);
  return Json::object({{"model_calls", counts.model_calls},
                       {"attempts", counts.attempts},
                       {"tool_calls", counts.tool_calls},
                       {"cancelled_tool_calls", counts.cancelled_tool_calls},
                       {"output_retries", counts.output_retries},
                       {"tool_retries", std::move(retries)}});
}

Json to_json(const ContextWindow& window) {
  return Json::object({{"model", window.model},
                       {"max_tokens", window.max_tokens},
                       {"reserved_output_tokens", window.reserved_output_tokens},
                       {"prompt_tokens", window.prompt_tokens},
                       {"source", window.source}});
}

RunActivity activity_of(Phase phase) {
  switch (phase) {
    case Phase::ready:
      return RunActivity::building_request;
    case Phase::asked:
      return RunActivity::model;
    case Phase::admitting:
    case Phase::running:
      return RunActivity::tools;
    case Phase::parked:
    case Phase::ended:
      return RunActivity::done;
  }
  return RunActivity::done;
}

}  // namespace

std::string_view name_of(RunStatus status) noexcept { return enum_name(status); }
std::string_view name_of(RunActivity activity) noexcept { return enum_name(activity); }

RunResult result_of(const RunState& state) {
  RunResult result;
  if (state.who) {
    result.id = state.who->run_id;
    result.root = state.who->root_run_id;
    result.thread = state.who->thread_id;
  }
  result.status = state.ending ? state.ending->status : RunStatus::running;
  if (state.ending) {
    result.stop = state.ending->stop;
    result.error = state.ending->error;
  }
  result.text = state.text_before + state.text;
  result.model = state.model;
  result.messages = state.transcript;
  result.responses = state.responses;
  result.tool_calls = state.tool_calls;
  result.usage = state.subtree.usage;
  result.cost = state.subtree.cost;
  result.own = state.own;
  result.counts = state.counts;
  result.window = state.window;
  result.duration_ms = milliseconds(state.alive_at(state.updated));
  result.denials = state.denials;
  result.last_seq = state.last_seq;
  return result;
}

RunStatusRecord status_of(const RunState& state) {
  RunStatusRecord record;
  if (!state.who) return record;
  record.id = state.who->run_id;
  record.status = state.ending ? state.ending->status : RunStatus::running;
  record.activity = activity_of(state.phase);
  record.turn = state.turn;
  record.counts = state.counts;
  record.usage = state.subtree.usage;
  record.started = state.started;
  record.updated = state.updated;
  return record;
}

Json summary_of(const RunState& state) {
  Json summary =
      Json::object({{"prompt", clip_utf8(state.prompt, kSummaryPrompt)}, {"model", state.model}});
  if (!state.ending) return summary;
  summary.set("stop_reason", name_of(state.ending->stop));
  summary.set("model_calls", state.counts.model_calls);
  summary.set("tool_calls", state.counts.tool_calls);
  summary.set("usage", JsonForm<Usage>::write(state.subtree.usage));
  summary.set("cost", JsonForm<Cost>::write(state.subtree.cost));
  return summary;
}

Json to_json(const RunResult& result) {
  const bool ended = result.status != RunStatus::running && result.status != RunStatus::pending;
  Json pending = Json::array();
  for (const PendingApproval& approval : result.pending) {
    pending.push_back(Json::object({{"call_id", approval.call.text()},
                                    {"tool", approval.tool},
                                    {"arguments", approval.arguments}}));
  }
  Json denials = Json::array();
  for (const Denial& denial : result.denials) {
    denials.push_back(Json::object(
        {{"call_id", denial.call.text()}, {"tool", denial.tool}, {"reason", denial.reason}}));
  }
  return Json::object({{"run_id", result.id.text()},
                       {"root_run_id", result.root.text()},
                       {"thread_id", result.thread.text()},
                       {"status", name_of(result.status)},
                       {"stop_reason", ended ? Json(name_of(result.stop)) : Json()},
                       {"text", result.text},
                       {"output", result.output},
                       {"model", result.model},
                       {"model_calls", result.counts.model_calls},
                       {"tool_calls", result.counts.tool_calls},
                       {"usage", JsonForm<Usage>::write(result.usage)},
                       {"cost", JsonForm<Cost>::write(result.cost)},
                       {"own", to_json(result.own)},
                       {"counts", to_json(result.counts)},
                       {"context", to_json(result.window)},
                       {"duration_ms", result.duration_ms},
                       {"pending_approvals", std::move(pending)},
                       {"permission_denials", std::move(denials)},
                       {"error", result.error ? to_json(*result.error) : Json()}});
}

Json to_json(const RunStatusRecord& status) {
  return Json::object({{"run_id", status.id.text()},
                       {"status", name_of(status.status)},
                       {"phase", name_of(status.activity)},
                       {"turn", status.turn},
                       {"counts", to_json(status.counts)},
                       {"usage", JsonForm<Usage>::write(status.usage)},
                       {"started", to_rfc3339(status.started)},
                       {"updated", to_rfc3339(status.updated)}});
}

int exit_code(const RunResult& result) {
  switch (result.stop) {
    case StopReason::end_turn:
      return 0;
    case StopReason::limit_reached:
    case StopReason::context_overflow:
      return 5;
    case StopReason::output_validation_failed:
      return 7;
    case StopReason::provider_error:
      if (result.error && is_retryable(*result.error)) return 3;
      return result.error && result.error->kind() == ErrorKind::denied ? 4 : 1;
    case StopReason::cancelled:
    case StopReason::cancelled_by_hook:
      return 130;
    case StopReason::paused:
    case StopReason::approval_required:
      return 8;
    case StopReason::error:
      // A damaged state folder is unusable, whoever finds out.
      return result.error && result.error->detail_if<Damage>() ? 2 : 1;
    case StopReason::refusal:
    case StopReason::tool_retries_exceeded:
    case StopReason::unexpected_model_behavior:
      return 1;
  }
  return 1;
}

}  // namespace tug
