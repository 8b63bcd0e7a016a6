#include "core/codec_faults.h"

#include "core/codec_walk.h"
#include "tug/core/nearest.h"
#include "tug/core/utf8.h"

namespace tug::detail {
namespace {

constexpr std::size_t kMaxFaults = 8;
constexpr std::size_t kMaxNames = 16;
constexpr std::size_t kMaxQuoted = 60;

bool is_plain_key(std::string_view key) {
  if (key.empty() || (key.front() >= '0' && key.front() <= '9')) return false;
  for (char c : key) {
    if (!is_name_char(c) || static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

}  // namespace

std::string Place::path() const {
  std::vector<const Place*> steps;
  for (const Place* place = this; place->up; place = place->up) steps.push_back(place);
  std::string path = "$";
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if ((*step)->is_item) {
      path += '[' + std::to_string((*step)->index) + ']';
    } else if (is_plain_key((*step)->key)) {
      path += '.' + std::string((*step)->key);
    } else {
      path += '[' + quoted((*step)->key) + ']';
    }
  }
  return path;
}

void Faults::add(const Place& place, std::string text) {
  if (++count_ <= kMaxFaults) texts_.push_back(place.path() + ": " + std::move(text));
}

void Faults::add_nested(const Place& place, const Error& error) {
  std::string text = to_string(error);
  if (!text.starts_with("$")) return add(place, std::move(text));
  const std::string path = place.path();
  text.replace(0, 1, path);
  for (std::size_t at = text.find("; $"); at != text.npos; at = text.find("; $", at)) {
    text.replace(at + 2, 1, path);
    at += 2 + path.size();
  }
  if (++count_ <= kMaxFaults) texts_.push_back(std::move(text));
}

Result<void> Faults::result() && {
  if (count_ == 0) return {};
  std::string message;
  for (const std::string& text : texts_) {
    if (!message.empty()) message += "; ";
    message += text;
  }
  if (count_ > kMaxFaults) message += "; and " + std::to_string(count_ - kMaxFaults) + " more";
  return fail(ErrorKind::invalid, std::move(message));
}

std::string with_type(const Json& json) {
  switch (json.type()) {
    case Json::Type::null:
      return "null";
    case Json::Type::boolean:
      return json.as_bool() ? "true" : "false";
    case Json::Type::number:
      return "number " + std::string(clip_utf8(print_json(json), kMaxQuoted));
    case Json::Type::string:
      return "string " + quoted(json.as_string());
    case Json::Type::array:
      return "array of " + std::to_string(json.size()) + (json.size() == 1 ? " item" : " items");
    case Json::Type::object:
      return "object";
  }
  return "nothing";
}

std::string listed(std::span<const std::string_view> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMaxNames; ++i) {
    if (i > 0) text += ", ";
    text += quoted(names[i]);
  }
  if (names.size() > kMaxNames) {
    text += " and " + std::to_string(names.size() - kMaxNames) + " more";
  }
  return text;
}

std::string one_of(std::span<const std::string_view> names) {
  return names.size() == 1 ? quoted(names[0]) : "one of " + listed(names);
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view nearest = nearest_name(name, known);
  return nearest.empty() ? std::string() : "; did you mean " + quoted(nearest) + "?";
}

std::string expectation(const Shape& shape) {
  switch (shape.kind) {
    case ShapeKind::boolean:
      return "boolean";
    case ShapeKind::integer:
      return "integer";
    case ShapeKind::real:
      return "number";
    case ShapeKind::text:
      return "string";
    case ShapeKind::any:
    case ShapeKind::custom:
      return "value";
    case ShapeKind::nothing:
      return "null";
    case ShapeKind::enumeration: {
      std::vector<std::string_view> names;
      for (const EnumEntry& entry : as<EnumShape>(shape).entries) names.push_back(entry.name);
      return one_of(names);
    }
    case ShapeKind::literal:
      return quoted(as<LiteralShape>(shape).text);
    case ShapeKind::maybe:
      return expectation(*as<MaybeShape>(shape).inner);
    case ShapeKind::list:
      return "array";
    case ShapeKind::row: {
      const std::size_t count = as<RowShape>(shape).count;
      return "array of " + std::to_string(count) + (count == 1 ? " item" : " items");
    }
    case ShapeKind::dictionary:
    case ShapeKind::object:
      return "object";
    case ShapeKind::choice: {
      std::vector<std::string> kinds;
      for (const Shape* alternative : as<ChoiceShape>(shape).alternatives) {
        std::string kind = expectation(*alternative);
        if (kinds.empty() || kinds.back() != kind) kinds.push_back(std::move(kind));
      }
      std::string text = kinds[0];
      for (std::size_t i = 1; i < kinds.size(); ++i) text += " or " + kinds[i];
      return text;
    }
  }
  return "value";
}

}  // namespace tug::detail
