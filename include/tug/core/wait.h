// The one wait primitive. Semaphores, channels, sleeps, joins and every leaf operation park a
// coroutine in a Waiter, which ends in exactly one of three ways.
//
// Which one, when several are there: before parking, cancellation wins over readiness, and
// readiness over a deadline that has passed. While parked, the first to come decides, and it is
// final: a waiter that was woken with an item or a permit keeps it even if a cancel arrives before
// it runs (the token is latched, so its next wait sees it). So nothing handed over is ever lost.
// A woken coroutine is scheduled, never resumed inside the waker.
//
// Loop thread only. Nothing here fails or allocates.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "tug/core/cancel.h"
#include "tug/core/error.h"
#include "tug/core/loop.h"
#include "tug/core/task.h"
#include "tug/core/time.h"

namespace tug {

// Until when to wait: until cancelled (an empty token never is) or until the deadline.
struct Until {
  CancelToken cancel;
  Instant deadline = kNever;
};

enum class Woken : std::uint8_t { ready, cancelled, timed_out };

// The error of a wait that was not `ready`: `cancelled` with the reason's text, or `exhausted`
// with a Limit of kind wall_clock. `what` names the wait ("a free worker").
Error wait_error(Woken woken, const Until& until, std::string_view what);

class WaitList;

namespace detail {

struct WaitLink {
  WaitLink* next = this;
  WaitLink* prev = this;
  WaitLink() noexcept = default;
  WaitLink(const WaitLink&) = delete;
  WaitLink& operator=(const WaitLink&) = delete;
  void unlink() noexcept {
    prev->next = next;
    next->prev = prev;
    next = prev = this;
  }
};

// One parked coroutine; lives in its frame. Built, parked at most once, woken at most once.
class Waiter : private WaitLink, private Timer, private CancelCallback {
 public:
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // Ends the wait with `ready`; the coroutine runs after the current step.
  void wake() noexcept { end(Woken::ready); }
  Woken woken() const noexcept { return woken_; }

 protected:
  // `what` is a static string, for reports.
  Waiter(Until until, const char* what) noexcept;
  ~Waiter();

  // False: do not suspend, it ended at once (cancelled or too late). `list` may be null.
  bool park(WaitList* list, std::coroutine_handle<> frame, Loop& loop) noexcept;
  // For waits that need not park: cancellation was there first.
  bool already_cancelled() noexcept;
  Until until() const { return Until{cancel_, deadline_}; }
  // Before parking: reaching `at` is what is waited for, if the deadline does not come first.
  void wake_at(Instant at) noexcept {
    if (at > deadline_) return;
    deadline_ = at;
    on_deadline_ = Woken::ready;
  }

 private:
  friend class tug::WaitList;
  void end(Woken woken) noexcept;
  void leave() noexcept;

  CancelToken cancel_;
  Instant deadline_;
  std::coroutine_handle<> frame_;  // null unless parked
  Loop* loop_ = nullptr;
  const char* what_;
  Woken woken_ = Woken::ready;
  Woken on_deadline_ = Woken::timed_out;
};

}  // namespace detail

// Coroutines waiting for one thing, first come, first woken. Must be empty when it dies.
class WaitList {
 public:
  // `what` is a static string that names the wait in the report of a stuck loop.
  explicit WaitList(const char* what = "a wake-up") noexcept : what_(what) {}
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;
  ~WaitList();

  bool empty() const noexcept { return head_.next == &head_; }
  // False if nobody waits.
  bool wake_one() noexcept;
  // Those that wait now; how many.
  std::size_t wake_all() noexcept;

  class Wait;
  // `Woken woken = co_await list.wait(until);`
  Wait wait(Until until = {}) noexcept;

  const char* what() const noexcept { return what_; }
  // For those that build on it: the waiter that is next, or null.
  detail::Waiter* first() noexcept;

 private:
  friend class detail::Waiter;
  detail::WaitLink head_;
  const char* what_;
};

class WaitList::Wait : private detail::Waiter {
 public:
  Wait(WaitList& list, Until until) noexcept : Waiter(std::move(until), list.what_), list_(list) {}
  bool await_ready() const noexcept { return false; }
  template <detail::LoopPromise P>
  bool await_suspend(std::coroutine_handle<P> frame) noexcept {
    return park(&list_, frame, frame.promise().loop());
  }
  Woken await_resume() const noexcept { return woken(); }

 private:
  WaitList& list_;
};
inline WaitList::Wait WaitList::wait(Until until) noexcept { return Wait(*this, std::move(until)); }

// Wakes `ready` at `at` (at once if that has passed), or earlier when cancelled or timed out.
class Sleep : private detail::Waiter {
 public:
  Sleep(Instant at, Until until) noexcept;
  // Counted from the moment it is awaited.
  Sleep(Duration wait, Until until) noexcept;
  bool await_ready() const noexcept { return false; }
  template <detail::LoopPromise P>
  bool await_suspend(std::coroutine_handle<P> frame) noexcept {
    return begin(frame, frame.promise().loop());
  }
  Woken await_resume() const noexcept { return woken(); }

 private:
  static constexpr const char* kWhat = "a time to come";
  bool begin(std::coroutine_handle<> frame, Loop& loop) noexcept;
  Instant at_ = kNever;
  Duration wait_{};
  bool relative_ = false;
};
inline Sleep sleep_until(Instant at, Until until = {}) noexcept {
  return Sleep(at, std::move(until));
}
inline Sleep sleep_for(Duration wait, Until until = {}) noexcept {
  return Sleep(wait, std::move(until));
}

// Lets everything that is already scheduled run first: `co_await yield();`.
class Yield {
 public:
  bool await_ready() const noexcept { return false; }
  template <detail::LoopPromise P>
  void await_suspend(std::coroutine_handle<P> frame) const noexcept {
    frame.promise().loop().schedule(frame);
  }
  void await_resume() const noexcept {}
};
inline Yield yield() noexcept { return {}; }

}  // namespace tug
