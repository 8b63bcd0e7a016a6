#include "core/decimal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "core/json_node.h"

namespace tug::detail {

Decimal read_decimal(std::string_view text) {
  Decimal out;
  std::size_t at = 0;
  if (at < text.size() && text[at] == '-') {
    out.negative = true;
    ++at;
  }
  bool fraction = false;
  std::int64_t point = 0;  // digits before the point
  for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
    if (text[at] == '.') {
      fraction = true;
      continue;
    }
    if (out.digits.empty() && text[at] == '0') {
      point -= fraction;
      continue;
    }
    out.digits += text[at];
    point += !fraction;
  }
  while (!out.digits.empty() && out.digits.back() == '0') out.digits.pop_back();
  if (out.digits.empty()) return Decimal{};

  std::int64_t power = 0;
  if (at < text.size()) {
    ++at;
    const bool minus = at < text.size() && text[at] == '-';
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    for (; at < text.size(); ++at) {
      power = power > kFarExponent / 10 ? kFarExponent : power * 10 + (text[at] - '0');
    }
    if (power > kFarExponent) power = kFarExponent;
    if (minus) power = -power;
  }
  out.exponent = power == kFarExponent || power == -kFarExponent ? power : power + point;
  return out;
}

Decimal decimal_of(const Json& number) {
  if (JsonAccess::tag(number) != Tag::real) return written_decimal_of(number);
  char buffer[900];  // 767 digits say any double exactly
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, *number.as_double(),
                                 std::chars_format::scientific, 766);
  return read_decimal(std::string_view(buffer, end.ptr));
}

Decimal written_decimal_of(const Json& number) { return read_decimal(print_json(number)); }

std::strong_ordering compare(const Decimal& a, const Decimal& b) noexcept {
  const auto sign = [](const Decimal& d) { return d.digits.empty() ? 0 : d.negative ? -1 : 1; };
  if (const auto order = sign(a) <=> sign(b); order != 0) return order;
  // With no zero at the ends, text order is number order at equal exponents.
  auto order = a.exponent <=> b.exponent;
  if (order == 0) order = a.digits.compare(b.digits) <=> 0;
  return a.negative ? 0 <=> order : order;
}

namespace {

std::strong_ordering compare_with_real(std::int64_t integer, double real) noexcept {
  if (real >= 0x1p63) return std::strong_ordering::less;
  if (real < -0x1p63) return std::strong_ordering::greater;
  const double whole = std::trunc(real);
  if (const auto order = integer <=> static_cast<std::int64_t>(whole); order != 0) return order;
  const double rest = real - whole;
  return rest > 0   ? std::strong_ordering::less
         : rest < 0 ? std::strong_ordering::greater
                    : std::strong_ordering::equal;
}

std::optional<std::int64_t> stored_int(const Json& number) noexcept {
  const Tag tag = JsonAccess::tag(number);
  return tag == Tag::integer || tag == Tag::minus_zero ? number.as_int() : std::nullopt;
}

std::uint64_t times(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) noexcept {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(a) * b % modulus);
}

std::uint64_t power_of_ten(std::uint64_t exponent, std::uint64_t modulus) noexcept {
  std::uint64_t out = 1 % modulus;
  std::uint64_t base = 10 % modulus;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) out = times(out, base, modulus);
    base = times(base, base, modulus);
  }
  return out;
}

