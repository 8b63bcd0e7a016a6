#include "agents.h"

#include <algorithm>

#include "core/try.h"
#include "hooks.h"
#include "tug/core/codec.h"
#include "tug/core/enum_names.h"
#include "tug/core/nearest.h"

namespace tug::cli {
namespace {

std::vector<std::string> words_of(const Json& list) {
  std::vector<std::string> words;
  for (const Json& word : list.items()) words.emplace_back(word.as_string());
  return words;
}

// Nothing for what is left out and for "inherit".
std::optional<std::vector<std::string>> list_of(const Config& config, const std::string& key) {
  const Json& list = config.value(key);
  return list.is_array() ? std::optional(words_of(list)) : std::nullopt;
}

std::string quoted(std::string_view name) {
  std::string text;
  print_json_string(name.substr(0, 128), text);
  return text;
}

// Every name is known, and there once. `what` is "tool" or "agent".
Result<void> check_names(const std::vector<std::string>& names, std::string_view what,
                         std::span<const std::string_view> known) {
  for (auto at = names.begin(); at != names.end(); ++at) {
    const std::string shown = std::string(what) + " is called " + quoted(*at);
    if (std::ranges::find(known, *at) == known.end()) {
      const std::string_view near = nearest_name(*at, known);
      std::string all;
      for (std::string_view each : known) all += (all.empty() ? "" : ", ") + std::string(each);
      return fail(ErrorKind::invalid, "no " + shown,
                  !near.empty() ? "did you mean \"" + std::string(near) + "\"?"
                  : all.empty() ? "there is none"
                                : "there are " + all);
    }
    if (std::find(names.begin(), at, *at) != at) {
      return fail(ErrorKind::invalid,
                  "the " + std::string(what) + " " + quoted(*at) + " is named twice",
                  "name it once");
    }
  }
  return {};
}

Result<SteeringPolicy> policy_of(const Json& list) {
  SteeringPolicy policy;
  for (const Json& name : list.items()) {
    TUG_TRY(kind, steer_kind_from(name.as_string()));
    policy.permit(kind);
  }
  return policy;
}

// What there is to be named by the rows.
struct Known {
  std::vector<std::string> tools;     // of the harness, before any agent
  std::vector<std::string> agents;    // every row's name
  std::vector<std::string> callable;  // they, and the tools that call any of them

  static std::vector<std::string_view> views(const std::vector<std::string>& names) {
    return {names.begin(), names.end()};
  }
};

// One row, "agents[3].".
class Row {
 public:
  Row(const Config& config, std::size_t place)
      : config_(config), row_("agents[" + std::to_string(place) + "].") {}

  std::string name() const { return config_.text(row_ + "name"); }

  Result<void> add_to(Harness& harness, Models& models, const Known& known) const {
    TUG_TRY(described, check_described());
    TUG_TRY(servers, check_servers());
    AgentConfig agent;
    TUG_TRY(model, set_model(agent, models));
    TUG_TRY(tools, set_tools(agent, known));
    TUG_TRY(rest, set_rest(agent));
    harness.agent(name(), config_.text(row_ + "description"), std::move(agent));
    return {};
  }

  Result<void> check_name(const Known& known) const {
    const std::string name = this->name();
    if (name.empty()) {
      return fail(ErrorKind::invalid, config_.source(row_) + ": the agent has no name",
                  "add name = \"..\" to the row of [[agents]]");
    }
    const bool plain = std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '.' || c == '-';
    });
    if (!plain || name.size() > 64) {
      return fail(ErrorKind::invalid, at("name") + ": " + quoted(name) + " is no name for an agent",
                  "use 1 to 64 letters, digits, '_', '.' and '-'");
    }
    const bool reserved =
        std::ranges::find(kReserved, std::string_view(name)) != std::end(kReserved);
    if (reserved || std::ranges::find(known.tools, name) != known.tools.end()) {
      return fail(ErrorKind::invalid, at("name") + ": " + quoted(name) + " is the name of a tool",
                  "an agent is a tool of its own name: give it another one");
    }
    return {};
  }

  // Where the name was given.
  std::string place() const { return at("name"); }

 private:
  static constexpr std::string_view kReserved[] = {"final_result", "subagent", "subagent_runs"};

  std::string at(const std::string& key) const { return config_.source(row_ + key); }
  // An error about the value of a key, with its place.
  Failure about(const std::string& key, const Error& error) const {
    return Failure(error.within(at(key) + ": " + key));
  }

  Result<void> check_described() const {
    if (!config_.text(row_ + "description").empty()) return {};
    return fail(ErrorKind::invalid,
                at("name") + ": the agent " + quoted(name()) + " has no description",
                "say what it is for: that is how a model knows when to call it");
  }

  Result<void> check_servers() const {
    const bool inherits = config_.value(row_ + "inherit_mcp_servers").as_bool();
    const std::string key = inherits ? "inherit_mcp_servers" : "mcp_servers";
    if (!inherits && config_.value(row_ + key).empty()) return {};
    return fail(ErrorKind::invalid,
                at(key) + ": " + key + ": MCP servers are not available in this version",
                "leave it out");
  }

