// tug config explain|path
#include <algorithm>
#include <memory>

#include "commands.h"
#include "run_flags.h"
#include "system_prompt.h"
#include "tug/core/terminal_text.h"
#include "tug/io/workspace.h"

namespace tug::cli {
namespace {

Result<Config> configured(const ConfigFlags& flags) {
  auto request = config_request(flags);
  if (!request) return Failure(request.error());
  return load_config(*request);
}

int explain(const Options& options, const ConfigFlags& flags) {
  auto config = configured(flags);
  if (!config) return report(options, config.error(), unusable);
  if (options.json()) {
    Json list = Json::array();
    for (const auto& [key, setting] : config->settings) {
      list.push_back(
          Json::object({{"key", key}, {"value", config->shown(key)}, {"source", setting.source}}));
    }
    print(print_json(list) + "\n");
    return ok;
  }
  std::size_t widest = 0;
  for (const auto& [key, setting] : config->settings) widest = std::max(widest, key.size());
  for (const auto& [key, setting] : config->settings) {
    const std::string value = setting.value.is_null() ? "-" : print_json(config->shown(key));
    print(key + std::string(widest + 2 - key.size(), ' ') + terminal_text(value) + "  (" +
          terminal_text(setting.source) + ")\n");
  }
  return ok;
}

// What a language model is told before the prompt.
int explain_system(const Options& options, const ConfigFlags& flags) {
  auto config = configured(flags);
  if (!config) return report(options, config.error(), unusable);
  auto workspace = open_workspace(config->text("workspace.root"));
  if (!workspace) return report(options, workspace.error(), unusable);
  const SystemPrompt prompt = system_prompt(*config, (*workspace)->root());
  if (options.json()) {
    print(
        print_json(Json::object({{"version", prompt.built_in ? Json(kSystemPromptVersion) : Json()},
                                 {"source", prompt.source},
                                 {"text", prompt.text}})) +
        "\n");
    return ok;
  }
  print(prompt.text.empty() || prompt.text.ends_with('\n') ? prompt.text : prompt.text + "\n");
  if (const std::string model = config->text("model");
      prompt.built_in && !reads_instructions(model))
    notice(model + " is not told the built-in part: it reads no instructions");
  return ok;
}

int path(const Options& options, const ConfigFlags& flags) {
  auto config = configured(flags);
  if (!config) return report(options, config.error(), unusable);
  Json list = Json::array();
  std::string text;
  for (const ConfigFile& file : config->files) {
    list.push_back(Json::object({{"path", file.path},
                                 {"exists", file.exists},
                                 {"read", file.read},
                                 {"why", file.why.empty() ? Json() : Json(file.why)}}));
    const std::string state = file.read      ? "read"
                              : !file.exists ? "not there"
                                             : "not read: " + file.why;
    text += terminal_text(file.path) + "  (" + state + ")\n";
  }
  print(options.json() ? print_json(list) + "\n" : text);
  return ok;
}

}  // namespace

Command config_command(Options& options) {
  auto flags = std::make_shared<ConfigFlags>();
  auto system = std::make_shared<bool>(false);
  const std::vector<Flag> taken = config_flags(*flags) + common_flags(options);
  Command explain_part{
      .name = "explain",
      .summary = "Every setting and where it comes from",
      .examples =
          "  tug config explain\n"
          "  tug config explain --system\n"
          "  TUG_LIMITS__MAX_TURNS=5 tug config explain --json\n",
      .flags = std::vector<Flag>{{"--system", nullptr, "Only the system prompt, as a model gets it",
                                  system.get()}} +
               taken,
      .run = [flags, system, &options] {
        return *system ? explain_system(options, *flags) : explain(options, *flags);
      }};
  Command path_part{.name = "path",
                    .summary = "The files that are looked at, highest layer first",
                    .flags = taken,
                    .run = [flags, &options] { return path(options, *flags); }};
  return {.name = "config",
          .summary = "What is configured, and where",
          .parts = {std::move(explain_part), std::move(path_part)}};
}

}  // namespace tug::cli
