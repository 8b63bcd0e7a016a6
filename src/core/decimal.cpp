#include "core/decimal.h"

#include <charconv>

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
    for (; at < text.size() && power < kFarExponent; ++at) power = power * 10 + (text[at] - '0');
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

}  // namespace tug::detail
