// The armed timers of one loop, earliest first; equal instants in arming order. A 4-ary heap whose
// entries carry the instant, so that most comparisons stay within a cache line. Each timer knows
// its slot: arming and disarming cost O(log n), no search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tug/core/loop.h"

namespace tug {

class TimerHeap {
 public:
  bool empty() const noexcept { return entries_.empty(); }
  std::size_t size() const noexcept { return entries_.size(); }
  // kNever when empty.
  Instant earliest() const noexcept { return empty() ? kNever : entries_.front().at; }

  void arm(Timer& timer, Instant at) noexcept;
  void disarm(Timer& timer) noexcept;
  // The first timer due at `now`, already disarmed; null if there is none.
  Timer* pop_due(Instant now) noexcept;

 private:
  struct Entry {
    Instant at;
    Timer* timer;
  };
  static bool before(const Entry& a, const Entry& b) noexcept {
    return a.at != b.at ? a.at < b.at : a.timer->order < b.timer->order;
  }
  void put(std::size_t slot, Entry entry) noexcept;
  void sift_up(std::size_t slot, Entry entry) noexcept;
  void sift_down(std::size_t slot, Entry entry) noexcept;

  std::vector<Entry> entries_;
  std::uint64_t armed_ = 0;
};

}  // namespace tug
