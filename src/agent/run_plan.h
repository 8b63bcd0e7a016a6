// What a run is frozen with when it starts: model, instructions, tools, limits. Immutable; shared
// by the runs that are alike.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tug/core/digest.h"
#include "tug/model/model.h"
#include "tug/tools/tool_set.h"

namespace tug {

struct RunPlan {
  ModelPtr model;
  std::string model_id;
  std::shared_ptr<const std::string> system;  // null when there is none
  ToolSet tools;                              // what may be called
  std::shared_ptr<const ToolSpecs> specs;     // the same, as they are advertised
  std::string constants;                      // the above as JSON, for the journal
  Digest digest;                              // of it
  std::size_t constant_bytes = 0;             // what every request carries besides the transcript
  std::uint32_t max_concurrency = 16;
};
using RunPlanPtr = std::shared_ptr<const RunPlan>;

// A tool without a terminal that needs one, or that models may not see, is neither advertised nor
// callable.
RunPlanPtr make_run_plan(ModelPtr model, std::string system, const ToolSet& tools,
                         std::uint32_t max_concurrency, bool interactive);

}  // namespace tug
