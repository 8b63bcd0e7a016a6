// Short names for values, to compare and to show.
#pragma once

#include <string>
#include <string_view>

#include "tug/core/digest.h"
#include "tug/core/json.h"

namespace tug {

// 16 digits.
std::string hex16(const Fingerprint& fingerprint);
// Equal for equal calls, whatever the order of their members. `arguments` were parsed, so their
// depth is capped.
std::string call_signature(std::string_view tool, const Json& arguments);

}  // namespace tug
