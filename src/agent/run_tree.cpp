#include "agent/run_tree.h"

#include <algorithm>
#include <stdexcept>

#include "tug/core/error_json.h"
#include "tug/journal/journal.h"
#include "tug/tools/batch.h"

namespace tug {

LiveRun::LiveRun(RunTree& tree_of_run, Context context, RunPlanPtr with, RunState folded,
                 Attachment to)
    : tree(tree_of_run),
      ctx(std::move(context)),
      plan(std::move(with)),
      state(std::move(folded)),
      parent(tree.find(ctx.id().parent_run_id)),
      hangs(std::move(to)),
      background(ctx.loop(), ctx.cancel()) {
  tree.runs_.push_back(this);
  tree.by_id_.emplace(ctx.id().run_id.text(), this);
  if (plan->chain) ctx.set_chain(plan->chain);
  if (!parent || !hangs.awaited) return;
  if (hangs.anchor.empty()) {
    ++parent->awaited_elsewhere;
  } else {
    ++parent->attended[hangs.anchor.text()];
  }
}

LiveRun::~LiveRun() {
  if (held) --tree.held_;
  std::erase(tree.runs_, this);
  tree.by_id_.erase(ctx.id().run_id.text());
  if (parent && hangs.awaited) {
    if (hangs.anchor.empty()) {
      --parent->awaited_elsewhere;
    } else if (auto found = parent->attended.find(hangs.anchor.text()); --found->second == 0) {
      parent->attended.erase(found);
    }
  }
  tree.look_later();
}

void LiveRun::wake() noexcept {
  if (std::exchange(held, false)) --tree.held_;
  news.wake_all();
}

bool LiveRun::can_move() const noexcept {
  if (unbegun > 0) return true;
  if (held) return false;
  if (joining && background.running() > 0) return detached > 0 && awaited_elsewhere == 0;
  // A call with a child waits for it, as far as anybody can know.
  if (batch) return batch->running() == 0 || batch->running() > attended.size();
  return awaited_elsewhere == 0;
}

std::shared_ptr<RunTree> RunTree::of(const Context& ctx) {
  if (const TreeSlot* slot = ctx.get<TreeSlot>()) return slot->tree;
  auto tree = std::make_shared<RunTree>();
  ctx.inherit(TreeSlot{tree});
  ctx.inherit(RunControlSlot{tree});
  return tree;
}

void RunTree::stop_with_final(const RunId& run, std::string text) {
  LiveRun* live = find(run);
  if (live && !live->final_wanted) live->final_wanted = std::move(text);
}

void RunTree::interrupt(const RunId& run, std::string reason) {
  LiveRun* live = find(run);
  while (live && live->parent) live = live->parent;
  if (live && !live->pause_wanted) live->pause_wanted = std::move(reason);
}

LiveRun* RunTree::find(const RunId& run) const noexcept {
  const auto found = by_id_.find(run.text());
  return found == by_id_.end() ? nullptr : found->second;
}

namespace {

// The first one that the call ran with these words.
std::unique_ptr<RunState> take_first(std::vector<std::unique_ptr<RunState>>& states,
                                     const RunId& parent, const CallId& call,
                                     const std::string& agent, const std::string& prompt) {
  const auto found = std::ranges::find_if(states, [&](const auto& state) {
    return state->who->parent_run_id == parent && state->who->parent_call_id == call &&
           state->who->agent == agent && state->prompt == prompt;
  });
  if (found == states.end()) return nullptr;
  std::unique_ptr<RunState> taken = std::move(*found);
  states.erase(found);
  return taken;
}

}  // namespace

std::unique_ptr<RunState> RunTree::take_left_over(const RunId& parent, const CallId& call,
                                                  const std::string& agent,
                                                  const std::string& prompt) {
  if (parking_) return nullptr;
  return take_first(left_over, parent, call, agent, prompt);
}

std::unique_ptr<RunState> RunTree::take_done(const RunId& parent, const CallId& call,
                                             const std::string& agent, const std::string& prompt) {
  auto taken = take_first(done, parent, call, agent, prompt);
  return taken && taken->ending->status == RunStatus::completed ? std::move(taken) : nullptr;
}

std::vector<const RunState*> RunTree::left_over_below(const RunState& run) const {
  std::vector<const RunState*> below;
  if (run.children.empty() || left_over.empty()) return below;
  std::unordered_map<std::string_view, const RunState*> left;
  for (const auto& state : left_over) left.emplace(state->who->run_id.text(), state.get());
  std::vector<const RunState*> open{&run};
  while (!open.empty()) {
    const RunState& at = *open.back();
    open.pop_back();
    if (&at != &run) below.push_back(&at);
    for (auto child = at.children.rbegin(); child != at.children.rend(); ++child) {
      const auto found = left.find(child->first);
      if (found != left.end()) open.push_back(found->second);
    }
  }
  return below;
}

bool RunTree::is_left_open(const CallId& call) const noexcept {
  return std::ranges::find(left_open, call) != left_open.end();
}

std::shared_ptr<const std::vector<Json>> RunTree::reserved(const std::string& model) const {
  const auto found = reserved_.find(model);
  if (found == reserved_.end()) return nullptr;
  return found->second;
}

void RunTree::reserve(const std::string& model, Json reservation) {
  if (reservation.is_null()) return;
  auto& list = reserved_[model];
  // Somebody may still read the list as it was.
  if (!list || list.use_count() > 1) {
    list =
        list ? std::make_shared<std::vector<Json>>(*list) : std::make_shared<std::vector<Json>>();
  }
  list->push_back(std::move(reservation));
}

Seq record_data(LiveRun& run, Kind kind, Json data, MessagePtr message, Time ts) {
  RootLog& log = run.ctx.events();
  Event event{.kind = kind,
              .seq = log.last_seq() + 1,
              .turn = run.ctx.id().turn,
              .ts = ts == Time{} ? run.ctx.loop().wall() : ts,
              .who = run.ctx.lineage(),
              .data = std::move(data),
              .message = std::move(message)};
  if (auto applied = apply(run.state, event); !applied) {
    throw std::logic_error(applied.error().message());
  }
  for (LiveRun* above = run.parent; above; above = above->parent) apply_below(above->state, event);
  return log.emit(std::move(event));
}

void record_skipped(LiveRun& run) {
  for (const payload::ModelOverrideSkipped& skipped : run.plan->skipped) {
    record(run, Kind::model_override_skipped, skipped);
  }
  const PlannedModel& first = run.plan->models.front();
  if (!first.deprecated) return;
  record(run, Kind::context_diagnostic,
         payload::ContextDiagnostic{.code = "model_deprecated",
                                    .severity = "warning",
                                    .message = first.id + " is deprecated"});
}

void record_limit(LiveRun& run, const Limit& limit) {
  record(run, Kind::limit_reached,
         payload::LimitReached{.limit = std::string(name_of(limit.kind)),
                               .max = limit.limit,
                               .used = limit.used,
                               .scope = limit.scope});
}

payload::ErrorData error_data(const Error& error) {
  const Json json = to_json(error);
  payload::ErrorData data{.kind = std::string(name_of(error.kind())), .message = error.message()};
  if (const Json* detail = json.find("detail"); detail && !detail->is_null()) {
    data.detail = *detail;
  }
  if (!error.fix().empty()) data.fix = error.fix();
  data.retryable = is_retryable(error);
  return data;
}

}  // namespace tug
