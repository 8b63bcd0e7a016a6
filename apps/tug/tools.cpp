// tug tools
#include <algorithm>
#include <memory>

#include "agents.h"
#include "catalogue.h"
#include "commands.h"
#include "core/try.h"
#include "run_flags.h"
#include "session.h"
#include "table.h"
#include "tug/core/terminal_text.h"

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
       {"agent", spec.agent},
       {"allowed_tools", spec.allowed_tools ? list_of(*spec.allowed_tools) : Json()},
       {"role", text_or_null(spec.role)},
       {"tags", list_of(spec.tags)},
       {"origin", text_or_null(spec.origin.uri)}});
}

using Specs = std::vector<std::shared_ptr<const ToolSpec>>;

Result<Specs> chosen(const Options& options, const ConfigFlags& flags) {
  TUG_TRY(request, config_request(flags));
  TUG_TRY(config, load_config(request));
  TUG_TRY(tools, built_in_tools(config.text("workspace.root")));
  Harness harness(config.text("model"));
  for (const ToolPtr& tool : tools) harness.tool(tool);
  TUG_TRY(models, configured_models(options, config, config.text("model"), Keys::left_out));
  TUG_TRY(agents, add_agents(harness, config, *models.models));
  TUG_TRY(names, chosen_tools(harness, config));
  Specs specs = harness.tools();
  std::erase_if(
      specs, [&](const auto& spec) { return std::ranges::find(names, spec->name) == names.end(); });
  return specs;
}

int tools(const Options& options, const ConfigFlags& flags) {
  auto specs = chosen(options, flags);
  if (!specs) return report(options, specs.error(), exit_before_start(specs.error()));
  if (options.json()) {
    Json list = Json::array();
    for (const auto& spec : *specs) list.push_back(to_json(*spec));
    print(print_json(list) + "\n");
    return ok;
  }
  std::vector<std::vector<std::string>> rows = {{"TOOL", "EFFECT", "DOES"}};
  for (const auto& spec : *specs) {
    const std::string& description = spec->description;
    rows.push_back({terminal_text(spec->name),
                    spec->agent ? "agent" : std::string(name_of(spec->effect)),
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
