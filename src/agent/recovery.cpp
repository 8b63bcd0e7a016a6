#include "agent/recovery.h"

#include <algorithm>

#include "tug/journal/journal.h"

namespace tug {
namespace {

Json amount_json(const Amount& amount) {
  return Json::object({{"model_calls", amount.model_calls},
                       {"tool_calls", amount.tool_calls},
                       {"tokens", amount.tokens},
                       {"cost", amount.cost}});
}

payload::ModelFailed lost_attempt(const OpenAttempt& open) {
  const Error error(ErrorKind::disconnected, "the process ended before the answer came", "",
                    OutcomeUnknown{"model call " + open.call});
  return {.call = open.call,
          .attempt = open.attempt,
          .error = error_data(error),
          .spent = amount_json(open.held)};
}

payload::ToolEnded lost_call(const OpenCall& open, std::uint32_t index) {
  payload::ToolEnded ended{
      .call_id = open.call.id.text(),
      .tool = open.call.tool,
      .index = index,
      .ok = false,
      .output =
          "The process ended while this call ran. It may have happened or not: look before "
          "you call it again."};
  ended.error_type = "OutcomeUnknown";
  ended.metadata = Json::object({{"error_type", "OutcomeUnknown"}});
  ended.duration_ms = 0;
  return ended;
}

bool may_run_again(const Tool* tool) {
  if (!tool) return false;
  return tool->spec().effect == Effect::pure || tool->spec().effect == Effect::idempotent;
}

// Whoever made them is gone, and makes them again if it runs again.
void close_code_calls(LiveRun& run) {
  const std::vector<OpenCall> calls = run.state.code_calls;
  for (const OpenCall& open : calls) record(run, Kind::tool_outcome_unknown, lost_call(open, 0));
}

}  // namespace

void close_lost_acts(LiveRun& run) {
  if (run.state.attempt) {
    const payload::ModelFailed lost = lost_attempt(*run.state.attempt);
    record(run, Kind::model_failed, lost);
    run.ctx.events().drop_partial(CallId(lost.call));
  }
  close_code_calls(run);
  const std::vector<OpenCall> calls = run.state.calls;
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    if (!calls[i].started || calls[i].result) continue;
    if (may_run_again(run.plan->tools.find(calls[i].call.tool))) continue;
    record(run, Kind::tool_outcome_unknown, lost_call(calls[i], i));
  }
}

void close_started_calls(LiveRun& run) {
  close_code_calls(run);
  const std::vector<OpenCall> calls = run.state.calls;
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    if (!calls[i].started || calls[i].result) continue;
    record(run, Kind::tool_outcome_unknown, lost_call(calls[i], i));
  }
}

void close_lost_children(RootLog& log, Loop& loop, const TreeFold& fold) {
  for (std::size_t i = fold.runs().size(); i-- > 1;) {
    RunState& state = *fold.runs()[i];
    if (state.ending) continue;
    auto emit = [&](Kind kind, Json data) {
      Event event{.kind = kind,
                  .seq = log.last_seq() + 1,
                  .turn = state.turn,
                  .ts = loop.wall(),
                  .who = state.who,
                  .data = std::move(data)};
      (void)apply(state, event);
      log.emit(std::move(event));
    };
    if (state.attempt) emit(Kind::model_failed, write_json(lost_attempt(*state.attempt)));
    const std::vector<OpenCall> code_calls = state.code_calls;
    for (const OpenCall& open : code_calls) {
      emit(Kind::tool_outcome_unknown, write_json(lost_call(open, 0)));
    }
    const std::vector<OpenCall> calls = state.calls;
    for (std::uint32_t place = 0; place < calls.size(); ++place) {
      if (!calls[place].started || calls[place].result) continue;
      emit(Kind::tool_outcome_unknown, write_json(lost_call(calls[place], place)));
    }
    RunResult result = result_of(state);
    result.status = RunStatus::failed;
    result.stop = StopReason::error;
    result.error = Error(ErrorKind::disconnected, "the process ended before this run did");
    emit(Kind::run_failed,
         write_json(payload::RunEnded{.stop_reason = "error", .result = to_json(result)}));
  }
}

BudgetSnapshot spent_by(const TreeFold& fold) {
  BudgetSnapshot snapshot;
  for (const auto& state : fold.runs()) snapshot.used += state->used;
  const RunState& root = fold.root();
  snapshot.own_used = root.used;
  snapshot.alive = std::max(Duration{}, root.alive_at(root.updated));
  return snapshot;
}

}  // namespace tug
