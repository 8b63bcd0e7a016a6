#include "agent/recovery.h"

#include <algorithm>

#include "agent/approvals.h"
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
  // Of a segment that has an end, what is open may run again, or has never begun.
  if (!run.state.was_cut) return;
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

namespace {

void end_left_over(RunTree& tree, RunState& state);

// Ends those below the run, and what is below them. They are among what is left over until they
// have ended, so that whoever is above them hears of it.
template <class Which>
void end_below(RunTree& tree, const RunId& run, Which which) {
  while (true) {
    const auto found = std::ranges::find_if(tree.left_over, [&](const auto& state) {
      return state->who->parent_run_id == run && which(*state);
    });
    if (found == tree.left_over.end()) return;
    RunState* const state = found->get();
    end_left_over(tree, *state);
    std::erase_if(tree.left_over, [&](const auto& other) { return other.get() == state; });
  }
}

// A run below that nobody goes on with ends as a record in its own name, and in its parent's.
void end_left_over(RunTree& tree, RunState& state) {
  const auto emit = [&](Kind kind, Json data) {
    record_left_over(tree, state, kind, std::move(data));
  };
  const bool was_parked = state.ending.has_value();
  if (was_parked) {
    emit(Kind::run_resumed,
         write_json(payload::RunResumed{.epoch = tree.root()->ctx.events().epoch(),
                                        .from_seq = tree.root()->ctx.events().last_seq() + 1}));
  }
  end_below(tree, state.who->run_id, [](const RunState&) { return true; });
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
  const Error error(ErrorKind::disconnected, was_parked ? "what this run worked for is over"
                                                        : "the process ended before this run did");
  RunResult result = result_of(state);
  result.status = RunStatus::failed;
  result.stop = StopReason::error;
  result.error = error;
  result.pending.clear();
  emit(Kind::run_failed,
       write_json(payload::RunEnded{.stop_reason = "error", .result = to_json(result)}));
  RunState* parent = nullptr;
  LiveRun* live = tree.find(state.who->parent_run_id);
  if (live) {
    parent = &live->state;
  } else {
    for (const auto& other : tree.left_over) {
      if (other->who->run_id == state.who->parent_run_id) parent = other.get();
    }
  }
  if (!parent) return;
  const auto found = parent->children.find(state.who->run_id.text());
  if (found == parent->children.end()) return;
  const OpenChild child = found->second;
  payload::Subagent failed{.name = child.name,
                           .child_run_id = child.run.text(),
                           .call_id = child.call.text(),
                           .error = error_data(error)};
  failed.stop_reason = "error";
  if (live) {
    record(*live, Kind::subagent_failed, failed);
  } else {
    record_left_over(tree, *parent, Kind::subagent_failed, write_json(failed));
  }
}

}  // namespace

void close_orphans(LiveRun& run) {
  end_below(run.tree, run.ctx.id().run_id, [&](const RunState& state) {
    const auto child = run.state.children.find(state.who->run_id.text());
    if (child != run.state.children.end() && child->second.background) return false;
    const OpenCall* open = find_call(run.state, state.who->parent_call_id.text());
    return !open || !open->started || open->result;
  });
}

void close_left_over(LiveRun& run, const RunId& child) {
  end_below(run.tree, run.ctx.id().run_id,
            [&](const RunState& state) { return state.who->run_id == child; });
}

void close_left_over(LiveRun& run) {
  end_below(run.tree, run.ctx.id().run_id, [](const RunState&) { return true; });
}

BudgetSnapshot spent_by(const TreeFold& fold) {
  BudgetSnapshot snapshot;
  for (const auto& state : fold.runs()) snapshot.used += state->used;
  const RunState& root = fold.root();
  snapshot.own_used = root.used;
  snapshot.alive = std::max(Duration{}, root.alive_at(root.updated));
  return snapshot;
}

BudgetSnapshot spent_by(const RunState& run, const RunTree& tree) {
  BudgetSnapshot snapshot{.used = run.used_below, .own_used = run.used};
  snapshot.used += run.used;
  const LiveRun& root = *tree.root();
  snapshot.alive = root.ctx.budget().alive(root.ctx.loop().now());
  const Duration lived = std::max(Duration{}, run.alive_at(run.updated));
  snapshot.born = std::max(Duration{}, snapshot.alive - lived);
  return snapshot;
}

}  // namespace tug
