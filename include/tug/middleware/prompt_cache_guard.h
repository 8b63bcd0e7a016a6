// Watches what a provider's prompt cache lives on: requests that only grow.
#pragma once

#include "tug/middleware/middleware.h"

namespace tug {

struct CacheGuardOptions {
  bool protect_prefix = true;  // a change is against the policy, not just worth knowing
};

// Compares each request with the one before it in the same segment of a run. The layout is stable
// when the system text and the tools, in their order, are the same and the messages of one request
// begin those of the other; anything else is an event `cache.prefix_changed`, whose fingerprints
// are of the system text, the tools and as many messages as both have. It changes nothing. It
// belongs behind all that changes requests: last in the list.
MiddlewarePtr make_prompt_cache_guard(CacheGuardOptions options = {});

}  // namespace tug
