// How a violation is said.
#include <algorithm>

#include "core/decimal.h"
#include "core/schema_compile.h"
#include "core/schema_validate.h"

namespace tug::detail {

std::string SchemaValidator::pointer_of(const Path* path) {
  std::vector<const Path*> steps;
  for (; path != nullptr; path = path->up) steps.push_back(path);
  std::string out;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    out += '/';
    out += (*step)->key != nullptr ? pointer_token((*step)->key->as_string())
                                   : std::to_string((*step)->index);
  }
  return out;
}

void SchemaValidator::note(const SchemaNode& node, std::string_view keyword, std::string message) {
  std::string place = location_of(node);
  if (!keyword.empty()) place.append("/").append(keyword);
  report_->list.push_back({pointer_of(path_), std::move(place), std::move(message)});
}

void SchemaValidator::refuse_below(const SchemaNode& node, std::string_view keyword,
                                   const Json* key, std::size_t index, std::string message) {
  const Path here{path_, key, index};
  path_ = &here;
  note(node, keyword, std::move(message));
  path_ = here.up;
}

namespace {

std::string joined_with_or(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

}  // namespace

std::string type_words(std::uint8_t types) {
  const std::pair<std::uint8_t, const char*> names[] = {
      {Types::null, "null"},     {Types::boolean, "boolean"}, {Types::integer, "integer"},
      {Types::number, "number"}, {Types::string, "string"},   {Types::array, "array"},
      {Types::object, "object"}};
  std::vector<std::string> words;
  for (const auto& [bit, name] : names) {
    if ((types & bit) != 0) words.emplace_back(name);
  }
  return joined_with_or(words);
}

std::string described(const Json& value) {
  switch (value.type()) {
    case Json::Type::null:
      return "null";
    case Json::Type::boolean:
      return "boolean " + preview(value);
    case Json::Type::number:
      return (is_integral(value) ? "integer " : "number ") + preview(value);
    case Json::Type::string:
      return "string " + preview(value);
    case Json::Type::array:
      return value.size() > 8 ? preview(value) : "array " + preview(value);
    case Json::Type::object:
      return value.size() > 8 ? preview(value) : "object " + preview(value);
  }
  return {};
}

std::string choice_words(const std::vector<Json>& choices) {
  constexpr std::size_t kShown = 20;
  if (choices.empty()) return "nothing (the enum is empty)";
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(choices.size(), kShown); ++i) {
    words.push_back(preview(choices[i]));
  }
  if (choices.size() > kShown) {
    words.push_back("one of " + std::to_string(choices.size() - kShown) + " more");
  }
  return (choices.size() > 1 ? "one of " : "") + joined_with_or(words);
}

namespace {

// Letters to change, add, drop or swap with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

constexpr std::size_t kLongestCompared = 64;
constexpr std::size_t kMostCompared = 256;

}  // namespace

std::string known_keys_hint(std::string_view key, const ObjectRules& rules) {
  std::string_view nearest;
  std::size_t best = std::max<std::size_t>(key.size() / 3, 1) + 1;
  std::vector<std::string> names;
  for (const Json::Member& known : rules.names.members()) {
    if (names.size() == kMostCompared) break;
    if (rules.properties[*known.value.as_uint()].node == nullptr) continue;
    names.push_back(quoted(known.key()));
    if (key.size() > kLongestCompared || known.key().size() > kLongestCompared) continue;
    const std::size_t distance = edit_distance(key, known.key());
    if (distance < best) {
      best = distance;
      nearest = known.key();
    }
  }
  if (!nearest.empty()) return ", did you mean " + quoted(nearest) + "?";
  if (names.empty() || names.size() > 12) return "";
  return ", expected " + joined_with_or(names);
}

}  // namespace tug::detail
