#include "config.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "agent_files.h"
#include "command.h"
#include "core/try.h"
#include "providers.h"
#include "schema_input.h"
#include "settings.h"
#include "toml_file.h"
#include "tug/agent/options.h"
#include "tug/context/budget.h"
#include "tug/core/nearest.h"
#include "tug/model/provider.h"
#include "tug/model/retry.h"

namespace tug::cli {
namespace {

const Json kNothing;

// Read by the state folder and by the scripts, not settings.
constexpr std::array<std::string_view, 2> kOtherVariables = {"TUG_STATE_DIR", "TUG_SKIP_SETUP"};

void set_built_in_retry(Config& config) {
  const RetryPolicy retry;
  const auto ms = [](Duration time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  };
  config.settings["limits.retries"].value = retry.attempts - 1;
  config.settings["retry.attempts"].value = retry.attempts;
  config.settings["retry.initial_ms"].value = ms(retry.initial);
  config.settings["retry.multiplier"].value = retry.multiplier;
  config.settings["retry.max_ms"].value = ms(retry.most);
  config.settings["retry.max_wait_ms"].value = ms(retry.longest);
  config.settings["retry.jitter"].value = retry.jitter;
}

void set_built_in_timeouts(Config& config) {
  const ProviderTimeouts timeouts;
  const std::pair<const char*, Duration> built_in[] = {
      {"http.connect_ms", timeouts.connect},         {"http.first_byte_ms", timeouts.first_byte},
      {"http.first_event_ms", timeouts.first_event}, {"http.idle_ms", timeouts.idle},
      {"http.byte_idle_ms", timeouts.byte_idle},     {"http.total_ms", timeouts.total}};
  for (const auto& [key, time] : built_in) {
    config.settings[key].value =
        std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  }
}

void set_built_in(Config& config) {
  for (const KeyInfo& info : config_keys()) {
    if (!info.in_row()) config.settings[std::string(info.key)] = {Json(), "built in"};
  }
  const std::pair<const char*, Json> built_in[] = {
      {"model", "offline/demo"},
      {"tool_execution", "auto"},
      {"limits.max_turns", kDefaultMaxTurns},
      {"limits.max_tool_calls", kDefaultMaxToolCalls},
      {"limits.max_depth", kDefaultMaxDepth},
      {"limits.max_concurrency", kDefaultMaxConcurrency},
      {"fallback_models", Json::array()},
      {"permissions.mode", name_of(PermissionMode::ask)},
      {"permissions.allow", Json::array()},
      {"permissions.ask", Json::array()},
      {"permissions.deny", Json::array()},
      {"permissions.hold", name_of(HoldScope::batch)},
      {"limits.output_retries", kDefaultOutputRetries},
      {"limits.tool_retries", kDefaultToolRetries},
      {"output.mode", name_of(OutputMode::automatic)},
      {"output.retries", kDefaultOutputRetries},
      {"steering.allow", to_json(SteeringPolicy::allow_all())},
      {"subagents.enabled", true},
      {"subagents.background", false},
      {"cache.responses", "off"},
      {"cache.protect_prefix", true},
      {"workspace.root", "."}};
  for (const auto& [key, value] : built_in) config.settings[key].value = value;
  set_built_in_retry(config);
  set_built_in_timeouts(config);
}

// "models" of "models[3].id"; empty for a key that is in no row.
std::string_view list_of(std::string_view key) {
  const std::size_t open = key.find('[');
  return open == key.npos ? std::string_view() : key.substr(0, open);
}

// The rows of this layer come behind those of the layers below it.
std::string renumbered(const std::string& key, std::size_t rows_below) {
  const std::string_view list = list_of(key);
  if (list.empty()) return key;
  const std::size_t close = key.find(']');
  const std::size_t place = std::stoul(key.substr(list.size() + 1, close - list.size() - 1));
  return std::string(list) + "[" + std::to_string(place + rows_below) + key.substr(close);
}

// Files, variables, flags: one after the other, the lowest first. Two names of one setting count as
// one, so that a higher layer wins whichever of them it uses.
class LayerOf {
 public:
  explicit LayerOf(Config& config) : config_(config) {}

  Result<void> set(const std::string& key, Json value, std::string source) {
    const auto twin = twin_of(key);
    if (twin) {
      const Json other(*value.as_int() + twin->more);
      const auto said = said_.find(twin->key);
      if (said != said_.end() && config_.value(twin->key) != other) {
        return fail(ErrorKind::invalid,
                    source + ": " + key + " and " + std::string(twin->key) + " (" + said->second +
                        ") set the same, to different values",
                    "leave one of them out");
      }
      config_.settings[std::string(twin->key)] = {other, source};
    }
    said_[key] = source;
    const Setting& below = config_.settings[key];
    if (find_key(key)->adds_up() && !below.value.empty()) {
      Json all = below.value;
      for (const Json& one : value.items()) all.push_back(one);
      value = std::move(all);
      source = below.source + ", " + source;
    }
    config_.settings[key] = {std::move(value), std::move(source)};
    return {};
  }

