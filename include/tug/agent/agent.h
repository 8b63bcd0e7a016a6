// Sub-agents: an agent is a tool for models and a function for code.
//
//   Agent researcher = harness.agent("researcher", "Finds things out.", {.tools = {{"search"}}});
//   RunResult found = co_await researcher.run(ctx, "Who wrote it?");
//
// Either way the run is a child: one level deeper on the same stream, with the cancellation,
// stores, limits, tags and thread of its caller, and its usage and cost are counted there as they
// come. What goes wrong in it is a result: for a model a failed one (SubAgentLimit,
// SubAgentFailed, SubAgentCancelled), never the end of its caller.
//
// Handles are small and share one agent. They are of no use once the harness is gone: runs then
// answer with an error.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tug/agent/options.h"
#include "tug/agent/run.h"
#include "tug/agent/steering.h"
#include "tug/context/run_result.h"
#include "tug/core/codec.h"
#include "tug/core/task.h"
#include "tug/middleware/middleware.h"
#include "tug/tools/tool.h"

namespace tug {

class Context;

struct AgentConfig {
  std::optional<std::string> system_prompt;  // the harness's own when empty
  std::string model;                         // the caller's when empty
  std::optional<std::vector<std::string>> fallback_models;
  ModelSettings settings;  // what it leaves open, the caller's own say
  // Exactly these of the harness's tools. Inherited when empty: the tools of whoever calls, other
  // agents aside; tools that an MCP server gave are never inherited.
  std::optional<std::vector<std::string>> tools;
  // Agents it may call in turn: those of its caller when empty, none with {}.
  std::optional<std::vector<std::string>> subagents;
  RunLimits limits;  // bind each of its runs and everything below
  std::optional<Json> output_schema;
  std::optional<OutputMode> output_mode;
  std::optional<Permissions> permissions;          // the caller's when empty
  std::vector<std::shared_ptr<Middleware>> hooks;  // around its runs alone
  // What the model of its caller may tell a run of it that works in the background.
  SteeringPolicy steering;
  bool fork = false;  // starts with what its caller knows instead of nothing

  // The tool's arguments; one string `input` when empty. `prompt` makes the child's prompt of
  // them; without it that is `input`, or the arguments as JSON.
  std::optional<Json> input_schema;
  std::function<std::string(const Json& args)> prompt;
};

// What `Harness::subagents` adds.
struct SubagentOptions {
  bool background = false;  // runs that nobody waits for, and a tool to look after them
};

namespace detail {
class AgentCore;
class HarnessCore;
struct SessionCore;
}  // namespace detail

class AgentSession;

class Agent {
 public:
  Agent() noexcept = default;
  explicit operator bool() const noexcept { return core_ != nullptr; }
  const std::string& name() const noexcept;
  const std::string& description() const noexcept;
  // The same as a tool: what `Harness::agent` adds to the harness.
  const ToolPtr& tool() const noexcept;

  // A child run of the context's run. Loop thread of the context. A run that is deeper than a limit
  // allows fails with Limit{depth} before any model is asked. A child that parks (an approval, a
  // pause) ends with status `parked`; the same call made again when the root is resumed goes on
  // with it.
  Task<RunResult> run(Context ctx, std::string input) const;
  // A root of its own.
  Task<RunResult> run(std::string input, RunOptions options = {}) const;

  template <class T>
  Task<Result<T>> ask(Context ctx, std::string input) const {
    RunOptions options;
    options.output_schema = schema_of<T>();
    auto running = run_with(std::move(ctx), std::move(input), std::move(options));
    RunResult result = co_await std::move(running);
    co_return result.template parse<T>();
  }

  // In the background: it belongs to the context's run, is cancelled with it and joined before that
  // one ends. The handle polls (`ended`, `status`), waits (`result`), steers and cancels it.
  Run start(const Context& ctx, std::string input) const;
  // A child that starts from what the context's run has heard so far, however long that is, in
  // constant time and space.
  Task<RunResult> fork(Context ctx, std::string input) const;

  // One conversation of several runs; see below.
  AgentSession session(Context ctx) const;
  AgentSession session() const;

 private:
  friend class Harness;
  explicit Agent(std::shared_ptr<const detail::AgentCore> core) noexcept : core_(std::move(core)) {}
  Task<RunResult> run_with(Context ctx, std::string input, RunOptions options) const;
  std::shared_ptr<const detail::AgentCore> core_;
};

// The same agent over several inputs: each run has the one before as its base, so that it knows
// what was said, and nothing is copied. The instructions are the first run's. Every run but the
// first records `subagent.reused`. One send at a time.
class AgentSession {
 public:
  // A run that does not end well (or parks) leaves the conversation as it was.
  Task<RunResult> send(std::string input);
  // Forgets what was said; the next send is a first one.
  void reset();
  const Transcript& transcript() const noexcept;
  const ThreadId& thread() const noexcept;  // of all its runs; empty before the first of its own
  std::uint32_t turns() const noexcept;     // that ended well
  // The newest run that ended well: `take_up` goes on from there, in another process too.
  ResumeState at() const;
  // Goes on with the conversation that ended in that run. `invalid` when the journal has no such
  // run, or when it has not ended well. Blocking: not on a loop.
  Result<void> take_up(const ResumeState& at);

 private:
  friend class Agent;
  explicit AgentSession(std::shared_ptr<detail::SessionCore> core) : core_(std::move(core)) {}
  std::shared_ptr<detail::SessionCore> core_;
};

}  // namespace tug
