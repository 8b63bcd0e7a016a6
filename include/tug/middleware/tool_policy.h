// Tools by what they say about themselves.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tug/core/tool.h"
#include "tug/middleware/middleware.h"

namespace tug {

// A tool is classified when it says what it does: its effect is another than the default
// at_most_once, or its metadata has `classified` true.
struct ToolPolicy {
  std::vector<std::string> denied_tags;  // a tool with one of them
  std::vector<Effect> denied_effects;
  bool deny_unclassified = false;
  std::vector<std::string> allowed;             // names that none of this applies to
  std::optional<std::size_t> max_result_bytes;  // longer results are cut between characters

  // Denies nothing.
  static ToolPolicy permissive();
  // Denies what is tagged `destructive` or `payment`, and what is unclassified.
  static ToolPolicy strict();
};

// What is denied is taken out of every request; a call of it is answered with a result of type
// ToolCallCancelled that names the reason, and the tool does not run. A result that is cut has
// metadata {truncated, bytes}.
MiddlewarePtr make_tool_policy(ToolPolicy policy = ToolPolicy::strict());

}  // namespace tug