 private:
  Config& config_;
  std::map<std::string, std::string, std::less<>> said_;
};

// A value that does not fit: what to do about it, unless the error knows better.
Error unfit(const Error& error, const std::string& fix) {
  return error.fix().empty() ? error.with_fix(fix) : error;
}

bool is_whole(std::string_view key) {
  const KeyInfo* info = find_key(key);
  return info && info->whole();
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "./" : path.substr(0, slash + 1);
}

// The keys of one file. Where the file itself is a row ("agents[0]."), its keys are said without
// it, and a list may be written as words with commas.
struct FileKeys {
  const std::string& path;
  std::string_view row;

  Result<Json> value_of(const KeyInfo& info, const Json& value) const {
    if (info.shape == KeyInfo::Shape::words && value.is_string() && !row.empty())
      return value_from_text(info, value.as_string());
    TUG_TRY(checked, check_value(info, value));
    if (info.shape != KeyInfo::Shape::schema) return checked;
    return schema_value(checked, folder_of(path));
  }

  Result<void> add_to(Config& config, const std::vector<ConfigEntry>& entries) const {
    LayerOf layer(config);
    std::map<std::string, std::size_t, std::less<>> rows_below;
    for (const ConfigEntry& entry : entries) {
      const std::string key = std::string(row) + entry.key;
      const std::string place = path + ":" + std::to_string(entry.line);
      const KeyInfo* info = find_key(key);
      const bool no_rows = entry.value.is_array() && entry.value.empty() && is_row_list(key);
      if (!info && no_rows) continue;
      const bool nothing = entry.value.is_object() && entry.value.empty();
      if (!info && nothing && is_section(key)) continue;
      if (!info) {
        return fail(ErrorKind::invalid, place + ": \"" + entry.key + "\" is not a key",
                    nearest_key(key, row));
      }
      auto value = value_of(*info, entry.value);
      if (!value) {
        return Failure(unfit(value.error(), "change the value of " + entry.key)
                           .within(place + ": " + entry.key));
      }
      const std::string list(list_of(key));
      auto below = rows_below.find(list);
      if (below == rows_below.end()) below = rows_below.emplace(list, config.rows(list)).first;
      TUG_TRY(added, layer.set(renumbered(key, below->second), *value, place));
    }
    return {};
  }
};

Result<void> add_file(Config& config, const std::string& path) {
  TUG_TRY(entries, read_toml(path, is_whole));
  return FileKeys{path, ""}.add_to(config, entries);
}

Result<void> add_agent_files(Config& config, const ConfigRequest& request) {
  constexpr std::string_view kRow = "agents[0].";
  for (const std::string& given : request.agents) {
    TUG_TRY(paths, agent_files(given));
    for (const std::string& path : paths) {
      TUG_TRY(entries, read_agent_file(path, [&](std::string_view key) {
                return is_whole(std::string(kRow) + std::string(key));
              }));
      TUG_TRY(added, FileKeys(path, kRow).add_to(config, entries));
    }
  }
  return {};
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

struct Layer {
  ConfigFile file;
  bool wanted = true;
};

Result<void> add_files(Config& config, const ConfigRequest& request) {
  std::vector<Layer> layers;  // lowest first
  if (auto user = user_config_folder()) {
    layers.push_back({{.path = *user + "/config.toml"}, !request.bare});
    if (request.bare) layers.back().file.why = "--bare";
  }
  const std::string project = request.folder + "/.tug/";
  for (const char* name : {"config.toml", "config.local.toml"}) {
    Layer layer{{.path = project + name}, false};
    // Looked for once: one that appears after this was never asked about.
    const bool there = exists(layer.file.path);
    if (request.bare) {
      layer.file.why = "--bare";
    } else if (there && !trusted(request.folder)) {
      layer.file.why = "the folder is not trusted";
    } else {
      layer.wanted = there;
    }
    layers.push_back(std::move(layer));
  }
  if (!request.file.empty()) {
    if (!exists(request.file)) {
      return fail(ErrorKind::invalid, "--config " + request.file + ": there is no such file",
                  "name a file that is there");
    }
    layers.push_back({{.path = request.file}, true});
  }
  for (Layer& layer : layers) {
    layer.file.exists = exists(layer.file.path);
    if (layer.file.exists && layer.wanted) {
      TUG_TRY(added, add_file(config, layer.file.path));
      layer.file.read = true;
    }
    config.files.insert(config.files.begin(), std::move(layer.file));
  }
  return {};
}

Failure unknown_variable(std::string_view name) {
  std::vector<std::string> names;
  for (const KeyInfo& info : config_keys()) {
    if (!info.in_row()) names.push_back(variable_of(info.key));
  }
  names.insert(names.end(), kOtherVariables.begin(), kOtherVariables.end());
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string nearest(nearest_name(name, known));
  return fail(ErrorKind::invalid,
              "the environment has " + std::string(name) + ", which is not a setting",
              nearest.empty() ? "unset it; `tug config explain` lists the keys"
                              : "did you mean " + nearest + "?");
}

Result<void> add_environment(Config& config) {
  LayerOf layer(config);
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view line(*entry);
    const std::size_t equals = line.find('=');
    if (!line.starts_with("TUG_") || equals == line.npos) continue;
    const std::string_view name = line.substr(0, equals);
    const std::string_view text = line.substr(equals + 1);
    if (std::ranges::find(kOtherVariables, name) != kOtherVariables.end()) continue;
    const auto keys = config_keys();
    const auto info = std::ranges::find_if(keys, [&](const KeyInfo& known) {
      return !known.in_row() && variable_of(known.key) == name;
    });
    if (info == keys.end()) return unknown_variable(name);
    if (text.empty()) continue;
    auto value = value_from_text(*info, text);
    if (!value) {
      return Failure(
          unfit(value.error(), "set or unset the variable " + std::string(name)).within(name));
    }
    TUG_TRY(added, layer.set(std::string(info->key), *value, std::string(name)));
  }
  return {};
}

}  // namespace

const Json& Config::value(std::string_view key) const {
  const auto found = settings.find(key);
  return found == settings.end() ? kNothing : found->second.value;
}

std::string Config::text(std::string_view key) const { return std::string(value(key).as_string()); }

bool Config::built_in(std::string_view key) const {
  const auto found = settings.find(key);
  return found == settings.end() || found->second.source == "built in";
}

Json Config::shown(std::string_view key) const {
  const Json& set = value(key);
  const KeyInfo* info = find_key(key);
  return info && info->secret && !set.is_null() ? Json("(hidden)") : set;
}

std::vector<std::string> Config::names(std::string_view section) const {
  std::vector<std::string> names;
  const std::string first = std::string(section) + ".";
  for (auto at = settings.lower_bound(first); at != settings.end(); ++at) {
    if (!at->first.starts_with(first)) break;
    std::string name = at->first.substr(first.size());
    name.resize(std::min(name.size(), name.rfind('.')));
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return names;
}

std::size_t Config::rows(std::string_view list) const {
  if (list.empty()) return 0;
  const std::string first = std::string(list) + "[";
  std::size_t rows = 0;
  for (auto at = settings.lower_bound(first); at != settings.end(); ++at) {
    if (!at->first.starts_with(first)) break;
    rows = std::max<std::size_t>(rows, std::stoul(at->first.substr(first.size())) + 1);
  }
  return rows;
}

std::string Config::source(std::string_view key) const {
  const auto found = settings.lower_bound(key);
  return found == settings.end() ? std::string(key) : found->second.source;
}

std::vector<std::string> Config::notices() const {
  std::string unread;
  for (const ConfigFile& file : files) {
    if (file.exists && file.why == "the folder is not trusted")
      unread += (unread.empty() ? "" : " and ") + file.path;
  }
  if (unread.empty()) return {};
  return {unread + " not read: the folder is not trusted"};
}

Result<Config> load_config(const ConfigRequest& request) {
  Config config;
  set_built_in(config);
  TUG_TRY(files, add_files(config, request));
  TUG_TRY(agents, add_agent_files(config, request));
  TUG_TRY(variables, add_environment(config));
  LayerOf flags(config);
  for (const ConfigRequest::Given& given : request.flags) {
    const KeyInfo* info = find_key(given.key);
    auto value = given.value.is_string() ? value_from_text(*info, given.value.as_string())
                                         : check_value(*info, given.value);
    if (!value) return Failure(unfit(value.error(), "change " + given.flag).within(given.flag));
    TUG_TRY(added, flags.set(given.key, *value, given.flag));
  }
  choose_model(config);
  return config;
}

bool trusted(const std::string& folder) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(folder.c_str(), nullptr),
                                                         &std::free);
  auto state = user_state_folder();
  if (!real || !state || !exists(*state + "/trusted")) return false;
  auto lines = read_input(*state + "/trusted", kMaxToml);
  if (!lines) return false;
  const std::string wanted = std::string("\n") + real.get() + "\n";
  return ("\n" + *lines + "\n").find(wanted) != std::string::npos;
}

}  // namespace tug::cli
