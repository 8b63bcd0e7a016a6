// Hooks on eight events of a run: to watch it, to refuse a prompt, a tool call or a child run, to
// add to what the model is told, to rewrite what a tool said.
//
//   auto hooks = make_hooks({{
//       .event = HookEvent::before_tool_call,
//       .handler = [](const HookInput& input) -> Result<HookReply> {
//         if (input.arguments["path"].as_string() == "/etc/passwd") return deny("not that file");
//         return HookReply{};
//       },
//       .tools = std::vector<std::string>{"read"},
//   }});
//   if (hooks) harness.use(*hooks);
//
// What each event may do, and what it is told beside the fields of every event:
//   run_start            prompt, root, max_model_calls, max_tool_calls
//   user_prompt_submit   may deny and add context; prompt
//   before_tool_call     may deny; call_id, tool, arguments, tool_spec, tool_index
//   after_tool_call      may replace the output; the same, original_output, output, envelope,
//                        duration_ms
//   before_subagent_run  may deny; prompt, parent_call_id, inherited, tool_mode
//   after_subagent_run   the same, result, error, stop_reason, usage, tools
//   limit_reached        limit, limit_value, current_count
//   run_end              result, error, stop_reason, usage
//
// Hooks of one event are called one after the other, in the order given. A denial ends it: later
// hooks of the event are not called.
//  - A denied call is answered with `ToolCallCancelled` and metadata.cancelled; its siblings run
//    and after_tool_call is not called.
//  - A denied prompt ends the run with `cancelled_by_hook` before any request, the reason in its
//    error.
//  - A denied child run ends the same way; its error says SubAgentCancelled. None of its other
//    events happen.
//
// A segment that is resumed has its own run_start and run_end, and a user_prompt_submit when it is
// told something new. before_subagent_run happens when a child run starts, after_subagent_run when
// it has ended (parking is not ending). limit_reached comes before run_end. after_tool_call is not
// called for a call that was stopped together with its run.
//
// What goes wrong in a hook (an error, an exception, a reply that its event does not allow) is a
// `hook.failed` record and nothing else, unless the hook is `strict`: then it ends the run with
// `error`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tug/core/usage.h"
#include "tug/middleware/hook_counts.h"
#include "tug/middleware/middleware.h"

namespace tug {

enum class HookEvent : std::uint8_t {
  run_start,
  user_prompt_submit,
  before_tool_call,
  after_tool_call,
  before_subagent_run,
  after_subagent_run,
  limit_reached,
  run_end,
};
std::string_view name_of(HookEvent event) noexcept;
// `invalid` for any other name; says which are known and which was probably meant.
Result<HookEvent> hook_event_from(std::string_view name);

// A copy for each hook: what one does to it no other sees.
struct HookInput {
  HookEvent event = HookEvent::run_start;
  RunId run_id;
  ThreadId thread_id;
  RunId root_run_id;
  RunId parent_run_id;  // empty at a root
  std::string agent;
  std::uint32_t depth = 0;
  std::uint32_t turn = 0;
  bool resumed = false;
  Json metadata;  // of the run

  std::string prompt;
  std::string root;                             // the working directory
  std::optional<std::int64_t> max_model_calls;  // that are left to the run as it starts
  std::optional<std::int64_t> max_tool_calls;

  CallId call_id;
  std::string tool;
  Json arguments;
  std::shared_ptr<const ToolSpec> tool_spec;
  std::uint32_t tool_index = 0;  // within its turn
  std::string original_output;   // as the tool said it
  std::string output;            // as the hooks before left it
  Json envelope;                 // the same with its flags: {ok, content, metadata}
  std::int64_t duration_ms = 0;

  CallId parent_call_id;           // the call that started the child run
  bool inherited = false;          // it has the tools of its parent
  std::string tool_mode;           // inherit | exact; empty for a child that is no agent's
  std::vector<std::string> tools;  // those it called, each once, sorted

  std::string limit;  // model_calls, tool_calls, tool_retries, wall_clock, tokens, cost, ..
  std::int64_t limit_value = 0;
  std::int64_t current_count = 0;

  std::shared_ptr<const RunResult> result;
  std::optional<Error> error;
  std::string stop_reason;
  Usage usage;
};
// The fields of its event, as a command reads them.
Json to_json(const HookInput& input);

struct HookReply {
  std::optional<std::string> deny;     // the reason; may be empty
  std::optional<std::string> context;  // told to the model after the prompt, in <hook_context>
  // What the model reads instead. Text that is an envelope, {"ok": .., "content": ..}, replaces the
  // whole envelope; any other text replaces its content.
  std::optional<std::string> output;
  // The whole envelope. Anything that is none becomes a failed one with `InvalidToolOutput`.
  std::optional<Json> envelope;
};
HookReply deny(std::string reason);

// A plain function is called on the run's loop and returns at once. A coroutine may take its time:
// the run waits; `ctx` is the context of the run or of the call. Both may be entered by several
// runs at once, on different threads.
using HookFunction = std::function<Result<HookReply>(const HookInput& input)>;
using HookTask = std::function<Task<Result<HookReply>>(Context ctx, HookInput input)>;

struct Hook {
  HookEvent event = HookEvent::run_start;
  std::variant<HookFunction, HookTask> handler;
  std::optional<std::vector<std::string>> tools;   // of tool events: for calls of these alone
  std::optional<std::vector<std::string>> agents;  // of child runs: for these agents alone
  bool strict = false;
  std::string name;  // in records; made of event and place when empty
};

// `invalid`, naming the hook: no handler, a filter that is empty or has an empty name in it, a tool
// filter on something else than a tool event, an agent filter on something else than a child run's.
Result<MiddlewarePtr> make_hooks(std::vector<Hook> hooks,
                                 std::shared_ptr<HookCounts> counts = nullptr);

}  // namespace tug
