// Which rows of the catalogue mean a model of a name.
#pragma once

#include <string_view>
#include <vector>

namespace tug {

// "*" stands for any text, everything else for itself.
bool matches_pattern(std::string_view pattern, std::string_view name) noexcept;

// A name, or what is left of it without a date or a tag.
struct NameCut {
  std::string_view name;
  bool tagged = false;  // behind a ":", which may mean another price
};
// The name itself, then shorter and shorter: "gpt-5.4" of "gpt-5.4-2026-03-01", "grok-4" of
// "grok-4-latest", but not "gpt-5" of "gpt-5-mini".
std::vector<NameCut> name_cuts(std::string_view name);

}  // namespace tug
