// Calls that wait for somebody anywhere in a tree: the cases of the issue.
#include "agent/approval_testing.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using testkit::calls;
using testkit::recording;
using testkit::says;
using testkit::scripted;

std::string level(int depth) { return "level" + std::to_string(depth); }
std::string agent_at(int depth) { return depth == 0 ? "main" : level(depth); }

// A chain of agents of which the deepest pays.
std::vector<ScriptTurn> chain(int depth) {
  std::vector<ScriptTurn> turns;
  for (int i = 0; i < depth; ++i) turns.push_back(by(agent_at(i), asks(level(i + 1), "buy")));
  turns.push_back(by(agent_at(depth), pays(depth)));
  for (int i = depth; i >= 0; --i) turns.push_back(by(agent_at(i), says(agent_at(i) + " done")));
  return turns;
}
void give_levels(Rig& rig, int depth) {
  for (int i = 1; i <= depth; ++i) rig.harness->agent(level(i), "Goes down.");
}

TEST(ApprovalTreeCases, ACallDeepBelowParksTheWholeTreeAndItsDecisionCarriesItOn) {
  for (int depth = 1; depth <= 3; ++depth) {
    auto model = recording(scripted(chain(depth)));
    Rig rig(model);
    Till till(rig);
    give_levels(rig, depth);
    const RunResult parked = run_on(rig, "go");
    expect_parked(rig, parked);
    EXPECT_TRUE(till.paid.empty());
    ASSERT_EQ(parked.pending.size(), 1u);
    EXPECT_EQ(parked.pending[0].run, run_of(*rig.seen, level(depth)));
    EXPECT_EQ(parked.pending[0].agent, level(depth));
    Trace paused;
    Trace resumed;
    for (int i = depth; i >= 0; --i) paused.push_back(agent_at(i) + " run.paused");
    for (int i = 0; i <= depth; ++i) resumed.push_back(agent_at(i) + " run.resumed");
    EXPECT_EQ(told_of(*rig.seen, {Kind::run_paused}), paused) << "the root is last";
    EXPECT_EQ(told_of(*rig.seen, {Kind::subagent_completed, Kind::subagent_failed}), Trace{});
    const RunResult result = approve_on(rig, parked, all_yes(parked));
    EXPECT_EQ(result.text, "main done");
    EXPECT_EQ(till.paid, std::vector<int>{depth});
    EXPECT_EQ(told_of(*rig.seen, {Kind::run_resumed}), resumed);
    EXPECT_EQ(rig.seen->count(Kind::run_started), depth + 1u) << "the same runs";
    EXPECT_EQ(rig.seen->count(Kind::subagent_started), static_cast<std::size_t>(depth));
    EXPECT_EQ(rig.seen->count(Kind::subagent_completed), static_cast<std::size_t>(depth));
    EXPECT_EQ(model->requests().size(), 2u * depth + 2) << "nothing was asked twice";
    EXPECT_EQ(result.tool_calls.at(0).result.content, "level1 done");
    expect_gap_free(*rig.seen);
    expect_journal_says(*rig.store, result);
    for (const FoldedRun& run : folded(rig, result.id).runs) expect_legal(run.result.messages);
  }
}

TEST(ApprovalTreeCases, ADeniedCallDeepBelowIsAnsweredThereAndCountedThere) {
  Rig rig(scripted(chain(2)));
  Till till(rig);
  give_levels(rig, 2);
  const RunResult parked = run_on(rig, "go");
  const RunResult result = approve_on(rig, parked, all_no(parked, "too dear"));
  EXPECT_EQ(result.text, "main done");
  EXPECT_TRUE(till.paid.empty());
  const FoldedRoot tree = folded(rig, result.id);
  EXPECT_EQ(tree.runs.at(2).result.denials.size(), 1u);
  EXPECT_EQ(error_type_of(tree.runs.at(2).result.tool_calls.at(0)), "ApprovalRejected");
}

TEST(ApprovalTreeCases, AnotherProcessDecidesAndGoesOn) {
  const ModelPtr script = scripted(chain(3));
  Rig rig(script);
  Till till(rig);
  give_levels(rig, 3);
  const RunResult parked = run_on(rig, "go");
  auto model = recording(script);
  Rig next = beside(rig, model);
  Till other(next);
  give_levels(next, 3);
  const RunResult result = approve_on(next, parked, all_yes(parked));
  EXPECT_EQ(result.text, "main done") << (result.error ? to_string(*result.error) : "");
  EXPECT_TRUE(till.paid.empty());
  EXPECT_EQ(other.paid, std::vector<int>{3});
  EXPECT_EQ(model->requests().size(), 4u);
  expect_journal_says(*next.store, result);
}

