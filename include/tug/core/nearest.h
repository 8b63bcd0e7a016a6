// "Did you mean ...?"
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tug {

// The known name that was probably meant: the same but for case, `_` and `-`; else one with few
// letters wrong, missing or swapped; else the first that contains the other ("path", "file_path").
// Empty when nothing is near. A view into `known`; names beyond 64 bytes are not considered.
std::string_view nearest_name(std::string_view wanted, std::span<const std::string_view> known);

// Letters inserted, deleted, replaced, or swapped with their neighbour, that make one out of the
// other. Names beyond 64 bytes are as far apart as the longer one is long.
std::size_t edits_between(std::string_view a, std::string_view b);

}  // namespace tug
