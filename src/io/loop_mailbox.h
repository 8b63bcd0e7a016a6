// The mailbox of a real loop. Any thread posts; the loop takes everything at once. A sender wakes
// the loop only when it sleeps, and does so under the lock, so that closing the mailbox is enough
// to keep every sender away from a reactor that is about to die.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "tug/core/loop.h"

namespace tug {

class LoopMailbox final : public Mailbox {
 public:
  // `wake(context)` must make the sleeping loop return; called by senders.
  LoopMailbox(void (*wake)(void*) noexcept, void* context) noexcept
      : wake_(wake), context_(context) {}

  bool post(Job job) noexcept override;

  // Loop thread from here on.
  bool has_mail() const noexcept { return has_mail_.load(std::memory_order_relaxed); }
  // Appends what is there to `jobs`.
  void take(std::vector<Job>& jobs) noexcept;
  // False if mail came in meanwhile: do not sleep.
  bool may_sleep() noexcept;
  void awake() noexcept;
  // Drops what is there and what comes.
  void close() noexcept;

 private:
  void (*wake_)(void*) noexcept;
  void* context_;
  std::mutex mutex_;
  std::vector<Job> jobs_;
  std::atomic<bool> has_mail_ = false;
  bool asleep_ = false;
  bool closed_ = false;
};

}  // namespace tug