// Three children at once: two that pay, and one that is busy for a while.
struct Market {
  explicit Market(std::int64_t busy_ms, std::uint64_t seed = 1)
      : model(recording(scripted(turns(busy_ms)))), rig(model, seed), till(rig) {
    furnish(rig);
  }
  static std::vector<ScriptTurn> turns(std::int64_t busy_ms) {
    return {by("main", calls({{"a", "left", R"({"input":"l"})"},
                              {"b", "busy", R"({"input":"b"})"},
                              {"c", "right", R"({"input":"r"})"}})),
            by("left", pays(1)),
            by("right", pays(2)),
            by("busy", naps(busy_ms)),
            by("left", says("left done")),
            by("right", says("right done")),
            by("busy", says("busy done")),
            by("main", says("done"))};
  }
  static void furnish(Rig& rig) {
    give_nap(rig);
    for (const char* name : {"left", "busy", "right"}) rig.harness->agent(name, "One of three.");
  }
  void expect_done(const RunResult& result, Rig& at) const {
    EXPECT_EQ(result.text, "done") << (result.error ? to_string(*result.error) : "");
    ASSERT_EQ(result.tool_calls.size(), 3u);
    EXPECT_EQ(result.tool_calls[0].result.content, "left done");
    EXPECT_EQ(result.tool_calls[1].result.content, "busy done");
    EXPECT_EQ(result.tool_calls[2].result.content, "right done");
    EXPECT_EQ(model->requests().size(), 8u) << "nothing was asked twice";
    EXPECT_EQ(result.counts.tool_calls, 3);
    expect_journal_says(*at.store, result);
  }
  const PendingApproval& of(const RunResult& parked, std::string_view agent) const {
    return *std::ranges::find(parked.pending, agent, &PendingApproval::agent);
  }

  std::shared_ptr<testkit::RecordingModel> model;
  Rig rig;
  Till till;
};

TEST(ApprovalTreeCases, RunningSiblingsFinishFirstAndTheRootListsWhatWaitsEverywhere) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Market market(500, seed);
    const RunResult parked = run_on(market.rig, "go");
    expect_parked(market.rig, parked);
    EXPECT_EQ(parked.duration_ms, 500) << "seed " << seed;
    ASSERT_EQ(parked.pending.size(), 2u) << "seed " << seed;
    EXPECT_EQ(market.of(parked, "left").arguments, Json::object({{"amount", 1}}));
    EXPECT_EQ(market.of(parked, "right").arguments, Json::object({{"amount", 2}}));
    const Trace ends = told_of(*market.rig.seen, {Kind::run_paused, Kind::run_completed});
    ASSERT_EQ(ends.size(), 4u);
    EXPECT_EQ(ends.front(), "busy run.completed") << "seed " << seed;
    EXPECT_EQ(ends.back(), "main run.paused") << "seed " << seed;
    EXPECT_EQ(market.rig.seen->count(Kind::subagent_completed), 1u);
    const RunResult result = approve_on(market.rig, parked, all_yes(parked));
    market.expect_done(result, market.rig);
    expect_gap_free(*market.rig.seen);
  }
}

TEST(ApprovalTreeCases, DecisionsMayComeOneByOneAndWhatIsFreedRuns) {
  Market market(500);
  const RunResult parked = run_on(market.rig, "go");
  ASSERT_EQ(parked.pending.size(), 2u);
  const RunResult again =
      approve_on(market.rig, parked, {Decision::approve(market.of(parked, "right").call)});
  expect_parked(market.rig, again);
  EXPECT_EQ(market.till.paid, std::vector<int>{2});
  ASSERT_EQ(again.pending.size(), 1u);
  EXPECT_EQ(again.pending[0], market.of(parked, "left"));
  const RunResult result = approve_on(market.rig, again, all_yes(again));
  market.expect_done(result, market.rig);
  EXPECT_EQ(market.till.paid, (std::vector<int>{2, 1}));
  EXPECT_EQ(market.rig.seen->count(Kind::run_started), 4u);
}

TEST(ApprovalTreeCases, WhatIsFreedRunsAtOnceWhileTheRootIsAlive) {
  Market market(1000);
  tug::Run run = start_on(market.rig, "go");
  market.rig.engine->advance(milliseconds(100));
  const std::vector<PendingApproval> pending = run.pending();
  ASSERT_EQ(pending.size(), 2u);
  RunResult now;
  now.pending = pending;
  const auto decided = run.approve({Decision::approve(market.of(now, "left").call)});
  ASSERT_TRUE(decided) << to_string(decided.error());
  market.rig.engine->advance(milliseconds(100));
  EXPECT_EQ(market.till.paid, std::vector<int>{1}) << "long before the busy one is done";
  EXPECT_EQ(run.pending().size(), 1u);
  // The same through the harness: it is the same root, under way.
  (void)market.rig.harness->approve(run.id(), {Decision::approve(market.of(now, "right").call)})
      .detach();
  market.rig.engine->advance(milliseconds(100));
  EXPECT_EQ(market.till.paid, (std::vector<int>{1, 2}));
  const RunResult result = run.wait();
  market.expect_done(result, market.rig);
  EXPECT_EQ(result.duration_ms, 1000);
  EXPECT_EQ(market.rig.seen->count(Kind::run_paused), 0u) << "it never parked";
}

