// One call through the middleware of its run.
#pragma once

#include <optional>
#include <string>

#include "tug/core/task.h"
#include "tug/middleware/middleware.h"
#include "tug/tools/batch.h"

namespace tug {

// What the run makes of a call's result. Settled before anybody may rewrite what the model reads.
struct CallVerdict {
  bool settled = false;
  bool retry = false;          // the model may repair it, and that counts
  bool fatal = false;          // a middleware failed: the run ends
  std::string error_type;      // of a result that is not ok
  std::optional<Error> error;  // that the run ends with
};
CallVerdict verdict_on(const ToolResult& result);

// All but `place` outlive the task.
Task<ToolResult> through_middleware(const std::vector<MiddlewarePtr>& chain, const BatchCall& call,
                                    std::uint32_t place, CallVerdict& verdict);

}  // namespace tug
