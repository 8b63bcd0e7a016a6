// Only the tools that are named.
#pragma once

#include <string>
#include <vector>

#include "tug/middleware/middleware.h"

namespace tug {

// Other tools are taken out of every request; a call of one is answered with a result of type
// ToolCallCancelled, and the tool does not run.
MiddlewarePtr make_tool_allowlist(std::vector<std::string> names);

}  // namespace tug
