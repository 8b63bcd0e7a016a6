#include "agent/decide.h"

#include "agent/admission.h"
#include "agent/turn.h"

namespace tug {
namespace {

constexpr std::string_view kCallFinalResult =
    "Answer by calling final_result, exactly once and with nothing beside it.";

// The turn in hand, looked at.
struct Turn {
  TurnFacts facts;
  std::optional<Result<Json>> answer;  // where there is a schema
  std::optional<CallId> final_call;    // the only call of final_result
};

bool answers_by_call(const RunPlan& plan) { return plan.output && plan.output->tool; }

Result<Json> text_instead_of_call() {
  return fail(ErrorKind::invalid, std::string(kCallFinalResult));
}

Turn look_at(const LiveRun& run) {
  const RunState& state = run.state;
  Turn turn;
  turn.facts = {.finish = state.finish,
                .text = state.empty_answers == 0,
                .nudge = !state.nudge.empty(),
                .may_correct = state.counts.output_retries < run.plan->output_retries,
                .continued = state.continued,
                .empty_before = state.empty_answers == 0 ? 0 : state.empty_answers - 1};
  const ToolCall* final_call = nullptr;
  // All of them, those that are decided too: what the turn means does not change underway.
  for (const OpenCall& open : state.calls) {
    if (answers_by_call(*run.plan) && open.call.tool == kFinalResult) {
      ++turn.facts.finals;
      final_call = &open.call;
    } else {
      turn.facts.calls = true;
    }
  }
  if (!run.plan->output || turn.facts.calls || turn.facts.finals > 1) return turn;
  if (final_call) {
    turn.final_call = final_call->id;
    const std::string& given = final_call->arguments;
    const bool blank = given.find_first_not_of(" \t\r\n") == std::string::npos;
    turn.answer = read_answer(*run.plan->output, blank ? "{}" : given);
  } else if (answers_by_call(*run.plan)) {
    turn.answer = text_instead_of_call();
  } else {
    turn.answer = read_answer(*run.plan->output, state.text_before + state.text);
  }
  turn.facts.answer = *turn.answer ? Answer::fits : Answer::misfit;
  return turn;
}

// A correction costs a model call.
Result<void> check_can_ask(const LiveRun& run) {
  auto hold = run.ctx.budget().hold({.model_calls = 1});
  if (!hold) return Failure(hold.error());
  hold->release();
  return {};
}

struct Decide {
  LiveRun& run;
  const Turn& turn;

  std::optional<Ending> operator()(const next::Finish& finish) const {
    if (finish.cut) {
      record(run, Kind::context_diagnostic,
             payload::ContextDiagnostic{.code = "answer_cut",
                                        .severity = "warning",
                                        .message = "the answer was cut by length three times and "
                                                   "is not complete"});
    }
    if (turn.answer) {
      payload::OutputAccepted accepted{.output = **turn.answer};
      if (turn.final_call) accepted.call_id = turn.final_call->text();
      record(run, Kind::output_accepted, accepted);
    }
    if (tell_follow_up(run)) return std::nullopt;
    return Ending{RunStatus::completed, StopReason::end_turn, std::nullopt};
  }
  std::optional<Ending> operator()(next::CallTools) const {
    admit(run);
    return std::nullopt;
  }
  std::optional<Ending> operator()(const next::Correct& correct) const {
    using What = next::Correct::What;
    switch (correct.what) {
      case What::cut_calls:
        refuse_cut_calls(run);
        break;
      case What::cut_text:
        again("length", run.state.continued + 1, "the answer was cut by length",
              "Your answer was cut. Go on exactly where it stopped; repeat nothing.");
        break;
      case What::empty:
        again("empty", run.state.empty_answers, "the answer was empty", {});
        break;
      case What::nudge:
        again("nudge", 1, "the model is not done", run.state.nudge);
        break;
      case What::output:
        return correct_output();
    }
    return std::nullopt;
  }
  // A turn that paused never gets here: applying it made the run ready again.
  std::optional<Ending> operator()(next::Pause) const { return std::nullopt; }
  std::optional<Ending> operator()(const next::Unexpected& unexpected) const {
    std::string why(unexpected.why);
    const bool misfit = unexpected.stop == StopReason::output_validation_failed;
    if (misfit && turn.answer && !*turn.answer) why += ": " + turn.answer->error().message();
    return Ending{RunStatus::failed, unexpected.stop,
                  Error(misfit ? ErrorKind::invalid : ErrorKind::internal, std::move(why),
                        misfit ? "raise output_retries, or ask another model"
                               : "ask again, or ask another model")};
  }

 private:
  void again(std::string reason, std::uint32_t attempt, std::string error, std::string told) const {
    payload::OutputRetry retry{
        .attempt = attempt, .error = std::move(error), .reason = std::move(reason)};
    record(run, Kind::output_retry, retry, told.empty() ? nullptr : Message::user(std::move(told)));
  }

  std::optional<Ending> correct_output() const {
    const Result<void> can_ask = check_can_ask(run);
    const std::string& wrong = turn.answer->error().message();
    payload::OutputRetry retry{
        .attempt = static_cast<std::uint32_t>(run.state.counts.output_retries) + 1,
        .error = wrong,
        .reason = can_ask ? "schema" : "limit"};
    if (turn.final_call) {
      retry.call_id = turn.final_call->text();
      record(run, Kind::output_retry, retry);
    } else {
      record(run, Kind::output_retry, retry,
             Message::user("Your answer cannot be taken: " + wrong +
                           "\nGive it again, corrected and complete."));
    }
    if (can_ask) return std::nullopt;
    // The model is not asked any more, and whoever goes on with the run begins with the correction.
    record_limit(run, *can_ask.error().detail_if<Limit>());
    return Ending{RunStatus::completed, StopReason::limit_reached, run.state.limit};
  }
};

}  // namespace

bool tell_follow_up(LiveRun& run) {
  if (run.state.follow_ups.empty()) return false;
  record(run, Kind::context_injected, payload::ContextInjected{.source = std::string(kFollowUp)},
         Message::user(run.state.follow_ups.front()));
  return true;
}

std::optional<Ending> decide(LiveRun& run) {
  const Turn turn = look_at(run);
  return std::visit(Decide{run, turn}, resolve(turn.facts));
}

}  // namespace tug
