#include "agent/holding.h"

#include "agent/approvals.h"
#include "agent/attempt.h"

namespace tug {
namespace {

bool is_below(const LiveRun& run, const LiveRun& other) {
  for (const LiveRun* at = &run; at; at = at->parent) {
    if (at == &other) return true;
  }
  return false;
}

// Of the run itself and of those that hang on it through whatever can be resumed.
bool can_be_resumed(const LiveRun& run) {
  for (const LiveRun* at = &run; at; at = at->parent) {
    if (!at->hangs.resumable) return false;
  }
  return true;
}

bool waits_for_owner(const LiveRun& run) {
  return run.state.phase == Phase::held && run.plan->permissions.on_ask == OnAsk::wait;
}

}  // namespace

bool is_paused(const LiveRun& run) {
  // What nobody could go on with ends first.
  if (run.tree.pause() && can_be_resumed(run)) return true;
  for (const LiveRun* at = &run; at; at = at->parent) {
    if (at->state.paused) return true;
  }
  return false;
}

bool must_hold(const LiveRun& run) {
  switch (run.state.phase) {
    case Phase::held:
      return true;
    case Phase::ready:
      return is_paused(run);
    case Phase::admitting:
      // An answer that is there is not held back.
      return !run.state.calls.empty() && is_paused(run);
    default:
      return false;
  }
}

Task<void> hold(LiveRun& run) {
  run.tree.hold(run);
  co_await run.news.wait(until_of(run));
  run.wake();
}

Ending parked_ending(const LiveRun& run) {
  Ending ending{RunStatus::parked, StopReason::paused, std::nullopt};
  if (!pending_at_end(run).empty()) {
    ending.stop = StopReason::approval_required;
    return ending;
  }
  if (run.tree.pause()) {
    ending.reason = *run.tree.pause();
  } else {
    for (const LiveRun* at = &run; at; at = at->parent) {
      if (at->state.paused) ending.reason = *at->state.paused;
    }
  }
  return ending;
}

std::vector<PendingApproval> pending_at_end(const LiveRun& run) {
  std::vector<PendingApproval> pending = waiting_calls(run.state);
  for (const RunState* state : run.tree.left_over_below(run.state)) {
    const auto waiting = waiting_calls(*state);
    pending.insert(pending.end(), waiting.begin(), waiting.end());
  }
  return pending;
}

std::vector<PendingApproval> pending_of(const LiveRun& run) {
  std::vector<PendingApproval> pending = pending_at_end(run);
  for (const LiveRun* other : run.tree.runs()) {
    if (other == &run || !is_below(*other, run)) continue;
    const auto waiting = pending_at_end(*other);
    pending.insert(pending.end(), waiting.begin(), waiting.end());
  }
  return pending;
}

void RunTree::pause_all(std::string reason) {
  if (!pause_) pause_ = std::move(reason);
  for (LiveRun* run : runs_) run->wake();
}

void RunTree::unpause() {
  pause_.reset();
  for (LiveRun* run : runs_) run->wake();
}

void RunTree::hold(LiveRun& run) {
  if (!std::exchange(run.held, true)) ++held_;
  look_later();
}

void RunTree::look_later() {
  if (held_ == 0 || looking_ || parking_ || runs_.empty()) return;
  looking_ = true;
  runs_.front()->ctx.loop().post([weak = weak_from_this()]() noexcept {
    const auto tree = weak.lock();
    if (!tree) return;
    tree->looking_ = false;
    tree->look();
  });
}

void RunTree::look() {
  if (held_ == 0 || parking_) return;
  for (const LiveRun* run : runs_) {
    if (run->can_move()) return;
  }
  // Where nobody could go on with a run, nobody can be asked either.
  bool freed = false;
  for (LiveRun* run : std::vector<LiveRun*>(runs_)) {
    if (run->state.phase != Phase::held || can_be_resumed(*run)) continue;
    if (waits_for_owner(*run) && !pause_) continue;
    deny_waiting(*run, "it runs inside code that cannot be taken up again, so nobody can be asked");
    freed = true;
  }
  if (freed) return;
  if (!pause_ &&
      std::ranges::any_of(runs_, [](const LiveRun* run) { return waits_for_owner(*run); })) {
    return;
  }
  if (std::ranges::any_of(runs_,
                          [](const LiveRun* run) { return run->held && !can_be_resumed(*run); })) {
    return;
  }
  parking_ = true;
  for (LiveRun* run : runs_) run->wake();
}

}  // namespace tug
