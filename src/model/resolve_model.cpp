#include <algorithm>
#include <utility>

#include "tug/model/models.h"

namespace tug {
namespace {

struct Candidate {
  std::string_view name;
  ModelSource source;
};

std::vector<Candidate> in_order(const ModelChoice& choice, std::string_view registry_default) {
  std::vector<Candidate> order = {{choice.request, ModelSource::request}};
  if (choice.reuse_previous) order.push_back({choice.previous, ModelSource::previous});
  std::vector<std::pair<int, std::size_t>> hints;  // the highest priority first
  for (std::size_t i = 0; i < choice.hints.size(); ++i)
    hints.emplace_back(choice.hints[i].priority, i);
  std::ranges::sort(hints, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (const auto& [priority, at] : hints)
    order.push_back({choice.hints[at].model, ModelSource::hint});
  order.push_back({choice.agent_default, ModelSource::agent_default});
  order.push_back({registry_default, ModelSource::registry_default});
  std::erase_if(order, [](const Candidate& each) { return each.name.empty(); });
  return order;
}

Failure nobody(const std::vector<SkippedModel>& skipped) {
  if (skipped.empty()) {
    return fail(ErrorKind::invalid, "no model is named", "name one, for example \"offline/demo\"");
  }
  std::string why;
  for (const SkippedModel& each : skipped)
    why += (why.empty() ? "" : "; ") + each.requested + ": " + each.reason;
  return fail(ErrorKind::invalid, "none of the models can answer: " + why,
              "name another model, or ask less of it");
}

}  // namespace

Result<Resolved> resolve_model(const ModelChoice& choice, std::string_view registry_default,
                               const FindModel& find) {
  Resolved resolved;
  for (const auto& [name, source] : in_order(choice, registry_default)) {
    const bool again = std::ranges::find(resolved.skipped, name, &SkippedModel::requested) !=
                       resolved.skipped.end();
    if (again) continue;  // it lacks what it lacked
    auto found = find(name);
    std::string reason =
        found ? choice.required.missing_in((*found)->profile()) : found.error().message();
    if (!reason.empty()) {
      resolved.skipped.push_back({std::string(name), source, std::move(reason)});
      continue;
    }
    resolved.model = *std::move(found);
    resolved.name = name;
    resolved.source = source;
    resolved.deprecated = resolved.model->profile().status == ModelStatus::deprecated;
    return resolved;
  }
  return nobody(resolved.skipped);
}

}  // namespace tug
