#include "model/name_match.h"

#include <algorithm>

namespace tug {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "2026-03-01", "20260301", "0905", "latest", "preview-05-20": parts of a date, or a word that
// stands for one. A number of one digit is a version, two digits only count beside a longer part.
bool is_date(std::string_view text) {
  bool telling = false;
  while (true) {
    const std::size_t dash = text.find('-');
    const std::string_view part = text.substr(0, dash);
    const bool word = part == "latest" || part == "preview" || part == "exp";
    const bool digits = is_digits(part) && part.size() % 2 == 0 && part.size() <= 8;
    if (!word && !digits) return false;
    telling = telling || word || part.size() >= 4;
    if (dash == text.npos) return telling;
    text.remove_prefix(dash + 1);
  }
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view name) noexcept {
  std::size_t at = 0;
  std::size_t read = 0;
  std::size_t star = pattern.npos;
  std::size_t resume = 0;
  while (read < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      resume = read;
    } else if (at < pattern.size() && pattern[at] == name[read]) {
      ++at;
      ++read;
    } else if (star != pattern.npos) {
      at = star + 1;
      read = ++resume;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

std::vector<NameCut> name_cuts(std::string_view name) {
  constexpr std::size_t kLongestName = 256;
  std::vector<NameCut> cuts = {{name, false}};
  if (name.size() > kLongestName) return cuts;
  bool tagged = false;
  if (const std::size_t colon = name.rfind(':'); colon != name.npos && colon > 0) {
    name = name.substr(0, colon);
    tagged = true;
    cuts.push_back({name, tagged});
  }
  for (std::size_t i = name.size(); i-- > 1;) {
    if (name[i] != '-' && name[i] != '@') continue;
    if (is_date(name.substr(i + 1))) cuts.push_back({name.substr(0, i), tagged});
  }
  return cuts;
}

}  // namespace tug
