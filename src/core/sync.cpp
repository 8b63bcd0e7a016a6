#include "tug/core/sync.h"

namespace tug {

void Signal::set() noexcept {
  set_ = true;
  waiters_.wake_all();
}

Permit& Permit::operator=(Permit&& other) noexcept {
  if (this == &other) return *this;
  release();
  from_ = std::exchange(other.from_, nullptr);
  return *this;
}

void Permit::release() noexcept {
  if (from_) std::exchange(from_, nullptr)->give_back();
}

Permit Semaphore::try_acquire() noexcept {
  if (free_ == 0) return Permit();
  --free_;
  return Permit(this);
}

void Semaphore::give_back() noexcept {
  // A woken waiter owns the permit from here on, even before it runs: nobody can come between.
  if (!waiters_.wake_one()) ++free_;
}

}  // namespace tug
