// One run as a value: what its records say. `apply` is the only code that changes it, live and on
// resume alike; the loop reads it and acts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tug/context/budget.h"
#include "tug/context/run_result.h"
#include "tug/context/transcript.h"
#include "tug/core/model_turn.h"
#include "tug/journal/event.h"

namespace tug {

// What the next step of a run is about.
enum class Phase : std::uint8_t {
  ready,      // nothing is open: ask the model, or end
  asked,      // an attempt is recorded and has no partner
  admitting,  // a whole turn is there: decide what it means, call by call
  running,    // every call that may be is decided, and some wait for their results
  held,       // nothing runs, and calls wait for somebody to decide about them
  parked,     // ended for now; another segment may follow
  ended,
};

// A try to get an answer from a model, recorded and without a partner yet.
struct OpenAttempt {
  std::string call;
  std::uint32_t attempt = 1;
  Seq seq = 0;  // of its model.started; the calls of its answer are named by it
  Json reservation;
  Amount held;
  std::int64_t max_output_tokens = 0;  // 0 where nothing bounds the answer
  Time started{};
};

// A call that somebody is asked about.
struct AskedCall {
  Json args;                // as it would be started with
  Json asked;               // as it was asked about
  std::string digest;       // of `args`
  std::string reason;       // why it asks
  bool holds_batch = true;  // nothing of its turn starts before it is decided
  std::optional<bool> approved;
  std::string denied_because;
};

// A call of the newest turn.
struct OpenCall {
  ToolCall call;
  std::optional<AskedCall> asked;
  bool counted = false;  // against the limit on calls
  Json args;             // as it was started with
  Seq started = 0;       // of its tool.started; 0 while it is undecided or was refused
  std::optional<ToolResult> result;
  std::int64_t duration_ms = 0;
  std::optional<std::string> retry_kind;  // where the model may repair it
};

// A run below this one that has not ended.
struct OpenChild {
  RunId run;
  std::string name;
  CallId call;
  bool background = false;
};

// A provider's own reply. The record names it; the bytes are beside the records.
struct RawResponse {
  std::string digest;
  Json raw;  // null until somebody has read it
};

struct Ending {
  RunStatus status = RunStatus::failed;
  StopReason stop = StopReason::error;
  std::optional<Error> error;
  std::string reason;  // of a pause
};

struct RunState {
  LineagePtr who;
  std::string prompt;
  std::string told;  // what the segment began with; empty when it just goes on
  std::string model;
  Json options;                          // RunOptions as data, limits included
  std::optional<std::string> constants;  // digest of what the run was frozen with
  Phase phase = Phase::ready;
  Seq last_seq = 0;
  bool was_cut = false;  // the segment before this one has no end: its process was gone
  // Call ids are `<offset + seq>.<index>`: a run with a base counts on from it.
  Seq offset = 0;

  Transcript transcript;
  std::size_t bytes = 0;  // of the transcript's messages
  std::uint32_t turn = 0;
  std::optional<OpenAttempt> attempt;
  std::string asked;                      // the call of the newest attempt
  std::optional<Error> failure;           // of the newest attempt, until somebody decided about it
  std::uint32_t tries = 0;                // failed attempts of this turn on this model, in a row
  std::vector<std::string> passed;        // models that were given up in this turn
  Finish finish = Finish::stop;           // of the newest turn
  std::vector<OpenCall> calls;            // of the newest turn, until all have results
  std::uint32_t unanswered = 0;           // of them
  std::uint32_t undecided = 0;            // neither started nor answered
  bool asks = false;                      // somebody was asked about one of them
  std::vector<OpenCall> code_calls;       // that code made and that have not ended
  std::string text;                       // of the newest turn
  std::string text_before;                // parts of an answer that was cut and goes on
  std::uint32_t continued = 0;            // how often in a row
  std::uint32_t empty_answers = 0;        // in a row
  std::string nudge;                      // what the newest turn wants to be told
  std::optional<Json> output;             // the structured answer
  std::optional<std::string> final_text;  // what code inside the run ended it with
  std::optional<std::string> rewritten;   // the answer, where somebody around the run changed it

  RunCounts counts;
  Spending own;
  Spending subtree;
  Amount used;        // what the budget has to count, own
  Amount used_below;  // and of the runs below, where it was folded to go on
  ContextWindow window;
  std::vector<RawResponse> responses;
  bool drop_reasoning = false;        // a provider has refused what it is sent back
  std::string attempted_model;        // of the newest attempt
  std::string response_id;            // of the newest answer, where the provider named it
  std::string response_model;         // whose it is
  std::size_t response_messages = 0;  // of the transcript, that it covers
  std::vector<ToolCallRecord> tool_calls;
  std::vector<Denial> denials;
  std::vector<PendingApproval> pending;       // that it was parked with, those below it included
  std::vector<std::string> grants;            // patterns that need no approval any more
  std::optional<std::string> paused;          // why, while a steered pause holds
  std::vector<std::string> follow_ups;        // what it is told when it has answered
  std::map<std::string, OpenChild> children;  // by run
  std::vector<OpenChild> done_children;       // of those that nobody awaited
  std::optional<Error> limit;                 // that was reached
  std::optional<Ending> doom;                 // what a call has brought upon the run
  std::optional<std::string> interrupt;       // why code inside the run wants it to pause
  std::vector<std::string> notices;           // that the model was given, by key
  Json memory;                                // what was remembered, an object

  Time started{};
  Time updated{};
  Time segment{};    // when the segment in hand began
  Duration alive{};  // of the segments before it
  std::optional<Ending> ending;

  Duration alive_at(Time now) const { return ending ? alive : alive + (now - segment); }
};

// The code of a context.diagnostic: from here on no reasoning is sent back.
inline constexpr std::string_view kReasoningDropped = "reasoning_dropped";
// The source of a context.injected that brings a follow-up.
inline constexpr std::string_view kFollowUp = "follow_up";

// Takes one record (or live event, which changes nothing) of this run. `invalid` for a record that
// cannot follow what was there: the journal is damaged or of another version.
Result<void> apply(RunState& state, const Event& event);
// Takes a record of a run below this one: what the subtree has spent, and what it was refused.
void apply_below(RunState& state, const Event& event);

// Options as data, `over` on top of `under`, limits one by one.
Json overlaid(Json under, const Json& over);

// What the run has answered so far: the model's words, or what somebody put in their place.
std::string answer_text(const RunState& state);
// The run as it stands.
RunResult result_of(const RunState& state);
RunStatusRecord status_of(const RunState& state);
// What `tug runs` shows of a root.
Json summary_of(const RunState& state);

// A call of the newest turn; null when there is none of that id.
const OpenCall* find_call(const RunState& state, std::string_view id);

// Its own calls that wait for approval.
std::vector<PendingApproval> waiting_calls(const RunState& state);

// Answers the calls that are open with why the run ended; those that have results keep them.
Result<void> close_calls(RunState& state, const Ending& ending);
// The same message with our ids: `seq` is that of the attempt that brought it.
MessagePtr with_call_ids(MessagePtr message, Seq seq);
// What a call was asked with: JSON where it is JSON, else the text the model wrote.
Json arguments_of(const ToolCall& call);
// Whole milliseconds, as records and results have them.
std::int64_t milliseconds(Duration duration) noexcept;
// What a run that reached a limit says.
Error limit_error(const Limit& limit);
// What a model is told about a call that its run will never answer.
std::string closing_reason(const Ending& ending);

}  // namespace tug
