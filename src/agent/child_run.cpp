// Runs below others: how they begin, hang together with their parents, and end.
#include <algorithm>

#include "agent/approvals.h"
#include "agent/beginning.h"
#include "agent/harness_core.h"
#include "agent/holding.h"
#include "agent/recovery.h"
#include "agent/run.h"
#include "core/try.h"
#include "tug/io/engine.h"

namespace tug::detail {
namespace {

// The call of the run's turn that the context works for; empty when there is none.
CallId anchor_of(const Context& ctx, const LiveRun& parent) {
  CallId outer;
  ConstContext at = ctx.has_other_target() ? ConstContext(ctx.target()) : ConstContext(ctx);
  while (at && at.kind() != NodeKind::run) {
    if (!at.id().call_id.empty()) outer = at.id().call_id;
    at = at.parent();
  }
  const OpenCall* open = find_call(parent.state, outer.text());
  return open && open->started && !open->result && parent.batch ? outer : CallId();
}

bool may_run_again(const LiveRun& parent, const CallId& call) {
  const OpenCall* open = find_call(parent.state, call.text());
  const Tool* tool = open ? parent.plan->tools.find(open->call.tool) : nullptr;
  return tool && (tool->spec().effect == Effect::pure || tool->spec().effect == Effect::idempotent);
}

Attachment attach(const Context& ctx, const LiveRun* parent, const LaunchBelow& launch) {
  Attachment hangs;
  if (launch.agent) hangs.steering = launch.agent->config.steering;
  if (!parent) return hangs;
  hangs.awaited = !launch.background;
  if (launch.background) {
    hangs.resumable = launch.agent != nullptr;
    return hangs;
  }
  hangs.anchor = anchor_of(ctx, *parent);
  hangs.resumable = !hangs.anchor.empty() && hangs.anchor == ctx.id().call_id &&
                    may_run_again(*parent, hangs.anchor);
  return hangs;
}

// Where the agent says what its caller did not.
RunOptions told_to_child(const LaunchBelow& launch) {
  RunOptions options = launch.options;
  if (!launch.agent) return options;
  options.agent = launch.agent->name;
  RunLimits& limits = options.limits;
  const RunLimits& own = launch.agent->config.limits;
  if (!limits.max_turns) limits.max_turns = own.max_turns;
  if (!limits.max_tool_calls) limits.max_tool_calls = own.max_tool_calls;
  if (!limits.max_tokens) limits.max_tokens = own.max_tokens;
  if (!limits.max_cost) limits.max_cost = own.max_cost;
  if (!limits.max_time) limits.max_time = own.max_time;
  if (!limits.max_depth) limits.max_depth = own.max_depth;
  return options;
}

Json agent_value(const LaunchBelow& launch, const std::string& name, const RunId& child,
                 const RunId& parent) {
  Json value = Json::object({{"name", name},
                             {"topic", launch.prompt},
                             {"context_id", child.text()},
                             {"ancestor_context_id", parent.text()}});
  if (launch.agent) value.set("tool_mode", launch.agent->config.tools ? "exact" : "inherit");
  return value;
}

payload::Subagent told_of(const LiveRun& run) {
  return {.name = run.ctx.id().agent,
          .child_run_id = run.ctx.id().run_id.text(),
          .call_id = run.ctx.id().parent_call_id.text()};
}

void start_records(LiveRun& run, LaunchBelow& launch, const RunOptions& options,
                   const std::string& workspace) {
  if (run.parent) {
    payload::Subagent started = told_of(run);
    if (launch.background) started.background = true;
    record(*run.parent, Kind::subagent_started, started);
    if (launch.session_turn > 0) {
      record(*run.parent, Kind::subagent_reused,
             payload::SubagentReused{.name = started.name,
                                     .child_run_id = started.child_run_id,
                                     .turn = launch.session_turn});
    }
  }
  payload::RunStarted first = started(run, launch.prompt, options, workspace);
  first.base = launch.base;
  record(run, Kind::run_started, first, Message::user(launch.prompt));
  record_skipped(run);
}

void go_on_records(LiveRun& run) {
  RootLog& log = run.ctx.events();
  run.ctx.set_turn(run.state.turn);
  run.ctx.set_resumed(run.state.memory);
  payload::RunResumed resumed{.epoch = log.epoch(), .from_seq = log.last_seq() + 1};
  if (run.plan->model_id() != run.state.model && !run.plan->find(run.state.model)) {
    resumed.model = run.plan->model_id();
  }
  if (run.tree.keeps_pause) resumed.keeps_pause = true;
  record(run, Kind::run_resumed, resumed);
  close_lost_acts(run);
  close_orphans(run);
  check_asked_again(run);
}

// The child that the call began before it was run again; null when there is none.
std::shared_ptr<RunShared> begun_before(LiveRun& owner, const CallId& call,
                                        const std::string& agent, const std::string& prompt) {
  if (call.empty()) return nullptr;
  for (BackgroundRun& run : owner.background_runs) {
    if (run.begun_by != call || run.agent != agent || run.prompt != prompt) continue;
    run.begun_by = {};
    return run.shared;
  }
  return nullptr;
}

// What its parent has to know of a segment that is over.
void tell_parent(LiveRun& run) {
  const Ending& ending = *run.state.ending;
  if (ending.status == RunStatus::parked) {
    if (!run.hangs.anchor.empty()) run.tree.left_open.push_back(run.hangs.anchor);
    return;
  }
  if (!run.parent || run.parent->state.ending) return;
  payload::Subagent ended = told_of(run);
  ended.stop_reason = std::string(name_of(ending.stop));
  if (ending.error) ended.error = error_data(*ending.error);
  const bool well = ending.status == RunStatus::completed;
  record(*run.parent, well ? Kind::subagent_completed : Kind::subagent_failed, ended);
}

}  // namespace

// What a call that is made again has been told already.
std::unique_ptr<RunResult> HarnessCore::answered_before(const Context& ctx,
                                                        const LaunchBelow& launch) const {
  RunTree& tree = *RunTree::of(ctx);
  if (tree.done.empty() || ctx.id().call_id.empty()) return nullptr;
  const auto done =
      tree.take_done(ctx.id().run_id, ctx.id().call_id,
                     launch.agent ? launch.agent->name : agent_of(launch.options), launch.prompt);
  return done ? std::make_unique<RunResult>(result_of(*done)) : nullptr;
}

Result<std::unique_ptr<LiveRun>> HarnessCore::begin_below(const Context& ctx, LaunchBelow& launch) {
  if (auto wrong = fault()) return Failure(*std::move(wrong));
  TUG_TRY(said, check_prompt(launch.prompt));
  TUG_TRY(named, check_ids(launch.options));
  auto tree = RunTree::of(ctx);
  LiveRun* parent = tree->find(ctx.id().run_id);
  RunOptions options = told_to_child(launch);
  const std::string agent = agent_of(options);
  CallId call = ctx.id().call_id;
  if (!launch.left_over) {
    launch.left_over = tree->take_left_over(ctx.id().run_id, call, agent, launch.prompt);
  }
  if (launch.left_over) {
    TUG_TRY(taken, merged(launch.left_over->options, options));
    options = taken;
    call = launch.left_over->who->parent_call_id;
  }
  const InheritedMiddleware* inherited = ctx.get<InheritedMiddleware>();
  const RunPlanPtr caller = parent ? parent->plan : nullptr;
  auto planned = launch.agent ? plan(*launch.agent, launch.options, inherited, caller)
                              : plan(launch.options, inherited, caller.get());
  if (!planned) return Failure(planned.error());
  TUG_TRY(limits, limits_of(options));
  TUG_TRY(priced, check_price(limits, **planned));
  RunId id(launch.options.run_id);
  if (launch.left_over) id = launch.left_over->who->run_id;
  if (id.empty()) id = RunId(ctx.services().ids().next(ctx.loop().wall()));
  ChildSpec spec{.kind = NodeKind::run,
                 .call = call,
                 .run_id = id,
                 .thread_id = ThreadId(options.thread_id),
                 .agent = agent,
                 .defaults = default_limits(),
                 .limits = limits};
  furnish(spec, options);
  if (launch.background && parent) spec.cancel = parent->background.token();
  spec.inherit.values =
      Json::object({{kAgentKey, agent_value(launch, agent, id, ctx.id().run_id)}});
  if (launch.left_over) {
    spec.thread_id = launch.left_over->who->thread_id;
    spec.restored = spent_by(*launch.left_over, *tree);
  }
  TUG_TRY(child, ctx.child(std::move(spec)));
  link_caller(child, launch.options);

  Attachment hangs = attach(ctx, parent, launch);
  RunState state;
  const bool goes_on = launch.left_over != nullptr;
  if (goes_on) {
    state = std::move(*launch.left_over);
  } else {
    if (launch.fork && parent) {
      RootLog& log = ctx.events();
      launch.history = history_of(parent->state);
      launch.base = payload::Base{.root = ctx.id().root_run_id.text(),
                                  .seq = log.last_seq(),
                                  .hash = log.last_hash().hex(),
                                  .run = ctx.id().run_id.text()};
    }
    const Seq offset = tree->root() ? tree->root()->state.offset : 0;
    state.transcript = std::move(launch.history.transcript);
    state.bytes = launch.history.bytes;
    state.offset = std::max(launch.history.offset, offset);
  }
  auto run = std::make_unique<LiveRun>(*tree, child, *planned, std::move(state), std::move(hangs));
  child.events().keep_blob({(*planned)->digest, (*planned)->constants});
  if (goes_on) {
    go_on_records(*run);
  } else {
    options.run_id.clear();
    start_records(*run, launch, options, options_.root);
  }
  return run;
}

// A run below another, under way, and who watches it.
struct HarnessCore::BelowRun {
  std::unique_ptr<LiveRun> run;
  std::shared_ptr<RunShared> shared;  // null when nobody holds a handle
  std::vector<std::shared_ptr<Sink>> observers;
};

HarnessCore::BelowResult HarnessCore::begin_driving(const Context& ctx,
                                                    std::unique_ptr<LaunchBelow> launch,
                                                    std::shared_ptr<RunShared> shared) {
  auto begun = begin_below(ctx, *launch);
  if (!begun) {
    if (launch->left_over) RunTree::of(ctx)->left_over.push_back(std::move(launch->left_over));
    return {nullptr, std::make_unique<RunResult>(failed_result(begun.error()))};
  }
  auto below = std::make_unique<BelowRun>();
  below->run = *std::move(begun);
  below->shared = std::move(shared);
  LiveRun& run = *below->run;
  for (const auto& observer : launch->options.observers) {
    below->observers.push_back(only_below(run.ctx.id().run_id, observer));
    run.ctx.events().observe(below->observers.back());
  }
  if (below->shared) {
    below->shared->begin(run);
    below->shared->hear_early();
  }
  restart_background(run);
  return {std::move(below), nullptr};
}

std::unique_ptr<RunResult> HarnessCore::end_driving(BelowRun& below) {
  LiveRun& run = *below.run;
  tell_parent(run);
  for (const auto& observer : below.observers) run.ctx.events().forget(*observer);
  auto result = std::make_unique<RunResult>(result_of(run.state));
  // Whoever holds a handle that was asked for underway hears of the end, too.
  if (auto other = run.shared.lock()) {
    other->retire();
    if (other != below.shared) other->end(*result);
  }
  if (result->status == RunStatus::parked) {
    RunTree& tree = run.tree;
    auto state = std::make_unique<RunState>(std::move(run.state));
    below.run.reset();
    tree.left_over.push_back(std::move(state));
  }
  return result;
}

// While it is driven only a small frame and the run itself are there: a parent may have thousands.
Task<std::unique_ptr<RunResult>> HarnessCore::drive_below(std::shared_ptr<RunShared> shared,
                                                          Context ctx,
                                                          std::unique_ptr<LaunchBelow> launch) {
  BelowResult begun = begin_driving(ctx, std::move(launch), std::move(shared));
  if (!begun.run) co_return std::move(begun.failed);
  auto driving = drive(*begun.run->run);
  co_await std::move(driving);
  co_return end_driving(*begun.run);
}

void HarnessCore::restart_background(LiveRun& run) {
  for (const OpenChild& child : run.state.done_children) {
    const auto found = std::ranges::find_if(
        run.tree.done, [&](const auto& state) { return state->who->run_id == child.run; });
    if (found == run.tree.done.end()) continue;
    auto shared = make_shared_below(run.ctx, child.run);
    shared->end(result_of(**found));
    run.background_runs.push_back({child.name, std::move(shared), child.call, (*found)->prompt});
  }
  const std::map<std::string, OpenChild> children = run.state.children;
  for (const auto& [id, child] : children) {
    if (!child.background) continue;
    auto& left = run.tree.left_over;
    const auto found = std::ranges::find_if(
        left, [&](const auto& state) { return state->who->run_id == child.run; });
    if (found == left.end()) continue;
    AgentCorePtr agent = find_agent_below(child.name);
    if (!agent) {
      close_left_over(run, child.run);
      continue;
    }
    LaunchBelow launch{.prompt = (*found)->prompt, .agent = std::move(agent), .background = true};
    launch.left_over = std::move(*found);
    left.erase(found);
    auto shared = make_shared_below(run.ctx, child.run);
    shared->belongs_to(run, child.call);
    run.background_runs.push_back({child.name, shared, child.call, launch.prompt});
    ++run.unbegun;
    run.background.spawn(run_background(std::move(shared), run.ctx,
                                        std::make_unique<LaunchBelow>(std::move(launch))));
  }
}

// A run below a context: its journal is another's.
std::shared_ptr<RunShared> HarnessCore::make_shared_below(const Context& ctx, const RunId& id) {
  auto engine = ctx.services().share<Engine>();
  auto shared = std::make_shared<RunShared>(id, engine ? engine : engine_, ctx.loop(), nullptr);
  return shared;
}

Run HarnessCore::start_below(const Context& ctx, LaunchBelow launch) {
  LiveRun* owner = RunTree::of(ctx)->find(ctx.id().run_id);
  const std::string name = launch.agent ? launch.agent->name : agent_of(launch.options);
  if (auto begun = owner ? begun_before(*owner, ctx.id().call_id, name, launch.prompt) : nullptr) {
    return RunHandle::make(std::move(begun));
  }
  if (launch.options.run_id.empty()) {
    launch.options.run_id = ctx.services().ids().next(ctx.loop().wall());
  }
  auto shared = make_shared_below(ctx, RunId(launch.options.run_id));
  if (!launch.agent) shared->keep_events();
  remember(shared);
  launch.background = true;
  if (owner) {
    shared->belongs_to(*owner, ctx.id().call_id);
    owner->background_runs.push_back({name, shared, {}, {}});
    ++owner->unbegun;
    owner->background.spawn(
        run_background(shared, ctx, std::make_unique<LaunchBelow>(std::move(launch))));
  } else {
    shared->end(failed_result(Error(ErrorKind::invalid,
                                    "this context belongs to no run that could own a child",
                                    "use run_async, which the caller awaits")));
  }
  return RunHandle::make(std::move(shared));
}

Task<void> HarnessCore::run_background(std::shared_ptr<RunShared> shared, Context ctx,
                                       std::unique_ptr<LaunchBelow> launch) {
  if (LiveRun* owner = RunTree::of(ctx)->find(ctx.id().run_id)) {
    --owner->unbegun;
    owner->tree.look_later();
  }
  auto driving = drive_below(shared, std::move(ctx), std::move(launch));
  const std::unique_ptr<RunResult> result = co_await std::move(driving);
  if (shared) shared->end(std::move(*result));
}

Task<std::unique_ptr<RunResult>> HarnessCore::run_below(Context ctx,
                                                        std::unique_ptr<LaunchBelow> launch) {
  if (auto answered = answered_before(ctx, *launch)) co_return std::move(answered);
  std::shared_ptr<RunShared> shared;
  if (RunTree::of(ctx)->owner != this) {
    // Closing this harness does not end the root: its runs are ended one by one.
    if (launch->options.run_id.empty()) {
      launch->options.run_id = ctx.services().ids().next(ctx.loop().wall());
    }
    shared = make_shared_below(ctx, RunId(launch->options.run_id));
    remember(shared);
  }
  auto driving = drive_below(shared, std::move(ctx), std::move(launch));
  std::unique_ptr<RunResult> result = co_await std::move(driving);
  if (shared) shared->end(*result);
  co_return result;
}

}  // namespace tug::detail
