#include "schema_input.h"

#include "core/try.h"
#include "tug/core/schema.h"

namespace tug::cli {
namespace {

constexpr const char* kFlag = "--json-schema";
constexpr const char* kFix = "name a file that holds a JSON Schema, or give one that starts with {";

bool is_inline(const std::string& given) {
  const std::size_t first = given.find_first_not_of(" \t\r\n");
  return first != given.npos && given[first] == '{';
}

Failure unusable_schema(const Error& error, const std::string& given) {
  const std::string name = is_inline(given) ? kFlag : std::string(kFlag) + " " + given;
  return Failure(error.within(name).with_fix(kFix));
}

}  // namespace

Result<Json> read_schema(const std::string& given, std::size_t most) {
  if (is_inline(given)) {
    auto json = parse_json(given);
    if (!json) return Failure(json.error().within("the schema on the command line"));
    return json;
  }
  TUG_TRY(text, read_input(given, most));
  auto json = parse_json(text);
  if (!json) return Failure(json.error().within(given == "-" ? "stdin" : given));
  return json;
}

Result<Json> read_answer_schema(const std::string& given) {
  if (given == "-") {
    return unusable_schema(Error(ErrorKind::invalid, "stdin is where the prompt comes from"),
                           given);
  }
  auto json = read_schema(given, kMaxAnswerSchema);
  if (!json) return Failure(json.error().within(kFlag).with_fix(kFix));
  if (!json->is_object())
    return unusable_schema(Error(ErrorKind::invalid, "a schema is a JSON object"), given);
  if (auto schema = Schema::compile(*json); !schema) return unusable_schema(schema.error(), given);
  return json;
}

Result<Json> schema_value(const Json& given, const std::string& folder) {
  Json schema = given;
  if (given.is_string()) {
    const std::string text(given.as_string());
    const bool below = !is_inline(text) && !text.starts_with('/');
    auto read = read_schema(below ? folder + text : text, kMaxAnswerSchema);
    if (!read) return Failure(read.error().with_fix("name a file that holds a JSON Schema"));
    schema = *std::move(read);
  }
  if (!schema.is_object()) return fail(ErrorKind::invalid, "a schema is a JSON object");
  if (auto compiled = Schema::compile(schema); !compiled) return Failure(compiled.error());
  return schema;
}

}  // namespace tug::cli
