#include "tug/model/retry.h"

#include <gtest/gtest.h>

#include <limits>

#include "tug/core/cancel.h"
#include "tug/core/wait.h"
#include "tug/model/faults.h"

namespace tug {
namespace {

Error stating(std::int64_t retry_after_ms) {
  return Error(ErrorKind::overloaded, "too much", "",
               Provider{.fault = "retry_after", .retry_after_ms = retry_after_ms});
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

// How often an error that comes each time is tried again.
std::uint32_t retries(const Error& error) {
  const RetryPolicy policy;
  std::uint32_t failed = 1;
  while (policy.wait_after(error, failed, 0.5)) ++failed;
  return failed - 1;
}

TEST(Retry, EachClassIsTriedAsOftenAsItHelps) {
  const FaultSource who{.provider = "acme", .model = "m1"};
  for (std::size_t i = 0; i <= static_cast<std::size_t>(Fault::unknown); ++i) {
    const auto fault = static_cast<Fault>(i);
    std::uint32_t expected = 0;
    switch (fault) {
      case Fault::retry_after:
      case Fault::overloaded:
      case Fault::timeout:
      case Fault::transport_unsent:
      case Fault::transport_ambiguous:
      case Fault::stream_cut:
      case Fault::stream_stalled:
        expected = 3;
        break;
      case Fault::empty_response:
      case Fault::malformed_call:
      case Fault::unknown:
        expected = 1;
        break;
      default:
        break;
    }
    EXPECT_EQ(retries(fault_error(who, fault, "failed")), expected) << name_of(fault);
  }
}

TEST(Retry, WhatTheProviderSaysOutrightCounts) {
  const auto said = [](ErrorKind kind, Fault fault, bool should_retry) {
    return Error(kind, "failed", "",
                 Provider{.fault = std::string(name_of(fault)), .should_retry = should_retry});
  };
  EXPECT_EQ(retries(said(ErrorKind::overloaded, Fault::overloaded, false)), 0u);
  EXPECT_EQ(retries(said(ErrorKind::invalid, Fault::bad_request, true)), 3u);
  EXPECT_EQ(retries(said(ErrorKind::disconnected, Fault::unknown, true)), 3u);
  EXPECT_EQ(retries(said(ErrorKind::disconnected, Fault::unknown, false)), 0u);
}

TEST(Retry, TheDeadlineOfARunIsNeverRetried) {
  EXPECT_EQ(retries(wait_error(Woken::timed_out, {}, "the answer")), 0u);
  EXPECT_EQ(
      retries(Error(ErrorKind::disconnected, "out of time", "", Limit{LimitKind::wall_clock})), 0u);
  EXPECT_EQ(retries(Error(ErrorKind::invalid, "too much", "", Overflow{})), 0u);
}

TEST(Retry, AStatedWaitBeatsAShorterBackoff) {
  const RetryPolicy policy;
  for (const double random : {0.0, 0.5, 1.0})
    EXPECT_EQ(policy.wait_after(stating(5000), 2, random), std::chrono::seconds(5));
}

}  // namespace
}  // namespace tug
