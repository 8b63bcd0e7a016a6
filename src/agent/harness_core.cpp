#include "agent/harness_core.h"

#include <algorithm>

#include "core/try.h"
#include "tug/core/nearest.h"
#include "tug/store/record_stores.h"

namespace tug::detail {
namespace {

Error closed_error() {
  return Error(ErrorKind::invalid, "the harness is closed", "make another one");
}

std::string origin_of(const Tool& tool) {
  const std::string& uri = tool.spec().origin.uri;
  return uri.empty() ? "built in" : uri;
}

Failure taken_twice(const Tool& first, const Tool& second) {
  return fail(ErrorKind::invalid,
              "two tools are named \"" + first.name() + "\": one is " + origin_of(first) +
                  ", the other " + origin_of(second),
              "rename one, or remove the first with Harness::remove");
}

Result<std::shared_ptr<RecordStore>> open_store(const HarnessOptions& options) {
  if (options.store) return options.store;
  if (options.state_dir.empty()) return std::shared_ptr(make_memory_record_store());
  TUG_TRY(store, open_sqlite_record_store(options.state_dir));
  return std::shared_ptr(std::move(store));
}

}  // namespace

HarnessCore::HarnessCore(HarnessOptions options) : options_(std::move(options)) {
  services_ = options_.services;
  engine_ = options_.engine;
  models_ = options_.models;
  if (services_ && !engine_) engine_ = services_->share<Engine>();
  if (services_ && !models_) models_ = services_->share<Models>();
  if (!engine_) engine_ = make_engine();
  if (!models_) models_ = make_models();
  if (!services_) {
    Services::Builder builder(options_.seed ? options_.seed : engine_->entropy());
    builder.put(engine_);
    builder.put(models_);
    if (!options_.cwd.empty()) builder.config(Json::object({{"cwd", options_.cwd}}));
    services_ = builder.build();
  }
  auto store = open_store(options_);
  if (store) {
    store_ = *std::move(store);
  } else {
    broken_ = store.error();
    store_ = make_memory_record_store();
  }
  journal_ = make_journal(*engine_, store_);
}

HarnessCore::~HarnessCore() { close(); }

void HarnessCore::close() noexcept {
  std::vector<std::weak_ptr<RunShared>> live;
  {
    std::scoped_lock lock(mutex_);
    closed_ = true;
    live.swap(live_);
  }
  std::vector<std::shared_ptr<RunShared>> open;
  for (const auto& weak : live) {
    auto shared = weak.lock();
    if (!shared || shared->ended()) continue;
    shared->cancel({CancelReason::Why::shutdown, "the harness is closed"});
    open.push_back(std::move(shared));
  }
  for (const auto& shared : open) {
    auto waiting = shared->wait({});
    (void)shared->engine().run(shared->loop(), std::move(waiting));
  }
  journal_->close();
}

void HarnessCore::add(Result<ToolPtr> tool) {
  std::scoped_lock lock(mutex_);
  usual_.reset();
  if (tool) {
    const std::string name = (*tool)->name();
    if (const Tool* other = tools_.find(name)) {
      tool = taken_twice(*other, **tool);
      if (!bad_tool_) taken_twice_ = name;
    }
  }
  if (tool) {
    tools_.add(*std::move(tool));
  } else if (!bad_tool_) {
    bad_tool_ = tool.error();
  }
}

bool HarnessCore::remove(std::string_view name) {
  std::scoped_lock lock(mutex_);
  usual_.reset();
  // Nothing is taken twice any more.
  if (!name.empty() && name == taken_twice_) {
    taken_twice_.clear();
    bad_tool_.reset();
  }
  return tools_.remove(name);
}

void HarnessCore::use(MiddlewarePtr middleware) {
  if (!middleware) return;
  std::scoped_lock lock(mutex_);
  usual_.reset();
  middleware_.push_back(std::move(middleware));
}

void HarnessCore::set_system_prompt(std::string text) {
  std::scoped_lock lock(mutex_);
  usual_.reset();
  options_.system_prompt = std::move(text);
}

ToolSet HarnessCore::tools() const {
  std::scoped_lock lock(mutex_);
  return tools_;
}

std::optional<Error> HarnessCore::fault() const {
  std::scoped_lock lock(mutex_);
  if (closed_) return closed_error();
  return broken_ ? broken_ : bad_tool_;
}

std::string HarnessCore::agent_of(const RunOptions& options) const {
  if (!options.agent.empty()) return options.agent;
  return options_.agent.empty() ? "main" : options_.agent;
}

Limits HarnessCore::default_limits() const {
  RunOptions defaults{.limits = options_.defaults};
  if (!defaults.limits.max_turns) defaults.limits.max_turns = kDefaultMaxTurns;
  if (!defaults.limits.max_tool_calls) defaults.limits.max_tool_calls = kDefaultMaxToolCalls;
  return limits_of(defaults).value_or(Limits{});
}

// The model to ask first must be there; a fallback that is not is passed over when its turn comes.
Result<std::vector<PlannedModel>> HarnessCore::models_of(const RunOptions& options) {
  const std::string& id = options.model.empty() ? options_.model : options.model;
  if (id.empty()) {
    return fail(ErrorKind::invalid, "no model is named", "name one, for example \"offline/demo\"");
  }
  TUG_TRY(model, models_->find(id));
  std::vector<PlannedModel> models;
  models.push_back({model->profile().id(), std::move(model), {}});
  for (const std::string& name : options.fallback_models.value_or(options_.fallback_models)) {
    auto found = models_->find(name);
    if (found) {
      models.push_back({(*found)->profile().id(), *std::move(found), {}});
    } else {
      models.push_back({name, nullptr, found.error().message()});
    }
  }
  return models;
}

Result<RunPlanPtr> HarnessCore::plan(const RunOptions& options,
                                     const InheritedMiddleware* inherited) {
  const RunLimits& limits = options.limits;
  const bool usual = options.model.empty() && !options.fallback_models && !options.system_prompt &&
                     !options.tools && !options.interactive && !limits.max_concurrency &&
                     !limits.retries && !limits.output_retries && !limits.tool_retries &&
                     !options.output_schema && !options.output_mode && !options.tool_execution &&
                     !options.max_output_tokens && options.middleware.empty() &&
                     options.inherited_middleware.empty() && !inherited;
  PlanSpec spec;
  {
    std::scoped_lock lock(mutex_);
    if (usual && usual_) return usual_;
    spec.tools = tools_;
    spec.system = options.system_prompt.value_or(options_.system_prompt);
    for (const MiddlewarePtr& middleware : middleware_) {
      spec.middleware.push_back({middleware, "harness"});
    }
  }
  if (inherited) {
    for (const MiddlewarePtr& middleware : inherited->list) {
      spec.middleware.push_back({middleware, "inherited"});
    }
  }
  for (const auto& list : {options.inherited_middleware, options.middleware}) {
    for (const MiddlewarePtr& middleware : list) {
      if (middleware) spec.middleware.push_back({middleware, "run"});
    }
  }
  if (options.tools) {
    TUG_TRY(named, spec.tools.only(*options.tools));
    spec.tools = std::move(named);
  }
  TUG_TRY(models, models_of(options));
  spec.models = std::move(models);
  const RunLimits& defaults = options_.defaults;
  spec.limits.max_concurrency =
      limits.max_concurrency ? limits.max_concurrency : defaults.max_concurrency;
  spec.limits.retries = limits.retries ? limits.retries : defaults.retries;
  spec.limits.output_retries =
      limits.output_retries ? limits.output_retries : defaults.output_retries;
  spec.limits.tool_retries = limits.tool_retries ? limits.tool_retries : defaults.tool_retries;
  spec.interactive = options.interactive;
  // A run that asks for text does without the schema of the harness.
  if (options.output_schema || options.output_mode != OutputMode::text) {
    spec.output_schema = options.output_schema ? options.output_schema : options_.output_schema;
  }
  spec.output_mode = options.output_mode.value_or(options_.output_mode);
  spec.sequential =
      options.tool_execution.value_or(options_.tool_execution) == ToolExecution::sequential;
  spec.max_output_tokens = options.max_output_tokens.value_or(0);
  spec.retry = options_.retry;
  TUG_TRY(plan, make_run_plan(std::move(spec)));
  if (usual) {
    std::scoped_lock lock(mutex_);
    usual_ = plan;
  }
  return plan;
}

std::shared_ptr<RunShared> HarnessCore::make_shared(const Launch& launch, Loop& loop) {
  RunId id(launch.options.run_id);
  if (launch.kind == Launch::Kind::resume) id = launch.from;
  if (id.empty()) id = RunId(services_->ids().next(loop.wall()));
  auto shared = std::make_shared<RunShared>(std::move(id), engine_, loop, store_);
  remember(shared);
  return shared;
}

void HarnessCore::remember(const std::shared_ptr<RunShared>& shared) {
  std::scoped_lock lock(mutex_);
  // The ended ones go when they are as many as the living: a cost that is paid once per run.
  if (live_.size() >= swept_ * 2 + 64) {
    std::erase_if(live_, [](const auto& weak) {
      const auto run = weak.lock();
      return !run || run->ended();
    });
    swept_ = live_.size();
  }
  live_.push_back(shared);
}

// A run below a context: its events are kept from the first on, because its journal is another's.
std::shared_ptr<RunShared> HarnessCore::make_shared_below(const Context& ctx, RunOptions& options) {
  if (options.run_id.empty()) options.run_id = ctx.services().ids().next(ctx.loop().wall());
  auto engine = ctx.services().share<Engine>();
  auto shared = std::make_shared<RunShared>(RunId(options.run_id), engine ? engine : engine_,
                                            ctx.loop(), nullptr);
  remember(shared);
  return shared;
}

Run HarnessCore::start(std::unique_ptr<Launch> launch) {
  Loop& loop = engine_->place();
  if (launch->kind == Launch::Kind::resume) {
    auto info = store_->info(launch->from);
    if (!info) {
      auto none = std::make_shared<RunShared>(launch->from, engine_, loop, nullptr);
      none->end(failed_result(info.error()));
      return RunHandle::make(std::move(none));
    }
    // A run that has finished goes on as another one with this one as its base.
    const bool finished =
        info->status == RootStatus::completed || info->status == RootStatus::failed;
    if (finished) launch->kind = Launch::Kind::follow;
  }
  auto shared = make_shared(*launch, loop);
  if (launch->options.keep_events) shared->keep_events();
  Task<void> root = run_root(shared, std::move(launch));
  if (!engine_->start(loop, std::move(root))) shared->end(failed_result(closed_error()));
  return RunHandle::make(std::move(shared));
}

Task<RunResult> HarnessCore::run_here(std::unique_ptr<Launch> launch) {
  Loop& loop = co_await this_loop();
  auto shared = make_shared(*launch, loop);
  auto running = run_root(shared, std::move(launch));
  co_await std::move(running);
  co_return *shared->result();
}

Run HarnessCore::start_below(const Context& ctx, std::string prompt, RunOptions options) {
  auto shared = make_shared_below(ctx, options);
  LiveRun* owner = RunTree::of(ctx)->find(ctx.id().run_id);
  if (owner) {
    owner->background.spawn(run_background(shared, ctx, std::move(prompt), std::move(options)));
  } else {
    shared->end(failed_result(Error(ErrorKind::invalid,
                                    "this context belongs to no run that could own a child",
                                    "use run_async, which the caller awaits")));
  }
  return RunHandle::make(std::move(shared));
}

Task<void> HarnessCore::run_background(std::shared_ptr<RunShared> shared, Context ctx,
                                       std::string prompt, RunOptions options) {
  auto driving = drive_below(shared, std::move(ctx), std::move(prompt), std::move(options));
  Result<RunResult> result = co_await std::move(driving);
  shared->end(result ? *std::move(result) : failed_result(result.error()));
}

Task<RunResult> HarnessCore::run_below(Context ctx, std::string prompt, RunOptions options) {
  auto shared = make_shared_below(ctx, options);
  auto running = run_background(shared, std::move(ctx), std::move(prompt), std::move(options));
  co_await std::move(running);
  co_return *shared->result();
}

}  // namespace tug::detail
