#include "agent/fallback.h"

#include <algorithm>

namespace tug {
namespace {

// A malformed request is as malformed elsewhere; one that does not fit may fit a larger window.
bool may_fall_back(const Error& error, const ModelProfile& from, const ModelProfile& to) {
  if (error.detail_if<Overflow>()) return to.context_tokens > from.context_tokens;
  return error.kind() != ErrorKind::cancelled && error.kind() != ErrorKind::exhausted &&
         error.kind() != ErrorKind::invalid;
}

// Why a model of the chain cannot take over; empty when it can.
std::string obstacle(const LiveRun& run, const PlannedModel& to) {
  if (!to.model) return to.missing;
  const ModelProfile& profile = to.model->profile();
  std::string lacks = run.plan->settings.required.missing_in(profile);
  if (!lacks.empty()) return lacks;
  if (run.plan->specs && !run.plan->specs->empty() && !profile.tools) {
    return "it cannot call tools";
  }
  if (run.plan->output && !can_serve(*run.plan->output, profile)) {
    return "it cannot give the structured answer the way this run asks for it";
  }
  return "";
}

}  // namespace

bool fall_back(LiveRun& run, const Error& error) {
  if (!run.state.failure) return false;
  const auto& models = run.plan->models;
  const auto current = std::ranges::find(models, run.state.model, &PlannedModel::id);
  if (current == models.end() || !current->model) return false;
  const ModelProfile& from = current->model->profile();
  for (auto next = current + 1; next != models.end(); ++next) {
    if (next->id == run.state.model ||
        std::ranges::find(run.state.passed, next->id) != run.state.passed.end())
      continue;
    std::string why = obstacle(run, *next);
    if (why.empty() && !may_fall_back(error, from, next->model->profile())) {
      if (!error.detail_if<Overflow>()) return false;
      why = "its window is not larger";
    }
    if (!why.empty()) {
      record(run, Kind::model_fallback_skipped,
             payload::FallbackSkipped{.model = next->id, .reason = std::move(why)});
      continue;
    }
    record(run, Kind::model_fallback_selected,
           payload::FallbackSelected{
               .from = run.state.model, .to = next->id, .reason = error.message()});
    return true;
  }
  return false;
}

}  // namespace tug
