// What the runs of a harness, and of its agents, are frozen with.
#include <algorithm>

#include "agent/harness_core.h"
#include "core/try.h"
#include "tug/model/provider.h"

namespace tug::detail {
namespace {

bool is_inherited(const ToolSpec& spec) {
  return !spec.agent && !spec.origin.uri.starts_with("mcp://");
}

// What only says how a run is made, not what it is about.
bool is_usual(const RunOptions& options) {
  const RunLimits& limits = options.limits;
  return options.model.empty() && !options.fallback_models && !options.system_prompt &&
         !options.tools && !options.interactive && !limits.max_concurrency && !limits.retries &&
         !limits.output_retries && !limits.tool_retries && !options.output_schema &&
         !options.output_mode && !options.tool_execution && options.settings.empty() &&
         !options.max_output_tokens && !options.permissions && !options.steering &&
         options.middleware.empty() && options.inherited_middleware.empty();
}

void add_middleware(PlanSpec& spec, const RunOptions& options,
                    const InheritedMiddleware* inherited) {
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
}

// How the run knows it: with the effort that it is asked with.
std::string planned_id(const Model& model, std::string_view name) {
  const std::string_view effort = split_effort(name).effort;
  std::string id = model.profile().id();
  if (!effort.empty() && !id.ends_with(":" + std::string(effort))) id += ":" + std::string(effort);
  return id;
}

// What an agent's own runs are told; what its caller says about one of them counts more.
RunOptions told_by(const AgentConfig& config, RunOptions options) {
  if (options.model.empty()) options.model = config.model;
  if (!options.fallback_models) options.fallback_models = config.fallback_models;
  if (!options.system_prompt) options.system_prompt = config.system_prompt;
  if (!options.output_schema && !options.output_mode) {
    options.output_schema = config.output_schema;
    options.output_mode = config.output_schema ? config.output_mode : OutputMode::text;
  }
  options.settings = options.settings.within(config.settings);
  if (!options.permissions) options.permissions = config.permissions;
  const RunLimits& own = config.limits;
  RunLimits& limits = options.limits;
  if (!limits.max_concurrency) limits.max_concurrency = own.max_concurrency;
  if (!limits.retries) limits.retries = own.retries;
  if (!limits.output_retries) limits.output_retries = own.output_retries;
  if (!limits.tool_retries) limits.tool_retries = own.tool_retries;
  options.middleware.insert(options.middleware.end(), config.hooks.begin(), config.hooks.end());
  return options;
}

}  // namespace

// The model to ask first must be there; a fallback that is not is passed over when its turn comes.
// One that is named for the run must be known: a wrong name is a mistake, not a wish.
Result<void> HarnessCore::choose_models(PlanSpec& spec, const std::string& named,
                                        const std::string& agent_default,
                                        const std::string& previous,
                                        const std::vector<std::string>& fallbacks) {
  if (!named.empty()) {
    TUG_TRY(known, models_->find(named));
  }
  ModelChoice choice{.request = named,
                     .previous = previous,
                     .reuse_previous = spec.settings.reuse_previous,
                     .hints = spec.settings.hints,
                     .agent_default = agent_default,
                     .required = spec.settings.required};
  if (choice.request.empty() && choice.agent_default.empty() && choice.hints.empty() &&
      models_->default_model().empty()) {
    return fail(ErrorKind::invalid, "no model is named", "name one, for example \"offline/demo\"");
  }
  TUG_TRY(resolved, models_->resolve(choice));
  const std::string id = planned_id(*resolved.model, resolved.name);
  for (SkippedModel& skipped : resolved.skipped) {
    spec.skipped.push_back({std::move(skipped.requested), id, std::move(skipped.reason)});
  }
  spec.models.push_back({id, std::move(resolved.model), {}, resolved.source, resolved.deprecated});
  add_fallbacks(spec.models, fallbacks);
  return {};
}

void HarnessCore::add_fallbacks(std::vector<PlannedModel>& models,
                                const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    auto found = models_->find(name);
    if (found) {
      const std::string id = planned_id(**found, name);
      models.push_back({id, *std::move(found), {}});
    } else {
      models.push_back({name, nullptr, found.error().message()});
    }
  }
}

// Everything but the tools, which whoever calls this has chosen.
Result<PlanSpec> HarnessCore::plan_spec(const RunOptions& options,
                                        const InheritedMiddleware* inherited,
                                        const RunPlan* caller) {
  PlanSpec spec;
  {
    std::scoped_lock lock(mutex_);
    spec.system = options.system_prompt.value_or(options_.system_prompt);
    for (const MiddlewarePtr& middleware : middleware_) {
      spec.middleware.push_back({middleware, "harness"});
    }
  }
  add_middleware(spec, options, inherited);
  const RunLimits& limits = options.limits;
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
  spec.settings = options.settings.within(caller ? caller->settings : options_.settings);
  spec.permissions =
      options.permissions.value_or(caller ? caller->permissions : options_.permissions);
  spec.steering = options.steering.value_or(caller ? caller->steering : options_.steering);
  return spec;
}

