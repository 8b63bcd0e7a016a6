#include "io/sim_pool.h"

#include <algorithm>
#include <utility>

namespace tug {

Result<void> SimPool::submit(std::shared_ptr<OffloadTicket> ticket) {
  if (closed_) return queue_closed(*ticket);
  if (queue_.size() >= queue_cap_) return queue_full(*ticket);
  queue_.push_back(std::move(ticket));
  return {};
}

bool SimPool::abandon(const std::shared_ptr<OffloadTicket>& ticket) noexcept {
  for (Running& running : running_) {
    if (running.ticket != ticket) continue;
    if (!ticket->abandon()) return false;
    running.abandoned = true;
    --busy_;
    ++abandoned_total_;
    return true;
  }
  return false;
}

std::vector<std::string> SimPool::abandoned() const {
  std::vector<std::string> names;
  for (const Running& running : running_)
    if (running.abandoned) names.push_back(running.ticket->name());
  return names;
}

std::size_t SimPool::due() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(running_.begin(), running_.end(),
                    [&](const Running& running) { return running.due <= clock_.now; }));
}

void SimPool::begin_one(Rng& rng) {
  std::shared_ptr<OffloadTicket> ticket = std::move(queue_.front());
  queue_.pop_front();
  if (!ticket->begin()) return;
  const auto span = static_cast<std::uint64_t>(std::max(Duration::zero(), most_ - least_).count());
  const auto extra = Duration(static_cast<Duration::rep>(rng.below(span + 1)));
  running_.push_back({std::move(ticket), later(clock_.now, least_ + extra)});
  ++busy_;
}

void SimPool::end_one(std::size_t nth) {
  auto over = running_.begin();
  while (over->due > clock_.now || nth-- > 0) ++over;
  Running ended = std::move(*over);
  running_.erase(over);
  if (!ended.abandoned) --busy_;
  ended.ticket->call();
  OffloadTicket::finish(ended.ticket);
}

Instant SimPool::next_due() const noexcept {
  Instant next = kNever;
  for (const Running& running : running_) next = std::min(next, running.due);
  return next;
}

void SimPool::close() {
  closed_ = true;
  queue_.clear();
  for (const Running& running : running_) running.ticket->stop().request_stop();
}

void SimPool::abandon_all() noexcept {
  const std::vector<Running> running = running_;
  for (const Running& one : running) abandon(one.ticket);
}

}  // namespace tug
