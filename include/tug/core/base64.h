// Bytes as text inside JSON (RFC 4648, padded).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tug {

std::string to_base64(std::string_view bytes);
// Nothing when the text is not padded base64 without white space.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace tug
