// How a run gets a structured answer: frozen when it starts, pure afterwards.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tug/agent/options.h"
#include "tug/core/schema.h"
#include "tug/model/model.h"

namespace tug {

inline constexpr std::string_view kFinalResult = "final_result";

struct OutputPlan {
  OutputMode mode = OutputMode::text;  // never automatic; text for a schema that any text fits
  Schema schema;                       // of the answer itself
  bool wrapped = false;                // asked for as {"value": ..}: the way asks for an object
  std::shared_ptr<const OutputFormat> format;  // native
  std::shared_ptr<const ToolSpec> tool;        // tool: what is advertised besides the run's tools
  std::string instructions;                    // prompted: what the system text ends with
};
using OutputPlanPtr = std::shared_ptr<const OutputPlan>;

// `invalid` for a schema that is none and for a mode that the model cannot serve.
Result<OutputPlanPtr> plan_output(const Json& schema, OutputMode mode, const ModelProfile& model);
// Whether a model can serve the plan of another: what a fallback needs.
bool can_serve(const OutputPlan& plan, const ModelProfile& model);

// The answer in a text or in the arguments of final_result. The error is for the model to read.
Result<Json> read_answer(const OutputPlan& plan, std::string_view text);

}  // namespace tug
