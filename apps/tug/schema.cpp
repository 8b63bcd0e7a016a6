#include <memory>

#include "tug/core/schema.h"

#include "commands.h"
#include "schema_input.h"
#include "tug/core/terminal_text.h"
#include "tug/core/utf8.h"

namespace tug::cli {
namespace {

struct SchemaCheck {
  std::string schema;
  std::string data;
  bool all = false;  // data is JSONL: one verdict a line
  bool assert_format = false;
};

Json to_json(const Violation& violation) {
  return Json::object({{"path", violation.instance_path},
                       {"schema_path", violation.schema_path},
                       {"message", violation.message}});
}

std::string verdict(const Options& options, const std::vector<Violation>& violations) {
  if (!options.json()) return terminal_text(verdict_line(violations)) + "\n";
  Json list = Json::array();
  for (const Violation& violation : violations) list.push_back(to_json(violation));
  return print_json(
             Json::object({{"valid", violations.empty()}, {"violations", std::move(list)}})) +
         "\n";
}

struct Checker {
  const Options& options;
  const Schema& schema;
  std::string name;  // of the data
  bool one_invalid = false;

  // The verdict is printed; what is answered is a reason to stop.
  Result<void> check(std::string_view text, std::size_t line) {
    const std::string place = line ? name + ", line " + std::to_string(line) : name;
    auto value = parse_json(text);
    if (!value) return Failure(value.error().within(place).with_fix("give JSON"));
    auto violations = schema.check(*value);
    if (!violations) return Failure(violations.error().within(place));
    one_invalid |= !violations->empty();
    print(verdict(options, *violations));
    return {};
  }

  Result<void> check_lines(std::string_view text) {
    std::size_t line = 0;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      std::string_view piece = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      ++line;
      if (piece.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      if (auto checked = check(piece, line); !checked) return checked;
    }
    return {};
  }
};

int schema_check(const Options& options, const SchemaCheck& request) {
  if (request.schema == "-" && request.data == "-") {
    return report(options,
                  Error(ErrorKind::invalid, "both the schema and the data are to come from stdin",
                        "name a file for one of them"),
                  unusable);
  }
  const bool word = request.schema == "true" || request.schema == "false";  // schemas, too
  auto json = word ? parse_json(request.schema) : read_schema(request.schema);
  if (!json) return report(options, json.error(), unusable);
  auto schema = Schema::compile(*json, {.assert_format = request.assert_format});
  if (!schema) {
    const std::string name = request.schema == "-" ? "stdin" : request.schema;
    return report(options, schema.error().within(clip_utf8(name, 200)), unusable);
  }
  auto data = read_input(request.data);
  if (!data) return report(options, data.error(), unusable);
  Checker checker{options, *schema, request.data == "-" ? "stdin" : request.data};
  auto checked = request.all ? checker.check_lines(*data) : checker.check(*data, 0);
  if (!checked) return report(options, checked.error(), unusable);
  return checker.one_invalid ? invalid : ok;
}

}  // namespace

Command schema_command(Options& options) {
  auto request = std::make_shared<SchemaCheck>();
  Command check{
      .name = "check",
      .summary = "Validate JSON: 0 valid, 7 invalid, 2 unusable schema or data",
      .examples =
          "  tug schema check order.schema.json order.json\n"
          "  tug schema check --all '{\"type\":\"integer\"}' - < numbers.jsonl\n",
      .flags =
          std::vector<Flag>{
              {.names = "SCHEMA",
               .value = "SCHEMA",
               .help = "A file, - for stdin, or the schema itself",
               .target = &request->schema,
               .required = true},
              {.names = "DATA",
               .value = "DATA",
               .help = "A file, or - for stdin",
               .target = &request->data,
               .required = true},
              {"--all", nullptr, "DATA is JSON lines; print one verdict a line", &request->all},
              {"--assert-format", nullptr, "Check `format` too", &request->assert_format}} +
          common_flags(options),
      .run = [request, &options] { return schema_check(options, *request); }};
  return {.name = "schema", .summary = "JSON Schema (draft 2020-12)", .parts = {std::move(check)}};
}

}  // namespace tug::cli