// Both are positive integers. Long division that keeps only the rest, in limbs of nine digits.
bool divides(const std::string& divisor, const std::string& value) {
  constexpr std::uint64_t kLimb = 1'000'000'000;
  std::vector<std::uint64_t> by;  // the lowest first
  for (std::size_t end = divisor.size(); end > 0; end -= std::min<std::size_t>(end, 9)) {
    const std::size_t begin = end - std::min<std::size_t>(end, 9);
    std::uint64_t limb = 0;
    for (std::size_t i = begin; i < end; ++i) limb = limb * 10 + (divisor[i] - '0');
    by.push_back(limb);
  }
  by.push_back(0);  // room for ten times the rest
  std::vector<std::uint64_t> rest(by.size(), 0);
  const auto fits = [&] {
    for (std::size_t i = by.size(); i-- > 0;) {
      if (rest[i] != by[i]) return rest[i] > by[i];
    }
    return true;
  };
  for (const char digit : value) {
    std::uint64_t carry = static_cast<unsigned>(digit - '0');
    for (std::uint64_t& limb : rest) {
      const std::uint64_t next = limb * 10 + carry;
      limb = next % kLimb;
      carry = next / kLimb;
    }
    while (fits()) {
      std::uint64_t borrow = 0;
      for (std::size_t i = 0; i < by.size(); ++i) {
        const std::uint64_t taken = by[i] + borrow;
        borrow = rest[i] < taken ? 1 : 0;
        rest[i] = rest[i] + borrow * kLimb - taken;
      }
    }
  }
  return std::all_of(rest.begin(), rest.end(), [](std::uint64_t limb) { return limb == 0; });
}

}  // namespace

std::strong_ordering compare_numbers(const Json& a, const Json& b) {
  const auto left = stored_int(a);
  const auto right = stored_int(b);
  if (left && right) return *left <=> *right;
  const bool left_real = JsonAccess::tag(a) == Tag::real;
  const bool right_real = JsonAccess::tag(b) == Tag::real;
  if (left && right_real) return compare_with_real(*left, *b.as_double());
  if (left_real && right) return 0 <=> compare_with_real(*right, *a.as_double());
  if (left_real && right_real) {
    const double x = *a.as_double();
    const double y = *b.as_double();
    return x < y   ? std::strong_ordering::less
           : x > y ? std::strong_ordering::greater
                   : std::strong_ordering::equal;
  }
  return compare(decimal_of(a), decimal_of(b));
}

bool is_integral(const Json& number) {
  switch (JsonAccess::tag(number)) {
    case Tag::real: {
      const double value = *number.as_double();
      return std::trunc(value) == value;
    }
    case Tag::big:
      return decimal_of(number).is_integer();
    default:
      return true;
  }
}

std::optional<bool> is_multiple_of(const Json& value, const Json& divisor) {
  const auto left = stored_int(value);
  const auto right = stored_int(divisor);
  if (left && right) return *right == -1 || *left % *right == 0;
  const Decimal v = written_decimal_of(value);
  const Decimal d = written_decimal_of(divisor);
  if (v.digits.empty()) return true;
  if (v.is_far() || d.is_far()) {
    if (v.exponent < d.exponent) return false;
    return std::nullopt;
  }
  // As integers: digits x 10^power.
  const std::int64_t v_power = v.exponent - static_cast<std::int64_t>(v.digits.size());
  const std::int64_t d_power = d.exponent - static_cast<std::int64_t>(d.digits.size());
  // A divisor that ends further left is a multiple of ten of what the value's last digit counts.
  if (v_power < d_power) return false;
  if (d.digits.size() > 18) {
    const std::int64_t zeros = v_power - d_power;
    const auto v_size = static_cast<std::int64_t>(v.digits.size());
    const auto d_size = static_cast<std::int64_t>(d.digits.size());
    if (d_size > v_size + zeros) return false;
    if (v_size + zeros > kMaxDivision) return std::nullopt;
    return divides(d.digits, v.digits + std::string(static_cast<std::size_t>(zeros), '0'));
  }
  std::uint64_t modulus = 0;
  for (const char digit : d.digits) modulus = modulus * 10 + static_cast<unsigned>(digit - '0');
  std::uint64_t rest = 0;
  for (const char digit : v.digits) {
    rest = (times(rest, 10, modulus) + static_cast<unsigned>(digit - '0')) % modulus;
  }
  return times(rest, power_of_ten(static_cast<std::uint64_t>(v_power - d_power), modulus),
               modulus) == 0;
}

}  // namespace tug::detail
