// Lengths of time as providers write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tug/core/time.h"

namespace tug::detail {

// "1.3s", "6m0s", "20ms", "2 minutes 3 seconds", "17" (seconds): in milliseconds. Nothing when it
// is no such thing as a whole.
std::optional<std::int64_t> parse_stated_duration(std::string_view text);

// The three forms of RFC 9110: "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
// "Sun Nov  6 08:49:37 1994". `now` tells the century of the second.
std::optional<Time> parse_http_date(std::string_view text, Time now);

// From zero to 10^9 seconds, rounded up: a wait must not end early. A NaN is zero.
std::int64_t clamped_ms(double milliseconds) noexcept;

}  // namespace tug::detail
