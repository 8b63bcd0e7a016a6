// How runs begin, go on and end: the part between a harness and the loop.
#include <algorithm>

#include "agent/attempt.h"
#include "agent/harness_core.h"
#include "agent/recovery.h"
#include "agent/run.h"
#include "core/try.h"
#include "tug/core/codec.h"
#include "tug/core/stop_link.h"
#include "tug/core/utf8.h"

namespace tug::detail {
namespace {

// Handing a result over waits for the disk, but not for ever.
constexpr Duration kCloseTime = std::chrono::seconds(30);

RootStatus root_status(RunStatus status) {
  switch (status) {
    case RunStatus::pending:
      return RootStatus::pending;
    case RunStatus::running:
      return RootStatus::running;
    case RunStatus::parked:
      return RootStatus::parked;
    case RunStatus::completed:
      return RootStatus::completed;
    case RunStatus::failed:
      return RootStatus::failed;
    case RunStatus::cancelled:
      return RootStatus::cancelled;
  }
  return RootStatus::failed;
}

// What a run adds to the contexts below it.
void furnish(ChildSpec& run, const RunOptions& options) {
  run.tags = options.tags;
  run.metadata = options.metadata;
  run.inherit.tags = options.inherited_tags;
  run.inherit.metadata = options.inherited_metadata;
  run.inherit.configurable = options.configurable;
}

Result<void> check_prompt(const std::string& prompt) {
  if (prompt.find_first_not_of(" \t\r\n") != std::string::npos) return {};
  return fail(ErrorKind::invalid, "the prompt is empty", "say what is to be done");
}

// A run of its own words, or one that has something left to answer.
Result<void> check_has_more(const RunId& root, const Transcript& transcript) {
  if (!transcript.empty() && transcript.back()->role() != Role::assistant) return {};
  return fail(ErrorKind::invalid, "run " + root.text() + " has nothing left to do",
              "say what comes next: give a prompt");
}

constexpr std::size_t kMaxIdBytes = 256;

// An id is shown to people and stands in file names of others: no control bytes, no novels.
Result<void> check_id(const std::string& id, std::string_view field) {
  const bool plain = is_utf8(id) && std::ranges::none_of(
                                        id, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (plain && id.size() <= kMaxIdBytes) return {};
  return fail(ErrorKind::invalid,
              std::string(field) + ": expected at most " + std::to_string(kMaxIdBytes) +
                  " bytes of UTF-8 without control characters",
              "leave it out for a new one");
}

Result<void> check_ids(const RunOptions& options) {
  TUG_TRY(run, check_id(options.run_id, "run_id"));
  TUG_TRY(thread, check_id(options.thread_id, "thread_id"));
  return check_id(options.agent, "agent");
}

// A limit on cost that nothing could ever enforce.
Result<void> check_price(const Limits& limits, const RunPlan& plan) {
  if (!limits.cost || limits.tokens) return {};
  for (const PlannedModel& planned : plan.models) {
    if (!planned.model) continue;
    const auto& price = planned.model->profile().price;
    if (price && price->input && price->output) continue;
    return fail(ErrorKind::invalid,
                "max_cost is set, and what " + planned.id + " costs is not known",
                "give the model a price in [[models]], or set max_tokens too");
  }
  return {};
}

// What holds for the next segments too, without what the lineage or another field says already.
Json lasting(RunOptions options) {
  options.run_id.clear();
  options.thread_id.clear();
  options.agent.clear();
  options.model.clear();
  options.interactive = false;
  return to_json(options);
}

payload::RunStarted started(const LiveRun& run, const std::string& prompt, RunOptions options,
                            const std::string& workspace) {
  payload::RunStarted data{
      .prompt = prompt, .model = run.plan->model_id(), .constants = run.plan->digest.hex()};
  if (run.plan->chain) {
    data.middleware.emplace();
    for (const MiddlewareLink& link : *run.plan->chain) {
      data.middleware->push_back({link.name, link.source});
    }
  }
  if (!workspace.empty()) data.root = workspace;
  if (options.limits != RunLimits{}) data.limits = write_json(options.limits);
  options.limits = {};
  Json rest = lasting(std::move(options));
  if (!rest.empty()) data.options = std::move(rest);
  return data;
}

// Out of line: what it builds does not belong into the frame of a coroutine that waits.
[[gnu::noinline]] void fail_run(RunShared& shared, Error error) {
  shared.end(failed_result(std::move(error)));
}

// What a caller hands to a run beside its data, wherever the run hangs.
void link_caller(const Context& ctx, const RunOptions& options) {
  if (!options.inherited_middleware.empty()) {
    InheritedMiddleware all;
    if (const auto* above = ctx.get<InheritedMiddleware>()) all = *above;
    all.list.insert(all.list.end(), options.inherited_middleware.begin(),
                    options.inherited_middleware.end());
    ctx.inherit(std::move(all));
  }
  for (const auto& [type, value] : options.values) ctx.inherit(type, value);
  if (options.cancel.stop_possible()) link(ctx.cancel(), options.cancel, ctx.loop());
}

}  // namespace

struct HarnessCore::Opened {
  std::shared_ptr<RootLog> log;
  Context ctx;
  RunPlanPtr plan;
  RunState state;
  RunOptions options;
  std::optional<Base> base;
  std::optional<TreeFold> fold;  // of a root that goes on under its own id
};

Result<Context> HarnessCore::root_context(std::shared_ptr<RootLog> log, const RunOptions& options,
                                          std::optional<BudgetSnapshot> restored, Loop& loop) {
  TUG_TRY(limits, limits_of(options));
  RootSpec spec{.services = services_,
                .loop = &loop,
                .log = std::move(log),
                .interactive = options.interactive};
  furnish(spec.run, options);
  spec.run.limits = limits;
  spec.run.defaults = default_limits();
  spec.run.restored = std::move(restored);
  TUG_TRY(ctx, Context::root(std::move(spec)));
  link_caller(ctx, options);
  return ctx;
}

// What a run that goes on is told besides what it was told before.
Result<RunOptions> HarnessCore::taken_up(const RunState& state, const RunOptions& given) {
  TUG_TRY(options, merged(state.options, given));
  options.interactive = given.interactive;
  if (options.model.empty() && models_->find(state.model)) options.model = state.model;
  return options;
}

struct HarnessCore::RootRun {
  RootRun(std::shared_ptr<RootLog> with, std::shared_ptr<RunTree> of,
          std::unique_ptr<Opened> opened)
      : log(std::move(with)),
        tree(std::move(of)),
        run(*tree, std::move(opened->ctx), std::move(opened->plan), std::move(opened->state)) {}

