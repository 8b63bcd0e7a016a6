#include "agent/beginning.h"

#include <algorithm>

#include "core/try.h"
#include "tug/core/codec.h"
#include "tug/core/stop_link.h"
#include "tug/core/utf8.h"

namespace tug {

void furnish(ChildSpec& run, const RunOptions& options) {
  run.tags = options.tags;
  run.metadata = options.metadata;
  run.inherit.tags = options.inherited_tags;
  run.inherit.metadata = options.inherited_metadata;
  run.inherit.configurable = options.configurable;
}

Result<void> check_prompt(const std::string& prompt) {
  if (prompt.find_first_not_of(" \t\r\n") != std::string::npos) return {};
  return fail(ErrorKind::invalid, "the prompt is empty", "say what is to be done");
}

namespace {

constexpr std::size_t kMaxIdBytes = 256;

// An id is shown to people and stands in file names of others: no control bytes, no novels.
Result<void> check_id(const std::string& id, std::string_view field) {
  const bool plain = is_utf8(id) && std::ranges::none_of(
                                        id, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (plain && id.size() <= kMaxIdBytes) return {};
  return fail(ErrorKind::invalid,
              std::string(field) + ": expected at most " + std::to_string(kMaxIdBytes) +
                  " bytes of UTF-8 without control characters",
              "leave it out for a new one");
}

}  // namespace

Result<void> check_ids(const RunOptions& options) {
  TUG_TRY(run, check_id(options.run_id, "run_id"));
  TUG_TRY(thread, check_id(options.thread_id, "thread_id"));
  return check_id(options.agent, "agent");
}

Result<void> check_price(const Limits& limits, const RunPlan& plan) {
  if (!limits.cost || limits.tokens) return {};
  for (const PlannedModel& planned : plan.models) {
    if (!planned.model) continue;
    const auto& price = planned.model->profile().price;
    if (price && price->input && price->output) continue;
    return fail(ErrorKind::invalid,
                "max_cost is set, and what " + planned.id + " costs is not known",
                "give the model a price in [[models]], or set max_tokens too");
  }
  return {};
}

Json lasting(RunOptions options) {
  options.run_id.clear();
  options.thread_id.clear();
  options.agent.clear();
  options.model.clear();
  options.interactive = false;
  return to_json(options);
}

payload::RunStarted started(const LiveRun& run, const std::string& prompt, RunOptions options,
                            const std::string& workspace) {
  payload::RunStarted data{
      .prompt = prompt, .model = run.plan->model_id(), .constants = run.plan->digest.hex()};
  if (run.plan->chain) {
    data.middleware.emplace();
    for (const MiddlewareLink& link : *run.plan->chain) {
      data.middleware->push_back({link.name, link.source});
    }
  }
  const std::string address = run.plan->models.front().model->address();
  if (!address.empty()) data.address = address;
  if (!workspace.empty()) data.root = workspace;
  if (options.limits != RunLimits{}) data.limits = write_json(options.limits);
  options.limits = {};
  Json rest = lasting(std::move(options));
  if (!rest.empty()) data.options = std::move(rest);
  return data;
}

void link_caller(const Context& ctx, const RunOptions& options) {
  if (!options.inherited_middleware.empty()) {
    InheritedMiddleware all;
    if (const auto* above = ctx.get<InheritedMiddleware>()) all = *above;
    all.list.insert(all.list.end(), options.inherited_middleware.begin(),
                    options.inherited_middleware.end());
    ctx.inherit(std::move(all));
  }
  for (const auto& [type, value] : options.values) ctx.inherit(type, value);
  if (options.cancel.stop_possible()) link(ctx.cancel(), options.cancel, ctx.loop());
}

}  // namespace tug
