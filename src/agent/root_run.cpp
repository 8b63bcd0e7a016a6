// How runs begin, go on and end: the part between a harness and the loop.
#include <algorithm>

#include "agent/approvals.h"
#include "agent/attempt.h"
#include "agent/beginning.h"
#include "agent/harness_core.h"
#include "agent/holding.h"
#include "agent/inbox.h"
#include "agent/recovery.h"
#include "agent/run.h"
#include "core/try.h"
#include "tug/core/codec.h"
#include "tug/io/process_identity.h"

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

// A run of its own words, or one that has something left to answer.
Result<void> check_has_more(const RunId& root, const Transcript& transcript) {
  if (!transcript.empty() && transcript.back()->role() != Role::assistant) return {};
  return fail(ErrorKind::invalid, "run " + root.text() + " has nothing left to do",
              "say what comes next: give a prompt");
}

// Out of line: what it builds does not belong into the frame of a coroutine that waits.
[[gnu::noinline]] void fail_run(RunShared& shared, Error error) {
  shared.end(failed_result(std::move(error)));
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
  std::vector<Ruling> rulings;   // on calls that it was parked with
  std::vector<InboxCommand> inbox;
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
  std::string answered;  // who did last, in what it goes on from
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
    answered = root.model;
    history = {root.transcript, root.bytes, root.offset + base.seq};
    if (thread.empty() && launch.kind == Launch::Kind::follow) thread = root.who->thread_id;
  }
  TUG_CO_TRY(named, check_ids(opened.options));
  if (launch.agent) opened.options.agent = launch.agent->name;
  TUG_CO_TRY(plan, plan_for(launch, opened.options, opened.options.agent, answered));
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

namespace {

// A root as the journal has it; its runs where somebody may be asked about their calls.
struct Standing {
  RootInfo info;
  std::optional<TreeFold> fold;
};

bool is_elsewhere(const RootInfo& info) {
  return info.status == RootStatus::running && info.owner && is_alive(info.owner->process);
}

}  // namespace

Task<Result<void>> HarnessCore::send(RunId root, std::string command, std::string sender) {
  auto sending = engine_->offload(
      "sending a command",
      [store = store_, root, command, sender, now = engine_->wall()](std::stop_token) {
        return store->send(root, {.command = command, .sender = sender, .created = now});
      },
      {});
  Result<void> sent = co_await std::move(sending);
  co_return sent;
}

Task<Result<std::optional<RunResult>>> HarnessCore::stays_parked(Launch& launch) {
  auto folding = engine_->offload("looking at a run",
                                  [store = store_, from = launch.from,
                                   decides = launch.decides](std::stop_token) -> Result<Standing> {
                                    TUG_TRY(info, store->info(from));
                                    if (info.status != RootStatus::parked && !decides)
                                      return Standing{info, {}};
                                    TUG_TRY(fold, fold_tree(*store, from));
                                    return Standing{info, std::move(fold)};
                                  },
                                  {});
  TUG_CO_TRY(standing, co_await std::move(folding));
  const std::optional<TreeFold>& fold = standing.fold;
  if (launch.decides) {
    TUG_CO_TRY(fit, rulings_on(*fold, launch.decisions));
    if (!is_elsewhere(standing.info)) co_return std::nullopt;
    auto sending = send(launch.from, approve_command(launch.decisions), "owner");
    TUG_CO_TRY(sent, co_await std::move(sending));
    co_return fail(ErrorKind::denied,
                   "run " + launch.from.text() +
                       " is under way in another process: the decisions were sent there",
                   "`tug show " + launch.from.text() + "` says what became of them");
  }
  if (!fold || fold->root().pending.empty()) co_return std::nullopt;
  if (!launch.prompt.empty()) {
    TUG_CO_TRY(words, steer_from(to_json(Steer::follow_up(launch.prompt))));
    auto sending = send(launch.from, follow_up_command(launch.from, launch.prompt), "prompt");
    TUG_CO_TRY(sent, co_await std::move(sending));
  }
  co_return result_of(fold->root());
}

// Decisions about a root that nobody drives, checked against what it was parked with.
Result<std::vector<Ruling>> HarnessCore::rulings_on(const TreeFold& fold,
                                                    const std::vector<Decision>& decisions) {
  std::vector<const RunState*> runs;
  for (const auto& run : fold.runs()) runs.push_back(run.get());
  const ToolSet all = tools();
  return check_decisions(runs, decisions,
                         [&](const RunState&, const std::string& name) { return all.find(name); });
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
  auto listening = engine_->offload(
      "reading an inbox",
      [store = store_, from = launch.from](std::stop_token) { return store->inbox(from); }, {});
  TUG_CO_TRY(inbox, co_await std::move(listening));
  opened.inbox = std::move(inbox);
  TUG_CO_TRY(options, taken_up(fold.root(), launch.options));
  opened.options = options;
  TUG_CO_TRY(plan, plan_for(launch, opened.options, fold.root().who->agent, fold.root().model));
  opened.plan = plan;
  if (launch.decides) {
    TUG_CO_TRY(rulings, rulings_on(fold, launch.decisions));
    opened.rulings = std::move(rulings);
  }
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
  if (again) {
    auto looking = stays_parked(*launch);
    TUG_CO_TRY(stays, co_await std::move(looking));
    if (stays) {
      shared->end(*std::move(stays));
      co_return nullptr;
    }
  }
  auto opening = again ? open_again(*launch) : open_fresh(shared->id(), *launch);
  TUG_CO_TRY(opened, co_await std::move(opening));

  const std::shared_ptr<RootLog> log = opened->log;
  for (auto& observer : launch->options.observers) log->observe(std::move(observer));
  auto tree = RunTree::of(opened->ctx);
  tree->owner = this;
  std::optional<TreeFold> fold = std::move(opened->fold);
  const std::optional<Base> base = opened->base;
  const RunOptions options = std::move(opened->options);
  if (fold) {
    for (const auto& [model, reservations] : fold->reserved()) {
      for (const Json& reservation : reservations) tree->reserve(model, reservation);
    }
    auto below = fold->take_below();
    tree->left_over = std::move(below.left_over);
    tree->done = std::move(below.done);
    tree->keeps_pause = launch->decides;
  }
  const std::vector<Ruling> opened_rulings = std::move(opened->rulings);
  const std::vector<InboxCommand> inbox = std::move(opened->inbox);
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
    if (run.tree.keeps_pause) resumed.keeps_pause = true;
    record(run, Kind::run_resumed, resumed, said);
    close_lost_acts(run);
    close_orphans(run);
    rule(run.tree, opened_rulings);
    check_asked_again(run);
    restart_background(run);
    hear(run, inbox);
  } else {
    payload::RunStarted first = started(run, launch->prompt, options, options_.root);
    if (base) {
      first.base =
          payload::Base{.root = base->root.text(), .seq = base->seq, .hash = base->hash.hex()};
    }
    record(run, Kind::run_started, first, said);
    record_skipped(run);
    if (launch->session_turn > 0) {
      record(run, Kind::subagent_reused,
             payload::SubagentReused{.name = run.ctx.id().agent,
                                     .child_run_id = run.ctx.id().run_id.text(),
                                     .turn = launch->session_turn});
    }
  }
  shared->hear_early();
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
    if (!root && !failed) co_return;  // it stays as it is, and its handle knows
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

}  // namespace tug::detail
