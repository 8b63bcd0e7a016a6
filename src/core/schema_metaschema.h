// The published metaschemas of draft 2020-12.
#pragma once

#include <string_view>

namespace tug::detail {

inline constexpr std::string_view kDialect = "https://json-schema.org/draft/2020-12/schema";

// The text for one of their URIs; empty for any other.
std::string_view metaschema_text(std::string_view uri) noexcept;

}  // namespace tug::detail
