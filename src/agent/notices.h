// What a model is told when a limit is near. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tug/core/error.h"

namespace tug {

struct Notice {
  LimitKind limit = LimitKind::model_calls;
  std::int64_t remaining = 0;
  std::string content;  // as the model reads it

  // What it is known by: one notice per key and run.
  std::string key() const;
};

struct NoticeFacts {
  std::optional<std::int64_t> model_calls_left;  // this one included; nothing without a limit
  std::optional<std::int64_t> tool_calls_left;
  bool tool_calls_used = false;  // some were made already
  bool final_result = false;     // the answer is given by calling final_result
};

// Due before a request, in a fixed order: model calls first. One call left; one tool call left, or
// none.
std::vector<Notice> notices_due(const NoticeFacts& facts);

}  // namespace tug
