// Tools chosen anew for every request.
#pragma once

#include <functional>
#include <string>

#include "tug/middleware/middleware.h"

namespace tug {

// Whether the model may see the tool now. On the loop; returns at once. The context is the run's.
using ToolPredicate = std::function<bool(const Context& run, const ToolSpec& tool)>;

// Takes tools out of a request and never puts one in: of several selections every one must say yes.
// A call of a tool that the request before it did not show is answered with a result of type
// ToolCallCancelled; what was hidden is remembered, so that this holds after a resume. Two
// selections of one run need names of their own.
MiddlewarePtr make_tool_selection(ToolPredicate predicate, std::string name = "tool_selection");

}  // namespace tug
