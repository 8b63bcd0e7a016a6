// The loop. One step after the other until something ends the run: ask for a turn, decide what it
// means, run its calls. Everything it knows is in the state, and only records change that.
#include "agent/run.h"

#include "agent/ask.h"
#include "agent/calls.h"
#include "agent/commands.h"
#include "agent/decide.h"
#include "agent/holding.h"
#include "agent/recovery.h"
#include "agent/terminal.h"
#include "middleware/chain.h"
#include "tug/core/scope.h"
#include "tug/journal/journal.h"

namespace tug {
namespace {

using EndingPtr = std::unique_ptr<Ending>;

// Whatever happens, the segment has a terminal event when this goes.
class SegmentEnd {
 public:
  explicit SegmentEnd(LiveRun& run) : run_(run) {}
  SegmentEnd(const SegmentEnd&) = delete;
  SegmentEnd& operator=(const SegmentEnd&) = delete;
  ~SegmentEnd() {
    if (run_.state.ending) return;
    const Ending left{RunStatus::failed, StopReason::error,
                      Error(ErrorKind::internal, "the run was left unfinished")};
    record_terminal(run_, result_with(run_, left), {});
  }

 private:
  LiveRun& run_;
};

// What code inside the run asked for becomes a record, and then the end. A run is parked where
// nothing is open: the calls of the turn in hand come first.
std::optional<Ending> check_control(LiveRun& run) {
  const RunState& state = run.state;
  if (run.pause_wanted) {
    if (!state.calls.empty()) return std::nullopt;
    run.final_wanted.reset();
    record(run, Kind::control_applied,
           payload::ControlApplied{.control = "interrupt",
                                   .detail = *std::exchange(run.pause_wanted, std::nullopt)});
  }
  if (auto text = std::exchange(run.final_wanted, std::nullopt)) {
    record(run, Kind::control_applied,
           payload::ControlApplied{.control = "stop_with_final", .detail = *std::move(text)});
  }
  if (state.interrupt) {
    return Ending{RunStatus::parked, StopReason::paused, std::nullopt, *state.interrupt};
  }
  if (!state.final_text && !state.output) return std::nullopt;
  if (!state.final_text && tell_follow_up(run)) return std::nullopt;
  return Ending{RunStatus::completed, StopReason::end_turn, std::nullopt};
}

// Whether the run ends here rather than doing what comes next.
std::optional<Ending> checkpoint(LiveRun& run) {
  const RunState& state = run.state;
  if (state.limit) return Ending{RunStatus::completed, StopReason::limit_reached, state.limit};
  if (is_cancelled(run)) return cancelled_ending(run);
  auto in_time = run.ctx.budget().check_deadline(run.ctx.loop().now());
  if (!in_time) {
    record_limit(run, *in_time.error().detail_if<Limit>());
    return Ending{RunStatus::completed, StopReason::limit_reached, state.limit};
  }
  // A turn is admitted whole; calls that somebody was asked about are not worth a wait any more.
  const bool admits = state.phase == Phase::admitting && !state.calls.empty() && !state.asks;
  if (state.doom && !admits) return state.doom;
  if (auto wanted = check_control(run)) return wanted;
  return std::nullopt;
}

// What comes next, looked at where nothing is open. Out of line: what it builds does not belong
// into the frame of a loop that waits.
struct Outlook {
  EndingPtr ending;
  bool hold = false;  // the next step has to wait for somebody
};
[[gnu::noinline]] Outlook consider(LiveRun& run) {
  drain(run, Drain::everything);
  auto ending = checkpoint(run);
  if (!ending && run.tree.parking()) ending = parked_ending(run);
  if (!ending && must_hold(run)) return {.hold = true};
  if (!ending && run.state.phase == Phase::admitting) {
    ending = decide(run);
    // Whoever wants to look before the run is over gets to: the answer stays decided.
    if (ending && ending->stop == StopReason::end_turn && run.pause_wanted) {
      if (auto wanted = check_control(run)) ending = wanted;
    }
  }
  return {.ending = ending ? std::make_unique<Ending>(*std::move(ending)) : nullptr};
}

[[gnu::noinline]] EndingPtr bug_in_flight() {
  return std::make_unique<Ending>(
      Ending{RunStatus::failed, StopReason::error, detail::error_in_flight("the run")});
}

[[gnu::noinline]] Task<EndingPtr> run_tools(LiveRun& run) {
  auto running = run_calls(run);
  co_await std::move(running);
  // Calls that are left open are those of children that were parked.
  if (run.tree.parking() && run.state.phase == Phase::running) {
    co_return std::make_unique<Ending>(parked_ending(run));
  }
  co_return nullptr;
}

// Children that nobody awaited end before the run does: by themselves when it ends well, parked
// when it is.
[[gnu::noinline]] Task<void> join_background(LiveRun& run, const Ending& ending) {
  if (ending.status == RunStatus::parked) {
    if (!run.tree.parking() && !run.parent) run.tree.pause_all(ending.reason);
  } else if (ending.stop != StopReason::end_turn) {
    run.background.cancel({CancelReason::Why::parent, "the parent run has ended"});
  }
  if (run.background.running() == 0) co_return;
  run.joining = true;
  run.tree.look_later();
  auto joining = run.background.join();
  co_await std::move(joining);
  run.joining = false;
}

// A step that leaves everything as it was would be made for ever.
void expect_progress(const LiveRun& run, Seq before) {
  if (run.ctx.events().last_seq() == before) {
    throw std::logic_error("a step of the run changed nothing");
  }
}

// Whether a run that has answered was told more while it waited for its children.
bool goes_on(const LiveRun& run, const Ending& ending) {
  if (ending.stop != StopReason::end_turn || run.state.final_text) return false;
  return !run.commands.empty() || !run.state.follow_ups.empty();
}

// From where the state stands to the end of the segment.
Task<EndingPtr> run_segment(LiveRun& run) {
  EndingPtr ending;
  while (!ending) {
    try {
      const Seq before = run.ctx.events().last_seq();
      // Calls and attempts that are open are finished before anything else is decided.
      const Phase phase = run.state.phase;
      if (phase != Phase::asked && phase != Phase::running) {
        Outlook outlook = consider(run);
        ending = std::move(outlook.ending);
        if (outlook.hold) {
          auto holding = hold(run);
          co_await std::move(holding);
          continue;
        }
      }
      if (!ending && (phase == Phase::ready || phase == Phase::asked)) {
        auto asking = ask(run);
        ending = co_await std::move(asking);
      } else if (!ending && phase == Phase::running) {
        auto running = run_tools(run);
        ending = co_await std::move(running);
      }
      if (!ending) expect_progress(run, before);
    } catch (...) {
      ending = bug_in_flight();
    }
    if (!ending) continue;
    auto joining = join_background(run, *ending);
    co_await std::move(joining);
    if (!run.tree.parking() && goes_on(run, *ending)) ending.reset();
  }
  // One of them may have been parked while the run waited for it to end.
  if (run.tree.parking() && ending->stop == StopReason::end_turn && !run.state.children.empty()) {
    ending = std::make_unique<Ending>(parked_ending(run));
  }
  if (ending->status == RunStatus::parked) {
    drain(run, Drain::everything);
    co_return ending;
  }
  close_started_calls(run);
  close_left_over(run);
  co_return ending;
}

// What the middleware of a run stands around.
class Segment final : public RunCore {
 public:
  explicit Segment(LiveRun& run) noexcept : run_(run) {}