TEST(ApprovalTreeCases, ANodeDecidesAboutItsOwnCallsAlone) {
  Market market(1000);
  tug::Run run = start_on(market.rig, "go");
  market.rig.engine->advance(milliseconds(100));
  const tug::Run left = run.node(run_of(*market.rig.seen, "left"));
  ASSERT_EQ(left.pending().size(), 1u);
  RunResult now;
  now.pending = run.pending();
  EXPECT_FALSE(left.approve({Decision::approve(market.of(now, "right").call)}));
  EXPECT_TRUE(left.approve(decide_all(left.pending(), true)));
  const RunResult parked = run.wait();
  expect_parked(market.rig, parked);
  EXPECT_EQ(market.till.paid, std::vector<int>{1});
  market.expect_done(approve_on(market.rig, parked, all_yes(parked)), market.rig);
}

TEST(ApprovalTreeCases, ProcessesTakeTurnsAndNothingRunsTwice) {
  Market market(500);
  const RunResult parked = run_on(market.rig, "go");
  Rig second = beside(market.rig, market.model);
  Till till(second);
  Market::furnish(second);
  const RunResult again =
      approve_on(second, parked, {Decision::approve(market.of(parked, "left").call)});
  expect_parked(second, again);
  EXPECT_EQ(till.paid, std::vector<int>{1});
  const RunResult result = approve_on(market.rig, again, all_yes(again));
  EXPECT_EQ(market.till.paid, std::vector<int>{2});
  market.expect_done(result, market.rig);
}

TEST(ApprovalTreeCases, AResumeWithoutDecisionsChangesNothingBelowEither) {
  Market market(500);
  const RunResult parked = run_on(market.rig, "go");
  const RunResult same = resume_on(market.rig, parked);
  EXPECT_EQ(same.status, RunStatus::parked);
  EXPECT_EQ(same.pending, parked.pending);
  EXPECT_EQ(market.rig.store->info(parked.root)->last_seq, parked.last_seq);
  EXPECT_TRUE(market.till.paid.empty());
}

TEST(ApprovalTreeCases, AParkedTreeCanBeCancelledForGoodByDenyingItAll) {
  Market market(500);
  const RunResult parked = run_on(market.rig, "go");
  const RunResult result = approve_on(market.rig, parked, all_no(parked));
  EXPECT_EQ(result.text, "done");
  EXPECT_TRUE(market.till.paid.empty());
}

TEST(ApprovalTreeCases, ACallOfTheRootAndOneBelowItWaitTogether) {
  Rig rig(scripted({by("main", calls({{"a", "pay", sum(7)}, {"b", "left", R"({"input":"l"})"}})),
                    by("left", pays(1)), by("left", says("left done")), by("main", says("done"))}));
  Till till(rig);
  rig.harness->agent("left", "One.");
  const RunResult parked = run_on(rig, "go", {.permissions = Permissions{.hold = HoldScope::call}});
  expect_parked(rig, parked);
  ASSERT_EQ(parked.pending.size(), 2u);
  EXPECT_EQ(parked.pending[0].agent, "main");
  EXPECT_EQ(parked.pending[1].agent, "left");
  const RunResult result = approve_on(rig, parked, all_yes(parked));
  EXPECT_EQ(result.text, "done");
  std::ranges::sort(till.paid);
  EXPECT_EQ(till.paid, (std::vector<int>{1, 7}));
}

