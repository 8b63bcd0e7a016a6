#include <charconv>
#include <cmath>
#include <limits>

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

void put_real(Json& value, const char* begin, const char* end) {
  double real = 0;
  const auto read = std::from_chars(begin, end, real);
  bool exact = read.ec == std::errc() && std::isfinite(real);
  if (exact && real == 0) {
    // A zero that was written with other digits is an underflow.
    for (const char* p = begin; p != end && *p != 'e' && *p != 'E'; ++p) {
      if (*p >= '1' && *p <= '9') exact = false;
    }
  }
  if (exact) {
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
    while (is_digit(p, end)) ++p;
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
