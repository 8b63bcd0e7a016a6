// The rows of [[hooks]]: commands that are run on events of a run.
#pragma once

#include "config.h"
#include "tug/middleware/middleware.h"

namespace tug::cli {

// Nothing when there are none. In the order of the layers, the lowest first. `list` is "hooks", or
// "agents[0].hooks" for those of one agent. `invalid`, naming the file and line of the row, for one
// without event or command and for a filter that its event does not have.
Result<MiddlewarePtr> configured_hooks(const Config& config, const std::string& list = "hooks");

}  // namespace tug::cli
