// Which tools a model sees, and what it reads when it calls one that it should not.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <utility>

#include "tug/middleware/middleware.h"

namespace tug {

// `final_result` takes the answer of a run; it is no tool that could be withheld.
inline constexpr std::string_view kAnswerTool = "final_result";

// Takes what `keep` says no to out of a request. The list stays the same object when all stay.
template <std::predicate<const ToolSpec&> Keep>
void keep_tools(ModelRequest& request, Keep keep) {
  if (!request.tools) return;
  auto kept = std::make_shared<ToolSpecs>();
  for (const auto& spec : *request.tools) {
    if (spec->name == kAnswerTool || keep(*spec)) kept->push_back(spec);
  }
  if (kept->size() < request.tools->size()) request.tools = std::move(kept);
}

// Typed ToolCallCancelled: not the model's to repair, counted among the cancelled calls.
inline ToolResult refused_call(const ToolInput& input, const std::string& why) {
  ToolResult result = ToolResult::error(
      "The call was not made: \"" + input.tool->name() + "\" " + why + ". Do without it.",
      "ToolCallCancelled");
  result.call = input.call;
  result.tool = input.tool->name();
  return result;
}

}  // namespace tug
