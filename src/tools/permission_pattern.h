// A pattern of permissions, read: `tool` or `tool(glob)`.
#pragma once

#include <optional>
#include <string_view>

#include "tug/core/error.h"

namespace tug {

// Views into the text it was read from.
struct PermissionPattern {
  std::string_view tool;
  std::optional<std::string_view> glob;  // every call of the tool without
};
// `invalid`, naming the pattern and the fix.
Result<PermissionPattern> read_pattern(std::string_view text);

// What the characters of a subject mean to `*`.
enum class GlobText : bool { flat, path };
// `**` matches any run of characters, `*` any run without "/" in a path and any run elsewhere, `?`
// one character ("/" in no path). In a path, `**/` at the start of a name also matches nothing.
// A backslash takes the next character as it is. Time in proportion to both sizes.
bool glob_matches(std::string_view glob, std::string_view text, GlobText kind);

inline constexpr std::size_t kMaxPatternBytes = 1024;

}  // namespace tug
