#include "tug/context/run_result.h"

#include "context/node.h"
#include "tug/core/codec.h"
#include "tug/core/enum_names.h"
#include "tug/core/error_json.h"

namespace tug {
namespace {

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

}  // namespace

std::string_view name_of(RunStatus status) noexcept { return enum_name(status); }
std::string_view name_of(RunActivity activity) noexcept { return enum_name(activity); }

Json to_json(const RunResult& result) {
  const bool ended = result.status != RunStatus::running && result.status != RunStatus::pending;
  Json pending = Json::array();
  for (const PendingApproval& approval : result.pending) {
    pending.push_back(Json::object({{"call_id", approval.call.text()},
                                    {"tool", approval.tool},
                                    {"arguments", approval.arguments},
                                    {"run_id", approval.run.text()},
                                    {"agent", approval.agent},
                                    {"reason", approval.reason},
                                    {"digest", approval.digest}}));
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
                       {"context", detail::window_json(result.window)},
                       {"duration_ms", result.duration_ms},
                       {"pending_approvals", std::move(pending)},
                       {"permission_denials", std::move(denials)},
                       {"error", result.error ? to_json(*result.error) : Json()}});
}

Json to_json(const RunStatusRecord& status) {
  return Json::object({{"run_id", status.id.text()},
                       {"parent_run_id", status.parent.text()},
                       {"agent", status.agent},
                       {"status", name_of(status.status)},
                       {"phase", name_of(status.activity)},
                       {"turn", status.turn},
                       {"counts", to_json(status.counts)},
                       {"usage", JsonForm<Usage>::write(status.usage)},
                       {"started", to_rfc3339(status.started)},
                       {"updated", to_rfc3339(status.updated)}});
}

std::optional<Error> RunResult::output_fault() const {
  if (!output.is_null()) return std::nullopt;
  if (error) return error;
  return Error(ErrorKind::invalid, "the run has no structured answer",
               "set RunOptions::output_schema, or use Harness::ask");
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
