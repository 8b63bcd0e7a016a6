// tug tools
#include <memory>

#include "commands.h"
#include "run_flags.h"
#include "session.h"
#include "table.h"
#include "tug/core/terminal_text.h"
#include "tug/tools/tool_set.h"

namespace tug::cli {
namespace {

Json list_of(const std::vector<std::string>& words) {
  Json list = Json::array();
  for (const std::string& word : words) list.push_back(word);
  return list;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json to_json(const ToolSpec& spec) {
  return Json::object(
      {{"name", spec.name},
       {"description", spec.description},
       {"parameters", spec.parameters},
       {"returns", spec.returns},
       {"effect", name_of(spec.effect)},
       {"lane", text_or_null(spec.lane)},
       {"sequential", spec.sequential},
       {"requires_approval", spec.requires_approval},
       {"visibility", name_of(spec.visibility)},
       {"allowed_tools", spec.allowed_tools ? list_of(*spec.allowed_tools) : Json()},
       {"role", text_or_null(spec.role)},
       {"tags", list_of(spec.tags)},
       {"origin", text_or_null(spec.origin.uri)}});
}

Result<ToolSet> chosen(const ConfigFlags& flags) {
  auto request = config_request(flags);
  if (!request) return Failure(request.error());
  auto config = load_config(*request);
  if (!config) return Failure(config.error());
  auto tools = built_in_tools(config->text("workspace.root"));
  if (!tools) return Failure(tools.error());
  ToolSet all;
  for (ToolPtr& tool : *tools) all.add(std::move(tool));
  if (config->built_in("tools")) return all;
  std::vector<std::string> names;
  for (const Json& name : config->value("tools").items()) names.emplace_back(name.as_string());
  return all.only(names);
}

int tools(const Options& options, const ConfigFlags& flags) {
  auto set = chosen(flags);
  if (!set) return report(options, set.error(), unusable);
  if (options.json()) {
    Json list = Json::array();
    for (const ToolPtr& tool : set->all()) list.push_back(to_json(tool->spec()));
    print(print_json(list) + "\n");
    return ok;
  }
  std::vector<std::vector<std::string>> rows = {{"TOOL", "EFFECT", "DOES"}};
  for (const ToolPtr& tool : set->all()) {
    const std::string& description = tool->spec().description;
    rows.push_back({terminal_text(tool->spec().name), std::string(name_of(tool->spec().effect)),
                    terminal_text(description.substr(0, description.find('\n')))});
  }
  print(table(rows));
  return ok;
}

}  // namespace

Command tools_command(Options& options) {
  auto flags = std::make_shared<ConfigFlags>();
  return {.name = "tools",
          .summary = "List the tools that a run may call",
          .examples = "  tug tools\n  tug tools --json --tools read,list\n",
          .flags = config_flags(*flags) + common_flags(options),
          .run = [flags, &options] { return tools(options, *flags); }};
}

}  // namespace tug::cli