TEST(ApprovalTreeCases, CallsWaitAtEveryLevelAtOnceAndAreFreedInAnyOrder) {
  const std::vector<ScriptTurn> turns = {
      by("main", calls({{"a", "pay", sum(1)}, {"b", "level1", R"({"input":"buy"})"}})),
      by("level1", calls({{"c", "pay", sum(2)}, {"d", "level2", R"({"input":"buy"})"}})),
      by("level2", pays(3)),
      by("level2", says("level2 done")),
      by("level1", says("level1 done")),
      by("main", says("done"))};
  std::vector<std::string> order = {"main", "level1", "level2"};
  do {
    const ModelPtr script = scripted(turns);
    Rig rig(script);
    Till till(rig);
    give_levels(rig, 2);
    RunResult result = run_on(rig, "go", {.permissions = Permissions{.hold = HoldScope::call}});
    expect_parked(rig, result);
    ASSERT_EQ(result.pending.size(), 3u);
    std::vector<int> paid;
    for (const std::string& agent : order) {
      ASSERT_EQ(result.status, RunStatus::parked) << agent;
      const auto pending = std::ranges::find(result.pending, agent, &PendingApproval::agent);
      ASSERT_NE(pending, result.pending.end()) << agent;
      Rig next = beside(rig, script);
      Till other(next);
      give_levels(next, 2);
      result = approve_on(next, result, {Decision::approve(pending->call)});
      paid.insert(paid.end(), other.paid.begin(), other.paid.end());
    }
    EXPECT_EQ(result.text, "done") << order[0] << " " << order[1];
    EXPECT_EQ(result.counts.tool_calls, 2);
    std::ranges::sort(paid);
    EXPECT_EQ(paid, (std::vector<int>{1, 2, 3}));
    expect_journal_says(*rig.store, result);
    for (const FoldedRun& run : folded(rig, result.id).runs) expect_legal(run.result.messages);
  } while (std::ranges::next_permutation(order).found);
}

TEST(ApprovalTreeCases, LimitsOfTheTreeCountOverThePause) {
  auto model = recording(scripted(chain(2)));
  Rig rig(model);
  Till till(rig);
  give_levels(rig, 2);
  const RunResult parked = run_on(rig, "go", {.limits = {.max_turns = 3}});
  expect_parked(rig, parked);
  const RunResult result = approve_on(rig, parked, all_yes(parked));
  EXPECT_EQ(till.paid, std::vector<int>{2}) << "the side effect happens";
  EXPECT_EQ(result.stop, StopReason::limit_reached);
  EXPECT_EQ(model->requests().size(), 3u) << "and then nobody is asked any more";
}

// --- children that code calls ----------------------------------------------------------------

// A tool that sends the agent to buy, and says what it came to.
void give_errand(Rig& rig, Effect effect, int& sent) {
  const Agent helper = rig.harness->agent("left", "One.");
  rig.harness->tool("errand", "Sends somebody",
                    [helper, &sent](const Context& ctx) -> Task<std::string> {
                      ++sent;
                      auto running = helper.run(ctx, "buy");
                      const RunResult result = co_await std::move(running);
                      co_return "it says: " + result.text;
                    },
                    {.effect = effect});
}

TEST(ApprovalTreeCases, AToolThatMayRunAgainGoesOnWithTheChildItCalled) {
  auto model = recording(scripted({by("main", calls("errand")), by("left", pays(1)),
                                   by("left", says("bought")), by("main", says("done"))}));
  Rig rig(model);
  Till till(rig);
  int sent = 0;
  give_errand(rig, Effect::pure, sent);
  const RunResult parked = run_on(rig, "go");
  expect_parked(rig, parked);
  EXPECT_EQ(parked.pending.at(0).agent, "left");
  const RunResult result = approve_on(rig, parked, all_yes(parked));
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.tool_calls.at(0).result.content, "it says: bought");
  EXPECT_EQ(sent, 2) << "the call was made again";
  EXPECT_EQ(rig.seen->count(Kind::run_started), 2u) << "and its child was not";
  EXPECT_EQ(till.paid, std::vector<int>{1});
  EXPECT_EQ(model->requests().size(), 4u);
  expect_journal_says(*rig.store, result);
}

TEST(ApprovalTreeCases, BelowAToolThatMayNotRunAgainNobodyCanBeAskedUnlessTheyAreThere) {
  for (const OnAsk on_ask : {OnAsk::park, OnAsk::wait}) {
    Rig rig(scripted({by("main", calls("errand")), by("left", pays(1)), by("left", says("so")),
                      by("main", says("done"))}));
    Till till(rig);
    int sent = 0;
    give_errand(rig, Effect::at_most_once, sent);
    tug::Run run = start_on(rig, "go", {.permissions = Permissions{.on_ask = on_ask}});
    rig.engine->advance(milliseconds(100));
    if (on_ask == OnAsk::wait) {
      ASSERT_EQ(run.pending().size(), 1u);
      EXPECT_TRUE(run.approve(decide_all(run.pending(), /*approved=*/true)));
    }
    const RunResult result = run.wait();
    EXPECT_EQ(result.text, "done");
    EXPECT_EQ(sent, 1) << "never again";
    EXPECT_EQ(till.paid.size(), on_ask == OnAsk::wait ? 1u : 0u);
    EXPECT_EQ(rig.seen->count(Kind::tool_denied), on_ask == OnAsk::wait ? 0u : 1u);
  }
}

}  // namespace
}  // namespace tug
