#include "agent/run_state.h"
#include "tug/core/codec.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

constexpr std::size_t kSummaryPrompt = 200;

RunActivity activity_of(Phase phase) {
  switch (phase) {
    case Phase::ready:
      return RunActivity::building_request;
    case Phase::asked:
      return RunActivity::model;
    case Phase::admitting:
    case Phase::running:
      return RunActivity::tools;
    case Phase::parked:
    case Phase::ended:
      return RunActivity::done;
  }
  return RunActivity::done;
}

}  // namespace

RunResult result_of(const RunState& state) {
  RunResult result;
  if (state.who) {
    result.id = state.who->run_id;
    result.root = state.who->root_run_id;
    result.thread = state.who->thread_id;
  }
  result.status = state.ending ? state.ending->status : RunStatus::running;
  if (state.ending) {
    result.stop = state.ending->stop;
    result.error = state.ending->error;
  }
  result.text = answer_text(state);
  if (state.output) result.output = *state.output;
  result.model = state.model;
  result.messages = state.transcript;
  for (const RawResponse& response : state.responses) result.responses.push_back(response.raw);
  result.tool_calls = state.tool_calls;
  result.usage = state.subtree.usage;
  result.cost = state.subtree.cost;
  result.own = state.own;
  result.counts = state.counts;
  result.window = state.window;
  result.duration_ms = milliseconds(state.alive_at(state.updated));
  result.denials = state.denials;
  result.pending = state.ending ? state.pending : waiting_calls(state);
  result.last_seq = state.last_seq;
  return result;
}

RunStatusRecord status_of(const RunState& state) {
  RunStatusRecord record;
  if (!state.who) return record;
  record.id = state.who->run_id;
  record.parent = state.who->parent_run_id;
  record.agent = state.who->agent;
  record.status = state.ending ? state.ending->status : RunStatus::running;
  record.activity = activity_of(state.phase);
  record.turn = state.turn;
  record.counts = state.counts;
  record.usage = state.subtree.usage;
  record.started = state.started;
  record.updated = state.updated;
  return record;
}

Json summary_of(const RunState& state) {
  Json summary =
      Json::object({{"prompt", clip_utf8(state.prompt, kSummaryPrompt)}, {"model", state.model}});
  if (!state.ending) return summary;
  summary.set("stop_reason", name_of(state.ending->stop));
  summary.set("model_calls", state.counts.model_calls);
  summary.set("tool_calls", state.counts.tool_calls);
  summary.set("usage", JsonForm<Usage>::write(state.subtree.usage));
  summary.set("cost", JsonForm<Cost>::write(state.subtree.cost));
  return summary;
}

}  // namespace tug
