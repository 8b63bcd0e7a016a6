#include "agent/run_state.h"

#include <algorithm>

#include "core/try.h"
#include "tug/core/enum_names.h"
#include "tug/core/error_json.h"

namespace tug {
namespace {

Failure out_of_place(const Event& event, std::string_view why) {
  return fail(ErrorKind::invalid,
              "record " + std::to_string(event.seq) + " (" + std::string(event.name()) +
                  ") does not follow what was there: " + std::string(why),
              "`tug replay` verifies the journal");
}

std::string text_of(const Json& data, std::string_view key) {
  return std::string(data[key].as_string());
}

Amount amount_from(const Json& json) {
  return {.model_calls = json["model_calls"].as_int().value_or(0),
          .tool_calls = json["tool_calls"].as_int().value_or(0),
          .tokens = json["tokens"].as_int().value_or(0),
          .cost = json["cost"].as_int().value_or(0)};
}

Spending spending_in(const Json& data) {
  Spending spent;
  if (const Json* usage = data.find("usage")) {
    spent.usage = JsonForm<Usage>::read(*usage).value_or(Usage{});
  }
  if (const Json* cost = data.find("cost")) {
    spent.cost = JsonForm<Cost>::read(*cost).value_or(Cost::unknown());
  }
  return spent;
}

void add(Spending& to, const Spending& spent) {
  to.usage += spent.usage;
  to.cost += spent.cost;
}

// Thoughts alone are no answer; a model that paused among them gets them back, though.
bool is_blank(const Message& message, Finish finish) {
  return std::ranges::all_of(message.parts(), [&](const Part& part) {
    if (std::holds_alternative<ReasoningPart>(part)) return finish != Finish::pause;
    const auto* text = std::get_if<TextPart>(&part);
    return text && text->text.find_first_not_of(" \t\r\n") == std::string::npos;
  });
}

Result<void> append_user(RunState& state, const MessagePtr& message) {
  state.bytes += message->size();
  return state.transcript.append_user(message);
}

void read_window(RunState& state, const Json& model, const Json& window) {
  if (window.is_null()) return;
  state.window.model = std::string(model.as_string());
  state.window.max_tokens = window["max_tokens"].as_int().value_or(0);
  state.window.reserved_output_tokens = window["reserved_output_tokens"].as_int().value_or(0);
  state.window.prompt_tokens = window["prompt_tokens"].as_int().value_or(0);
  state.window.source = text_of(window, "source");
}

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
    if (!open.started) record.arguments = arguments_of(open.call);
    state.tool_calls.push_back(std::move(record));
  }
}

