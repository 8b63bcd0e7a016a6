#include "core/loop_core.h"

#include <fmt/format.h>

namespace tug {

void LoopCore::schedule(std::coroutine_handle<> frame) noexcept {
  if (count_ == ring_.size()) {
    std::vector<std::coroutine_handle<>> wider(ring_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i) wider[i] = ring_[(head_ + i) & (ring_.size() - 1)];
    ring_ = std::move(wider);
    head_ = 0;
  }
  ring_[(head_ + count_++) & (ring_.size() - 1)] = frame;
}

void LoopCore::resume_one() noexcept {
  const std::coroutine_handle<> frame = ring_[head_];
  head_ = (head_ + 1) & (ring_.size() - 1);
  --count_;
  frame.resume();
}

bool LoopCore::fire_one(Instant now) noexcept {
  Timer* timer = timers_.pop_due(now);
  if (timer) timer->fire(*timer);
  return timer != nullptr;
}

void LoopCore::waiting(const char* what, int change) noexcept {
  for (auto& [name, count] : waits_) {
    if (name == what) {
      count += change;
      return;
    }
  }
  waits_.emplace_back(what, change);
}

std::vector<std::string> LoopCore::parked() const {
  // The same words may sit at different addresses in different places.
  std::vector<std::pair<std::string, long>> by_text;
  for (const auto& [name, count] : waits_) {
    auto same = by_text.begin();
    while (same != by_text.end() && same->first != name) ++same;
    if (same == by_text.end())
      by_text.emplace_back(name, count);
    else
      same->second += count;
  }
  std::vector<std::string> lines;
  if (ready() > 0) lines.push_back(fmt::format("{} for their turn", ready()));
  for (const auto& [name, count] : by_text)
    if (count != 0) lines.push_back(fmt::format("{} for {}", count, name));
  return lines;
}

}  // namespace tug
