// What stands in `data`, kind by kind. Plain structs; they go in and out by reflection
// (core/codec.h), and docs/events.md is generated from them. A field without an initialiser is
// always there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/cost.h"
#include "tug/core/json.h"
#include "tug/core/usage.h"

namespace tug::payload {

struct Base {
  std::string root;
  std::uint64_t seq;
  std::string hash;
  std::optional<std::string> run;  // whose history it is; the root's own when it is left out
};
struct MiddlewareEntry {
  std::string name;
  std::string source;  // harness | run | inherited
};
struct RunStarted {
  std::string prompt;
  std::string model;
  std::optional<std::string> address;  // where the model is asked, if over a network
  std::optional<std::string> root;
  std::optional<Json> limits;
  std::optional<Json> options;  // tags, metadata, configurable values and the like
  std::optional<Base> base;
  std::optional<std::string>
      constants;  // digest of the frozen instructions, tools and output schema
  std::optional<std::vector<MiddlewareEntry>> middleware;  // what stands around the run
};
struct RunResumed {
  std::uint64_t epoch;
  std::uint64_t from_seq;
  std::optional<std::string> prompt;  // what the run is told as it goes on
  std::optional<std::string> model;   // when it goes on with another one
  std::optional<Json> options;        // what it was told anew, limits included
  std::optional<bool> keeps_pause;    // a steered pause still holds
};
// run.completed, run.failed, run.cancelled
struct RunEnded {
  std::string stop_reason;
  Json result;
};
struct RunPaused {
  std::string stop_reason;
  std::optional<std::string> reason;
  Json result;
};

struct ModelStarted {
  std::string call;
  std::uint32_t attempt;
  std::string model;
  std::string provider;
  std::string request_kind;         // turn | summary | title | ..
  std::optional<Json> held;         // what the budget set aside for it
  std::optional<Json> reservation;  // what the model needs to know when the run goes on elsewhere
  std::optional<Json>
      context;  // the window as it was estimated: WindowData without model and owners
  std::optional<std::int64_t> max_output_tokens;  // where the answer is bounded
  std::optional<std::string> served_by;  // the middleware that answered instead of the model
  // How the model was chosen: request previous hint agent_default registry_default fallback.
  std::optional<std::string> source;
};
struct ToolCallDelta {
  std::string call_id;
  std::optional<std::string> tool;
  std::string arguments;
};
// One of text, reasoning and tool_call.
struct ModelDelta {
  std::string call;
  std::optional<std::string> text;
  std::optional<std::string> reasoning;
  std::optional<ToolCallDelta> tool_call;
};
struct ToolCallData {
  std::string call_id;
  std::string tool;
  Json arguments;
};
struct ModelCompleted {
  std::string call;
  std::string model;
  std::string text;
  std::vector<ToolCallData> tool_calls;
  std::string finish;
  Usage usage;
  std::optional<Cost> cost;
  std::int64_t duration_ms;
  std::optional<Json> response;            // where the provider's own reply is: {blob, bytes}
  std::optional<Json> over;                // what it cost beyond what was held for it
  std::optional<Json> counted;             // what a limit counts where the provider told no usage
  std::optional<std::string> nudge;        // what the model wants to be told, being not done
  std::optional<std::string> request_id;   // the provider's name for the exchange
  std::optional<std::string> response_id;  // the provider's name for the answer
  std::optional<bool> from_cache;          // nobody was asked
  std::optional<std::string> source;       // how the model was chosen, as in model.started
  std::optional<Json> message;             // the turn as it stands in the transcript
};
struct ErrorData {
  std::string kind;
  std::string message;
  std::optional<Json> detail;
  std::optional<std::string> fix;
  bool retryable = false;
};
struct ModelFailed {
  std::string call;
  std::uint32_t attempt;
  ErrorData error;
  std::optional<Usage> usage;
  std::optional<Cost> cost;
  std::optional<Json> spent;       // what the budget counts for it; nothing when it is left out
  std::optional<bool> superseded;  // it was answered, and a middleware asked again
  std::optional<bool> estimated;   // usage is ours: the provider never got to say what it was
};
struct ModelOverrideSkipped {
  std::string requested;
  std::string resolved;
  std::string reason;
};
struct FallbackSelected {
  std::string from;
  std::string to;
  std::string reason;
};
struct FallbackSkipped {
  std::string model;
  std::string reason;
};
struct RetryScheduled {
  std::string call;
  std::uint32_t attempt;
  std::int64_t delay_ms;
  std::string reason;
};
struct RateLimitWaited {
  std::string provider;
  std::int64_t waited_ms;
};

struct ToolStarted {
  std::string call_id;
  std::string provider_call_id;
  std::string tool;
  std::uint32_t index;
  Json arguments;
  std::string effect;
  std::optional<std::string> called_by;  // of a call that code made: the call it was made in
  std::optional<bool> repaired;          // the arguments were not JSON as the model wrote them
};
struct ToolProgress {
  std::string call_id;
  std::string tool;
  Json progress;
};
// tool.completed, tool.failed, tool.outcome_unknown
struct ToolEnded {
  std::string call_id;
  std::string tool;
  std::uint32_t index;
  bool ok;
  std::string output;
  std::optional<Json> metadata;
  std::optional<bool> cancelled;
  std::optional<std::string> error_type;
  std::optional<bool> retryable;
  std::optional<std::string> retry_kind;
  std::optional<std::uint32_t> used;    // retries of this tool, this one included
  std::optional<std::uint32_t> budget;  // how many it may have
  std::optional<bool> fatal;            // it ends the run
  std::optional<Json> error;            // the error it ends with, of code around the tool
  std::int64_t duration_ms;
};
struct ToolUnknown {
  std::string call_id;
  std::string tool;
  Json arguments;
  std::optional<std::string> nearest;
  std::string output;  // what the model is told; also in the two kinds below
};
struct ToolInvalidArgs {
  std::string call_id;
  std::string tool;
  Json arguments;
  std::string error;
  std::string output;
  std::optional<std::string> error_type;  // InvalidArguments | ValidationError
  std::optional<Json> errors;             // [{path, message}] of a ValidationError
  std::optional<bool> retryable;
  std::optional<std::uint32_t> used;
  std::optional<std::uint32_t> budget;
};
struct ToolDenied {
  std::string call_id;
  std::string tool;
  std::string reason;
  std::string output;
};
struct ToolForgedArgument {
  std::string call_id;
  std::string tool;
  std::string field;
};
struct ApprovalRequested {
  std::string call_id;
  std::string tool;
  Json arguments;
  std::string digest;                 // SHA-256 of tool and arguments: what an approval is bound to
  std::optional<std::string> reason;  // why it asks
  std::optional<std::string> hold;    // batch | call: what waits for it
};
struct ApprovalDecided {
  std::string call_id;
  bool approved;
  std::optional<std::string> reason;
  std::string digest;                // of what was approved
  std::optional<Json> arguments;     // that were put in the place of the model's
  std::optional<std::string> grant;  // the pattern that needs no approval from now on
  std::optional<std::string> scope;  // of the grant: run | tree
  std::optional<std::string> by;     // who decided: owner | policy
};

struct WindowData {
  std::string model;
  std::int64_t max_tokens;
  std::int64_t reserved_output_tokens;
  std::int64_t prompt_tokens;
  std::string source;
  std::map<std::string, std::int64_t> owners;
};
struct Covers {
  std::uint64_t from;
  std::uint64_t to;
};
// context.dropped, context.trimmed, context.summarized, context.compacted
struct ContextReduced {
  std::int64_t before_tokens;
  std::int64_t after_tokens;
  std::uint64_t boundary;
  Covers covers;
  std::string reason;
  std::optional<Json> replacement;
};
struct ContextSpilled {
  std::string call_id;
  std::string path;
  std::int64_t bytes;
  std::int64_t kept_bytes;
};
// context.overflow, context.recovered
struct ContextRecovery {
  std::string decision;
  std::string reason;
  std::uint32_t attempt;
};
struct ContextDiagnostic {
  std::string code;
  std::string severity;  // info | warning | error | fatal
  std::string message;
  std::optional<std::string> path;
};
// cache.hit, cache.miss
struct CacheLookup {
  std::string call;
  std::string key;
};
struct CachePrefixChanged {
  std::string before;
  std::string after;
  bool violates_policy = false;
};
struct UsageRecorded {
  Usage usage;
  std::optional<Cost> cost;
};
struct LimitWarning {
  std::string limit;
  std::int64_t remaining;
  std::string content;
  std::optional<Json> message;  // the same as it stands in the transcript
};
struct LimitReached {
  std::string limit;
  std::int64_t max;
  std::int64_t used;
  std::optional<std::string> scope;
};
struct OutputRetry {
  std::uint32_t attempt;
  std::string error;
  std::optional<std::string>
      reason;  // length | empty | nudge | schema | limit | not_final | several
  std::optional<std::string> call_id;  // the call of final_result that is answered with the error
  std::optional<Json> message;         // what the model is told otherwise
};
struct OutputAccepted {
  Json output;
  std::optional<std::string> call_id;  // the call of final_result that brought it
};
struct OutputDelta {
  std::string call;
  Json output;  // as far as it has come
};
struct ContextInjected {
  std::string source;           // the hook or middleware that added it
  std::optional<Json> message;  // what the model is told
};
struct ControlApplied {
  std::string control;  // stop_with_final | interrupt
  std::string detail;
};

// subagent.started, subagent.completed, subagent.failed
struct Subagent {
  std::string name;
  std::string child_run_id;
  std::string call_id;
  std::optional<bool> background;  // nobody waits for it
  std::optional<std::string> stop_reason;
  std::optional<ErrorData> error;
};
struct SubagentReused {
  std::string name;
  std::string child_run_id;
  std::uint32_t turn;
};
// steering.applied, steering.rejected
struct Steering {
  Json command;                       // of steering.rejected: the whole batch
  std::optional<std::string> sender;  // owner | parent
  std::optional<std::string> reason;
  std::optional<Json> message;  // what the model is told
};
// memory.loaded, memory.saved
struct MemoryUsed {
  std::string scope;
  std::string key;
  std::int64_t items;
};
struct RetrievalPerformed {
  std::string source;
  std::string query;
  std::int64_t results;
  std::int64_t tokens;
};
// middleware.started, middleware.completed, middleware.failed
struct MiddlewareStep {
  std::string name;
  std::string hook;  // run | model | tool
  std::optional<std::string> error;
};
struct HookFailed {
  std::string hook;
  std::string event;
  std::string error;
};
struct Custom {
  std::string name;
  Json data;
};
struct WorkspaceViolation {
  std::string tool;
  std::string path;
  std::string reason;
};
struct StateSet {
  std::string key;
  Json value;
};
struct ThreadDiverged {
  std::string thread_id;
  std::string newest_run_id;
};
struct Log {
  std::string type;
  std::string tag;
  std::string level;  // trace | debug | info | warning | error
  std::string text;
  std::optional<Json> data;
};

}  // namespace tug::payload
