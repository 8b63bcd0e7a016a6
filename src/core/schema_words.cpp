// How a violation is said.
#include <algorithm>

#include "core/decimal.h"
#include "core/schema_compile.h"
#include "core/schema_validate.h"
#include "tug/core/nearest.h"
#include "tug/core/utf8.h"

namespace tug::detail {

namespace {

constexpr std::size_t kMessageBytes = 500;
constexpr std::size_t kShownPath = 100;  // of an alternative

}  // namespace

std::string clipped(std::string text, std::size_t size) {
  if (text.size() <= size) return text;
  text.resize(clip_utf8(text, size).size());
  return text + "...";
}

std::string SchemaValidator::pointer_of(const Path* path, const Path* start, std::size_t room) {
  std::vector<const Path*> steps;
  for (; path != start; path = path->up) steps.push_back(path);
  std::string out;
  for (auto step = steps.rbegin(); step != steps.rend() && out.size() <= room; ++step) {
    out += '/';
    out += (*step)->key != nullptr ? pointer_token(clip_utf8((*step)->key->as_string(), room))
                                   : std::to_string((*step)->index);
  }
  return out;
}

void SchemaValidator::note(const SchemaNode& node, std::string_view keyword, std::string message) {
  message = clipped(std::move(message), kMessageBytes);
  if (report_->brief) {
    std::string path = pointer_of(path_, report_->start, kShownPath + 1);
    report_->list.push_back({clipped(std::move(path), kShownPath), "", std::move(message)});
    return;
  }
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

std::string shown_text(std::string_view text) {
  const std::string_view start = clip_utf8(text, kPreviewBytes);
  std::string out;
  print_json_string(start, out);
  return start.size() < text.size() ? out + "..." : out;
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

std::string typed_value(const Json& value) {
  switch (value.type()) {
    case Json::Type::null:
      return "null";
    case Json::Type::boolean:
      return "boolean " + shown_value(value);
    case Json::Type::number:
      return (is_integral(value) ? "integer " : "number ") + shown_value(value);
    case Json::Type::string:
      return "string " + shown_value(value);
    case Json::Type::array:
    case Json::Type::object: {
      const std::string shown = shown_value(value);
      if (shown.starts_with("an ")) return shown;
      return (value.is_array() ? "array " : "object ") + shown;
    }
  }
  return {};
}

std::string choice_words(const std::vector<Json>& choices) {
  constexpr std::size_t kShown = 20;
  if (choices.empty()) return "nothing (the enum is empty)";
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(choices.size(), kShown); ++i) {
    words.push_back(shown_value(choices[i]));
  }
  if (choices.size() > kShown) {
    words.push_back("one of " + std::to_string(choices.size() - kShown) + " more");
  }
  return (choices.size() > 1 ? "one of " : "") + joined_with_or(words);
}

std::string known_keys_hint(std::string_view key, const ObjectRules& rules) {
  constexpr std::size_t kMostCompared = 256;
  constexpr std::size_t kMostListed = 12;
  std::vector<std::string_view> names;
  for (const Json::Member& known : rules.names.members()) {
    if (names.size() == kMostCompared) break;
    if (rules.properties[*known.value.as_uint()].node != nullptr) names.push_back(known.key());
  }
  const std::string_view nearest = nearest_name(key, names);
  if (!nearest.empty()) return ", did you mean " + shown_text(nearest) + "?";
  if (names.empty() || names.size() > kMostListed) return "";
  std::vector<std::string> words;
  for (const std::string_view name : names) words.push_back(shown_text(name));
  return ", expected " + joined_with_or(words);
}

}  // namespace tug::detail
