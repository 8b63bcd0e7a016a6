// What random trees of agents are made of, drawn from a seed: who there is, what they may do, and
// what they are told. It stays the same for all processes that go on with one root.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/testing.h"
#include "agent/tree_audit_testing.h"
#include "tug/agent/agent.h"
#include "tug/core/rng.h"

namespace tug {

// What the code of a tool does.
enum class Deed : std::uint8_t {
  answers,
  answers_on_pool,
  sleeps,       // and heeds a cancel
  sleeps_deaf,  // and heeds nothing
  throws,
  wants_retry,
  invokes,       // other tools
  finishes,      // the run, with its own words
  interrupts,    // the root
  runs_agent,    // the others run agents: one, or two after another
  runs_several,  // beside each other
  talks,         // in a session
  forks,
  starts,        // and lets it run
  starts_waits,  // and waits for what it started
  runs_harness,  // a run of the harness itself
  drops,         // a run whose handle it drops
};

struct TreeTool {
  const char* name;
  Effect effect;
  Deed deed;
  bool approval = false;
  OnError on_error = OnError::tell_model;
  const char* lane = "";
  bool sequential = false;
  int timeout_ms = 0;
};

inline constexpr TreeTool kTreeTools[] = {
    {"look", Effect::pure, Deed::answers},
    {"read", Effect::pure, Deed::answers_on_pool},
    {"nap", Effect::pure, Deed::sleeps},
    {"note", Effect::at_most_once, Deed::answers},
    {"file", Effect::at_most_once, Deed::answers_on_pool},
    {"snore", Effect::at_most_once, Deed::sleeps_deaf},
    {"pay", Effect::at_most_once, Deed::answers, true},
    {"ship", Effect::at_most_once, Deed::sleeps, true},
    {"wipe", Effect::idempotent, Deed::sleeps_deaf, true},
    {"peek", Effect::pure, Deed::answers, true},
    {"sign", Effect::at_most_once, Deed::answers},  // asks about {"text":"big"}
    {"fails", Effect::at_most_once, Deed::throws},
    {"picky", Effect::pure, Deed::wants_retry},
    {"fatal", Effect::pure, Deed::throws, false, OnError::fail_run},
    {"queue", Effect::at_most_once, Deed::sleeps, false, OnError::tell_model, "queue"},
    {"order", Effect::pure, Deed::sleeps, false, OnError::tell_model, "", true},
    {"hasty", Effect::pure, Deed::sleeps, false, OnError::tell_model, "", false, 60},
    {"invokes", Effect::pure, Deed::invokes},
    {"enough", Effect::pure, Deed::finishes},
    {"wait", Effect::pure, Deed::interrupts},
    {"gather", Effect::pure, Deed::runs_agent},
    {"once", Effect::at_most_once, Deed::runs_agent},
    {"brief", Effect::pure, Deed::runs_agent, false, OnError::tell_model, "", false, 150},
    {"hire", Effect::pure, Deed::runs_agent, true},
    {"crowd", Effect::pure, Deed::runs_several},
    {"mob", Effect::at_most_once, Deed::runs_several},
    {"talk", Effect::pure, Deed::talks},
    {"chat", Effect::at_most_once, Deed::talks},
    {"split", Effect::pure, Deed::forks},
    {"leave", Effect::pure, Deed::starts},
    {"follow", Effect::pure, Deed::starts_waits},
    {"trail", Effect::at_most_once, Deed::starts_waits},
    {"below", Effect::pure, Deed::runs_harness},
    {"drop", Effect::at_most_once, Deed::drops},
};
inline bool runs_agents(Deed deed) { return deed >= Deed::runs_agent; }
inline const TreeTool* find_tree_tool(std::string_view name) {
  for (const TreeTool& tool : kTreeTools) {
    if (tool.name == name) return &tool;
  }
  return nullptr;
}

inline constexpr std::uint32_t kDeepest = 6;
inline constexpr std::size_t kWidest = 8;
inline constexpr std::string_view kBig = "big";  // the text that `sign` asks about

struct TreeWorld {
  explicit TreeWorld(std::uint64_t of_seed) : seed(of_seed) {
    Rng rng(seed);
    draw(rng);
    watch_another_root();
  }
  TreeWorld(const TreeWorld&) = delete;
  TreeWorld& operator=(const TreeWorld&) = delete;

  void watch_another_root() {
    const bool show = audit && audit->show;
    audit = std::make_shared<TreeAudit>();
    audit->show = show;
    audit->one_by_one = execution == ToolExecution::sequential;
    audit->permissions = [this](const TreeAudit::Node& node) { return permissions_of(node); };
    audit->steering = [this](const TreeAudit::Node& node, std::string_view sender) {
      return sender == "parent" ? agent_of(node).steering : steering;
    };
    audit->requires_approval = [](std::string_view name, const Json& args) {
      const TreeTool* tool = find_tree_tool(name);
      return tool && (tool->approval || (name == "sign" && args["text"].as_string() == kBig));
    };
  }

  // Of the root, from the next segment on.
  void draw_other_permissions(Rng& rng) { permissions = draw_permissions(rng); }

  bool may_grow() const noexcept { return !quiet && runs < most_runs; }

