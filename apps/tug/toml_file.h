// A TOML file as a flat list of keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tug/core/error.h"
#include "tug/core/json.h"

namespace tug::cli {

struct TomlEntry {
  std::string key;  // "limits.max_turns", "models[0].id"
  Json value;       // dates and times are strings; infinities are null
  std::size_t line = 0;
};

// Tables become dotted keys, lists of tables numbered ones; an empty table is an entry of its own.
// `invalid`, naming file, line and column, for what is not TOML. At most kMaxToml bytes.
inline constexpr std::size_t kMaxToml = 1u << 20;
Result<std::vector<TomlEntry>> read_toml(const std::string& path);

}  // namespace tug::cli
