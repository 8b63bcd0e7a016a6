// Exact arithmetic on JSON numbers: order, integrality, divisibility. Machine types where they do,
// decimals of any size where they do not.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tug/core/json.h"

namespace tug::detail {

// 0.DIGITS x 10^exponent, with no zero at either end of the digits; zero has no digits. Exponents
// beyond +-kFarExponent are cut to it: such numbers are only told apart by sign and direction.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;

  bool is_far() const noexcept;
  bool is_integer() const noexcept { return exponent >= static_cast<std::int64_t>(digits.size()); }
  friend bool operator==(const Decimal&, const Decimal&) = default;
};

inline constexpr std::int64_t kFarExponent = std::int64_t{1} << 60;

inline bool Decimal::is_far() const noexcept {
  return exponent == kFarExponent || exponent == -kFarExponent;
}

// `text` is a JSON number.
Decimal read_decimal(std::string_view text);
// `number` is a number; a double is taken with all its digits.
Decimal decimal_of(const Json& number);
// The decimal a person sees: the shortest text of a double, so that 0.0075 is 75 x 10^-4.
Decimal written_decimal_of(const Json& number);
std::strong_ordering compare(const Decimal& a, const Decimal& b) noexcept;

// All of these take numbers only.
std::strong_ordering compare_numbers(const Json& a, const Json& b);
// Has no fraction: 1, 1.0 and 1e400.
bool is_integral(const Json& number);
// value = n x divisor for an integer n, both taken as the decimals that were written: 0.0075 is a
// multiple of 0.0001. `divisor` is above 0. Nothing when telling takes more than kMaxDivision
// digits of either, counted down to the last place of the other.
inline constexpr std::int64_t kMaxDivision = 2000;
std::optional<bool> is_multiple_of(const Json& value, const Json& divisor);

}  // namespace tug::detail