  const std::uint64_t seed;
  const std::shared_ptr<RecordStore> store = make_memory_record_store();
  std::shared_ptr<TreeAudit> audit;  // of the root in hand
  std::vector<AgentConfig> agents;   // "a0", "a1", ..
  Permissions permissions;
  SteeringPolicy steering;
  RunLimits limits;
  std::optional<double> timeout;
  ToolExecution execution = ToolExecution::automatic;
  bool middleware = false;
  std::size_t most_runs = 8;  // about: those that are asked for at once may go beyond it

  std::size_t runs = 0;  // that were asked for
  std::uint32_t processes = 0;
  bool quiet = false;  // every model has had enough
  int streams = 0;     // answers under way
  Time clock = Time(std::chrono::seconds(1767225600));

 private:
  static bool one_in(Rng& rng, std::uint64_t n) { return rng.below(n) == 0; }

  static RunLimits draw_limits(Rng& rng, std::uint64_t rarely) {
    RunLimits limits;
    const auto some = [&](std::uint64_t least, std::uint64_t span) {
      return static_cast<std::int64_t>(least + rng.below(span));
    };
    if (one_in(rng, rarely)) limits.max_turns = some(0, 12);
    if (one_in(rng, rarely)) limits.max_tool_calls = some(0, 16);
    if (one_in(rng, rarely)) limits.max_tokens = some(200, 12'000);
    if (one_in(rng, rarely)) limits.max_cost = static_cast<double>(some(2, 200)) / 10'000;
    if (one_in(rng, rarely)) limits.max_time = static_cast<double>(some(0, 2'000)) / 1'000;
    if (one_in(rng, rarely)) limits.max_depth = static_cast<std::uint32_t>(rng.below(4));
    if (one_in(rng, rarely)) limits.max_concurrency = 1 + static_cast<std::uint32_t>(rng.below(3));
    if (one_in(rng, rarely)) limits.retries = static_cast<std::uint32_t>(rng.below(3));
    if (one_in(rng, rarely)) limits.tool_retries = static_cast<std::uint32_t>(rng.below(3));
    return limits;
  }

  static Permissions draw_permissions(Rng& rng) {
    static constexpr PermissionMode kModes[] = {
        PermissionMode::declared, PermissionMode::declared,     PermissionMode::declared,
        PermissionMode::declared, PermissionMode::ask,          PermissionMode::yolo,
        PermissionMode::declared, PermissionMode::accept_edits, PermissionMode::read_only};
    static constexpr OnAsk kAsks[] = {OnAsk::park, OnAsk::park, OnAsk::park,
                                      OnAsk::wait, OnAsk::wait, OnAsk::deny};
    Permissions permissions;
    permissions.mode = kModes[rng.below(std::size(kModes))];
    permissions.on_ask = kAsks[rng.below(std::size(kAsks))];
    permissions.hold = one_in(rng, 2) ? HoldScope::batch : HoldScope::call;
    if (one_in(rng, 12)) permissions.ask = {"note"};
    if (one_in(rng, 12)) permissions.ask_effects = {Effect::idempotent};
    return permissions;
  }

  static SteeringPolicy draw_steering(Rng& rng) {
    if (one_in(rng, 2)) return SteeringPolicy::allow_all();
    SteeringPolicy policy;
    for (const SteerKind kind : SteeringPolicy::allow_all().kinds()) {
      if (one_in(rng, 2)) policy.permit(kind);
    }
    return policy;
  }

  void draw(Rng& rng) {
    static constexpr std::size_t kSizes[] = {2, 4, 4, 8, 8, 8, 16, 40};
    most_runs = kSizes[rng.below(std::size(kSizes))];
    permissions = draw_permissions(rng);
    steering = draw_steering(rng);
    limits = draw_limits(rng, 10);
    if (one_in(rng, 10)) timeout = static_cast<double>(rng.below(4'000)) / 1'000;
    if (one_in(rng, 8)) execution = ToolExecution::sequential;
    middleware = one_in(rng, 4);
    const std::size_t count = 1 + rng.below(5);
    for (std::size_t i = 0; i < count; ++i) agents.push_back(draw_agent(rng, count));
  }

  static AgentConfig draw_agent(Rng& rng, std::size_t count) {
    AgentConfig config;
    if (one_in(rng, 3)) config.system_prompt = "You help.";
    if (one_in(rng, 4)) {
      config.tools.emplace();
      for (const TreeTool& tool : kTreeTools) {
        if (one_in(rng, 2)) config.tools->emplace_back(tool.name);
      }
    }
    if (one_in(rng, 4)) {
      config.subagents.emplace();
      for (std::size_t i = 0; i < count; ++i) {
        if (one_in(rng, 2)) config.subagents->push_back("a" + std::to_string(i));
      }
    }
    config.limits = draw_limits(rng, 16);
    if (one_in(rng, 5)) config.permissions = draw_permissions(rng);
    config.steering = draw_steering(rng);
    config.fork = one_in(rng, 6);
    if (one_in(rng, 6)) {
      config.output_schema = *parse_json(
          R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})");
    }
    return config;
  }

  // "main" and "default" have none of their own.
  const AgentConfig& agent_of(const TreeAudit::Node& node) const {
    static const AgentConfig kNone;
    const std::string& name = node.who->agent;
    for (std::size_t i = 0; i < agents.size(); ++i) {
      if (name == "a" + std::to_string(i)) return agents[i];
    }
    return kNone;
  }

  Permissions permissions_of(const TreeAudit::Node& node) const {
    for (const TreeAudit::Node* at = &node; at; at = at->parent) {
      if (const auto& own = agent_of(*at).permissions) return *own;
    }
    return permissions;
  }
};

}  // namespace tug
