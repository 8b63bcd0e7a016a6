#include "agent/flights.h"

namespace tug {

void Flights::Lead::land() noexcept {
  if (const auto flights = std::exchange(flights_, nullptr)) flights->land(key_);
}

Flights::Lead Flights::try_lead(const Digest& key) {
  const std::scoped_lock hold(lock_);
  const bool first = under_way_.try_emplace(key).second;
  return first ? Lead(shared_from_this(), key) : Lead();
}

Task<Result<void>> Flights::wait(Digest key, Until until) {
  Loop& loop = co_await this_loop();
  const auto landed = std::make_shared<Signal>("the answer to a request like this one");
  {
    const std::scoped_lock hold(lock_);
    const auto found = under_way_.find(key);
    if (found == under_way_.end()) co_return Result<void>();
    found->second.push_back({loop.mailbox(), landed});
  }
  const Woken woken = co_await landed->wait(until);
  if (woken == Woken::ready) co_return Result<void>();
  co_return Failure(wait_error(woken, until, "the answer to a request like this one"));
}

void Flights::land(const Digest& key) noexcept {
  std::vector<Waiting> waiting;
  {
    const std::scoped_lock hold(lock_);
    const auto found = under_way_.find(key);
    if (found == under_way_.end()) return;
    waiting = std::move(found->second);
    under_way_.erase(found);
  }
  for (Waiting& each : waiting) {
    each.loop->post([landed = std::move(each.landed)] { landed->set(); });
  }
}

}  // namespace tug
