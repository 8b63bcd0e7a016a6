// The rows of [[hooks]]: commands that are run on events of a run.
#pragma once

#include "config.h"
#include "tug/middleware/middleware.h"

namespace tug::cli {

// Nothing when there are none. In the order of the layers, the lowest first. `invalid`, naming the
// file and line of the row, for one without event or command and for a filter that its event does
// not have.
Result<MiddlewarePtr> configured_hooks(const Config& config);

}  // namespace tug::cli
