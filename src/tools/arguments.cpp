// What a model wrote, checked before anything runs; and what it reads when that goes wrong.
#include <algorithm>

#include "tools/envelope.h"
#include "tug/core/utf8.h"
#include "tug/tools/invoke.h"

namespace tug {
namespace {

constexpr std::size_t kShownName = 80;
constexpr std::size_t kShownNames = 4000;    // bytes of the list of known tools
constexpr std::size_t kShownSchema = 16384;  // bytes

Failure refuse(const Tool& tool, const std::string& what) {
  return fail(ErrorKind::invalid, "the arguments for \"" + tool.name() + "\" " + what);
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

std::string shown_name(std::string_view name) {
  std::string shown;
  print_json_string(clip_utf8(name, kShownName), shown);
  return shown;
}

}  // namespace

Result<CheckedArguments> check_arguments(const Tool& tool, std::string_view text) {
  if (text.size() > kMaxToolArguments) {
    return refuse(tool, "are " + std::to_string(text.size()) + " bytes, more than the " +
                            std::to_string(kMaxToolArguments) + " that are taken");
  }
  CheckedArguments checked;
  if (text.empty()) {
    checked.args = Json::object();
  } else {
    Result<Json> parsed = parse_json(text);
    if (!parsed) return refuse(tool, "are not valid JSON: " + parsed.error().message());
    checked.args = *std::move(parsed);
  }
  for (const std::string& path : tool.injected()) {
    if (drop_path(checked.args, path)) checked.forged.push_back("$." + path);
  }
  if (tool.parameters().valid(checked.args)) return checked;
  Json without_nulls = checked.args;
  drop_nulls(tool.spec().parameters, without_nulls);
  if (tool.parameters().valid(without_nulls)) {
    checked.args = std::move(without_nulls);
    return checked;
  }
  Result<std::vector<Violation>> violations = tool.parameters().check(checked.args);
  if (!violations) return refuse(tool, "cannot be checked: " + violations.error().message());
  std::string list;
  for (const Violation& violation : *violations) list += "\n- " + to_string(violation);
  return refuse(tool, "are not what its schema asks for:" + list);
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

ToolResult invalid_arguments_result(const Tool& tool, const Error& error) {
  std::string text = to_string(error);
  bound_content(text, kShownSchema);
  const std::string schema = print_json(tool.spec().parameters);
  text += "\nThe schema of the arguments is: ";
  text += clip_utf8(schema, kShownSchema);
  if (schema.size() > kShownSchema) text += "... (cut)";
  ToolResult result = ToolResult::error(std::move(text), "InvalidArguments");
  set_metadata(result, "retry", true);
  result.tool = tool.name();
  return result;
}

}  // namespace tug
