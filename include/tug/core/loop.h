// The event loop as everything above io sees it: time, order, and a door for other threads.
//
// A root run and all its children live on one loop and are touched by its thread only. Engines make
// loops (tug/io/engine.h); a simulated loop has the same face and virtual time. A loop lives as
// long as its engine. Nothing here fails.
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>

#include "tug/core/job.h"
#include "tug/core/time.h"

namespace tug {

class CancelToken;

// One alarm, living in whatever waits for it: no allocation to wait. It must not move or die while
// armed. `fire` runs on the loop thread, once per arm, with the timer already disarmed.
struct Timer {
  static constexpr std::uint32_t kIdle = ~std::uint32_t{0};

  explicit Timer(void (*on_fire)(Timer&) noexcept) noexcept : fire(on_fire) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  bool armed() const noexcept { return slot != kIdle; }

  void (*fire)(Timer&) noexcept;
  Instant at = kNever;
  std::uint64_t order = 0;     // the loop's: breaks ties by arming order
  std::uint32_t slot = kIdle;  // the loop's: its place in the heap
};

// The door of a loop for other threads. It outlives the loop: what is posted after the loop has
// closed is dropped, and the answer is false. Any thread.
class Mailbox {
 public:
  virtual ~Mailbox() = default;
  // FIFO per sender.
  virtual bool post(Job job) noexcept = 0;
};

class Loop {
 public:
  virtual ~Loop() = default;

  // Any thread.
  virtual Instant now() const noexcept = 0;
  virtual Time wall() const noexcept = 0;
  virtual bool is_current() const noexcept = 0;
  // As mailbox()->post. The sender must know that the loop still lives; who cannot keeps a mailbox.
  virtual void post(Job job) noexcept = 0;
  virtual std::shared_ptr<Mailbox> mailbox() const noexcept = 0;

  // Loop thread from here on.
  // Resumes `frame` after the current step, in the order of the calls.
  virtual void schedule(std::coroutine_handle<> frame) noexcept = 0;
  // Arming an armed timer moves it. Timers due at the same instant fire in arming order. kNever
  // disarms.
  virtual void arm(Timer& timer, Instant at) noexcept = 0;
  virtual void disarm(Timer& timer) noexcept = 0;

  // Requested (`shutdown`) when the engine shuts down; the trees of the loop's roots hang on it.
  virtual const CancelToken& stopping() const noexcept = 0;

  // Counts who is parked and on what, for the report of a stuck loop. `what` is a static string.
  virtual void waiting(const char* what, int change) noexcept = 0;
};

}  // namespace tug
