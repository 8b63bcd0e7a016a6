// What records of model calls and of their answers do to a run.
#include <algorithm>

#include "agent/apply.h"
#include "core/try.h"
#include "tug/core/error_json.h"

namespace tug {
namespace {

using namespace applying;

// Thoughts alone are no answer; a model that paused among them gets them back, though.
bool is_blank(const Message& message, Finish finish) {
  return std::ranges::all_of(message.parts(), [&](const Part& part) {
    if (std::holds_alternative<ReasoningPart>(part)) return finish != Finish::pause;
    const auto* text = std::get_if<TextPart>(&part);
    return text && text->text.find_first_not_of(" \t\r\n") == std::string::npos;
  });
}

void read_window(RunState& state, const Json& model, const Json& window) {
  if (window.is_null()) return;
  state.window.model = std::string(model.as_string());
  state.window.max_tokens = window["max_tokens"].as_int().value_or(0);
  state.window.reserved_output_tokens = window["reserved_output_tokens"].as_int().value_or(0);
  state.window.prompt_tokens = window["prompt_tokens"].as_int().value_or(0);
  state.window.source = text_of(window, "source");
}

}  // namespace

namespace applying {

// What comes next is another answer, not the rest of one that was cut.
void forget_parts(RunState& state) {
  state.text_before.clear();
  state.continued = 0;
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
  state.attempted_model = text_of(data, "model");
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
  state.response_id = text_of(event.data, "response_id");
  state.response_model = state.response_id.empty() ? "" : state.attempted_model;
  state.response_messages = state.transcript.size();
  state.text = message->text();
  for (const ToolCall* call : message->tool_calls()) state.calls.push_back({.call = *call});
  state.unanswered = state.undecided = static_cast<std::uint32_t>(state.calls.size());
  state.asks = false;
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

Result<void> accept_output(RunState& state, const Event& event) {
  state.output = event.data["output"];
  if (!event.data.contains("call_id")) return {};
  TUG_TRY(open, call_of(state, event));
  answer_final(state, *open, ToolResult::text("accepted"));
  return settle_calls(state);
}

Result<void> retry_output(RunState& state, const Event& event) {
  const std::string_view reason = event.data["reason"].as_string();
  if (reason == "schema") ++state.counts.output_retries;
  if (event.data.contains("call_id")) {
    TUG_TRY(open, call_of(state, event));
    answer_final(state, *open, ToolResult::error(text_of(event.data, "error"), "ValidationError"));
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

}  // namespace applying

MessagePtr with_call_ids(MessagePtr message, Seq seq) {
  if (message->tool_calls().empty()) return message;
  std::vector<Part> parts = message->parts();
  std::uint32_t index = 0;
  for (Part& part : parts) {
    if (auto* call = std::get_if<ToolCall>(&part)) call->id = make_call_id(seq, index++);
  }
  return Message::make(message->role(), std::move(parts));
}

}  // namespace tug
