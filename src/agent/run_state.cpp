#include "agent/apply.h"

#include <algorithm>

#include "core/try.h"
#include "tug/core/enum_names.h"
#include "tug/core/error_json.h"

namespace tug {
namespace applying {

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

Result<void> append_user(RunState& state, const MessagePtr& message) {
  state.bytes += message->size();
  return state.transcript.append_user(message);
}

}  // namespace applying

namespace {

using namespace applying;

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
  state.was_cut = !state.ending;
  if (state.was_cut) state.alive += state.updated - state.segment;
  state.segment = event.ts;
  state.told = text_of(event.data, "prompt");
  state.ending.reset();
  state.limit.reset();
  state.failure.reset();
  state.doom.reset();
  state.interrupt.reset();
  state.rewritten.reset();
  state.pending.clear();
  if (!event.data["keeps_pause"].as_bool()) state.paused.reset();
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
  if (event.data["source"].as_string() == kFollowUp) {
    if (state.follow_ups.empty()) return out_of_place(event, "nothing was to follow");
    state.follow_ups.erase(state.follow_ups.begin());
    hear(state);
  }
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
    state.pending = pending_in(event.data["result"]);
  } else {
    TUG_TRY(closed, close_calls(state, ending));
    state.phase = Phase::ended;
  }
  state.ending = std::move(ending);
  return {};
}

}  // namespace

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
    case Kind::context_diagnostic:
      if (event.data["code"].as_string() == kReasoningDropped) state.drop_reasoning = true;
      break;
    case Kind::limit_warning:
      applied = warn(state, event);
      break;
    case Kind::context_injected:
      applied = tell(state, event);
      break;
    case Kind::approval_requested:
      applied = ask_approval(state, event);
      break;
    case Kind::approval_decided:
      applied = decide_approval(state, event);
      break;
    case Kind::steering_applied:
      applied = steer(state, event);
      break;
    case Kind::subagent_started:
      open_child(state, event);
      break;
    case Kind::subagent_completed:
    case Kind::subagent_failed:
      close_child(state, event);
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
  if (event.kind == Kind::approval_decided) return take_grant(state, event);
  if (event.kind == Kind::tool_denied) {
    const Json& data = event.data;
    state.denials.push_back(
        {CallId(text_of(data, "call_id")), text_of(data, "tool"), text_of(data, "reason")});
  }
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

}  // namespace tug
