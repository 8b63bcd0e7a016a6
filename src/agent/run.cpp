#include "agent/run.h"

#include "agent/attempt.h"
#include "agent/calls.h"
#include "agent/recovery.h"
#include "agent/turn.h"
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

[[gnu::noinline]] void record_terminal(LiveRun& run, const Ending& ending) {
  RunResult result = result_of(run.state);
  result.status = ending.status;
  result.stop = ending.stop;
  result.error = ending.error;
  // The record has the time that its result was reckoned with: a fold comes to the same.
  const Time now = run.ctx.loop().wall();
  const Duration alive = run.state.alive_at(now);
  result.duration_ms = milliseconds(alive);
  const std::string stop(name_of(ending.stop));
  if (ending.status == RunStatus::parked) {
    record(run, Kind::run_paused,
           payload::RunPaused{
               .stop_reason = stop, .reason = run.tree.pause, .result = to_json(result)},
           nullptr, now);
    return;
  }
  record(run, terminal_kind(ending.status),
         payload::RunEnded{.stop_reason = stop, .result = to_json(result)}, nullptr, now);
}

// Whatever happens, the segment has a terminal event when this goes.
class SegmentEnd {
 public:
  explicit SegmentEnd(LiveRun& run) : run_(run) {}
  SegmentEnd(const SegmentEnd&) = delete;
  SegmentEnd& operator=(const SegmentEnd&) = delete;
  ~SegmentEnd() {
    if (run_.state.ending) return;
    record_terminal(run_, {RunStatus::failed, StopReason::error,
                           Error(ErrorKind::internal, "the run was left unfinished")});
  }

 private:
  LiveRun& run_;
};

Ending cancelled(const LiveRun& run) {
  const CancelReason* reason = run.ctx.cancel_reason();
  std::string message = "the run was cancelled";
  if (reason && !reason->text.empty()) message += ": " + reason->text;
  return {RunStatus::cancelled, StopReason::cancelled,
          Error(ErrorKind::cancelled, std::move(message), "`resume` goes on where it stood")};
}

Ending after(const LiveRun& run, const Error& failure) {
  if (failure.kind() == ErrorKind::cancelled) return cancelled(run);
  if (failure.detail_if<Overflow>()) {
    return {RunStatus::failed, StopReason::context_overflow, failure};
  }
  const bool provider = failure.detail_if<Provider>() != nullptr;
  return {RunStatus::failed, provider ? StopReason::provider_error : StopReason::error, failure};
}

// Whether the run ends here rather than doing what comes next.
std::optional<Ending> checkpoint(LiveRun& run) {
  const RunState& state = run.state;
  if (state.limit) return Ending{RunStatus::completed, StopReason::limit_reached, state.limit};
  if (run.ctx.cancelled()) return cancelled(run);
  auto in_time = run.ctx.budget().check_deadline(run.ctx.loop().now());
  if (!in_time) {
    record_limit(run, *in_time.error().detail_if<Limit>());
    return Ending{RunStatus::completed, StopReason::limit_reached, state.limit};
  }
  if (state.failure) return after(run, *state.failure);
  if (run.tree.pause && state.phase == Phase::ready) {
    return Ending{RunStatus::parked, StopReason::paused, std::nullopt};
  }
  return std::nullopt;
}

// Children that nobody awaited end before the run does: by themselves when it ends well.
Task<void> finish(LiveRun& run, std::unique_ptr<Ending> ending) {
  if (ending->stop != StopReason::end_turn) {
    run.background.cancel({CancelReason::Why::parent, "the parent run has ended"});
  }
  auto joining = run.background.join();
  co_await std::move(joining);
  close_started_calls(run);
  record_terminal(run, *ending);
}

std::optional<Ending> prepare(LiveRun& run) {
  auto begun = begin_attempt(run);
  if (begun) return std::nullopt;
  if (const Limit* limit = begun.error().detail_if<Limit>()) {
    record_limit(run, *limit);
    return Ending{RunStatus::completed, StopReason::limit_reached, run.state.limit};
  }
  return Ending{RunStatus::failed, StopReason::error, begun.error()};
}

struct Decide {
  LiveRun& run;

  std::optional<Ending> operator()(const next::Finish& finish) const {
    if (finish.cut) {
      record(run, Kind::context_diagnostic,
             payload::ContextDiagnostic{.code = "answer_cut",
                                        .severity = "warning",
                                        .message = "the answer was cut by length three times and "
                                                   "is not complete"});
    }
    return Ending{RunStatus::completed, StopReason::end_turn, std::nullopt};
  }
  std::optional<Ending> operator()(next::CallTools) const {
    admit(run);
    return std::nullopt;
  }
  std::optional<Ending> operator()(const next::Correct& correct) const {
    using What = next::Correct::What;
    if (correct.what == What::cut_calls) {
      refuse_cut_calls(run);
    } else if (correct.what == What::cut_text) {
      record(run, Kind::output_retry,
             payload::OutputRetry{.attempt = run.state.continued + 1,
                                  .error = "the answer was cut by length",
                                  .reason = "length"},
             Message::user("Your answer was cut. Go on exactly where it stopped; repeat nothing."));
    } else {
      record(run, Kind::output_retry,
             payload::OutputRetry{.attempt = run.state.empty_answers,
                                  .error = "the answer was empty",
                                  .reason = "empty"});
    }
    return std::nullopt;
  }
  // A turn that paused never gets here: applying it made the run ready again.
  std::optional<Ending> operator()(next::Pause) const { return std::nullopt; }
  std::optional<Ending> operator()(const next::Unexpected& unexpected) const {
    return Ending{
        RunStatus::failed, unexpected.stop,
        Error(ErrorKind::internal, std::string(unexpected.why), "ask again, or ask another model")};
  }
};

std::optional<Ending> decide(LiveRun& run) {
  const RunState& state = run.state;
  const TurnFacts facts{.finish = state.finish,
                        .calls = !state.calls.empty(),
                        .text = state.empty_answers == 0,
                        .continued = state.continued,
                        .empty_before = state.empty_answers == 0 ? 0 : state.empty_answers - 1};
  return std::visit(Decide{run}, resolve(facts));
}

using EndingPtr = std::unique_ptr<Ending>;

// What needs no waiting: a checkpoint, and then the next act's intent or the turn's meaning. Out of
// line, as what comes below: what it builds does not belong into the frame of a loop that waits.
[[gnu::noinline]] EndingPtr consider(LiveRun& run) {
  auto ending = checkpoint(run);
  if (!ending) ending = run.state.phase == Phase::ready ? prepare(run) : decide(run);
  return ending ? std::make_unique<Ending>(*std::move(ending)) : nullptr;
}

[[gnu::noinline]] EndingPtr bug_in_flight() {
  return std::make_unique<Ending>(
      Ending{RunStatus::failed, StopReason::error, detail::error_in_flight("the run")});
}

// The act in hand, if the phase is one; nothing to wait for otherwise.
Task<void> act(LiveRun& run) {
  return run.state.phase == Phase::asked ? make_attempt(run) : run_calls(run);
}

}  // namespace

Task<void> drive(LiveRun& run) {
  const SegmentEnd end(run);
  EndingPtr ending;
  while (!run.state.ending) {
    try {
      if (run.state.phase == Phase::asked || run.state.phase == Phase::running) {
        auto acting = act(run);
        co_await std::move(acting);
      } else {
        ending = consider(run);
      }
    } catch (...) {
      ending = bug_in_flight();
    }
    if (!ending || run.state.ending) continue;
    auto finishing = finish(run, std::move(ending));
    co_await std::move(finishing);
  }
}

}  // namespace tug
