#include "tug/journal/catalogue.h"

#include <vector>

#include "tug/core/codec.h"
#include "tug/journal/payloads.h"

namespace tug {
namespace {

template <class Payload>
KindInfo row(Kind kind, std::string_view meaning) {
  return {kind, meaning, schema_of<Payload>()};
}

std::vector<KindInfo> make_rows() {
  using namespace payload;
  return {
      row<RunStarted>(Kind::run_started, "A run begins; its constants are frozen."),
      row<RunResumed>(Kind::run_resumed,
                      "A crashed, cancelled or parked run goes on; the first record of a segment."),
      row<RunEnded>(Kind::run_completed,
                    "The run has ended: an answer, or a limit with everything so far."),
      row<RunEnded>(Kind::run_failed, "The run has ended with an error."),
      row<RunEnded>(Kind::run_cancelled, "The run was cancelled; it can be resumed."),
      row<RunPaused>(Kind::run_paused, "The run is parked: an approval, a pause or a shutdown."),
      row<ModelStarted>(Kind::model_started,
                        "A request is about to leave for a model; one per attempt."),
      row<ModelDelta>(Kind::model_delta,
                      "A piece of the answer: text, reasoning or arguments of a call."),
      row<ModelCompleted>(Kind::model_completed,
                          "The whole answer; nothing is done before it is a record."),
      row<ModelFailed>(Kind::model_failed, "The attempt failed; voids the deltas since its start."),
      row<ModelOverrideSkipped>(Kind::model_override_skipped,
                                "A model that was asked for cannot be used here."),
      row<FallbackSelected>(Kind::model_fallback_selected,
                            "The next model of the chain takes over."),
      row<FallbackSkipped>(Kind::model_fallback_skipped, "A model of the chain was passed over."),
      row<RetryScheduled>(Kind::retry_scheduled,
                          "The same request will be tried again after a wait."),
      row<RateLimitWaited>(Kind::rate_limit_waited, "A request waited for its turn."),
      row<ToolStarted>(Kind::tool_started, "A call is about to be carried out: the intent."),
      row<ToolProgress>(Kind::tool_progress, "What a running tool says of itself."),
      row<ToolEnded>(Kind::tool_completed, "The call succeeded."),
      row<ToolEnded>(Kind::tool_failed, "The call has a result that is not ok."),
      row<ToolUnknown>(Kind::tool_unknown,
                       "The model called a tool that is not there; comes instead of a start."),
      row<ToolInvalidArgs>(Kind::tool_invalid_args,
                           "The arguments do not fit the schema; comes instead of a start."),
      row<ToolDenied>(Kind::tool_denied, "A rule or a person said no; comes instead of a start."),
      row<ToolEnded>(Kind::tool_outcome_unknown,
                     "Nobody knows whether the call happened: a crash or an abandoned tool."),
      row<ToolForgedArgument>(Kind::tool_forged_argument,
                              "The model gave a value for an injected argument; it was dropped."),
      row<ApprovalRequested>(Kind::approval_requested, "A call waits for a person."),
      row<ApprovalDecided>(Kind::approval_decided, "A person has decided."),
      row<WindowData>(Kind::context_window, "How full the model's window is before a call."),
      row<ContextReduced>(Kind::context_dropped, "Retrieved context was dropped from the view."),
      row<ContextReduced>(Kind::context_trimmed, "Old messages were cut from the view."),
      row<ContextReduced>(Kind::context_summarized,
                          "Old messages were replaced by a summary in the view."),
      row<ContextReduced>(Kind::context_compacted, "Old tool outputs were shortened in the view."),
      row<ContextSpilled>(Kind::context_spilled,
                          "A large tool output was written to a file; head and tail stay."),
      row<ContextRecovery>(Kind::context_overflow,
                           "A request did not fit and could not be made to."),
      row<ContextRecovery>(Kind::context_recovered, "A request did not fit and was changed to."),
      row<ContextDiagnostic>(Kind::context_diagnostic,
                             "Something about the view that a person should know."),
      row<ContextInjected>(Kind::context_injected,
                           "A hook or a middleware added to what the model is told."),
      row<CacheLookup>(Kind::cache_hit, "The answer came from the response cache."),
      row<CacheLookup>(Kind::cache_miss, "The response cache had no answer."),
      row<CachePrefixChanged>(Kind::cache_prefix_changed,
                              "The stable start of the request changed."),
      row<UsageRecorded>(Kind::usage_recorded, "Tokens and cost of one call, counted."),
      row<LimitWarning>(Kind::limit_warning, "A limit is near; the model is told."),
      row<LimitReached>(Kind::limit_reached, "A limit stopped the run."),
      row<OutputRetry>(Kind::output_retry,
                       "The final answer did not fit its schema; the model is asked again."),
      row<OutputAccepted>(Kind::output_accepted, "The structured answer fits its schema."),
      row<OutputDelta>(Kind::output_delta, "The structured answer as far as it has come."),
      row<Subagent>(Kind::subagent_started, "A child run begins."),
      row<Subagent>(Kind::subagent_completed, "A child run has ended well."),
      row<Subagent>(Kind::subagent_failed, "A child run has failed."),
      row<SubagentReused>(Kind::subagent_reused, "A session of a child goes on."),
      row<Steering>(Kind::steering_applied, "A command from outside was carried out."),
      row<Steering>(Kind::steering_rejected, "A command from outside was refused."),
      row<MemoryUsed>(Kind::memory_loaded, "Memory was read into the run."),
      row<MemoryUsed>(Kind::memory_saved, "Memory was written."),
      row<RetrievalPerformed>(Kind::retrieval_performed,
                              "Documents were looked up for the request."),
      row<MiddlewareStep>(Kind::middleware_started, "A middleware was entered."),
      row<MiddlewareStep>(Kind::middleware_completed, "A middleware was left."),
      row<MiddlewareStep>(Kind::middleware_failed, "A middleware failed."),
      row<HookFailed>(Kind::hook_failed, "A hook command failed."),
      row<ControlApplied>(Kind::control_applied,
                          "Code inside the run asked it to end or to pause."),
      row<Custom>(Kind::custom, "What an app says on the same stream."),
      row<WorkspaceViolation>(Kind::workspace_violation,
                              "A path outside the workspace was refused."),
      row<StateSet>(Kind::state_set, "What a middleware must remember beyond one call."),
      row<ThreadDiverged>(Kind::thread_diverged,
                          "Two runs went on from the same point of a thread."),
      row<Log>(Kind::log, "A line for people; a record from level info up, live below."),
  };
}

const std::vector<KindInfo>& rows() {
  static const std::vector<KindInfo> all = make_rows();
  return all;
}

std::string type_text(const Json& schema) {
  if (const Json* items = schema.find("items")) return "list of " + type_text(*items);
  const Json& values = schema["additionalProperties"];
  if (values.is_object()) return "map of " + type_text(values);
  if (schema.contains("properties")) {
    std::string fields = "{";
    for (const auto& member : schema["properties"].members()) {
      if (fields.size() > 1) fields += ", ";
      fields += member.key();
    }
    return fields + "}";
  }
  const std::string_view type = schema["type"].as_string();
  return type.empty() ? "any" : std::string(type);
}

bool is_required(const Json& schema, std::string_view field) {
  for (const Json& name : schema["required"].items()) {
    if (name.as_string() == field) return true;
  }
  return false;
}

void append_kind(const KindInfo& info, std::string& out) {
  out.append("\n### `").append(name_of(info.kind)).append("`\n");
  out.append(info.meaning).append(is_live(info.kind) ? " Live.\n" : "\n");
  out.append("\n| field | type | always |\n| --- | --- | --- |\n");
  for (const auto& member : info.data["properties"].members()) {
    out.append("| `")
        .append(member.key())
        .append("` | ")
        .append(type_text(member.value))
        .append(" | ");
    out.append(is_required(info.data, member.key()) ? "yes" : "").append(" |\n");
  }
}

constexpr std::string_view kHead = R"(# Events

Generated from the codec by `tools/make_events_doc`; a test compares the two.

Every event has `seq`, `ts`, `kind`, `run_id`, `parent_run_id`, `parent_call_id`, `root_run_id`, `thread_id`,
`depth`, `agent`, `turn` and `data`. A *record* is stored: its `seq` is gap-free from 1 within the root. A *live*
event is not: it repeats the `seq` of the record before it and has `live`, counted from 1 after each record.
Readers must tolerate kinds they do not know; the journal keeps them as they came.

| a start | has exactly one partner |
| --- | --- |
| `run.started`, `run.resumed` | `run.completed`, `run.failed`, `run.cancelled` or `run.paused` |
| `model.started` | `model.completed` or `model.failed` |
| `tool.started` | `tool.completed`, `tool.failed` or `tool.outcome_unknown` |
| `subagent.started` | `subagent.completed` or `subagent.failed` |

After a crash `run.resumed` is followed by the partners that are missing. Data over 16 KiB stands in the journal as
a blob that the record names by its SHA-256; readers of the stream never see the difference.

## Kinds
)";

constexpr std::string_view kTail = R"(
## Error types

`error_type`, in the events above and in the `metadata` of a result that is not ok, is one of these. A tool may
give a word of its own instead.

| error_type | the call |
| --- | --- |
| `InvalidArguments` | had arguments that are no JSON object; the model may repair it |
| `ValidationError` | had arguments that do not fit the schema: `errors` has each with its path; may be repaired |
| `ModelRetry` | was refused by the tool itself, which wants it repaired |
| `UnknownTool` | named a tool that is not there |
| `ToolCallCancelled` | was refused by a hook or a middleware |
| `ApprovalRejected` | was denied by a rule or a person |
| `Timeout` | took longer than it may, or than its run may |
| `Cancelled` | was stopped with its run, or was open when the run ended |
| `LimitReached` | was open when the run reached a limit |
| `OutcomeUnknown` | may have happened or not |
| `InvalidToolOutput` | gave something that its schema does not promise, or a hook made that of it |
| `PathValidationError` | named a path that is not allowed |
| `SubAgentLimit`, `SubAgentCancelled`, `UnknownSubAgent` | was for a child run: too deep, refused by a hook, no such agent |
| `MCPToolError`, `MCPError` | failed on an MCP server (the model may repair it), or did not reach it |
| `Exception` | failed in any other way |
)";

}  // namespace

const KindInfo* kind_info(Kind kind) {
  for (const KindInfo& info : rows()) {
    if (info.kind == kind) return &info;
  }
  return nullptr;
}

std::string events_markdown() {
  std::string text(kHead);
  for (const KindInfo& info : rows()) append_kind(info, text);
  text += kTail;
  return text;
}

}  // namespace tug
