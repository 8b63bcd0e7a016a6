#include "tug/agent/steering.h"

#include "core/try.h"
#include "tug/core/codec.h"
#include "tug/core/enum_names.h"
#include "tug/core/nearest.h"

namespace tug {
namespace {

struct Plain {
  std::string command;
  std::optional<std::string> text;
  std::optional<Json> metadata;
};

std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names;
  for (const EnumEntry& entry : enum_entries<SteerKind>()) names.push_back(entry.name);
  return names;
}

bool is_blank(std::string_view text) noexcept {
  return text.find_first_not_of(" \t\r\n\v\f") == text.npos;
}

bool needs_words(SteerKind kind) noexcept {
  return kind == SteerKind::inject || kind == SteerKind::redirect || kind == SteerKind::follow_up;
}
bool takes_words(SteerKind kind) noexcept {
  return needs_words(kind) || kind == SteerKind::pause || kind == SteerKind::cancel;
}

Result<void> check_text(SteerKind kind, std::string_view text) {
  if (text.size() > kMaxSteerText) {
    return fail(ErrorKind::invalid,
                "$.text: " + std::to_string(text.size()) + " bytes are more than the " +
                    std::to_string(kMaxSteerText) + " that a command may carry",
                "put the text into a file and name the file");
  }
  if (needs_words(kind) && is_blank(text)) {
    return fail(ErrorKind::invalid,
                "$.text: " + std::string(name_of(kind)) + " needs words, and there are none");
  }
  if (!takes_words(kind) && !text.empty()) {
    return fail(ErrorKind::invalid, "$.text: " + std::string(name_of(kind)) + " takes no words");
  }
  return {};
}

Result<void> check_metadata(SteerKind kind, const std::optional<Json>& metadata) {
  if (kind != SteerKind::set_metadata) {
    if (!metadata) return {};
    return fail(ErrorKind::invalid,
                "$.metadata: " + std::string(name_of(kind)) + " takes none; set_metadata does");
  }
  if (!metadata) return fail(ErrorKind::invalid, "$.metadata: set_metadata needs an object");
  if (!metadata->is_object()) return fail(ErrorKind::invalid, "$.metadata: expected an object");
  return {};
}

}  // namespace

std::string_view name_of(SteerKind kind) noexcept { return enum_name(kind); }

Result<SteerKind> steer_kind_from(std::string_view name) {
  if (const auto kind = enum_value<SteerKind>(name)) return *kind;
  const std::vector<std::string_view> known = kind_names();
  std::string names;
  for (std::string_view each : known) {
    if (!names.empty()) names += ", ";
    names += each;
  }
  const std::string_view near = nearest_name(name, known);
  return fail(
      ErrorKind::invalid,
      "\"" + std::string(name.substr(0, 64)) + "\" is no command for a run; there are " + names,
      near.empty() ? std::string() : "did you mean " + std::string(near) + "?");
}

Json to_json(const Steer& command) {
  Json json = Json::object({{"command", name_of(command.kind)}});
  if (!command.text.empty()) json.set("text", command.text);
  if (!command.metadata.is_null()) json.set("metadata", command.metadata);
  return json;
}

Result<Steer> steer_from(const Json& json) {
  TUG_TRY(plain, read_json<Plain>(json));
  const auto kind = steer_kind_from(plain.command);
  if (!kind) return Failure(kind.error().within("$.command"));
  std::string text = plain.text.value_or(std::string());
  TUG_TRY(words, check_text(*kind, text));
  TUG_TRY(object, check_metadata(*kind, plain.metadata));
  return Steer{*kind, std::move(text), plain.metadata.value_or(Json())};
}

SteeringPolicy SteeringPolicy::allow_all() {
  SteeringPolicy policy;
  for (const EnumEntry& entry : enum_entries<SteerKind>()) {
    policy.permit(static_cast<SteerKind>(entry.value));
  }
  return policy;
}

std::vector<SteerKind> SteeringPolicy::kinds() const {
  std::vector<SteerKind> kinds;
  for (const EnumEntry& entry : enum_entries<SteerKind>()) {
    const auto kind = static_cast<SteerKind>(entry.value);
    if (permits(kind)) kinds.push_back(kind);
  }
  return kinds;
}

Json to_json(const SteeringPolicy& policy) {
  Json names = Json::array();
  for (SteerKind kind : policy.kinds()) names.push_back(name_of(kind));
  return names;
}

Result<SteeringPolicy> steering_policy_from(const Json& json) {
  if (!json.is_array()) {
    return fail(ErrorKind::invalid, "$.steering: expected a list of commands",
                "for example [\"pause\", \"resume\"]; [] permits nothing");
  }
  SteeringPolicy policy;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string place = "$.steering[" + std::to_string(i) + "]";
    if (!json[i].is_string()) {
      return fail(ErrorKind::invalid, place + ": expected the name of a command");
    }
    const auto kind = steer_kind_from(json[i].as_string());
    if (!kind) return Failure(kind.error().within(place));
    policy.permit(*kind);
  }
  return policy;
}

}  // namespace tug
