// Instructions that are worked out for every request.
#pragma once

#include <functional>
#include <string>

#include "tug/middleware/middleware.h"

namespace tug {

// What stands in front of the system text of the next request, a blank line between them; empty for
// nothing. On the loop; returns at once. The context is the run's. What changes from request to
// request here costs the provider's prompt cache.
using PromptText = std::function<std::string(const Context& run)>;
MiddlewarePtr make_dynamic_prompt(PromptText text);

}  // namespace tug
