#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <string>

#include "model/fault_body.h"
#include "model/fault_text.h"
#include "model/stated_duration.h"
#include "tug/model/faults.h"

namespace tug {
namespace {

using detail::clamped_ms;
using detail::parse_stated_duration;

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<double> number_of(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ptr != text.data() + text.size()) return std::nullopt;
  if (read.ec == std::errc::result_out_of_range) return text.front() == '-' ? 0 : 1e300;
  if (read.ec != std::errc() || std::isnan(number)) return std::nullopt;
  return number;
}

// A clock that nobody set makes nonsense of dates.
std::optional<std::int64_t> until(std::optional<Time> time, Time now) {
  if (!time || now == Time{}) return std::nullopt;
  const double ms = static_cast<double>(time->time_since_epoch().count()) / 1e6 -
                    static_cast<double>(now.time_since_epoch().count()) / 1e6;
  return clamped_ms(ms);
}

std::optional<std::int64_t> retry_after(std::string_view value, Time now) {
  if (value.empty()) return std::nullopt;
  if (const auto seconds = number_of(value)) return clamped_ms(*seconds * 1000);
  if (const auto wait = parse_stated_duration(value)) return wait;
  return until(detail::parse_http_date(trimmed(value), now), now);
}

// "6m0s", a date, seconds, or a time since 1970 in seconds or milliseconds.
std::optional<std::int64_t> reset(std::string_view value, Time now) {
  const std::string_view text = trimmed(value);
  if (text.empty()) return std::nullopt;
  if (const auto number = number_of(text)) {
    if (*number < 1e9) return clamped_ms(*number * 1000);
    if (now == Time{}) return std::nullopt;
    const double now_ms = static_cast<double>(now.time_since_epoch().count()) / 1e6;
    return clamped_ms((*number < 1e11 ? *number * 1000 : *number) - now_ms);
  }
  if (const auto wait = parse_stated_duration(text)) return wait;
  const auto time = parse_rfc3339(text);
  return until(time ? std::optional(*time) : std::nullopt, now);
}

// The longest of the limits that are used up.
std::optional<std::int64_t> of_limits(const std::vector<HttpHeader>& headers, Time now) {
  struct Names {
    std::string_view reset;
    std::string_view remaining;
  };
  constexpr Names kLimits[] = {
      {"x-ratelimit-reset-requests", "x-ratelimit-remaining-requests"},
      {"x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens"},
      {"x-ratelimit-reset", "x-ratelimit-remaining"},
      {"anthropic-ratelimit-requests-reset", "anthropic-ratelimit-requests-remaining"},
      {"anthropic-ratelimit-tokens-reset", "anthropic-ratelimit-tokens-remaining"},
      {"anthropic-ratelimit-input-tokens-reset", "anthropic-ratelimit-input-tokens-remaining"},
      {"anthropic-ratelimit-output-tokens-reset", "anthropic-ratelimit-output-tokens-remaining"},
  };
  std::optional<std::int64_t> longest;
  for (const Names& limit : kLimits) {
    const auto wait = reset(find_header(headers, limit.reset), now);
    if (!wait) continue;
    const auto remaining = number_of(find_header(headers, limit.remaining));
    if (remaining && *remaining > 0) continue;
    longest = std::max(longest.value_or(0), *wait);
  }
  return longest;
}

}  // namespace

std::optional<std::int64_t> stated_wait_ms(const FaultReply& reply) {
  if (reply.headers) {
    if (const auto ms = number_of(find_header(*reply.headers, "retry-after-ms")))
      return clamped_ms(*ms);
    const auto wait = retry_after(find_header(*reply.headers, "retry-after"), reply.now);
    if (wait) return wait;
  }
  const detail::FaultBody said = detail::read_fault_body(reply.body);
  if (said.wait_ms) return said.wait_ms;
  const std::string_view prose = detail::stated_wait_in(said.text);
  if (!prose.empty()) {
    if (const auto wait = parse_stated_duration(prose)) return wait;
  }
  // Every answer has these, so they state a wait only where something was refused for them.
  if (reply.headers && reply.status == 429) return of_limits(*reply.headers, reply.now);
  return std::nullopt;
}

}  // namespace tug
