#include "tug/core/nearest.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace tug {
namespace {

constexpr std::size_t kMaxLength = 64;
constexpr std::size_t kFar = 1000;

std::string plain_letters(std::string_view name) {
  std::string plain;
  for (char c : name) {
    if (c == '_' || c == '-' || c == ' ' || c == '.') continue;
    plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return plain;
}

std::size_t distance(std::string_view wanted, std::string_view known) {
  const std::size_t shorter = std::min(wanted.size(), known.size());
  const std::size_t wrong = edits_between(wanted, known);
  if (wrong <= std::max<std::size_t>(1, std::max(wanted.size(), known.size()) / 3) &&
      wrong < shorter) {
    return wrong;
  }
  const bool contained = wanted.find(known) != wanted.npos || known.find(wanted) != known.npos;
  return contained && shorter >= 3 ? kFar - 1 : kFar;
}

}  // namespace

std::size_t edits_between(std::string_view a, std::string_view b) {
  if (a.size() > kMaxLength || b.size() > kMaxLength) return std::max(a.size(), b.size());
  using Row = std::array<std::size_t, kMaxLength + 1>;
  Row before{}, last{}, row{};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

std::string_view nearest_name(std::string_view wanted, std::span<const std::string_view> known) {
  std::string_view nearest;
  if (wanted.size() > kMaxLength) return nearest;
  const std::string plain = plain_letters(wanted);
  std::size_t least = kFar;
  for (std::string_view name : known) {
    if (name.size() > kMaxLength) continue;
    const std::size_t away = distance(plain, plain_letters(name));
    if (away < least) {
      least = away;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace tug
