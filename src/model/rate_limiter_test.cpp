#include "tug/model/rate_limiter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tug {
namespace {

using namespace std::chrono_literals;
constexpr Instant kStart = Instant(1000s);

TEST(TokenBucket, StartsFullAndFillsEvenly) {
  TokenBucket bucket(60, kStart);
  EXPECT_EQ(bucket.ready_at(60, kStart), kStart);
  bucket.take(60, kStart);
  EXPECT_GE(bucket.ready_at(1, kStart), kStart + 1s);
  EXPECT_LE(bucket.ready_at(1, kStart), kStart + 1001ms);
  EXPECT_EQ(bucket.ready_at(30, kStart + 30s + 1us), kStart + 30s + 1us);
  EXPECT_TRUE(bucket.can_ever(60));
  EXPECT_FALSE(bucket.can_ever(61));
}

TEST(TokenBucket, WithoutARateIsNeverEmpty) {
  TokenBucket bucket(0, kStart);
  bucket.take(1'000'000, kStart);
  EXPECT_EQ(bucket.ready_at(1'000'000, kStart), kStart);
  EXPECT_TRUE(bucket.can_ever(1'000'000));
}

TEST(TokenBucket, TakesBackWhatWasNotUsedAndNoMore) {
  TokenBucket bucket(60, kStart);
  bucket.take(60, kStart);
  bucket.give_back(10, kStart);
  EXPECT_EQ(bucket.ready_at(10, kStart), kStart);
  bucket.give_back(1000, kStart);
  EXPECT_GT(bucket.ready_at(61, kStart), kStart);
}

TEST(RateLimiter, LetsThoseWhoComeTogetherGoAtTheAllowedRate) {
  const auto limiter = make_rate_limiter();
  const RateLimit limit{.requests_per_minute = 60, .tokens_per_minute = 0};
  std::vector<Instant> at;
  for (int i = 0; i < 180; ++i) at.push_back(limiter->take("key", limit, 0, kStart));
  EXPECT_TRUE(std::ranges::is_sorted(at)) << "first come, first served";
  EXPECT_EQ(at[59], kStart);
  for (std::size_t i = 60; i < at.size(); ++i) {
    const Duration expected = std::chrono::seconds(i - 59);
    EXPECT_NEAR(static_cast<double>((at[i] - kStart).count()),
                static_cast<double>(expected.count()), 1e7);
  }
}

TEST(RateLimiter, CountsTokensAndGivesBackWhatWasNotUsed) {
  const auto limiter = make_rate_limiter();
  const RateLimit limit{.requests_per_minute = 0, .tokens_per_minute = 6000};
  EXPECT_EQ(limiter->take("key", limit, 6000, kStart), kStart);
  const Instant second = limiter->take("key", limit, 100, kStart);
  EXPECT_GE(second, kStart + 1s);
  limiter->settle("key", 6000, 1000, kStart);
  EXPECT_EQ(limiter->take("key", limit, 100, kStart), kStart);
  EXPECT_LT(limiter->take("key", limit, 1'000'000, kStart), kStart + 2min)
      << "more than a minute allows still goes";
}

TEST(RateLimiter, KeysDoNotWaitForEachOther) {
  const auto limiter = make_rate_limiter();
  const RateLimit limit{.requests_per_minute = 1, .tokens_per_minute = 0};
  limiter->take("a", limit, 0, kStart);
  EXPECT_GT(limiter->take("a", limit, 0, kStart), kStart);
  EXPECT_EQ(limiter->take("b", limit, 0, kStart), kStart);
}

// A hundred runs are refused together: none comes before the stated time, and then they do not come
// all at once.
TEST(RateLimiter, MakesNoHerdAfterARefusal) {
  const auto limiter = make_rate_limiter();
  const RateLimit limit{.requests_per_minute = 600, .tokens_per_minute = 0};
  for (int i = 0; i < 100; ++i) limiter->take("key", limit, 0, kStart);
  limiter->refused("key", 5s, kStart + 1s);
  std::vector<Instant> at;
  for (int i = 0; i < 100; ++i) at.push_back(limiter->take("key", limit, 0, kStart + 1s));
  EXPECT_GE(at.front(), kStart + 6s);
  for (std::size_t i = 0; i + 10 < at.size(); ++i) {
    EXPECT_GE(at[i + 10] - at[i], 833ms) << "1.2 times the allowed rate at most";
  }
}

TEST(RateLimiter, AProviderThatOnlySaysNoIsApproachedStepByStep) {
  const auto limiter = make_rate_limiter();
  limiter->take("key", {}, 0, kStart);
  limiter->refused("key", 2s, kStart);
  const Instant first = limiter->take("key", {}, 0, kStart);
  const Instant second = limiter->take("key", {}, 0, kStart);
  EXPECT_GE(first, kStart + 2s);
  EXPECT_GT(second, first);
  for (int i = 0; i < 10; ++i) limiter->settle("key", 0, 0, kStart + 3s);
  EXPECT_EQ(limiter->take("key", {}, 0, kStart + 10s), kStart + 10s) << "all is well again";
}

}  // namespace
}  // namespace tug
