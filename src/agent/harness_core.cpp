#include "agent/harness_core.h"

#include <algorithm>

#include "core/try.h"
#include "tug/core/nearest.h"
#include "tug/io/environment.h"
#include "tug/model/catalogue.h"
#include "tug/model/provider.h"
#include "tug/model/rate_limiter.h"
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

// Everybody that is known, with the keys that the environment has.
std::shared_ptr<Models> usual_models() {
  auto models = make_models();
  std::vector<ProviderConfig> providers;
  for (ProviderConfig& provider : known_providers()) {
    providers.push_back(from_env(std::move(provider), environment_variable));
  }
  add_providers(*models, make_catalogue(), make_http_client(), std::move(providers));
  return models;
}

}  // namespace

HarnessCore::HarnessCore(HarnessOptions options) : options_(std::move(options)) {
  services_ = options_.services;
  engine_ = options_.engine;
  models_ = options_.models;
  if (services_ && !engine_) engine_ = services_->share<Engine>();
  if (services_ && !models_) models_ = services_->share<Models>();
  if (!engine_) engine_ = make_engine();
  if (!models_) models_ = usual_models();
  if (!services_) {
    Services::Builder builder(options_.seed ? options_.seed : engine_->entropy());
    builder.put(engine_);
    builder.put(models_);
    builder.put(options_.rate_limiter ? options_.rate_limiter : make_rate_limiter());
    builder.put(answers_);
    if (!options_.cwd.empty()) builder.config(Json::object({{"cwd", options_.cwd}}));
    services_ = builder.build();
  }
  if (options_.response_cache) answers_->set(options_.response_cache, options_.cache_ttl);
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

void HarnessCore::forget_plans() {
  usual_.reset();
  agent_plans_.clear();
  ++version_;
}

void HarnessCore::add(Result<ToolPtr> tool) {
  std::scoped_lock lock(mutex_);
  forget_plans();
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

void HarnessCore::add_provider(ProviderConfig config) {
  std::vector<ProviderConfig> one;
  one.push_back(std::move(config));
  add_providers(*models_, make_catalogue(), make_http_client(), std::move(one));
  std::scoped_lock lock(mutex_);
  forget_plans();
}

void HarnessCore::set_response_cache(std::shared_ptr<ResponseCache> cache, Duration ttl) {
  answers_->set(std::move(cache), ttl);
}

bool HarnessCore::remove(std::string_view name) {
  std::scoped_lock lock(mutex_);
  forget_plans();
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
  forget_plans();
  middleware_.push_back(std::move(middleware));
}

void HarnessCore::set_system_prompt(std::string text) {
  std::scoped_lock lock(mutex_);
  forget_plans();
  options_.system_prompt = std::move(text);
}

ToolSet HarnessCore::tools() const {
  std::scoped_lock lock(mutex_);
  return tools_;
}

std::optional<Error> HarnessCore::fault() const {
  std::scoped_lock lock(mutex_);
  if (closed_) return closed_error();
  if (broken_ || bad_tool_) return broken_ ? broken_ : bad_tool_;
  if (agents_checked_ != version_) {
    bad_agent_ = agent_fault();
    agents_checked_ = version_;
  }
  return bad_agent_;
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

Run HarnessCore::approve(const RunId& root, std::vector<Decision> decisions, RunOptions options) {
  if (const auto live = find_live(root)) {
    const Run run = RunHandle::make(live, RunHandle::Holds::looks_on);
    auto decided = run.approve(std::move(decisions));
    if (decided) return run;
    auto none = std::make_shared<RunShared>(root, engine_, live->loop(), nullptr);
    none->end(failed_result(decided.error()));
    return RunHandle::make(std::move(none));
  }
  auto launch = std::make_unique<Launch>(
      Launch{.kind = Launch::Kind::resume, .from = root, .options = std::move(options)});
  launch->decides = true;
  launch->decisions = std::move(decisions);
  return start(std::move(launch));
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
    if (finished && launch->decides) {
      auto none = std::make_shared<RunShared>(launch->from, engine_, loop, nullptr);
      none->end(failed_result(
          Error(ErrorKind::invalid,
                "run " + launch->from.text() + " has ended: nothing in it waits for approval")));
      return RunHandle::make(std::move(none));
    }
    if (finished) launch->kind = Launch::Kind::follow;
  }
  auto shared = make_shared(*launch, loop);
  if (launch->options.keep_events) shared->keep_events();
  Task<void> root = run_root(shared, std::move(launch));
  watch_inbox(loop);
  if (!engine_->start(loop, std::move(root))) shared->end(failed_result(closed_error()));
  return RunHandle::make(std::move(shared));
}

Task<RunResult> HarnessCore::run_here(std::unique_ptr<Launch> launch) {
  Loop& loop = co_await this_loop();
  auto shared = make_shared(*launch, loop);
  watch_inbox(loop);
  auto running = run_root(shared, std::move(launch));
  co_await std::move(running);
  co_return *shared->result();
}

}  // namespace tug::detail
