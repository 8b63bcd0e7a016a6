// tug config explain|path
#include <algorithm>
#include <memory>

#include "commands.h"
#include "run_flags.h"
#include "tug/core/terminal_text.h"

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
          Json::object({{"key", key}, {"value", setting.value}, {"source", setting.source}}));
    }
    print(print_json(list) + "\n");
    return ok;
  }
  std::size_t widest = 0;
  for (const auto& [key, setting] : config->settings) widest = std::max(widest, key.size());
  for (const auto& [key, setting] : config->settings) {
    const std::string value = setting.value.is_null() ? "-" : print_json(setting.value);
    print(key + std::string(widest + 2 - key.size(), ' ') + terminal_text(value) + "  (" +
          terminal_text(setting.source) + ")\n");
  }
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
  const std::vector<Flag> taken = config_flags(*flags) + common_flags(options);
  Command explain_part{.name = "explain",
                       .summary = "Every setting and where it comes from",
                       .examples =
                           "  tug config explain\n"
                           "  TUG_LIMITS__MAX_TURNS=5 tug config explain --json\n",
                       .flags = taken,
                       .run = [flags, &options] { return explain(options, *flags); }};
  Command path_part{.name = "path",
                    .summary = "The files that are looked at, highest layer first",
                    .flags = taken,
                    .run = [flags, &options] { return path(options, *flags); }};
  return {.name = "config",
          .summary = "What is configured, and where",
          .parts = {std::move(explain_part), std::move(path_part)}};
}

}  // namespace tug::cli
