// Who may start, who still runs and what escaped: the roots of an engine, counted per loop.
#pragma once

#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <mutex>
#include <vector>

#include "tug/core/error.h"
#include "tug/core/loop.h"
#include "tug/core/task.h"
#include "tug/core/time.h"

namespace tug {

// Engine-wide. Any thread.
class RootLedger {
 public:
  // False once closed.
  bool admit(std::atomic<std::size_t>& of_loop) noexcept;
  void leave(std::atomic<std::size_t>& of_loop) noexcept;
  void close() noexcept;
  std::size_t running() const noexcept;
  // True if all ended within `limit`, by the wall.
  bool wait_until_empty(Duration limit);

  // Keeps the first 64, and says it on stderr.
  void keep_fault(std::exception_ptr thrown) noexcept;
  std::vector<Error> faults() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable empty_;
  std::size_t running_ = 0;
  bool open_ = true;
  std::vector<Error> faults_;
};

// Those of one loop. A root is started on its loop's thread, after the ledger has admitted it.
class LoopRoots final : private detail::Owner {
 public:
  explicit LoopRoots(RootLedger& ledger) noexcept : ledger_(ledger) {}

  std::atomic<std::size_t>& count() noexcept { return count_; }
  void start(Loop& loop, Task<void> root) noexcept;

 private:
  std::coroutine_handle<> ended(detail::PromiseBase& promise,
                                std::coroutine_handle<> frame) noexcept override;

  RootLedger& ledger_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace tug
