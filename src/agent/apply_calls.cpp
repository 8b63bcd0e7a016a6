// What records of tool calls do to a run.
#include <charconv>

#include "agent/apply.h"
#include "core/try.h"
#include "tug/core/error_json.h"

namespace tug {
namespace {

using namespace applying;

// What a call became, in the order of the calls.
void keep_records(RunState& state) {
  for (OpenCall& open : state.calls) {
    if (!open.result) continue;
    ToolCallRecord record{.id = open.call.id,
                          .provider_id = open.call.provider_id,
                          .tool = open.call.tool,
                          .arguments = open.args,
                          .result = *open.result,
                          .duration_ms = open.duration_ms,
                          .retry_kind = open.retry_kind};
    // Whoever decided about it may have put others in their place.
    if (!open.started || open.asked) record.arguments = arguments_of(open.call);
    if (open.asked) record.approved = open.asked->approved;
    state.tool_calls.push_back(std::move(record));
  }
}

// A result that the model may repair counts, whatever a hook made of it afterwards.
void count_retry(RunState& state, const OpenCall& open, const Json& data) {
  if (!data["retryable"].as_bool()) return;
  ++state.counts.tool_retries[open.call.tool];
  const std::int64_t used = data["used"].as_int().value_or(0);
  const std::int64_t budget = data["budget"].as_int().value_or(0);
  if (!data.contains("used") || used <= budget) return;
  const Limit limit{LimitKind::tool_retries, budget, used, open.call.tool};
  state.doom =
      Ending{RunStatus::failed, StopReason::tool_retries_exceeded,
             Error(ErrorKind::exhausted,
                   "the model called \"" + open.call.tool + "\" wrongly " + std::to_string(used) +
                       " times; " + std::to_string(budget) + " may be repaired",
                   "raise tool_retries, or the tool's max_retries", limit)};
}

// A call that code made: no turn waits for it.
Result<void> start_code_call(RunState& state, const Event& event) {
  const Json& data = event.data;
  OpenCall open{.args = data["arguments"], .started = event.seq};
  open.call.id = CallId(text_of(data, "call_id"));
  open.call.tool = text_of(data, "tool");
  state.code_calls.push_back(std::move(open));
  ++state.counts.tool_calls;
  state.used.tool_calls += 1;
  return {};
}

OpenCall* code_call_of(RunState& state, const Event& event) {
  const std::string_view id = event.data["call_id"].as_string();
  for (OpenCall& open : state.code_calls) {
    if (open.call.id.text() == id) return &open;
  }
  return nullptr;
}

// What the end of a call means beyond its result.
void count_end(RunState& state, const std::string& tool, const Json& data) {
  if (data["cancelled"].as_bool()) ++state.counts.cancelled_tool_calls;
  if (!data["fatal"].as_bool()) return;
  state.doom = Ending{RunStatus::failed, StopReason::error,
                      data.contains("error")
                          ? error_from_json(data["error"])
                          : Error(ErrorKind::internal,
                                  "the tool \"" + tool + "\" failed: " + text_of(data, "output"),
                                  "the tool is set to end the run when it fails")};
}

void end_code_call(RunState& state, OpenCall& open, const Json& data) {
  count_end(state, open.call.tool, data);
  state.tool_calls.push_back({.id = open.call.id,
                              .tool = open.call.tool,
                              .arguments = open.args,
                              .result = {.call = open.call.id,
                                         .tool = open.call.tool,
                                         .ok = data["ok"].as_bool(),
                                         .content = text_of(data, "output"),
                                         .metadata = data["metadata"]},
                              .duration_ms = data["duration_ms"].as_int().value_or(0)});
  const CallId id = open.call.id;
  std::erase_if(state.code_calls, [&](const OpenCall& other) { return other.call.id == id; });
}

// What is left to do about the calls, of which some are not answered.
Phase phase_of(const RunState& state) {
  if (!state.asks) return state.undecided > 0 ? Phase::admitting : Phase::running;
  bool runs = false;
  bool batch_waits = false;
  bool undecided = false;
  for (const OpenCall& open : state.calls) {
    if (open.result) continue;
    const bool asks = open.asked && !open.asked->approved;
    runs = runs || open.started;
    batch_waits = batch_waits || (asks && open.asked->holds_batch);
    undecided = undecided || (!open.started && !asks);
  }
  if (undecided && !batch_waits) return Phase::admitting;
  return runs ? Phase::running : Phase::held;
}

}  // namespace

namespace applying {

void answer(RunState& state, OpenCall& open, ToolResult result) {
  if (!open.started) --state.undecided;
  --state.unanswered;
  open.result = std::move(result);
}

// Every call has its result: they become one message. Otherwise: what is left to do?
Result<void> settle_calls(RunState& state) {
  if (state.unanswered > 0) {
    state.phase = phase_of(state);
    return {};
  }
  std::vector<ToolResult> results;
  results.reserve(state.calls.size());
  for (OpenCall& open : state.calls) results.push_back(*open.result);
  TUG_TRY(message, state.transcript.append_results(std::move(results)));
  state.bytes += message->size();
  keep_records(state);
  state.calls.clear();
  state.phase = Phase::ready;
  return {};
}

void count_call(RunState& state, OpenCall& open) {
  if (std::exchange(open.counted, true)) return;
  ++state.counts.tool_calls;
  state.used.tool_calls += 1;
}

Result<OpenCall*> call_of(RunState& state, const Event& event) {
  const OpenCall* found = find_call(state, event.data["call_id"].as_string());
  if (found) return const_cast<OpenCall*>(found);
  return out_of_place(event, "no such call is open");
}

Result<void> start_call(RunState& state, const Event& event) {
  if (event.data.contains("called_by")) return start_code_call(state, event);
  TUG_TRY(open, call_of(state, event));
  if (open->started || open->result) return out_of_place(event, "the call is decided already");
  open->started = event.seq;
  --state.undecided;
  open->args = event.data["arguments"];
  count_call(state, *open);
  return settle_calls(state);
}

Result<void> refuse_call(RunState& state, const Event& event, std::string_view error_type) {
  TUG_TRY(open, call_of(state, event));
  if (open->started || open->result) return out_of_place(event, "the call is decided already");
  answer(state, *open, ToolResult::error(text_of(event.data, "output"), error_type));
  Json& metadata = open->result->metadata;
  for (const char* key : {"error_type", "errors"}) {
    if (const Json* said = event.data.find(key)) metadata.set(key, *said);
  }
  if (event.data["retryable"].as_bool()) {
    metadata.set("retry", true);
    metadata.set("retry_kind", metadata["error_type"]);
    open->retry_kind = std::string(metadata["error_type"].as_string());
  }
  count_retry(state, *open, event.data);
  open->result->call = open->call.id;
  open->result->tool = open->call.tool;
  count_call(state, *open);
  if (event.kind == Kind::tool_denied) {
    state.denials.push_back({open->call.id, open->call.tool, text_of(event.data, "reason")});
  }
  return settle_calls(state);
}

Result<void> end_call(RunState& state, const Event& event) {
  if (OpenCall* code = code_call_of(state, event)) {
    end_code_call(state, *code, event.data);
    return {};
  }
  TUG_TRY(open, call_of(state, event));
  if (!open->started) return out_of_place(event, "the call was never started");
  if (open->result) return out_of_place(event, "the call has ended already");
  const Json& data = event.data;
  answer(state, *open,
         {.call = open->call.id,
          .tool = open->call.tool,
          .ok = data["ok"].as_bool(),
          .content = text_of(data, "output"),
          .metadata = data["metadata"]});
  open->duration_ms = data["duration_ms"].as_int().value_or(0);
  if (const Json* kind = data.find("retry_kind")) open->retry_kind = std::string(kind->as_string());
  count_retry(state, *open, data);
  count_end(state, open->call.tool, data);
  return settle_calls(state);
}

void answer_final(RunState& state, OpenCall& open, ToolResult result) {
  result.call = open.call.id;
  result.tool = open.call.tool;
  answer(state, open, std::move(result));
}

}  // namespace applying

Json arguments_of(const ToolCall& call) {
  auto parsed = parse_json(call.arguments);
  return parsed ? *std::move(parsed) : Json(call.arguments);
}

std::string closing_reason(const Ending& ending) {
  switch (ending.stop) {
    case StopReason::limit_reached:
      return "not run: the run reached a limit";
    case StopReason::cancelled:
    case StopReason::cancelled_by_hook:
      return "not run: the run was cancelled";
    default:
      return "not run: the run ended before this call";
  }
}

Result<void> close_calls(RunState& state, const Ending& ending) {
  if (state.calls.empty()) return {};
  const std::string reason = closing_reason(ending);
  const std::string_view type =
      ending.stop == StopReason::limit_reached ? "LimitReached" : "Cancelled";
  std::vector<ToolResult> finished;
  for (OpenCall& open : state.calls) {
    if (open.result) {
      finished.push_back(*open.result);
      continue;
    }
    open.result = ToolResult::error(reason, type);
    open.result->call = open.call.id;
    open.result->tool = open.call.tool;
  }
  TUG_TRY(message, state.transcript.close_open(reason, std::move(finished), type));
  if (message) state.bytes += message->size();
  keep_records(state);
  state.calls.clear();
  state.unanswered = state.undecided = 0;
  return {};
}

// The index is the part of an id behind its dot.
const OpenCall* find_call(const RunState& state, std::string_view id) {
  const std::size_t dot = id.find('.');
  std::size_t index = 0;
  if (dot == id.npos) return nullptr;
  const auto [end, problem] = std::from_chars(id.data() + dot + 1, id.data() + id.size(), index);
  if (problem != std::errc() || end != id.data() + id.size()) return nullptr;
  if (index >= state.calls.size() || state.calls[index].call.id.text() != id) return nullptr;
  return &state.calls[index];
}

}  // namespace tug
