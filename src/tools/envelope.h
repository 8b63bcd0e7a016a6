// From whatever a handler did to the one envelope.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tug/core/tool.h"
#include "tug/tools/tool.h"

namespace tug {

// The exception in flight as a result: ModelRetry or Exception. Call only inside a catch block.
ToolResult thrown_result() noexcept;

// Well-formed and at most `limit` bytes: head and tail with a note between them when it is more.
// Looks at no more than it keeps. Says whether it was cut.
bool bound_content(std::string& content, std::size_t limit);

// Fills in what is not the handler's to say, bounds the content, checks it against `returns`.
ToolResult sealed(const Tool& tool, const CallId& call, ToolResult result);

// `name` of a failed result, with the metadata that is there kept.
void set_error_type(ToolResult& result, std::string_view name);
void set_metadata(ToolResult& result, std::string_view key, Json value);
// A failed result that the model may repair: `retry`, and its error type as `retry_kind`.
void let_model_retry(ToolResult& result);

}  // namespace tug
