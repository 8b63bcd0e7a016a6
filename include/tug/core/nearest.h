// "Did you mean ...?"
#pragma once

#include <span>
#include <string_view>

namespace tug {

// The known name that was probably meant: the same but for case, `_` and `-`; else one with few
// letters wrong, missing or swapped; else the first that contains the other ("path", "file_path").
// Empty when nothing is near. A view into `known`; names beyond 64 bytes are not considered.
std::string_view nearest_name(std::string_view wanted, std::span<const std::string_view> known);

}  // namespace tug
