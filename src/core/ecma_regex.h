// Patterns as JSON Schema writes them (ECMA-262, Unicode), run by RE2.
#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "tug/core/error.h"

namespace tug::detail {

// Nothing captures. Takes no more than about `max_memory` bytes, its cache of states included. The
// error gives the reason only; the caller knows the place. `invalid` for what is no pattern,
// `unsupported` for a pattern that RE2 cannot run: look-around, back references, properties it does
// not know, and what is too long or too large.
Result<std::unique_ptr<re2::RE2>> compile_ecma(std::string_view pattern, std::int64_t max_memory);

}  // namespace tug::detail
