#include "agent/run_plan.h"

#include <algorithm>

#include "core/try.h"
#include "middleware/chain.h"

namespace tug {
namespace {

void arrange(RunPlan& plan, const std::vector<PlannedMiddleware>& given) {
  if (given.empty()) return;
  std::vector<MiddlewarePtr> list;
  for (const PlannedMiddleware& planned : given) list.push_back(planned.middleware);
  plan.middleware = in_order(list);
  auto chain = std::make_shared<MiddlewareChain>();
  for (const MiddlewarePtr& link : plan.middleware) {
    const auto found = std::ranges::find(given, link, &PlannedMiddleware::middleware);
    chain->push_back({link->name(), found->source, link->settings()});
  }
  plan.chain = std::move(chain);
}

// The first attempt is no retry.
std::uint32_t attempts_with(std::uint32_t retries) { return std::max(retries, retries + 1); }

Json declared(const ToolSpec& spec) {
  return Json::object(
      {{"name", spec.name}, {"description", spec.description}, {"parameters", spec.parameters}});
}

}  // namespace

const PlannedModel* RunPlan::find(std::string_view id) const noexcept {
  const auto found = std::ranges::find(models, id, &PlannedModel::id);
  return found == models.end() || !found->model ? nullptr : &*found;
}

std::uint32_t RunPlan::retries_of(const Tool& tool) const noexcept {
  if (tool.spec().max_retries) return static_cast<std::uint32_t>(*tool.spec().max_retries);
  return tool_retries;
}

Result<RunPlanPtr> make_run_plan(PlanSpec spec) {
  auto plan = std::make_shared<RunPlan>();
  plan->models = std::move(spec.models);
  plan->max_concurrency = spec.limits.max_concurrency.value_or(kDefaultMaxConcurrency);
  plan->sequential = spec.sequential;
  plan->max_output_tokens = spec.max_output_tokens;
  plan->retry = spec.retry;
  plan->settings = std::move(spec.settings);
  plan->skipped = std::move(spec.skipped);
  plan->permissions = std::move(spec.permissions);
  plan->steering = spec.steering;
  if (spec.limits.retries) plan->retry.attempts = attempts_with(*spec.limits.retries);
  plan->retry.attempts = std::max(1u, plan->retry.attempts);
  plan->output_retries = spec.limits.output_retries.value_or(kDefaultOutputRetries);
  plan->tool_retries = spec.limits.tool_retries.value_or(kDefaultToolRetries);
  arrange(*plan, spec.middleware);
  if (spec.output_schema) {
    const ModelProfile& profile = plan->models.front().model->profile();
    TUG_TRY(output, plan_output(*spec.output_schema, spec.output_mode, profile));
    plan->output = std::move(output);
    if (!plan->output->instructions.empty()) {
      if (!spec.system.empty()) spec.system += "\n\n";
      spec.system += plan->output->instructions;
    }
  }
  if (!spec.system.empty()) {
    plan->system = std::make_shared<const std::string>(std::move(spec.system));
  }
  auto specs = std::make_shared<ToolSpecs>();
  Json tools = Json::array();
  for (const ToolPtr& tool : spec.tools.all()) {
    const ToolSpec& about = tool->spec();
    if (about.needs_terminal && !spec.interactive) continue;
    if (about.visibility == Visibility::hidden) continue;
    plan->tools.add(tool);
    if (about.visibility != Visibility::model) continue;
    specs->push_back(tool->shared_spec());
    tools.push_back(declared(about));
  }
  if (plan->output && plan->output->tool) {
    specs->push_back(plan->output->tool);
    std::ranges::sort(*specs, {}, [](const auto& tool) { return tool->name; });
    tools.push_back(declared(*plan->output->tool));
  }
  plan->specs = std::move(specs);
  Json constants = Json::object(
      {{"system", plan->system ? Json(*plan->system) : Json()}, {"tools", std::move(tools)}});
  if (spec.output_schema) constants.set("output_schema", *spec.output_schema);
  plan->constants = print_json(constants);
  plan->digest = sha256(plan->constants);
  plan->constant_bytes = plan->constants.size();
  return RunPlanPtr(std::move(plan));
}

}  // namespace tug
