// What hooks are told, put together from where a run stands.
#pragma once

#include "tug/middleware/hooks.h"

namespace tug {

// The fields of every event.
HookInput hook_input(HookEvent event, const Context& served);

void describe_run(HookInput& input, const Context& served, const RunInput& run);
void describe_call(HookInput& input, const ToolInput& call);
void describe_output(HookInput& input, const ToolResult& result);
void describe_end(HookInput& input, const RunResult& result);

Json envelope_of(const ToolResult& result);
// Puts what a hook replied into `result`; call and tool stay.
void replace_output(ToolResult& result, const HookReply& reply);

}  // namespace tug
