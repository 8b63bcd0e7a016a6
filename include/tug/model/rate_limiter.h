// How fast a provider may be asked: token buckets that all runs with the same key share.
//
// First come, first served, so no run starves; after a refusal everybody waits, and those that
// waited go on one by one at the allowed rate instead of all at once.
//
// Any loop; the state is shared by all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tug/core/time.h"
#include "tug/model/settings.h"

namespace tug {

// One bucket: starts full, fills evenly. Pure; the caller brings the clock.
class TokenBucket {
 public:
  // `per_minute` 0: never empty.
  TokenBucket(std::int64_t per_minute, Instant now) noexcept;
  // False for a need that no wait will ever meet.
  bool can_ever(std::int64_t need) const noexcept;
  // When `need` is there, if nobody takes anything before; `now` when it is.
  Instant ready_at(std::int64_t need, Instant now) const noexcept;
  // May leave a debt: those who come later wait for it.
  void take(std::int64_t need, Instant now) noexcept;
  void give_back(std::int64_t amount, Instant now) noexcept;

 private:
  double level_at(Instant now) const noexcept;
  double capacity_ = 0;
  double per_ns_ = 0;
  double level_ = 0;
  Instant at_{};
};

class RateLimiter {
 public:
  virtual ~RateLimiter() = default;
  // A place in the line of `key`: when the request may leave. The place is taken; who does not go
  // gives it back. A request of more tokens than a minute allows goes when the bucket is full.
  virtual Instant take(const std::string& key, const RateLimit& limit, std::int64_t tokens,
                       Instant now) = 0;
  // For who has a place and has waited for it: when to look again, if the provider has refused
  // since; each gets a place of its own behind that.
  virtual Instant closed_until(const std::string& key, Instant now) = 0;
  virtual void give_back(const std::string& key, std::int64_t tokens, Instant now) = 0;
  // What it really used, where that is not what was taken.
  virtual void settle(const std::string& key, std::int64_t taken, std::int64_t used,
                      Instant now) = 0;
  // The provider refused for so long: nobody of `key` goes before, and then one after the other.
  virtual void refused(const std::string& key, Duration wait, Instant now) = 0;
};
std::shared_ptr<RateLimiter> make_rate_limiter();

}  // namespace tug
