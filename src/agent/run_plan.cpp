#include "agent/run_plan.h"

namespace tug {

RunPlanPtr make_run_plan(ModelPtr model, std::string system, const ToolSet& tools,
                         std::uint32_t max_concurrency, bool interactive) {
  auto plan = std::make_shared<RunPlan>();
  plan->model_id = model->profile().id();
  plan->model = std::move(model);
  plan->max_concurrency = max_concurrency;
  if (!system.empty()) plan->system = std::make_shared<const std::string>(std::move(system));
  auto specs = std::make_shared<ToolSpecs>();
  Json declared = Json::array();
  for (const ToolPtr& tool : tools.all()) {
    const ToolSpec& spec = tool->spec();
    if (spec.visibility != Visibility::model || (spec.needs_terminal && !interactive)) continue;
    plan->tools.add(tool);
    specs->push_back(tool->shared_spec());
    declared.push_back(Json::object(
        {{"name", spec.name}, {"description", spec.description}, {"parameters", spec.parameters}}));
  }
  plan->specs = std::move(specs);
  plan->constants = print_json(
      Json::object({{"system", plan->system ? Json(*plan->system) : Json()}, {"tools", declared}}));
  plan->digest = sha256(plan->constants);
  plan->constant_bytes = plan->constants.size();
  return plan;
}

}  // namespace tug
