#include "core/timer_heap.h"

#include <algorithm>

namespace tug {

void TimerHeap::arm(Timer& timer, Instant at) noexcept {
  disarm(timer);
  if (at == kNever) return;
  timer.at = at;
  timer.order = ++armed_;
  entries_.emplace_back();
  sift_up(entries_.size() - 1, Entry{at, &timer});
}

void TimerHeap::disarm(Timer& timer) noexcept {
  if (!timer.armed()) return;
  const std::size_t slot = timer.slot;
  timer.slot = Timer::kIdle;
  const Entry last = entries_.back();
  entries_.pop_back();
  if (slot == entries_.size()) return;
  if (slot > 0 && before(last, entries_[(slot - 1) / 4]))
    sift_up(slot, last);
  else
    sift_down(slot, last);
}

Timer* TimerHeap::pop_due(Instant now) noexcept {
  if (empty() || entries_.front().at > now) return nullptr;
  Timer* timer = entries_.front().timer;
  disarm(*timer);
  return timer;
}

void TimerHeap::put(std::size_t slot, Entry entry) noexcept {
  entries_[slot] = entry;
  entry.timer->slot = static_cast<std::uint32_t>(slot);
}

void TimerHeap::sift_up(std::size_t slot, Entry entry) noexcept {
  while (slot > 0) {
    const std::size_t above = (slot - 1) / 4;
    if (!before(entry, entries_[above])) break;
    put(slot, entries_[above]);
    slot = above;
  }
  put(slot, entry);
}

void TimerHeap::sift_down(std::size_t slot, Entry entry) noexcept {
  while (true) {
    const std::size_t first = slot * 4 + 1;
    if (first >= entries_.size()) break;
    const std::size_t end = std::min(first + 4, entries_.size());
    std::size_t least = first;
    for (std::size_t i = first + 1; i < end; ++i)
      if (before(entries_[i], entries_[least])) least = i;
    if (!before(entries_[least], entry)) break;
    put(slot, entries_[least]);
    slot = least;
  }
  put(slot, entry);
}

}  // namespace tug