// Every call has its result: they become one message. Otherwise: what is left to do?
Result<void> settle_calls(RunState& state) {
  bool decided = true;
  bool answered = true;
  for (const OpenCall& open : state.calls) {
    decided = decided && (open.started || open.result);
    answered = answered && open.result;
  }
  if (!answered) {
    state.phase = decided ? Phase::running : Phase::admitting;
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

Result<OpenCall*> call_of(RunState& state, const Event& event) {
  const std::string_view id = event.data["call_id"].as_string();
  for (OpenCall& open : state.calls) {
    if (open.call.id.text() == id) return &open;
  }
  return out_of_place(event, "no such call is open");
}

Result<void> start_run(RunState& state, const Event& event) {
  if (state.who) return out_of_place(event, "the run has begun already");
  state.who = event.who;
  state.prompt = text_of(event.data, "prompt");
  state.told = state.prompt;
  state.model = text_of(event.data, "model");
  state.options = event.data["options"];
  if (const Json* limits = event.data.find("limits")) state.options.set("limits", *limits);
  if (const Json* digest = event.data.find("constants")) {
    state.constants = std::string(digest->as_string());
  }
  state.started = event.ts;
  state.segment = event.ts;
  if (!event.message) return {};
  return append_user(state, event.message);
}

// What comes next is another answer, not the rest of one that was cut.
void forget_parts(RunState& state) {
  state.text_before.clear();
  state.continued = 0;
}

// Whether the newest turn is an answer that nothing was decided about: the segment was cut, or
// cancelled, right after it. It is not asked for again.
bool has_undecided_answer(const RunState& state) {
  if (!state.ending) return state.phase == Phase::admitting;
  return state.empty_answers == 0 && state.finish != Finish::pause && !state.transcript.empty() &&
         state.transcript.back()->role() == Role::assistant;
}

Result<void> resume_run(RunState& state, const Event& event) {
  if (!state.who) return out_of_place(event, "the run has not begun");
  const bool answered = has_undecided_answer(state) && !event.message;
  // A segment that has no terminal event lasted until its last record.
  if (!state.ending) state.alive += state.updated - state.segment;
  state.segment = event.ts;
  state.told = text_of(event.data, "prompt");
  state.ending.reset();
  state.limit.reset();
  state.failure.reset();
  state.doom.reset();
  state.interrupt.reset();
  state.rewritten.reset();
  if (event.message) {
    forget_parts(state);
    state.final_text.reset();
    state.output.reset();
  }
  state.tries = 0;
  state.passed.clear();
  if (const Json* model = event.data.find("model")) state.model = std::string(model->as_string());
  if (const Json* options = event.data.find("options")) {
    state.options = overlaid(std::move(state.options), *options);
  }
  state.phase = answered ? Phase::admitting : Phase::ready;
  if (state.attempt) state.phase = Phase::asked;
  if (!state.calls.empty()) {
    TUG_TRY(settled, settle_calls(state));
  }
  if (!event.message) return {};
  return append_user(state, event.message);
}

void remember(RunState& state, const Event& event) {
  state.memory.set(event.data["key"].as_string(), event.data["value"]);
}

Result<void> start_attempt(RunState& state, const Event& event) {
  if (state.phase != Phase::ready) return out_of_place(event, "something else is open");
  const Json& data = event.data;
  OpenAttempt attempt{.call = text_of(data, "call"),
                      .attempt = static_cast<std::uint32_t>(data["attempt"].as_uint().value_or(1)),
                      .seq = event.seq,
                      .reservation = data["reservation"],
                      .held = amount_from(data["held"]),
                      .max_output_tokens = data["max_output_tokens"].as_int().value_or(0),
                      .started = event.ts};
  state.asked = attempt.call;
  state.attempt = std::move(attempt);
  state.failure.reset();
  state.turn = event.turn;
  ++state.counts.attempts;
  read_window(state, data["model"], data["context"]);
  state.phase = Phase::asked;
  return {};
}

Result<void> complete_attempt(RunState& state, const Event& event) {
  if (!state.attempt) return out_of_place(event, "no attempt is open");
  if (!event.message) return out_of_place(event, "it has no message");
  const Seq seq = state.offset + state.attempt->seq;
  state.attempt.reset();
  ++state.counts.model_calls;
  const Spending spent = spending_in(event.data);
  add(state.own, spent);
  add(state.subtree, spent);
  const Json* counted = event.data.find("counted");
  state.used +=
      counted ? amount_from(*counted)
              : Amount{.model_calls = 1, .tokens = spent.usage.total(), .cost = spent.cost.nanos()};
  if (spent.usage.input_tokens > 0) {
    state.window.prompt_tokens = spent.usage.input_tokens;
    state.window.source = "provider";
  }
  if (const Json* response = event.data.find("response")) {
    state.responses.push_back({text_of(*response, "blob"), {}});
  }
  state.tries = 0;
  state.passed.clear();
  state.nudge = text_of(event.data, "nudge");
  state.finish = finish_from(event.data["finish"].as_string()).value_or(Finish::other);
  state.phase = Phase::admitting;
  // A blank turn is asked for again or ends the run; no provider takes one back.
  if (is_blank(*event.message, state.finish)) {
    ++state.empty_answers;
    state.text.clear();
    if (state.finish == Finish::pause) state.phase = Phase::ready;
    return {};
  }
  state.empty_answers = 0;
  TUG_TRY(message, state.transcript.append_turn(event.message, seq));
  state.bytes += message->size();
  state.text = message->text();
  for (const ToolCall* call : message->tool_calls()) state.calls.push_back({.call = *call});
  if (state.calls.empty() && state.finish == Finish::pause) state.phase = Phase::ready;
  if (!state.calls.empty()) forget_parts(state);
  return {};
}

Result<void> fail_attempt(RunState& state, const Event& event) {
  if (!state.attempt) return out_of_place(event, "no attempt is open");
  state.attempt.reset();
  state.used += amount_from(event.data["spent"]);
  const Spending spent = spending_in(event.data);
  add(state.own, spent);
  add(state.subtree, spent);
  // An attempt that a crash swallowed decides nothing: the model is asked again.
  Error error = error_from_json(event.data["error"]);
  const bool decides = !error.detail_if<OutcomeUnknown>() && !event.data["superseded"].as_bool();
  if (decides) {
    state.failure = std::move(error);
    ++state.tries;
  }
  state.phase = Phase::ready;
  return {};
}

void fall_back(RunState& state, const Event& event) {
  state.passed.push_back(text_of(event.data, "from"));
  state.model = text_of(event.data, "to");
  state.failure.reset();
  state.tries = 0;
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

Result<void> start_call(RunState& state, const Event& event) {
  if (event.data.contains("called_by")) return start_code_call(state, event);
  TUG_TRY(open, call_of(state, event));
  if (open->started || open->result) return out_of_place(event, "the call is decided already");
  open->started = event.seq;
  open->args = event.data["arguments"];
  ++state.counts.tool_calls;
  state.used.tool_calls += 1;
  return settle_calls(state);
}

Result<void> refuse_call(RunState& state, const Event& event, std::string_view error_type) {
  TUG_TRY(open, call_of(state, event));
  if (open->started || open->result) return out_of_place(event, "the call is decided already");
  open->result = ToolResult::error(text_of(event.data, "output"), error_type);
  Json& metadata = open->result->metadata;
  for (const char* key : {"error_type", "errors"}) {
    if (const Json* said = event.data.find(key)) metadata.set(key, *said);
  }
  if (event.data["retryable"].as_bool()) {
    metadata.set("retry", true);
    metadata.set("retry_kind", metadata["error_type"]);
  }
  count_retry(state, *open, event.data);
  open->result->call = open->call.id;
  open->result->tool = open->call.tool;
  ++state.counts.tool_calls;
  state.used.tool_calls += 1;
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
  open->result = ToolResult{.call = open->call.id,
                            .tool = open->call.tool,
                            .ok = data["ok"].as_bool(),
                            .content = text_of(data, "output"),
                            .metadata = data["metadata"]};
  open->duration_ms = data["duration_ms"].as_int().value_or(0);
  if (const Json* kind = data.find("retry_kind")) open->retry_kind = std::string(kind->as_string());
  count_retry(state, *open, data);
  count_end(state, open->call.tool, data);
  return settle_calls(state);
}

void answer_final(OpenCall& open, ToolResult result) {
  result.call = open.call.id;
  result.tool = open.call.tool;
  open.result = std::move(result);
}

Result<void> accept_output(RunState& state, const Event& event) {
  state.output = event.data["output"];
  if (!event.data.contains("call_id")) return {};
  TUG_TRY(open, call_of(state, event));
  answer_final(*open, ToolResult::text("accepted"));
  return settle_calls(state);
}

Result<void> retry_output(RunState& state, const Event& event) {
  const std::string_view reason = event.data["reason"].as_string();
  if (reason == "schema") ++state.counts.output_retries;
  if (event.data.contains("call_id")) {
    TUG_TRY(open, call_of(state, event));
    answer_final(*open, ToolResult::error(text_of(event.data, "error"), "ValidationError"));
    return settle_calls(state);
  }
  if (reason == "length") {
    state.text_before += state.text;
    ++state.continued;
  } else if (reason != "empty") {
    forget_parts(state);
  }
  state.phase = Phase::ready;
  if (!event.message) return {};
  return append_user(state, event.message);
}

void reach_limit(RunState& state, const Event& event) {
  const Json& data = event.data;
  const auto kind = enum_value<LimitKind>(data["limit"].as_string());
  state.limit = limit_error({.kind = kind.value_or(LimitKind::model_calls),
                             .limit = data["max"].as_int().value_or(0),
                             .used = data["used"].as_int().value_or(0),
                             .scope = text_of(data, "scope")});
}

// What the model is told besides the user's words and its results.
Result<void> tell(RunState& state, const Event& event) {
  if (!event.message) return out_of_place(event, "it has no message");
  return append_user(state, event.message);
}

Result<void> warn(RunState& state, const Event& event) {
  state.notices.push_back(text_of(event.data, "limit") + ":" +
                          std::to_string(event.data["remaining"].as_int().value_or(0)));
  return tell(state, event);
}

void apply_control(RunState& state, const Event& event) {
  if (event.data["control"].as_string() == "interrupt") {
    state.interrupt = text_of(event.data, "detail");
  } else {
    state.final_text = text_of(event.data, "detail");
  }
}

// Whoever stands around the run may have given another answer than the model.
void take_answer(RunState& state, const Json& result) {
  const std::string_view text = result["text"].as_string();
  if (text != answer_text(state)) state.rewritten = std::string(text);
  if (const Json* output = result.find("output"); output && !output->is_null()) {
    state.output = *output;
  }
}

Result<void> end_run(RunState& state, const Event& event) {
  if (state.ending) return out_of_place(event, "the segment has ended already");
  Ending ending;
  ending.stop = stop_reason_from(event.data["stop_reason"].as_string()).value_or(StopReason::error);
  if (event.kind == Kind::run_completed) ending.status = RunStatus::completed;
  if (event.kind == Kind::run_failed) ending.status = RunStatus::failed;
  if (event.kind == Kind::run_cancelled) ending.status = RunStatus::cancelled;
  if (event.kind == Kind::run_paused) ending.status = RunStatus::parked;
  const Json& error = event.data["result"]["error"];
  if (!error.is_null()) ending.error = error_from_json(error);
  take_answer(state, event.data["result"]);
  state.alive += event.ts - state.segment;
  if (ending.status == RunStatus::parked) {
    state.phase = Phase::parked;
  } else {
    TUG_TRY(closed, close_calls(state, ending));
    state.phase = Phase::ended;
  }
  state.ending = std::move(ending);
  return {};
}

}  // namespace

Json arguments_of(const ToolCall& call) {
  auto parsed = parse_json(call.arguments);
  return parsed ? *std::move(parsed) : Json(call.arguments);
}

std::int64_t milliseconds(Duration duration) noexcept {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

Error limit_error(const Limit& limit) {
  const bool clock = limit.kind == LimitKind::wall_clock;
  std::string message = "the run reached its limit of " + std::to_string(limit.limit) + " " +
                        (clock ? "milliseconds" : std::string(name_of(limit.kind)));
  std::ranges::replace(message, '_', ' ');
  return Error(ErrorKind::exhausted, std::move(message), "raise the limit and resume the run",
               limit);
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
  return {};
}

std::string answer_text(const RunState& state) {
  if (state.rewritten) return *state.rewritten;
  if (state.final_text) return *state.final_text;
  std::string text = state.text_before + state.text;
  if (text.empty() && state.output) text = print_json(*state.output);
  return text;
}

Result<void> apply(RunState& state, const Event& event) {
  if (event.live != 0) return {};
  Result<void> applied;
  switch (event.kind) {
    case Kind::run_started:
      applied = start_run(state, event);
      break;
    case Kind::run_resumed:
      applied = resume_run(state, event);
      break;
    case Kind::model_started:
      applied = start_attempt(state, event);
      break;
    case Kind::model_completed:
      applied = complete_attempt(state, event);
      break;
    case Kind::model_failed:
      applied = fail_attempt(state, event);
      break;
    case Kind::tool_started:
      applied = start_call(state, event);
      break;
    case Kind::tool_unknown:
      applied = refuse_call(state, event, "UnknownTool");
      break;
    case Kind::tool_invalid_args:
      applied = refuse_call(state, event, "InvalidArguments");
      break;
    case Kind::tool_denied:
      applied = refuse_call(state, event, "ApprovalRejected");
      break;
    case Kind::tool_completed:
    case Kind::tool_failed:
    case Kind::tool_outcome_unknown:
      applied = end_call(state, event);
      break;
    case Kind::output_retry:
      applied = retry_output(state, event);
      break;
    case Kind::output_accepted:
      applied = accept_output(state, event);
      break;
    case Kind::model_fallback_selected:
      fall_back(state, event);
      break;
    case Kind::retry_scheduled:
      state.failure.reset();
      break;
    case Kind::limit_warning:
      applied = warn(state, event);
      break;
    case Kind::context_injected:
      applied = tell(state, event);
      break;
    case Kind::control_applied:
      apply_control(state, event);
      break;
    case Kind::state_set:
      remember(state, event);
      break;
    case Kind::limit_reached:
      reach_limit(state, event);
      break;
    case Kind::run_completed:
    case Kind::run_failed:
    case Kind::run_cancelled:
    case Kind::run_paused:
      applied = end_run(state, event);
      break;
    default:
      break;
  }
  if (!applied) return applied;
  state.last_seq = event.seq;
  state.updated = event.ts;
  return {};
}

void apply_below(RunState& state, const Event& event) {
  if (event.kind != Kind::model_completed && event.kind != Kind::model_failed) return;
  add(state.subtree, spending_in(event.data));
}

Json overlaid(Json under, const Json& over) {
  if (!under.is_object()) under = Json::object();
  for (const auto& member : over.members()) {
    if (member.key() != "limits" || !under.contains("limits")) {
      under.set(member.key(), member.value);
      continue;
    }
    Json limits = under["limits"];
    for (const auto& limit : member.value.members()) limits.set(limit.key(), limit.value);
    under.set("limits", std::move(limits));
  }
  return under;
}

MessagePtr with_call_ids(MessagePtr message, Seq seq) {
  if (message->tool_calls().empty()) return message;
  std::vector<Part> parts = message->parts();
  std::uint32_t index = 0;
  for (Part& part : parts) {
    if (auto* call = std::get_if<ToolCall>(&part)) call->id = make_call_id(seq, index++);
  }
  return Message::make(message->role(), std::move(parts));
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

}  // namespace tug
