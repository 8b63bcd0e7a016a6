#include "io/loop_mailbox.h"

#include <iterator>

namespace tug {

bool LoopMailbox::post(Job job) noexcept {
  std::lock_guard lock(mutex_);
  if (closed_) return false;
  jobs_.push_back(std::move(job));
  has_mail_.store(true, std::memory_order_relaxed);
  if (asleep_) {
    asleep_ = false;
    wake_(context_);
  }
  return true;
}

void LoopMailbox::take(std::vector<Job>& jobs) noexcept {
  std::lock_guard lock(mutex_);
  has_mail_.store(false, std::memory_order_relaxed);
  if (jobs.empty()) {
    jobs.swap(jobs_);
    return;
  }
  jobs.insert(jobs.end(), std::make_move_iterator(jobs_.begin()),
              std::make_move_iterator(jobs_.end()));
  jobs_.clear();
}

bool LoopMailbox::may_sleep() noexcept {
  std::lock_guard lock(mutex_);
  asleep_ = jobs_.empty();
  return asleep_;
}

void LoopMailbox::awake() noexcept {
  std::lock_guard lock(mutex_);
  asleep_ = false;
}

void LoopMailbox::close() noexcept {
  std::vector<Job> dropped;
  std::lock_guard lock(mutex_);
  closed_ = true;
  dropped.swap(jobs_);
  has_mail_.store(false, std::memory_order_relaxed);
}

}  // namespace tug
