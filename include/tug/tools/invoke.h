// From what a model wrote to a call that may run, and from a call to its result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tug/core/task.h"
#include "tug/core/time.h"
#include "tug/tools/tool.h"

namespace tug {

class Context;

// A model's arguments, checked: JSON, forged values for injected fields dropped, valid against the
// tool's schema.
struct CheckedArguments {
  Json args;
  std::vector<std::string> forged;  // what was dropped, as paths ("$.account")
};
// `invalid`: what is wrong with the arguments, for the model to read. Empty text counts as {}.
Result<CheckedArguments> check_arguments(const Tool& tool, std::string_view text);

// Runs one call on its own context to its one envelope. Never fails: what the handler returns as an
// error, throws, or does not finish in time is a result with ok false. Content is well-formed UTF-8
// and at most kMaxToolOutput bytes, cut in the middle with a note. `call` and `tool` are filled in,
// whatever the handler put there. `metadata.error_type` names what went wrong: the tool's own word,
// or one of
//   InvalidArguments, ToolError, ToolException, Timeout, ToolCallCancelled, OutcomeUnknown,
//   ModelRetry, InvalidToolOutput.
// Loop thread; pool work needs an Engine in the services.
Task<ToolResult> invoke(const Tool& tool, Context ctx, Json args);

inline constexpr std::size_t kMaxToolOutput = 1u << 20;

// The result a model reads when a call was refused before it began.
ToolResult unknown_tool_result(std::string_view tool, std::string_view nearest,
                               const std::vector<std::string>& known);
ToolResult invalid_arguments_result(const Tool& tool, const Error& error);

}  // namespace tug
