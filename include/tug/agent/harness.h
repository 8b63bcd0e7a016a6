// The public face: tools, a model, and runs.
//
//   tug::Harness harness{"offline/demo"};
//   harness.tool("forecast", "Weather forecast", [](const Where& where) { .. });
//   std::puts(harness.run("What's the weather in Oslo?").text.c_str());
//
// One harness serves any number of runs at once, from any thread. What is added to it counts for
// runs that start later; a run keeps the tools it started with. After any ending it can run again.
// Nothing throws: what cannot even start is a result with status `failed` and its error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tug/agent/agent.h"
#include "tug/agent/options.h"
#include "tug/agent/run.h"
#include "tug/context/run_result.h"
#include "tug/core/codec.h"
#include "tug/core/task.h"
#include "tug/middleware/middleware.h"
#include "tug/model/model.h"
#include "tug/model/retry.h"
#include "tug/tools/tool_set.h"
#include "tug/tools/typed_tool.h"

namespace tug {

class Context;
class Engine;
class Models;
class RateLimiter;
class RecordStore;
class ResponseCache;
class Services;
struct ProviderConfig;

namespace detail {
class HarnessCore;
}

struct HarnessOptions {
  std::string model;  // "provider/name"; of runs that name none
  std::vector<std::string> fallback_models;
  std::string system_prompt;
  std::string agent = "main";
  RunLimits defaults;  // instead of the built-in ones; bind one run each
  RetryPolicy retry;
  ModelSettings settings;             // of runs and agents that say nothing
  std::optional<Json> output_schema;  // of the answer of every run that names none
  OutputMode output_mode = OutputMode::automatic;
  ToolExecution tool_execution = ToolExecution::automatic;
  Permissions permissions;
  SteeringPolicy steering;
  std::string state_dir;   // where the journal lives; in memory when empty
  std::uint64_t seed = 0;  // of ids and random numbers; 0: drawn
  std::string cwd;         // locals.config.cwd
  std::string root;        // the workspace folder, for records

  // Made when missing.
  std::shared_ptr<Engine> engine;
  std::shared_ptr<RecordStore> store;  // instead of state_dir
  std::shared_ptr<Models> models;      // with the known providers, their keys from the environment
  // Answers that may be served again, by all its runs; none when null.
  std::shared_ptr<ResponseCache> response_cache;
  Duration cache_ttl{};                       // of what is kept there; zero: for ever
  std::shared_ptr<RateLimiter> rate_limiter;  // shared with other harnesses, where it is given
  std::shared_ptr<const Services>
      services;  // used as they are; Engine and Models are looked up there
};

class Harness {
 public:
  explicit Harness(std::string model);
  explicit Harness(ModelPtr model);
  explicit Harness(HarnessOptions options);
  Harness(Harness&&) noexcept;
  Harness& operator=(Harness&&) noexcept;
  // close()
  ~Harness();

  // A typed tool (tools/typed_tool.h). A tool that cannot be made (a bad name) is kept as an error
  // that every later run answers with.
  template <class F>
  Harness& tool(std::string name, std::string description, F handler, ToolOptions options = {}) {
    add(make_tool(std::move(name), std::move(description), std::move(handler), std::move(options)));
    return *this;
  }
  template <class F>
  Harness& inline_tool(std::string name, std::string description, F handler,
                       ToolOptions options = {}) {
    add(make_inline_tool(std::move(name), std::move(description), std::move(handler),
                         std::move(options)));
    return *this;
  }
  Harness& tool(ToolPtr tool);
  // A tool of that name that is there already is kept as an error in the same way.
  Harness& add(Result<ToolPtr> tool);
  Harness& add(const ToolSet& tools);
  // Whether there was one. Of a name that was taken twice both are gone, and the error with them.
  bool remove(std::string_view name);
  std::vector<std::shared_ptr<const ToolSpec>> tools() const;  // sorted by name
  Harness& system_prompt(std::string text);
  // Models of a provider of one's own: "name/model" (tug/model/provider.h).
  Harness& provider(ProviderConfig config);
  // Before its first run: answers that may be served again, by all its runs.
  Harness& response_cache(std::shared_ptr<ResponseCache> cache, Duration ttl = {});
  // Around every run that starts from now on, inside of those that were added before.
  Harness& use(MiddlewarePtr middleware);

