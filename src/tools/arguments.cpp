// What a model wrote, checked before anything runs; and what it reads when that goes wrong.
#include <algorithm>

#include "tools/envelope.h"
#include "tug/core/utf8.h"
#include "tug/tools/invoke.h"

namespace tug {
namespace {

constexpr std::string_view kSpace = " \n\r\t";
constexpr std::size_t kShownName = 80;
constexpr std::size_t kShownNames = 4000;    // bytes of the list of known tools
constexpr std::size_t kShownSchema = 16384;  // bytes

using Checked = std::expected<CheckedArguments, BadArguments>;

std::unexpected<BadArguments> refuse(const Tool& tool, const std::string& what,
                                     std::vector<Violation> violations = {}) {
  return std::unexpected(BadArguments{.text = "the arguments for \"" + tool.name() + "\" " + what,
                                      .violations = std::move(violations)});
}

std::string_view unfenced(std::string_view text) noexcept {
  constexpr std::string_view kFence = "```";
  const std::size_t from = text.find_first_not_of(kSpace);
  if (from == text.npos) return {};
  std::string_view inside = text.substr(from, text.find_last_not_of(kSpace) + 1 - from);
  if (inside.size() < 2 * kFence.size() || !inside.starts_with(kFence) ||
      !inside.ends_with(kFence)) {
    return text;
  }
  inside = inside.substr(kFence.size(), inside.size() - 2 * kFence.size());
  const auto is_letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
  while (!inside.empty() && is_letter(inside.front())) inside.remove_prefix(1);
  return inside;
}

// The object that the text stands for; not an object when there is none.
Result<Json> object_in(std::string_view text, bool& repaired) {
  Result<Json> value = parse_json(text);
  if (value && value->is_object()) return value;
  const std::string_view inside = unfenced(text);
  if (inside.find_first_not_of(kSpace) == inside.npos) {
    value = Json::object();
  } else if (inside.size() < text.size()) {
    Result<Json> fenced = parse_json(inside);
    if (fenced) value = std::move(fenced);
  }
  if (value && value->is_string()) {
    Result<Json> decoded = parse_json(unfenced(value->as_string()));
    if (decoded && decoded->is_object()) value = std::move(decoded);
  }
  repaired = value && value->is_object();
  return value;
}

// A string for an agent that takes nothing but one string is that string.
Json wrapped_input(const Tool& tool, const Json& value) {
  const Json& parameters = tool.spec().parameters;
  if (!tool.spec().agent || !value.is_string() || parameters["properties"].size() != 1) return {};
  const Json::Member& only = parameters["properties"].members()[0];
  if (only.value["type"].as_string() != "string") return {};
  return Json::object({{only.key(), value}});
}

std::string_view kind_of(const Json& value) noexcept {
  constexpr std::string_view kNames[] = {"null", "a boolean", "a number", "a string", "a list"};
  return kNames[static_cast<std::size_t>(value.type())];
}

// What stands in a wrapper that the tool knows nothing of; null when it does not.
const Json* wrapped(const Tool& tool, const Json& args) noexcept {
  constexpr std::string_view kWrappers[] = {"arguments", "args",       "input",     "param",
                                            "params",    "parameters", "properties"};
  if (args.size() != 1) return nullptr;
  const Json::Member& only = args.members()[0];
  if (!only.value.is_object() || std::ranges::find(kWrappers, only.key()) == std::end(kWrappers) ||
      tool.spec().parameters["properties"].contains(only.key())) {
    return nullptr;
  }
  return &only.value;
}

// Takes "a.b" out of an object; whether it was there.
bool drop_path(Json& object, std::string_view path) {
  const std::size_t dot = path.find('.');
  const std::string_view key = path.substr(0, dot);
  const Json* member = object.find(key);
  if (!member) return false;
  if (dot == path.npos) return object.erase(key);
  Json inner = *member;
  if (!drop_path(inner, path.substr(dot + 1))) return false;
  object.set(key, std::move(inner));
  return true;
}

bool requires_key(const Json& schema, std::string_view key) {
  for (const Json& required : schema["required"].items()) {
    if (required.as_string() == key) return true;
  }
  return false;
}

// Models write null for what they mean to leave out. Where a property is not required and its type
// is one that null is not, that is what it means.
void drop_nulls(const Json& schema, Json& value) {
  if (!value.is_object()) return;
  const Json before = value;
  for (const Json::Member& member : before.members()) {
    const Json& property = schema["properties"][member.key()];
    if (member.value.is_null()) {
      const std::string_view type = property["type"].as_string();
      if (!type.empty() && type != "null" && !requires_key(schema, member.key()))
        value.erase(member.key());
    } else if (member.value.is_object() && property.is_object()) {
      Json inner = member.value;
      drop_nulls(property, inner);
      value.set(member.key(), std::move(inner));
    }
  }
}

// Drops what is forged, and nulls where only that makes them fit.
bool fits(const Tool& tool, CheckedArguments& checked) {
  for (const std::string& path : tool.injected()) {
    if (drop_path(checked.args, path)) checked.forged.push_back("$." + path);
  }
  if (tool.parameters().valid(checked.args)) return true;
  Json without_nulls = checked.args;
  drop_nulls(tool.spec().parameters, without_nulls);
  if (!tool.parameters().valid(without_nulls)) return false;
  checked.args = std::move(without_nulls);
  checked.repaired = true;
  return true;
}

std::string shown_name(std::string_view name) {
  std::string shown;
  print_json_string(clip_utf8(name, kShownName), shown);
  return shown;
}

}  // namespace

std::string_view BadArguments::error_type() const noexcept {
  return violations.empty() ? "InvalidArguments" : "ValidationError";
}

Checked check_arguments(const Tool& tool, std::string_view text) {
  if (text.size() > kMaxToolArguments) {
    return refuse(tool, "are " + std::to_string(text.size()) + " bytes, more than the " +
                            std::to_string(kMaxToolArguments) + " that are taken");
  }
  CheckedArguments checked;
  Result<Json> object = object_in(text, checked.repaired);
  if (!object) return refuse(tool, "are not valid JSON: " + object.error().message());
  if (Json input = wrapped_input(tool, *object); !input.is_null()) {
    object = std::move(input);
    checked.repaired = true;
  }
  if (!object->is_object()) {
    return refuse(tool, "are not a JSON object but " + std::string(kind_of(*object)));
  }
  checked.args = *std::move(object);
  if (fits(tool, checked)) return checked;
  if (const Json* inner = wrapped(tool, checked.args)) {
    CheckedArguments unwrapped{.args = *inner, .repaired = true};
    if (fits(tool, unwrapped)) return unwrapped;
  }
  Result<std::vector<Violation>> violations = tool.parameters().check(checked.args);
  if (!violations) {
    const std::string& why = violations.error().message();
    return refuse(tool, "cannot be checked: " + why, {Violation{.message = why}});
  }
  std::string list;
  for (const Violation& violation : *violations) list += "\n- " + to_string(violation);
  return refuse(tool, "are not what its schema asks for:" + list, *std::move(violations));
}

ToolResult unknown_tool_result(std::string_view tool, std::string_view nearest,
                               const std::vector<std::string>& known) {
  std::string text = "there is no tool " + shown_name(tool) + ".";
  if (!nearest.empty()) text += " Did you mean \"" + std::string(nearest) + "\"?";
  if (known.empty()) {
    text += " There are no tools.";
  } else {
    std::string names;
    std::size_t shown = 0;
    std::vector<std::string_view> sorted(known.begin(), known.end());
    std::ranges::sort(sorted);
    for (const std::string_view name : sorted) {
      if (names.size() + name.size() > kShownNames) break;
      if (shown++ > 0) names += ", ";
      names += name;
    }
    text += " The tools are: " + names;
    if (shown < known.size()) text += " and " + std::to_string(known.size() - shown) + " more";
    text += ".";
  }
  ToolResult result = ToolResult::error(std::move(text), "UnknownTool");
  result.tool = repair_utf8(clip_utf8(tool, kShownName));
  return result;
}

ToolResult invalid_arguments_result(const Tool& tool, const BadArguments& bad) {
  std::string text = bad.text;
  bound_content(text, kShownSchema);
  const std::string schema = print_json(tool.spec().parameters);
  text += "\nThe schema of the arguments is: ";
  text += clip_utf8(schema, kShownSchema);
  if (schema.size() > kShownSchema) text += "... (cut)";
  ToolResult result = ToolResult::error(std::move(text), bad.error_type());
  let_model_retry(result);
  if (!bad.violations.empty()) {
    Json errors = Json::array();
    for (const Violation& violation : bad.violations) {
      errors.push_back(
          Json::object({{"path", violation.instance_path}, {"message", violation.message}}));
    }
    set_metadata(result, "errors", std::move(errors));
  }
  result.tool = tool.name();
  return result;
}

}  // namespace tug
