// The formats of JSON Schema 2020-12, as predicates on text.
#pragma once

#include <cstdint>
#include <string_view>

namespace tug::detail {

struct Format {
  std::string_view name;
  bool (*matches)(std::string_view text);
  std::uint64_t bytes_per_step = 256;
};

// Null for a format we do not know: it asserts nothing.
const Format* find_format(std::string_view name) noexcept;

}  // namespace tug::detail
