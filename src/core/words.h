// How values from outside are named in messages.
#pragma once

#include <string>
#include <string_view>

namespace tug::detail {

// As JSON, clipped: enough to know it by, never the whole.
std::string quoted(std::string_view text);

}  // namespace tug::detail
