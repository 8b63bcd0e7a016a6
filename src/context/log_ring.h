// The two places where what is known about a log lives: with a root, and for all roots.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tug/context/log.h"

namespace tug::detail {

// The last entries of one root. Loop thread only.
class LogRing {
 public:
  explicit LogRing(std::size_t capacity) : capacity_(capacity == 0 ? 1 : capacity) {}

  void push(LogEntry entry);
  Tail tail(const TailFilter& filter) const;

 private:
  std::size_t capacity_;
  std::vector<LogEntry> entries_;  // once full, a ring whose oldest entry is at next_
  std::size_t next_ = 0;
  std::uint64_t dropped_ = 0;
};

// What holds for every root that has not chosen for itself. Any thread; `version` is cheap to look
// at.
class LogDefaults {
 public:
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  LogSettings get() const;
  void replace(LogSettings settings);
  LogSettings change(const LogOptions& options);

 private:
  mutable std::mutex mutex_;
  LogSettings settings_;
  std::atomic<std::uint64_t> version_{1};
};

}  // namespace tug::detail
