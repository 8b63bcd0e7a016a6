// Patterns as JSON Schema writes them (ECMA-262, Unicode) in the syntax of RE2.
#pragma once

#include <string>
#include <string_view>

#include "tug/core/error.h"

namespace tug::detail {

// Groups no longer capture. The error (`unsupported` for look-around and back references, `invalid`
// for what is no pattern) gives the reason only; the caller knows the place.
Result<std::string> re2_pattern_of(std::string_view ecma);

}  // namespace tug::detail
