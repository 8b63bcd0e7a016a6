#include "tug/agent/harness.h"

#include "agent/harness_core.h"
#include "tug/model/models.h"
#include "tug/model/provider.h"

namespace tug {
namespace {

HarnessOptions options_with(ModelPtr model) {
  HarnessOptions options;
  options.models = make_models();
  options.model = model->profile().id();
  options.models->add(std::move(model));
  return options;
}

std::unique_ptr<Launch> launch(std::string prompt, RunOptions options) {
  return std::make_unique<Launch>(
      Launch{.prompt = std::move(prompt), .options = std::move(options)});
}

Task<RunResult> unwrapped(Task<std::unique_ptr<RunResult>> task) {
  const std::unique_ptr<RunResult> result = co_await std::move(task);
  co_return std::move(*result);
}

RunResult on_a_loop(Error error) {
  return failed_result(error.with_fix("co_await harness.run_async(..) instead"));
}

}  // namespace

Harness::Harness(std::string model) : Harness(HarnessOptions{.model = std::move(model)}) {}
Harness::Harness(ModelPtr model) : Harness(options_with(std::move(model))) {}
Harness::Harness(HarnessOptions options)
    : core_(std::make_shared<detail::HarnessCore>(std::move(options))) {}
Harness::Harness(Harness&&) noexcept = default;
Harness& Harness::operator=(Harness&&) noexcept = default;
Harness::~Harness() = default;

Harness& Harness::tool(ToolPtr tool) { return add(std::move(tool)); }
Harness& Harness::add(Result<ToolPtr> tool) {
  core_->add(std::move(tool));
  return *this;
}
Harness& Harness::add(const ToolSet& tools) {
  for (const ToolPtr& tool : tools.all()) core_->add(tool);
  return *this;
}
bool Harness::remove(std::string_view name) { return core_->remove(name); }
Harness& Harness::use(MiddlewarePtr middleware) {
  core_->use(std::move(middleware));
  return *this;
}
Harness& Harness::provider(ProviderConfig config) {
  core_->add_provider(std::move(config));
  return *this;
}
Harness& Harness::response_cache(std::shared_ptr<ResponseCache> cache, Duration ttl) {
  core_->set_response_cache(std::move(cache), ttl);
  return *this;
}
Harness& Harness::system_prompt(std::string text) {
  core_->set_system_prompt(std::move(text));
  return *this;
}
std::vector<std::shared_ptr<const ToolSpec>> Harness::tools() const {
  std::vector<std::shared_ptr<const ToolSpec>> specs;
  for (const ToolPtr& tool : core_->tools().all()) specs.push_back(tool->shared_spec());
  return specs;
}

Agent Harness::agent(std::string name, std::string description, AgentConfig config) {
  return Agent(core_->agent(std::move(name), std::move(description), std::move(config)));
}
Harness& Harness::subagents(SubagentOptions options) {
  core_->subagents(options);
  return *this;
}

RunResult Harness::run(std::string prompt, RunOptions options) {
  auto running = core_->run_here(launch(std::move(prompt), std::move(options)));
  auto result = core_->engine().run(core_->engine().place(), std::move(running));
  return result ? *std::move(result) : on_a_loop(result.error());
}

Run Harness::start(std::string prompt, RunOptions options) {
  return core_->start(launch(std::move(prompt), std::move(options)));
}

Task<RunResult> Harness::run_async(std::string prompt, RunOptions options) {
  return core_->run_here(launch(std::move(prompt), std::move(options)));
}

RunResult Harness::run(const Context&, std::string, RunOptions) {
  return on_a_loop(
      Error(ErrorKind::invalid, "a context lives on a loop, and run() would block it"));
}

Run Harness::start(const Context& ctx, std::string prompt, RunOptions options) {
  return core_->start_below(ctx, {.prompt = std::move(prompt), .options = std::move(options)});
}

Task<RunResult> Harness::run_async(const Context& ctx, std::string prompt, RunOptions options) {
  auto launch = std::make_unique<LaunchBelow>();
  launch->prompt = std::move(prompt);
  launch->options = std::move(options);
  return unwrapped(core_->run_below(ctx, std::move(launch)));
}

Run Harness::resume(const RunId& root, std::string prompt, RunOptions options) {
  auto again = launch(std::move(prompt), std::move(options));
  again->kind = Launch::Kind::resume;
  again->from = root;
  return core_->start(std::move(again));
}

Run Harness::approve(const RunId& root, std::vector<Decision> decisions, RunOptions options) {
  return core_->approve(root, std::move(decisions), std::move(options));
}

Run Harness::fork(const RunId& root, Seq at, std::string prompt, RunOptions options) {
  auto other = launch(std::move(prompt), std::move(options));
  other->kind = Launch::Kind::fork;
  other->from = root;
  other->at = at;
  return core_->start(std::move(other));
}

Engine& Harness::engine() noexcept { return core_->engine(); }
RecordStore& Harness::store() noexcept { return core_->store(); }
const ServicesPtr& Harness::services() noexcept { return core_->services(); }
void Harness::close() noexcept { core_->close(); }

}  // namespace tug
