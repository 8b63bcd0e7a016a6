#include "tug/model/retry.h"

#include <algorithm>
#include <cmath>

#include "tug/core/error_json.h"
#include "tug/model/faults.h"

namespace tug {

Duration RetryPolicy::backoff(std::uint32_t failed, double random) const noexcept {
  const double most_ns = static_cast<double>(most.count());
  const double steps = failed > 0 ? failed - 1.0 : 0.0;
  double wait = static_cast<double>(initial.count()) * std::pow(std::max(multiplier, 1.0), steps);
  wait = std::min(wait, most_ns) * (1 + jitter * (2 * random - 1));
  // A NaN compares false with everything and becomes the most.
  return wait < most_ns ? Duration(static_cast<Duration::rep>(std::max(wait, 0.0))) : most;
}

namespace {

// What nobody understands, and what a second try rarely mends, is tried once more and no oftener.
bool is_tried_once_more(const Error& error) noexcept {
  const Provider* provider = error.detail_if<Provider>();
  if (provider && provider->should_retry) return false;
  const std::optional<Fault> fault = fault_of(error);
  return fault == Fault::unknown || fault == Fault::empty_response ||
         fault == Fault::malformed_call;
}

}  // namespace

std::optional<Duration> RetryPolicy::wait_after(const Error& error, std::uint32_t failed,
                                                double random) const noexcept {
  // A wait of ours that ended (the run's deadline) has the detail Limit, whatever its kind.
  if (error.detail_if<Limit>() || !is_retryable(error) || failed >= attempts) return std::nullopt;
  if (failed > 1 && is_tried_once_more(error)) return std::nullopt;
  const Duration wait = backoff(failed, random);
  const Provider* provider = error.detail_if<Provider>();
  if (!provider || !provider->retry_after_ms) return wait;
  const std::int64_t stated = std::max<std::int64_t>(*provider->retry_after_ms, 0);
  if (stated > longest / std::chrono::milliseconds(1)) return std::nullopt;
  return std::max(wait, Duration(std::chrono::milliseconds(stated)));
}

}  // namespace tug
