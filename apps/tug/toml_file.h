// A TOML file as a flat list of keys.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config_entry.h"
#include "tug/core/error.h"

namespace tug::cli {

// Tables become dotted keys, lists of tables numbered ones; an empty table is an entry of its own.
// A table whose key is `whole` stays one value. `invalid`, naming file, line and column, for what
// is not TOML. At most kMaxToml bytes.
inline constexpr std::size_t kMaxToml = 1u << 20;
Result<std::vector<ConfigEntry>> read_toml(const std::string& path,
                                           const std::function<bool(std::string_view key)>& whole);

}  // namespace tug::cli
