// Escapes of JSON strings, both ways.
#pragma once

#include <string_view>

#include "tug/core/json.h"

namespace tug::detail {

inline int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Makes `value` the string that `raw`, the well-formed inside of a JSON string, stands for. A lone
// surrogate becomes U+FFFD. Returns the backslash of an escape that is none, null when all is well.
// `raw` must not end within an escape of one letter.
const char* put_escaped_text(Json& value, std::string_view raw);

}  // namespace tug::detail
