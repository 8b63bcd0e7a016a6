// What every loop is made of, real or not: the ready queue, the timers, the count of who waits for
// what. It takes steps when told to; when to step, where time comes from and how messages get in is
// the engine's. Loop thread only.
#pragma once

#include <coroutine>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/timer_heap.h"
#include "tug/core/cancel.h"
#include "tug/core/loop.h"

namespace tug {

class LoopCore : public Loop {
 public:
  void schedule(std::coroutine_handle<> frame) noexcept final;
  void arm(Timer& timer, Instant at) noexcept final { timers_.arm(timer, at); }
  void disarm(Timer& timer) noexcept final { timers_.disarm(timer); }
  const CancelToken& stopping() const noexcept final { return stopping_; }
  void waiting(const char* what, int change) noexcept final;

  std::size_t ready() const noexcept { return count_; }
  // Resumes the coroutine that was scheduled first; there must be one.
  void resume_one() noexcept;
  // Fires the first timer that is due; false if there is none.
  bool fire_one(Instant now) noexcept;
  Instant next_alarm() const noexcept { return timers_.earliest(); }
  // "2 for a permit", in the order the waits were first seen.
  std::vector<std::string> parked() const;

 protected:
  // The ready queue is a ring; its size is a power of two.
  std::vector<std::coroutine_handle<>> ring_ = std::vector<std::coroutine_handle<>>(64);
  std::size_t head_ = 0;
  std::size_t count_ = 0;
  TimerHeap timers_;
  CancelToken stopping_ = CancelToken::root();
  std::vector<std::pair<const char*, long>> waits_;
};

}  // namespace tug