  std::shared_ptr<RootLog> log;
  std::shared_ptr<RunTree> tree;
  LiveRun run;
};

Task<Result<std::unique_ptr<HarnessCore::Opened>>> HarnessCore::open_fresh(RunId id,
                                                                           Launch& launch) {
  Loop& loop = co_await this_loop();
  auto made = std::make_unique<Opened>();
  Opened& opened = *made;
  opened.options = launch.options;
  History history;
  ThreadId thread(launch.options.thread_id);
  if (launch.kind == Launch::Kind::fresh) {
    TUG_CO_TRY(said, check_prompt(launch.prompt));
  } else {
    const Seq upto = launch.at ? launch.at : ~Seq{0};
    auto folding = engine_->offload(
        "folding a base",
        [store = store_, from = launch.from, upto](std::stop_token) -> Result<TreeFold> {
          TUG_TRY(all, fold_tree(*store, from, upto));
          // Back to where nothing was open.
          return fold_tree(*store, from, all.quiet_seq());
        },
        {});
    TUG_CO_TRY(fold, co_await std::move(folding));
    if (fold.empty()) {
      co_return fail(ErrorKind::invalid,
                     "run " + launch.from.text() + " has no record before " +
                         std::to_string(launch.at) + " to go on from",
                     "`tug show --events` lists its records");
    }
    const RunState& root = fold.root();
    if (launch.prompt.empty()) {
      TUG_CO_TRY(more, check_has_more(launch.from, root.transcript));
    }
    TUG_CO_TRY(options, taken_up(root, launch.options));
    opened.options = options;
    auto linking = journal_->base_at(launch.from, fold.quiet_seq());
    TUG_CO_TRY(base, co_await std::move(linking));
    opened.base = base;
    history = {root.transcript, root.bytes, root.offset + base.seq};
    if (thread.empty() && launch.kind == Launch::Kind::follow) thread = root.who->thread_id;
  }
  TUG_CO_TRY(named, check_ids(opened.options));
  TUG_CO_TRY(plan, this->plan(opened.options));
  TUG_CO_TRY(limits, limits_of(opened.options));
  TUG_CO_TRY(priced, check_price(limits, *plan));
  opened.plan = plan;
  if (thread.empty()) thread = ThreadId(services_->ids().next(loop.wall()));
  auto who = std::make_shared<const Lineage>(Lineage{
      .run_id = id, .thread_id = thread, .root_run_id = id, .agent = agent_of(opened.options)});
  opened.state.transcript = history.transcript;
  opened.state.bytes = history.bytes;
  opened.state.offset = history.offset;
  auto creating = journal_->create({.who = who, .base = opened.base});
  TUG_CO_TRY(log, co_await std::move(creating));
  opened.log = std::move(log);
  TUG_CO_TRY(ctx, root_context(opened.log, opened.options, std::nullopt, loop));
  opened.ctx = std::move(ctx);
  co_return std::move(made);
}

Task<Result<std::unique_ptr<HarnessCore::Opened>>> HarnessCore::open_again(Launch& launch) {
  Loop& loop = co_await this_loop();
  auto made = std::make_unique<Opened>();
  Opened& opened = *made;
  auto claiming = journal_->claim(launch.from);
  TUG_CO_TRY(log, co_await std::move(claiming));
  opened.log = std::move(log);
  auto folding = engine_->offload(
      "folding a run",
      [store = store_, from = launch.from](std::stop_token) { return fold_tree(*store, from); },
      {});
  TUG_CO_TRY(fold, co_await std::move(folding));
  TUG_CO_TRY(options, taken_up(fold.root(), launch.options));
  opened.options = options;
  TUG_CO_TRY(plan, this->plan(opened.options));
  opened.plan = plan;
  TUG_CO_TRY(ctx, root_context(opened.log, opened.options, spent_by(fold), loop));
  opened.ctx = std::move(ctx);
  opened.state = fold.root();
  opened.fold = std::move(fold);
  co_return std::move(made);
}

Task<Result<std::unique_ptr<HarnessCore::RootRun>>> HarnessCore::begin_root(
    std::shared_ptr<RunShared> shared, std::unique_ptr<Launch> launch) {
  if (auto wrong = fault()) co_return Failure(*std::move(wrong));
  const bool again = launch->kind == Launch::Kind::resume;
  auto opening = again ? open_again(*launch) : open_fresh(shared->id(), *launch);
  TUG_CO_TRY(opened, co_await std::move(opening));

  const std::shared_ptr<RootLog> log = opened->log;
  for (auto& observer : launch->options.observers) log->observe(std::move(observer));
  auto tree = RunTree::of(opened->ctx);
  const std::optional<TreeFold> fold = std::move(opened->fold);
  const std::optional<Base> base = opened->base;
  const RunOptions options = std::move(opened->options);
  if (fold) {
    for (const auto& [model, reservations] : fold->reserved()) {
      for (const Json& reservation : reservations) tree->reserve(model, reservation);
    }
  }
  auto root = std::make_unique<RootRun>(log, std::move(tree), std::move(opened));
  LiveRun& run = root->run;
  shared->begin(run);
  log->keep_blob({run.plan->digest, run.plan->constants});
  MessagePtr said = launch->prompt.empty() ? nullptr : Message::user(launch->prompt);
  if (fold) {
    run.ctx.set_turn(run.state.turn);
    run.ctx.set_resumed(run.state.memory);
    payload::RunResumed resumed{.epoch = log->epoch(), .from_seq = log->last_seq() + 1};
    if (said) resumed.prompt = launch->prompt;
    if (run.plan->model_id() != run.state.model) resumed.model = run.plan->model_id();
    if (Json told = lasting(launch->options); !told.empty()) resumed.options = std::move(told);
    record(run, Kind::run_resumed, resumed, said);
    close_lost_children(*log, run.ctx.loop(), *fold);
    close_lost_acts(run);
  } else {
    payload::RunStarted first = started(run, launch->prompt, options, options_.root);
    if (base) {
      first.base =
          payload::Base{.root = base->root.text(), .seq = base->seq, .hash = base->hash.hex()};
    }
    record(run, Kind::run_started, first, said);
  }
  log->set_status(RootStatus::running, summary_of(run.state));
  co_return std::move(root);
}

Task<void> HarnessCore::end_root(std::shared_ptr<RunShared> shared, std::unique_ptr<RootRun> root) {
  RootLog& log = *root->log;
  LiveRun& run = root->run;
  log.set_status(root_status(run.state.ending->status), summary_of(run.state));
  // The result leaves the process as a fact.
  const Until until{{}, later(run.ctx.loop().now(), kCloseTime)};
  auto writing = log.durable(log.last_seq(), until);
  const Result<void> written = co_await std::move(writing);
  RunResult result = result_of(run.state);
  if (!written) {
    result.status = RunStatus::failed;
    result.stop = StopReason::error;
    result.error = written.error().within("the journal");
  }
  shared->retire();
  auto closing = log.close(until);
  const Result<void> closed = co_await std::move(closing);
  if (!closed && written) result.error = closed.error().within("the journal");
  // Whoever hears of the end may resume the run: it must not be open here any more.
  root.reset();
  shared->end(std::move(result));
}

// Begins, drives and ends a root. While it is driven only this frame and the run itself are there:
// a hundred thousand runs may be waiting at once, so what is large lives in the frames before and
// after.
Task<void> HarnessCore::run_root(std::shared_ptr<RunShared> shared,
                                 std::unique_ptr<Launch> launch) {
  std::unique_ptr<RootRun> root;
  std::optional<Error> failed;
  try {
    {
      auto beginning = begin_root(shared, std::move(launch));
      auto begun = co_await std::move(beginning);
      if (begun) {
        root = *std::move(begun);
      } else {
        failed = std::move(begun).error();
      }
    }
    if (root) {
      auto driving = drive(root->run);
      co_await std::move(driving);
    }
  } catch (...) {
    failed = error_in_flight("the run");
  }
  if (!root) co_return fail_run(*shared, *failed);
  auto ending = end_root(shared, std::move(root));
  co_await std::move(ending);
}

Task<Result<RunResult>> HarnessCore::drive_below(std::shared_ptr<RunShared> shared, Context ctx,
                                                 std::string prompt, RunOptions options) {
  if (auto wrong = fault()) co_return Failure(*std::move(wrong));
  TUG_CO_TRY(said, check_prompt(prompt));
  TUG_CO_TRY(named, check_ids(options));
  const InheritedMiddleware* inherited = ctx.get<InheritedMiddleware>();
  TUG_CO_TRY(plan, this->plan(options, inherited));
  TUG_CO_TRY(limits, limits_of(options));
  TUG_CO_TRY(priced, check_price(limits, *plan));
  ChildSpec spec{.kind = NodeKind::run,
                 .call = ctx.id().call_id,
                 .run_id = RunId(options.run_id),
                 .thread_id = ThreadId(options.thread_id),
                 .agent = agent_of(options),
                 .defaults = default_limits(),
                 .limits = limits};
  furnish(spec, options);
  TUG_CO_TRY(child, ctx.child(std::move(spec)));
  link_caller(child, options);
  auto tree = RunTree::of(ctx);
  LiveRun run(*tree, child, plan, {});
  shared->begin(run);
  std::vector<std::shared_ptr<Sink>> observers;
  for (const auto& observer : options.observers) {
    observers.push_back(only_below(child.id().run_id, observer));
    child.events().observe(observers.back());
  }
  child.events().keep_blob({plan->digest, plan->constants});
  record(run, Kind::run_started, started(run, prompt, options, options_.root),
         Message::user(prompt));
  auto driving = drive(run);
  co_await std::move(driving);
  for (const auto& observer : observers) child.events().forget(*observer);
  shared->retire();
  co_return result_of(run.state);
}

}  // namespace tug::detail
