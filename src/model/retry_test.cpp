#include "tug/model/retry.h"

#include <gtest/gtest.h>

#include <limits>

namespace tug {
namespace {

Error stating(std::int64_t retry_after_ms) {
  return Error(ErrorKind::overloaded, "too much", "",
               Provider{.fault = "rate_limit", .retry_after_ms = retry_after_ms});
}

TEST(Retry, ATimeInThePastIsNoWaitBeyondTheBackoff) {
  const RetryPolicy policy{.jitter = 0};
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  // The last one, in nanoseconds, comes out as 63 years when it wraps.
  for (const std::int64_t stated :
       {std::int64_t{0}, std::int64_t{-1}, kLeast, kLeast / 2, std::int64_t{-9000000000000000}}) {
    EXPECT_EQ(policy.wait_after(stating(stated), 1, 0.5), policy.initial) << stated;
  }
}

TEST(Retry, ATimeBeyondTheLongestIsNotWaitedOut) {
  const RetryPolicy policy;
  for (const std::int64_t stated : {std::int64_t{120001}, std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(policy.wait_after(stating(stated), 1, 0.5), std::nullopt) << stated;
  EXPECT_EQ(policy.wait_after(stating(120000), 1, 0.5), policy.longest);
}

}  // namespace
}  // namespace tug
