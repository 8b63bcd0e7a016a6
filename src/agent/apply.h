// The parts of `apply`, by what the records are about.
#pragma once

#include <string>
#include <string_view>

#include "agent/run_state.h"

namespace tug::applying {

// A record that cannot follow what was there.
Failure out_of_place(const Event& event, std::string_view why);
// What records say, read.
std::string text_of(const Json& data, std::string_view key);
Amount amount_from(const Json& json);
Spending spending_in(const Json& data);
void add(Spending& to, const Spending& spent);
Result<void> append_user(RunState& state, const MessagePtr& message);

// Somebody said something: what was about to be the answer is not the last word.
void hear(RunState& state);
// What a run that was parked waits for, as its result says.
std::vector<PendingApproval> pending_in(const Json& result);

// Model calls and answers: apply_turns.cpp.
void forget_parts(RunState& state);
Result<void> start_attempt(RunState& state, const Event& event);
Result<void> complete_attempt(RunState& state, const Event& event);
Result<void> fail_attempt(RunState& state, const Event& event);
void fall_back(RunState& state, const Event& event);
Result<void> accept_output(RunState& state, const Event& event);
Result<void> retry_output(RunState& state, const Event& event);

// Tool calls: apply_calls.cpp.
Result<void> settle_calls(RunState& state);
Result<OpenCall*> call_of(RunState& state, const Event& event);
Result<void> start_call(RunState& state, const Event& event);
Result<void> refuse_call(RunState& state, const Event& event, std::string_view error_type);
Result<void> end_call(RunState& state, const Event& event);
void answer_final(RunState& state, OpenCall& open, ToolResult result);
// The call has its result.
void answer(RunState& state, OpenCall& open, ToolResult result);
// Counts a call against the limit, once.
void count_call(RunState& state, OpenCall& open);

// What others decide about a run: apply_control.cpp.
Result<void> ask_approval(RunState& state, const Event& event);
Result<void> decide_approval(RunState& state, const Event& event);
Result<void> steer(RunState& state, const Event& event);
void open_child(RunState& state, const Event& event);
void close_child(RunState& state, const Event& event);
// A grant for the whole tree, given to a run below.
void take_grant(RunState& state, const Event& event);

}  // namespace tug::applying
