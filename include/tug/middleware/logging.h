// What a run does, as lines of its log.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "tug/middleware/middleware.h"

namespace tug {

// How often each hook was entered, over all runs. Any thread may read it.
struct LoggingCounts {
  std::atomic<std::uint64_t> runs = 0;
  std::atomic<std::uint64_t> model_calls = 0;
  std::atomic<std::uint64_t> tool_calls = 0;
  std::atomic<std::uint64_t> failures = 0;  // of any of them; a failed tool result is one
};

// Lines with the tag `logging`: the start and end of a run at level info, of a model and a tool
// call at debug, what failed at warning. They say sizes and names, never words of the conversation.
// `counts` may be null.
MiddlewarePtr make_logging(std::shared_ptr<LoggingCounts> counts = nullptr);

}  // namespace tug