Result<RunPlanPtr> HarnessCore::plan(const RunOptions& options,
                                     const InheritedMiddleware* inherited, const RunPlan* caller,
                                     const std::string& previous) {
  const bool usual = is_usual(options) && !inherited && previous.empty() &&
                     (!caller || (caller->permissions == options_.permissions &&
                                  caller->steering == options_.steering));
  ToolSet tools;
  {
    std::scoped_lock lock(mutex_);
    if (usual && usual_) return usual_;
    tools = tools_;
  }
  TUG_TRY(spec, plan_spec(options, inherited, caller));
  spec.tools = std::move(tools);
  if (options.tools) {
    TUG_TRY(named, spec.tools.only(*options.tools));
    spec.tools = std::move(named);
  }
  TUG_TRY(chosen, choose_models(spec, options.model, options_.model, previous,
                                options.fallback_models.value_or(options_.fallback_models)));
  TUG_TRY(plan, make_run_plan(std::move(spec)));
  if (usual) {
    std::scoped_lock lock(mutex_);
    usual_ = plan;
  }
  return plan;
}

// Those of its caller, or exactly the ones it names; and the agents that it may call in turn.
Result<ToolSet> HarnessCore::tools_of(const AgentCore& agent, const RunPlan* caller) {
  const ToolSet all = this->tools();
  const ToolSet& around = caller ? caller->tools : all;
  const AgentConfig& config = agent.config;
  ToolSet tools;
  if (config.tools) {
    TUG_TRY(named, all.only(*config.tools));
    for (const ToolPtr& tool : named.all()) tools.add(tool);
  } else {
    for (const ToolPtr& tool : around.all()) {
      if (is_inherited(tool->spec())) tools.add(tool);
    }
  }
  if (config.subagents) {
    TUG_TRY(named, all.only(*config.subagents));
    for (const ToolPtr& tool : named.all()) {
      if (!tools.find(tool->name())) tools.add(tool);
    }
  } else {
    for (const ToolPtr& tool : around.all()) {
      if (tool->spec().agent && !tools.find(tool->name())) tools.add(tool);
    }
  }
  return tools;
}

Result<RunPlanPtr> HarnessCore::plan(const AgentCore& agent, const RunOptions& options,
                                     const InheritedMiddleware* inherited, const RunPlanPtr& caller,
                                     const std::string& previous) {
  const bool usual = is_usual(options) && !inherited && previous.empty();
  std::uint64_t version = 0;
  {
    std::scoped_lock lock(mutex_);
    version = version_;
    const auto planned = agent_plans_.find(&agent);
    if (usual && planned != agent_plans_.end() && planned->second.is_for(caller)) {
      return planned->second.plan;
    }
  }
  const RunOptions told = told_by(agent.config, options);
  TUG_TRY(spec, plan_spec(told, inherited, caller.get()));
  TUG_TRY(tools, tools_of(agent, caller.get()));
  spec.tools = std::move(tools);
  const bool wishes =
      !agent.config.settings.hints.empty() || !agent.config.settings.required.empty();
  if (told.model.empty() && caller && !wishes) {
    spec.models = caller->models;
    if (told.fallback_models) {
      spec.models.resize(1);
      add_fallbacks(spec.models, *told.fallback_models);
    }
  } else {
    const std::string& around = caller ? caller->model_id() : options_.model;
    const std::string& own = agent.config.model.empty() ? around : agent.config.model;
    TUG_TRY(chosen, choose_models(spec, options.model, own, previous,
                                  told.fallback_models.value_or(options_.fallback_models)));
  }
  auto plan = make_run_plan(std::move(spec));
  if (!plan) return Failure(plan.error().within("agent " + agent.name));
  if (usual) {
    std::scoped_lock lock(mutex_);
    if (version == version_) agent_plans_[&agent] = {caller, *plan};
  }
  return plan;
}

Result<RunPlanPtr> HarnessCore::plan_for(const Launch& launch, const RunOptions& options,
                                         std::string_view agent, const std::string& answered) {
  const AgentCorePtr of = launch.agent ? launch.agent : find_agent(agent);
  const bool stays = options.settings.reuse_previous || options_.settings.reuse_previous;
  if (!stays || answered.empty() || !launch.options.model.empty()) {
    return of ? plan(*of, options, nullptr, nullptr) : plan(options);
  }
  TUG_TRY(known, models_->find(answered));
  RunOptions told = options;
  if (told.model == answered) told.model.clear();
  return of ? plan(*of, told, nullptr, nullptr, answered) : plan(told, nullptr, nullptr, answered);
}

}  // namespace tug::detail