  Result<void> set_model(AgentConfig& agent, Models& models) const {
    agent.model = config_.text(row_ + "model");
    if (!agent.model.empty()) {
      if (auto found = models.find(agent.model); !found) return about("model", found.error());
    }
    agent.fallback_models = list_of(config_, row_ + "fallback_models");
    if (!agent.fallback_models) return {};
    for (const std::string& model : *agent.fallback_models) {
      if (auto found = models.find(model); !found) return about("fallback_models", found.error());
    }
    return {};
  }

  Result<void> set_tools(AgentConfig& agent, const Known& known) const {
    agent.tools = list_of(config_, row_ + "tools");
    agent.subagents = list_of(config_, row_ + "subagents");
    if (agent.tools) {
      for (const std::string& tool : *agent.tools) {
        if (std::ranges::find(known.agents, tool) == known.agents.end()) continue;
        return about("tools", Error(ErrorKind::invalid, quoted(tool) + " is an agent",
                                    "name it in subagents"));
      }
      if (auto fine = check_names(*agent.tools, "tool", Known::views(known.tools)); !fine)
        return about("tools", fine.error());
    }
    if (agent.subagents) {
      if (auto fine = check_names(*agent.subagents, "agent", Known::views(known.callable)); !fine)
        return about("subagents", fine.error());
    }
    return {};
  }

  Result<void> set_rest(AgentConfig& agent) const {
    if (const Json& words = config_.value(row_ + "system_prompt"); words.is_string())
      agent.system_prompt = std::string(words.as_string());
    agent.fork = config_.value(row_ + "fork").as_bool();
    Json limits = Json::object();
    for (const auto& [key, setting] : config_.settings) {
      const std::string prefix = row_ + "limits.";
      if (key.starts_with(prefix)) limits.set(key.substr(prefix.size()), setting.value);
    }
    TUG_TRY(read, read_json<RunLimits>(limits));
    agent.limits = read;
    if (const Json& schema = config_.value(row_ + "output_schema"); !schema.is_null())
      agent.output_schema = schema;
    for (const EnumEntry& entry : enum_entries<OutputMode>()) {
      const auto mode = static_cast<OutputMode>(entry.value);
      if (config_.text(row_ + "output_mode") == name_of(mode)) agent.output_mode = mode;
    }
    auto steering = policy_of(config_.value(row_ + "steering"));
    if (!steering) return about("steering", steering.error());
    agent.steering = *steering;
    TUG_TRY(hooks, configured_hooks(config_, row_ + "hooks"));
    if (hooks) agent.hooks.push_back(hooks);
    return {};
  }

  const Config& config_;
  std::string row_;
};

std::vector<std::string> tool_names(const Harness& harness) {
  std::vector<std::string> names;
  for (const auto& spec : harness.tools()) names.push_back(spec->name);
  return names;
}

}  // namespace

Result<void> add_agents(Harness& harness, const Config& config, Models& models) {
  if (config.value("subagents.enabled").as_bool())
    harness.subagents({.background = config.value("subagents.background").as_bool()});
  Known known{tool_names(harness), {}, {}};
  std::map<std::string, std::string> places;
  std::vector<Row> rows;
  for (std::size_t i = 0; i < config.rows("agents"); ++i) {
    const Row row(config, i);
    TUG_TRY(named, row.check_name(known));
    const auto [first, fresh] = places.try_emplace(row.name(), row.place());
    if (!fresh) {
      return fail(ErrorKind::invalid,
                  row.place() + ": there is another agent called " + quoted(row.name()) + " (" +
                      first->second + ")",
                  "give one of them another name");
    }
    known.agents.push_back(row.name());
    rows.push_back(row);
  }
  known.callable = known.agents;
  for (const auto& spec : harness.tools()) {
    if (spec->agent) known.callable.push_back(spec->name);
  }
  for (const Row& row : rows) {
    TUG_TRY(added, row.add_to(harness, models, known));
  }
  return {};
}

bool agents_have_hooks(const Config& config) {
  return std::ranges::any_of(config.settings, [](const auto& entry) {
    return entry.first.starts_with("agents[") && entry.first.find("].hooks[") != std::string::npos;
  });
}

Result<SteeringPolicy> configured_steering(const Config& config) {
  auto policy = policy_of(config.value("steering.allow"));
  if (!policy) return Failure(policy.error().within(config.source("steering.allow")));
  return policy;
}

Result<std::vector<std::string>> chosen_tools(const Harness& harness, const Config& config) {
  std::vector<std::string> known = tool_names(harness);
  if (config.built_in("tools")) return known;
  std::vector<std::string> names = words_of(config.value("tools"));
  if (auto fine = check_names(names, "tool", Known::views(known)); !fine)
    return Failure(fine.error().within(config.source("tools")));
  return names;
}

}  // namespace tug::cli