  Task<Result<RunResult>> call(RunInput input) override {
    if (ran_) co_return fail(ErrorKind::invalid, "a middleware ran the run twice");
    ran_ = true;
    for (std::string& text : input.context) {
      record(run_, Kind::context_injected, payload::ContextInjected{.source = "middleware"},
             Message::note(std::move(text)));
    }
    auto running = run_segment(run_);
    EndingPtr ending = co_await std::move(running);
    reason = ending->reason;
    co_return result_with(run_, *ending);
  }

  std::string reason;  // of a pause

 private:
  LiveRun& run_;
  bool ran_ = false;
};

RunResult taken(const LiveRun& run, Result<RunResult> result) {
  if (result) {
    // Who answered without the run knows nothing of what it has become.
    RunResult whole = result_of(run.state);
    whole.status = result->status;
    whole.stop = result->stop;
    whole.error = result->error;
    whole.text = std::move(result->text);
    whole.output = std::move(result->output);
    whole.pending = std::move(result->pending);
    return whole;
  }
  return result_with(run, ending_after(run, result.error()));
}

void tell_of_error(LiveRun& run) {
  const Ending& ending = *run.state.ending;
  if (ending.status != RunStatus::failed && ending.status != RunStatus::cancelled) return;
  const Error error =
      ending.error.value_or(Error(ErrorKind::internal, std::string(name_of(ending.stop))));
  for (const MiddlewarePtr& link : run.plan->middleware) {
    (void)guarded("the middleware " + link->name(), [&] { link->on_error(run.ctx, error); });
  }
}

// Not inlined, or its frame would become part of every run's.
[[gnu::noinline]] Task<void> drive_inside(LiveRun& run) {
  // The loop's own waits end with the time of the run; those of code around it end like this.
  const Instant late = run.ctx.budget().deadline(run.ctx.loop().now());
  std::optional<detail::DeadlineGuard> guard;
  if (late != kNever) guard.emplace(run.ctx.loop(), late, run.ctx.cancel());
  Segment segment(run);
  RunInput input{.prompt = run.state.told, .resumed = run.ctx.resumed()};
  auto around = around_run(run.plan->middleware, run.ctx, std::move(input), segment);
  Result<RunResult> result = co_await std::move(around);
  RunResult whole = taken(run, std::move(result));
  if (whole.status != RunStatus::parked) {
    close_started_calls(run);
    close_left_over(run);
  }
  record_terminal(run, std::move(whole), std::move(segment.reason));
  tell_of_error(run);
}

}  // namespace

Task<void> drive(LiveRun& run) {
  const SegmentEnd end(run);
  if (!run.plan->middleware.empty()) {
    auto inside = drive_inside(run);
    co_await std::move(inside);
    co_return;
  }
  auto running = run_segment(run);
  const EndingPtr ending = co_await std::move(running);
  record_terminal(run, result_with(run, *ending), ending->reason);
}

}  // namespace tug