  // An agent: a tool of that name for this harness's runs from now on, and a function. One that
  // cannot be made (its name is taken or bad, it names tools or agents that are not there) is kept
  // as an error in the same way as a tool.
  Agent agent(std::string name, std::string description, AgentConfig config = {});
  // The same with the fields of a struct as arguments of the tool.
  template <class In>
  Agent agent(std::string name, std::string description, AgentConfig config = {}) {
    config.input_schema = schema_of<In>();
    return agent(std::move(name), std::move(description), std::move(config));
  }
  // The tool `subagent` {task, agent}: any agent of the run by its name, or, without a name, one
  // with the tools and the model of its caller. With `background` the tool can also start runs that
  // nobody waits for, and `subagent_runs` looks after them.
  Harness& subagents(SubagentOptions options = {});

  // A root run. `run` blocks until it has ended; on a thread of the engine its result is an error
  // that names `run_async`.
  RunResult run(std::string prompt, RunOptions options = {});
  // Begins at once.
  Run start(std::string prompt, RunOptions options = {});
  Task<RunResult> run_async(std::string prompt, RunOptions options = {});

  // A typed answer: any struct that codec.h can read. `invalid`, `exhausted`, .. as the run ended.
  template <class T>
  Result<T> ask(std::string prompt, RunOptions options = {}) {
    options.output_schema = schema_of<T>();
    return run(std::move(prompt), std::move(options)).template parse<T>();
  }

  // The same inside an existing context: a child run, one level deeper, on the same journal, budget
  // and cancellation. Loop thread of that context (so `run` always answers with the error). A child
  // that was started belongs to the run of `ctx` and is joined before that one ends.
  RunResult run(const Context& ctx, std::string prompt, RunOptions options = {});
  Run start(const Context& ctx, std::string prompt, RunOptions options = {});
  Task<RunResult> run_async(const Context& ctx, std::string prompt, RunOptions options = {});

  // Goes on with a root that is in the journal. One that waits for approvals stays as it is: the
  // result lists them, and the prompt, if any, is kept as a follow-up. A crashed, cancelled or
  // parked one from where it stood, under its own id (`prompt`, if any, is what it is told first).
  // A finished one as a new run with the old one as its base, on the same thread; that needs a
  // prompt unless it failed or reached a limit before its answer.
  Run resume(const RunId& root, std::string prompt = {}, RunOptions options = {});
  Run resume(const ResumeState& state, std::string prompt = {}, RunOptions options = {}) {
    return resume(state.run, std::move(prompt), std::move(options));
  }
  // Decides calls that a parked root waits for, and goes on with what that frees. Where calls stay
  // undecided it parks again. Decisions that do not fit are an error before anything is written. A
  // root that is under way in this process takes them like Run::approve, one of another process is
  // sent them (the handle then follows nothing: its result is an error that says so).
  Run approve(const RunId& root, std::vector<Decision> decisions, RunOptions options = {});
  // A new run that shares the history of `root` up to `at` (0: all of it), moved back to the
  // nearest earlier record without an open call. Without a prompt it goes on from there by itself.
  Run fork(const RunId& root, Seq at = 0, std::string prompt = {}, RunOptions options = {});

  Engine& engine() noexcept;
  RecordStore& store() noexcept;
  const std::shared_ptr<const Services>& services() noexcept;

  // Cancels what it started, waits for it, commits what is queued. A later run says that the
  // harness is closed. Not on a thread of the engine.
  void close() noexcept;

 private:
  std::shared_ptr<detail::HarnessCore> core_;
};

}  // namespace tug
