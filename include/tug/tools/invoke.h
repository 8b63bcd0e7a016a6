// From what a model wrote to a call that may run, and from a call to its result.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/schema.h"
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
  bool repaired = false;            // they are not the JSON that the model wrote
};
// Why arguments were refused, for the model to read.
struct BadArguments {
  std::string text;
  std::vector<Violation> violations;  // of the schema; none when they are no JSON object

  const std::string& message() const noexcept { return text; }
  // InvalidArguments, or ValidationError for a JSON object that does not fit the schema.
  std::string_view error_type() const noexcept;
};
// Text that is not a fitting JSON object is repaired where nothing can be misread:
//   - blank text is {};
//   - one code fence around all of it is taken off;
//   - a JSON string that holds an object, in a fence or not, is that object (one level);
//   - any other JSON string for an agent that takes nothing but one string is that string;
//   - an object that does not fit and has nothing but one member `arguments`, `args`, `input`,
//     `param`, `params`, `parameters` or `properties`, unknown to the tool, which holds an object
//     that fits, is that object;
//   - null for a property that is not required and cannot be null is left out.
// More than kMaxToolArguments bytes are refused unread.
std::expected<CheckedArguments, BadArguments> check_arguments(const Tool& tool,
                                                              std::string_view text);

inline constexpr std::size_t kMaxToolArguments = 8u << 20;
inline constexpr std::size_t kMaxToolOutput = 1u << 20;

// Runs one call on its own context to its one envelope. Never fails: what the handler returns as an
// error, throws, or does not finish in time is a result with ok false. Content is well-formed UTF-8
// and at most kMaxToolOutput bytes, cut in the middle with a note and metadata {truncated, bytes}.
// `call` and `tool` are filled in, whatever the handler put there; other metadata of its own stays.
// `metadata.error_type` names what went wrong: the tool's own word, or one of
//   InvalidArguments   the struct could not be read
//   InjectedValueMissing  the context has no value for an Injected field
//   Exception          the handler threw, answered with an error, or with ok false and no word of
//                      its own
//   ModelRetry         it threw that; metadata.retry is true
//   Timeout            spec.timeout, or the budget's deadline if that is nearer, stopped it
//   Cancelled          the context was cancelled; metadata.cancelled is true
//   OutcomeUnknown     it was stopped, did not end and was abandoned
//   InvalidToolOutput  spec.returns does not allow what it answered (text that is no JSON is
//   checked
//                      as a string; what was cut is not checked)
// What the model may repair (metadata.retry true) has its error type as metadata.retry_kind too.
// A deadline requests the context's own token and then waits for the handler: a coroutine must see
// its token, a function on the pool is abandoned after the engine's grace. An answer that comes in
// spite of it counts.
// Loop thread; pool work needs an Engine in the services. `tool` must outlive the call.
Task<ToolResult> invoke(const Tool& tool, Context ctx, Json args);
// What a call ends with that the cancellation of `ctx` kept from beginning.
ToolResult cancelled_result(const Tool& tool, const Context& ctx);

// The result a model reads when a call was refused before it began: UnknownTool; InvalidArguments
// or ValidationError with the schema in its text, metadata.retry true, and the violations as
// metadata.errors [{path, message}].
ToolResult unknown_tool_result(std::string_view tool, std::string_view nearest,
                               const std::vector<std::string>& known);
ToolResult invalid_arguments_result(const Tool& tool, const BadArguments& bad);

}  // namespace tug
