// How often hooks were called, by middleware and hook.
//
// One object may be shared by any number of middleware and harnesses. Any thread, also while runs
// go on: what is read is never torn, and at most a call behind.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace tug {

class HookCounts {
 public:
  using Counter = std::atomic<std::uint64_t>;
  using Table = std::map<std::string, std::map<std::string, std::uint64_t>>;

  // Of one hook, at zero when it is new; lives as long as this object. Counting is then one
  // addition.
  Counter& counter(std::string_view middleware, std::string_view hook);

  // 0 for a hook that nobody has.
  std::uint64_t of(std::string_view middleware, std::string_view hook) const;
  // Every hook that somebody has, also those that were never called.
  Table all() const;

 private:
  using Row = std::map<std::string, Counter, std::less<>>;
  mutable std::mutex mutex_;  // guards the maps, not what they count
  std::map<std::string, Row, std::less<>> rows_;
};

}  // namespace tug
