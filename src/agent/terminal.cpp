#include "agent/terminal.h"

#include "agent/holding.h"
#include "tug/journal/journal.h"

namespace tug {
namespace {

Kind terminal_kind(RunStatus status) {
  switch (status) {
    case RunStatus::completed:
      return Kind::run_completed;
    case RunStatus::cancelled:
      return Kind::run_cancelled;
    case RunStatus::parked:
      return Kind::run_paused;
    default:
      return Kind::run_failed;
  }
}

// Runs below may have been parked, and calls decided about, since the run came to its end.
void look_at_pending(const LiveRun& run, RunResult& result) {
  result.pending = pending_at_end(run);
  if (!result.pending.empty()) {
    result.stop = StopReason::approval_required;
  } else if (result.stop == StopReason::approval_required) {
    result.stop = StopReason::paused;
  }
}

}  // namespace

RunResult result_with(const LiveRun& run, const Ending& ending) {
  RunResult result = result_of(run.state);
  result.status = ending.status;
  result.stop = ending.stop;
  result.error = ending.error;
  result.pending.clear();
  if (ending.status == RunStatus::parked) result.pending = pending_at_end(run);
  return result;
}

void record_terminal(LiveRun& run, RunResult result, std::string reason) {
  // The record has the time that its result was reckoned with: a fold comes to the same.
  const Time now = run.ctx.loop().wall();
  result.duration_ms = milliseconds(run.state.alive_at(now));
  if (result.status == RunStatus::parked) {
    look_at_pending(run, result);
    payload::RunPaused paused{.stop_reason = std::string(name_of(result.stop)),
                              .result = to_json(result)};
    if (!reason.empty()) paused.reason = std::move(reason);
    record(run, Kind::run_paused, paused, nullptr, now);
    return;
  }
  record(run, terminal_kind(result.status),
         payload::RunEnded{.stop_reason = std::string(name_of(result.stop)),
                           .result = to_json(result)},
         nullptr, now);
}

}  // namespace tug
