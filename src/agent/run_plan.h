// What a run is frozen with when it starts: models, instructions, tools, middleware, limits.
// Immutable; shared by the runs that are alike.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/output_plan.h"
#include "tug/agent/options.h"
#include "tug/core/digest.h"
#include "tug/journal/payloads.h"
#include "tug/middleware/middleware.h"
#include "tug/model/model.h"
#include "tug/model/retry.h"
#include "tug/tools/tool_set.h"

namespace tug {

// A model of the chain. One that cannot be had is passed over when its turn comes.
struct PlannedModel {
  std::string id;
  ModelPtr model;
  std::string missing;  // why it is null
  ModelSource source = ModelSource::fallback;
  bool deprecated = false;
};

struct RunPlan {
  std::vector<PlannedModel> models;              // the one to ask first, then its fallbacks
  std::shared_ptr<const std::string> system;     // null when there is none
  ToolSet tools;                                 // what may be called
  std::shared_ptr<const ToolSpecs> specs;        // what is advertised, final_result included
  OutputPlanPtr output;                          // null for text
  std::vector<MiddlewarePtr> middleware;         // hooks first, then what wraps, outermost first
  std::shared_ptr<const MiddlewareChain> chain;  // the same for people; null when there is none
  std::string constants;                         // instructions, tools and schema, for the journal
  Digest digest;                                 // of them
  std::size_t constant_bytes = 0;  // what every request carries besides the transcript
  std::uint32_t max_concurrency = kDefaultMaxConcurrency;
  bool sequential = false;
  std::int64_t max_output_tokens = 0;  // of one answer; 0: the model's own
  RetryPolicy retry;
  ModelSettings settings;
  std::vector<payload::ModelOverrideSkipped> skipped;  // who was to be asked and cannot be
  std::uint32_t output_retries = kDefaultOutputRetries;
  std::uint32_t tool_retries = kDefaultToolRetries;
  Permissions permissions;
  SteeringPolicy steering;  // what its owner may tell the run

  const std::string& model_id() const noexcept { return models.front().id; }
  // Null for a model that the run may not ask.
  const PlannedModel* find(std::string_view id) const noexcept;
  // How often the model may repair its calls of a tool.
  std::uint32_t retries_of(const Tool& tool) const noexcept;
};
using RunPlanPtr = std::shared_ptr<const RunPlan>;

// A middleware and where it was added: `harness`, `run`, `inherited`.
struct PlannedMiddleware {
  MiddlewarePtr middleware;
  std::string source;
};

struct PlanSpec {
  std::vector<PlannedModel> models;  // the first one is there
  std::string system;
  ToolSet tools;
  bool interactive = false;
  std::optional<Json> output_schema;
  OutputMode output_mode = OutputMode::automatic;
  std::vector<PlannedMiddleware> middleware;
  RunLimits limits;  // max_concurrency and the retries are read
  bool sequential = false;
  std::int64_t max_output_tokens = 0;
  RetryPolicy retry;
  ModelSettings settings;
  std::vector<payload::ModelOverrideSkipped> skipped;
  Permissions permissions;
  SteeringPolicy steering;
};
// A tool without a terminal that needs one, or that models may not see, is neither advertised nor
// callable by a model. `invalid` for an output schema that cannot be served.
Result<RunPlanPtr> make_run_plan(PlanSpec spec);

}  // namespace tug
