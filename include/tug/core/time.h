// Two kinds of time. Instant is monotonic and only good for waiting and measuring; Time is what a
// person's clock says and is only good for showing and storing. Neither can be asked for "now":
// that is the Loop's to say, so that a simulated run sees simulated time.
#pragma once

#include <mutex>  // for std::chrono: <chrono> itself brings calendars and streams, 0.1 s in every header
#include <string>
#include <string_view>

#include "tug/core/error.h"

namespace tug {

using Duration = std::chrono::nanoseconds;

// A tag, not a clock: it has no now().
struct MonotonicClock {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<MonotonicClock, Duration>;
  static constexpr bool is_steady = true;
};

using Instant = MonotonicClock::time_point;
using Time = std::chrono::sys_time<std::chrono::nanoseconds>;

inline constexpr Instant kNever = Instant::max();

// `from + wait` that stops at kNever instead of overflowing.
constexpr Instant later(Instant from, Duration wait) noexcept {
  if (wait.count() > 0 && from > kNever - wait) return kNever;
  return from + wait;
}

// "2026-02-03T04:05:06.007Z": UTC, three digits of fraction, or six or nine where three would lose
// something.
std::string to_rfc3339(Time time);

// Any offset and any number of fraction digits (more than nine are cut). Fails with `invalid` on
// anything else, a date that is not in the calendar, or one that does not fit (years 1678 to 2261).
// A leap second, ":60", reads as the first instant of the next minute.
Result<Time> parse_rfc3339(std::string_view text);

}  // namespace tug
