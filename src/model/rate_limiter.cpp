#include "tug/model/rate_limiter.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace tug {
namespace {

constexpr double kNsPerMinute = 60e9;
// After a refusal with no rate of ours those who waited go on so far apart, and closer after each
// answer.
constexpr Duration kFirstGap = std::chrono::milliseconds(200);
constexpr Duration kSmallestGap = std::chrono::milliseconds(2);

Duration as_duration(double ns) noexcept {
  constexpr double kMost = 1e18;
  return Duration(static_cast<Duration::rep>(std::clamp(ns, 0.0, kMost)));
}

// What all requests with one key share.
struct Line {
  Line(const RateLimit& limit, Instant now)
      : rate(limit),
        requests(limit.requests_per_minute, now),
        tokens(limit.tokens_per_minute, now) {}

  RateLimit rate;
  TokenBucket requests;
  TokenBucket tokens;
  Instant closed_until{};  // the provider refused
  Instant next{};          // those behind it go one by one
  Duration gap{};
};

class SharedLimiter final : public RateLimiter {
 public:
  Instant take(const std::string& key, const RateLimit& limit, std::int64_t tokens,
               Instant now) override {
    const std::scoped_lock hold(lock_);
    Line& line = line_of(key, limit, now);
    tokens = counted(line, tokens);
    Instant at = std::max(line.requests.ready_at(1, now), line.tokens.ready_at(tokens, now));
    at = std::max(at, line.closed_until);
    at = behind(line, at);
    line.requests.take(1, now);
    line.tokens.take(tokens, now);
    return at;
  }

  Instant closed_until(const std::string& key, Instant now) override {
    const std::scoped_lock hold(lock_);
    const auto found = lines_.find(key);
    if (found == lines_.end() || found->second.closed_until <= now) return now;
    return behind(found->second, found->second.closed_until);
  }

  void give_back(const std::string& key, std::int64_t tokens, Instant now) override {
    const std::scoped_lock hold(lock_);
    const auto found = lines_.find(key);
    if (found == lines_.end()) return;
    found->second.requests.give_back(1, now);
    found->second.tokens.give_back(counted(found->second, tokens), now);
  }

  void settle(const std::string& key, std::int64_t taken, std::int64_t used, Instant now) override {
    const std::scoped_lock hold(lock_);
    const auto found = lines_.find(key);
    if (found == lines_.end()) return;
    Line& line = found->second;
    taken = counted(line, taken);
    if (used < taken) line.tokens.give_back(taken - used, now);
    if (used > taken) line.tokens.take(used - taken, now);
    line.gap = line.gap / 2 < kSmallestGap ? Duration::zero() : line.gap / 2;
  }

  void refused(const std::string& key, Duration wait, Instant now) override {
    const std::scoped_lock hold(lock_);
    const auto found = lines_.find(key);
    if (found == lines_.end()) return;
    Line& line = found->second;
    line.closed_until = std::max(line.closed_until, later(now, wait));
    line.gap = std::max(line.gap, gap_of(line.rate));
    line.next = std::max(line.next, line.closed_until);
  }

 private:
  // What a request counts as: more than a minute allows would never go.
  static std::int64_t counted(const Line& line, std::int64_t tokens) {
    tokens = std::max<std::int64_t>(tokens, 0);
    const std::int64_t most = line.rate.tokens_per_minute;
    return most > 0 ? std::min(tokens, most) : tokens;
  }

  // One by one, while the line is being opened again.
  static Instant behind(Line& line, Instant at) {
    if (line.gap <= Duration::zero()) return at;
    at = std::max(at, line.next);
    line.next = later(at, line.gap);
    return at;
  }

  static Duration gap_of(const RateLimit& rate) {
    if (rate.requests_per_minute <= 0) return kFirstGap;
    return as_duration(kNsPerMinute / static_cast<double>(rate.requests_per_minute));
  }

  // Those who share an account share its limit: the smallest that any of them was told.
  static std::int64_t stricter(std::int64_t a, std::int64_t b) {
    return a <= 0 ? b : b <= 0 ? a : std::min(a, b);
  }

  Line& line_of(const std::string& key, const RateLimit& limit, Instant now) {
    const auto found = lines_.find(key);
    if (found == lines_.end()) return lines_.emplace(key, Line(limit, now)).first->second;
    Line& line = found->second;
    const RateLimit both{
        .requests_per_minute = stricter(line.rate.requests_per_minute, limit.requests_per_minute),
        .tokens_per_minute = stricter(line.rate.tokens_per_minute, limit.tokens_per_minute)};
    if (both.requests_per_minute != line.rate.requests_per_minute) {
      line.requests = TokenBucket(both.requests_per_minute, now);
    }
    if (both.tokens_per_minute != line.rate.tokens_per_minute) {
      line.tokens = TokenBucket(both.tokens_per_minute, now);
    }
    line.rate = both;
    return line;
  }

  std::mutex lock_;
  std::map<std::string, Line> lines_;
};

}  // namespace

TokenBucket::TokenBucket(std::int64_t per_minute, Instant now) noexcept
    : capacity_(static_cast<double>(std::max<std::int64_t>(per_minute, 0))),
      per_ns_(capacity_ / kNsPerMinute),
      level_(capacity_),
      at_(now) {}

double TokenBucket::level_at(Instant now) const noexcept {
  const auto passed = static_cast<double>(std::max(now - at_, Duration::zero()).count());
  return std::min(capacity_, level_ + passed * per_ns_);
}

bool TokenBucket::can_ever(std::int64_t need) const noexcept {
  return capacity_ == 0 || static_cast<double>(need) <= capacity_;
}

Instant TokenBucket::ready_at(std::int64_t need, Instant now) const noexcept {
  if (capacity_ == 0) return now;
  const double missing = static_cast<double>(need) - level_at(now);
  if (missing <= 0) return now;
  return later(now, as_duration(missing / per_ns_ + 1));
}

void TokenBucket::take(std::int64_t need, Instant now) noexcept {
  if (capacity_ == 0) return;
  level_ = level_at(now) - static_cast<double>(need);
  at_ = std::max(at_, now);
}

void TokenBucket::give_back(std::int64_t amount, Instant now) noexcept {
  take(-amount, now);
  level_ = std::min(level_, capacity_);
}

std::shared_ptr<RateLimiter> make_rate_limiter() { return std::make_shared<SharedLimiter>(); }

}  // namespace tug
