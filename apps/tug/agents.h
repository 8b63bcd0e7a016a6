// The agents that the configuration names, as the harness takes them.
#pragma once

#include "config.h"
#include "tug/agent/harness.h"
#include "tug/model/models.h"

namespace tug::cli {

// Adds every row of [[agents]] and every file of --agents to the harness, and the tool `subagent`
// unless [subagents] says otherwise. The harness has its other tools by then. Every failure is
// `invalid` and names the file and line: no name or description, a name that is taken or cannot be
// one, a tool, agent or model that is not there, hooks that cannot be made, MCP servers.
Result<void> add_agents(Harness& harness, const Config& config, Models& models);

// Whether an agent has commands that are run on events of its runs.
bool agents_have_hooks(const Config& config);

// [steering] allow.
Result<SteeringPolicy> configured_steering(const Config& config);

// The tools that the setting `tools` names; `invalid`, with its place, for one that is not there or
// named twice. All of them when the setting is built in.
Result<std::vector<std::string>> chosen_tools(const Harness& harness, const Config& config);

}  // namespace tug::cli
