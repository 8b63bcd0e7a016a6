// Text from outside is made well-formed once, on entry.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tug {

bool is_utf8(std::string_view bytes) noexcept;
// Every maximal ill-formed part becomes one U+FFFD, as the Unicode standard recommends.
std::string repair_utf8(std::string_view bytes);
// At most `limit` bytes of `text`, never cutting a code point.
std::string_view clip_utf8(std::string_view text, std::size_t limit) noexcept;

// Code points in well-formed text.
std::size_t count_code_points(std::string_view text) noexcept;

}  // namespace tug
