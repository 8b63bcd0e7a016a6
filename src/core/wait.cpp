#include "tug/core/wait.h"

#include <fmt/format.h>

#include <cassert>

namespace tug {

Error wait_error(Woken woken, const Until& until, std::string_view what) {
  if (woken == Woken::timed_out)
    return Error(ErrorKind::exhausted, fmt::format("waiting for {}: the deadline passed", what),
                 "allow more time", Limit{LimitKind::wall_clock});
  const CancelReason* reason = until.cancel.reason();
  if (!reason) return Error(ErrorKind::cancelled, fmt::format("waiting for {}: cancelled", what));
  std::string text = fmt::format("waiting for {}: cancelled ({}", what, name_of(reason->why));
  if (!reason->text.empty()) text += fmt::format(": {}", reason->text);
  return Error(ErrorKind::cancelled, text + ")");
}

namespace detail {

Waiter::Waiter(Until until, const char* what) noexcept
    : Timer([](Timer& timer) noexcept {
        auto& self = static_cast<Waiter&>(timer);
        self.end(self.on_deadline_);
      }),
      CancelCallback([](CancelCallback& callback) noexcept {
        static_cast<Waiter&>(callback).end(Woken::cancelled);
      }),
      cancel_(std::move(until.cancel)),
      deadline_(until.deadline),
      what_(what) {}

Waiter::~Waiter() {
  // Only a coroutine that dies parked gets here with a frame; Task asserts against that.
  if (frame_) leave();
}

bool Waiter::already_cancelled() noexcept {
  if (!cancel_.requested()) return false;
  woken_ = Woken::cancelled;
  return true;
}

bool Waiter::park(WaitList* list, std::coroutine_handle<> frame, Loop& loop) noexcept {
  if (already_cancelled()) return false;
  if (deadline_ <= loop.now()) {
    woken_ = on_deadline_;
    return false;
  }
  frame_ = frame;
  loop_ = &loop;
  cancel_.add(*this);
  if (deadline_ != kNever) loop.arm(*this, deadline_);
  if (list) {
    WaitLink& head = list->head_;
    next = &head;
    prev = head.prev;
    prev->next = this;
    head.prev = this;
  }
  loop.waiting(what_, +1);
  return true;
}

void Waiter::leave() noexcept {
  unlink();
  CancelCallback::remove();
  if (armed()) loop_->disarm(*this);
  loop_->waiting(what_, -1);
}

void Waiter::end(Woken woken) noexcept {
  if (!frame_) return;
  woken_ = woken;
  leave();
  loop_->schedule(std::exchange(frame_, {}));
}

}  // namespace detail

WaitList::~WaitList() { assert(empty() && "a WaitList died while somebody waited in it"); }

detail::Waiter* WaitList::first() noexcept {
  return empty() ? nullptr : static_cast<detail::Waiter*>(head_.next);
}

bool WaitList::wake_one() noexcept {
  detail::Waiter* waiter = first();
  if (waiter) waiter->wake();
  return waiter != nullptr;
}

std::size_t WaitList::wake_all() noexcept {
  // Waking only schedules, so nobody can join the list meanwhile.
  std::size_t woken = 0;
  while (wake_one()) ++woken;
  return woken;
}

Sleep::Sleep(Instant at, Until until) noexcept : Waiter(std::move(until), kWhat), at_(at) {}

Sleep::Sleep(Duration wait, Until until) noexcept
    : Waiter(std::move(until), kWhat), wait_(wait), relative_(true) {}

bool Sleep::begin(std::coroutine_handle<> frame, Loop& loop) noexcept {
  wake_at(relative_ ? later(loop.now(), wait_) : at_);
  return park(nullptr, frame, loop);
}

}  // namespace tug
