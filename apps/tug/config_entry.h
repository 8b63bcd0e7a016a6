// One key of a file and what stands there.
#pragma once

#include <cstddef>
#include <string>

#include "tug/core/json.h"

namespace tug::cli {

struct ConfigEntry {
  std::string key;  // "limits.max_turns", "models[0].id"
  Json value;       // dates and times are strings; infinities are null
  std::size_t line = 0;
};

// A name as one part of a key: with other characters than letters, digits, "_" and "-" it is
// quoted, so that it cannot be taken for a path.
std::string as_name(std::string_view name);

}  // namespace tug::cli
