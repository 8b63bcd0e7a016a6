// Counting that stops at the end of the range instead of leaving it.
#pragma once

#include <cstdint>
#include <limits>

namespace tug::detail {

constexpr std::int64_t not_negative(std::int64_t count) noexcept { return count > 0 ? count : 0; }

constexpr std::int64_t saturated_sum(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

}  // namespace tug::detail
