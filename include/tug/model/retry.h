// When a failed attempt is made again, and after how long. Pure: the wait is the run's.
#pragma once

#include <cstdint>
#include <optional>

#include "tug/core/error.h"
#include "tug/core/time.h"

namespace tug {

struct RetryPolicy {
  std::uint32_t attempts = 4;  // in all, of one call on one model
  Duration initial = std::chrono::milliseconds(200);
  double multiplier = 2;
  Duration most = std::chrono::seconds(30);      // of a wait that we reckon
  Duration longest = std::chrono::seconds(120);  // of a wait that the provider states
  double jitter = 0.25;                          // share by which a wait is moved either way

  // Before the attempt that follows `failed` failed ones (from 1). `random` is from [0, 1]; 0.5 is
  // the wait itself.
  Duration backoff(std::uint32_t failed, double random) const noexcept;
  // What to wait after `error`: the longer of the backoff and what the provider states. Nothing
  // when it is not to be tried again: the error is not retryable (is_retryable, which heeds what
  // the provider says outright), a limit of the run ended the wait, the attempts are used up, or
  // the provider states more than `longest`. Fault::unknown, empty_response and malformed_call are
  // tried once more at most, unless the provider says that they may be.
  std::optional<Duration> wait_after(const Error& error, std::uint32_t failed,
                                     double random) const noexcept;
};

}  // namespace tug
