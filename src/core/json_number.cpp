#include <charconv>

#include "core/json_node.h"

namespace tug {

using detail::Tag;

namespace {

bool is_digit(const char* p, const char* end) noexcept {
  return p != end && *p >= '0' && *p <= '9';
}

void put_big(Json& value, const char* begin, const char* end) {
  const auto size = static_cast<std::size_t>(end - begin);
  detail::TextNode* node = detail::TextNode::make(size);
  std::memcpy(node->chars(), begin, size);
  JsonAccess::put_node(value, Tag::big, node);
}

void put_integer(Json& value, const char* begin, const char* end, bool negative,
                 std::uint64_t low_digits) {
  const char* digits = begin + negative;
  std::uint64_t natural = low_digits;
  if (end - digits > 19) {
    const auto read = std::from_chars(digits, end, natural);
    if (read.ec != std::errc()) return put_big(value, begin, end);
  }
  constexpr std::uint64_t limit = std::uint64_t{1} << 63;
  if (!negative) {
    JsonAccess::put(value, natural < limit ? Tag::integer : Tag::natural, natural);
  } else if (natural == 0) {
    JsonAccess::put(value, Tag::minus_zero);
  } else if (natural <= limit) {
    JsonAccess::put(value, Tag::integer, std::uint64_t{0} - natural);
  } else {
    put_big(value, begin, end);
  }
}

constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// DIGITS / 10^places, for numbers without an exponent. Both are exact doubles up to 2^53 and 10^22,
// so that one division rounds once, and right.
bool put_short_real(Json& value, bool negative, std::uint64_t digits, std::ptrdiff_t count,
                    std::ptrdiff_t places) {
  if (count > 19 || digits > std::uint64_t{1} << 53 || places > 22) return false;
  const double real = static_cast<double>(digits) / kPowersOfTen[places];
  JsonAccess::put(value, Tag::real, negative ? -real : real);
  return true;
}

void put_real(Json& value, const char* begin, const char* end) {
  double real = 0;
  const auto read = std::from_chars(begin, end, real);
  // Too large and too small are both out of range; neither gives a double that says the number.
  if (read.ec == std::errc()) {
    JsonAccess::put(value, Tag::real, real);
  } else {
    put_big(value, begin, end);
  }
}

}  // namespace

bool JsonAccess::put_number(Json& value, const char* p, const char* end, const char*& stop) {
  const char* begin = p;
  const bool negative = p != end && *p == '-';
  p += negative;
  stop = p;
  if (!is_digit(p, end)) return false;
  std::uint64_t natural = 0;  // wraps beyond 19 digits, and is then not used
  if (*p == '0') {
    ++p;
    stop = p;
    if (is_digit(p, end)) return false;
  } else {
    for (; is_digit(p, end); ++p) natural = natural * 10 + static_cast<unsigned char>(*p - '0');
  }
  stop = p;
  if (p == end || (*p != '.' && *p != 'e' && *p != 'E')) {
    put_integer(value, begin, p, negative, natural);
    return true;
  }
  if (*p == '.') {
    ++p;
    stop = p;
    if (!is_digit(p, end)) return false;
    for (; is_digit(p, end); ++p) natural = natural * 10 + static_cast<unsigned char>(*p - '0');
    const char* point = stop - 1;
    stop = p;
    if ((p == end || (*p != 'e' && *p != 'E')) &&
        put_short_real(value, negative, natural, p - begin - negative - 1, p - point - 1)) {
      return true;
    }
  }
  if (p != end && (*p == 'e' || *p == 'E')) {
    ++p;
    if (p != end && (*p == '+' || *p == '-')) ++p;
    stop = p;
    if (!is_digit(p, end)) return false;
    while (is_digit(p, end)) ++p;
  }
  stop = p;
  put_real(value, begin, p);
  return true;
}

}  // namespace tug
