#include "io/root_ledger.h"

#include <algorithm>
#include <cstdio>

namespace tug {

bool RootLedger::admit(std::atomic<std::size_t>& of_loop) noexcept {
  std::lock_guard lock(mutex_);
  if (!open_) return false;
  ++running_;
  of_loop.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void RootLedger::leave(std::atomic<std::size_t>& of_loop) noexcept {
  std::lock_guard lock(mutex_);
  of_loop.fetch_sub(1, std::memory_order_relaxed);
  if (--running_ == 0) empty_.notify_all();
}

void RootLedger::close() noexcept {
  std::lock_guard lock(mutex_);
  open_ = false;
}

std::size_t RootLedger::running() const noexcept {
  std::lock_guard lock(mutex_);
  return running_;
}

bool RootLedger::wait_until_empty(Duration limit) {
  constexpr Duration kLongest = std::chrono::hours(24 * 365);  // now + more would overflow
  std::unique_lock lock(mutex_);
  return empty_.wait_for(lock, std::min(limit, kLongest), [&] { return running_ == 0; });
}

void RootLedger::keep_fault(std::exception_ptr thrown) noexcept {
  auto rethrow = [&] { std::rethrow_exception(thrown); };
  Error fault = guarded("a root task", rethrow).error();
  std::fprintf(stderr, "tug: %s\n", fault.message().c_str());
  std::lock_guard lock(mutex_);
  if (faults_.size() < 64) faults_.push_back(std::move(fault));
}

std::vector<Error> RootLedger::faults() const {
  std::lock_guard lock(mutex_);
  return faults_;
}

void LoopRoots::start(Loop& loop, Task<void> root) noexcept {
  auto frame = root.release();
  frame.promise().start_under(*this, loop);
  loop.schedule(frame);
}

std::coroutine_handle<> LoopRoots::ended(detail::PromiseBase& promise,
                                         std::coroutine_handle<> frame) noexcept {
  std::exception_ptr thrown = static_cast<detail::Promise<void>&>(promise).failure();
  frame.destroy();
  if (thrown) ledger_.keep_fault(std::move(thrown));
  ledger_.leave(count_);
  return std::noop_coroutine();
}

}  // namespace tug
