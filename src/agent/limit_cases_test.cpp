// Limits and the notices about them: the cases of the references. TA: TinyAgents, TH: ThinHarness.
#include "agent/cases_testing.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using testkit::calls;
using testkit::fails;
using testkit::says;
using testkit::scripted;
using testkit::slow;

// Asks for a tool for ever.
ModelPtr spinning() { return scripted({again(calls("look"))}); }

// TA 1
TEST(LimitCases, TwoModelCallsAreExactlyTwoAndTheThirdIsNeverMade) {
  auto model = testkit::recording(spinning());
  Rig rig(model);
  give_look(rig);
  const RunResult result = rig.run("go", {.limits = {.max_turns = 2}});
  EXPECT_EQ(result.stop, StopReason::limit_reached);
  EXPECT_EQ(limit_of(result), LimitKind::model_calls);
  EXPECT_EQ(model->requests().size(), 2u);
  EXPECT_EQ(result.counts.model_calls, 2);
  EXPECT_EQ(exit_code(result), 5);
}

// TA 2
TEST(LimitCases, TheLimitOfTheHarnessCountsWhereTheRunSaysNothingAndTheErrorNamesIt) {
  auto model = testkit::recording(spinning());
  Rig rig(model, 1, {.defaults = {.max_turns = 30}});
  give_look(rig);
  const RunResult result = rig.run("go");
  EXPECT_EQ(model->requests().size(), 30u);
  EXPECT_TRUE(contains(result.error->message(), "30")) << result.error->message();
}

TEST(LimitCases, WithoutAnyLimitARunMakesSixtyFourModelCalls) {
  auto model = testkit::recording(spinning());
  Rig rig(model);
  give_look(rig);
  EXPECT_EQ(rig.run("go").stop, StopReason::limit_reached);
  EXPECT_EQ(model->requests().size(), 64u);
}

TEST(LimitCases, WhatARunSaysWinsOverTheHarnessAlsoWhenItIsMore) {
  auto model = testkit::recording(spinning());
  Rig rig(model, 1, {.defaults = {.max_turns = 3}});
  give_look(rig);
  (void)rig.run("go", {.limits = {.max_turns = 5}});
  EXPECT_EQ(model->requests().size(), 5u);
}

// TA 3
TEST(LimitCases, AReachedLimitIsACompletedRunWithEverythingSoFar) {
  Rig rig(scripted({again(used(calls("look"), 10, 5))}));
  give_look(rig);
  const RunResult result = rig.run("go", {.limits = {.max_turns = 3}});
  EXPECT_EQ(result.status, RunStatus::completed);
  const Event* reached = rig.seen->find(Kind::limit_reached);
  ASSERT_TRUE(reached);
  EXPECT_EQ(reached->data["limit"].as_string(), "model_calls");
  EXPECT_EQ(reached->data["max"].as_int(), 3);
  EXPECT_EQ(result.counts.model_calls, 3);
  EXPECT_EQ(result.counts.tool_calls, 3);
  EXPECT_EQ(result.usage.total(), 45);
  EXPECT_EQ(result.tool_calls.size(), 3u);
  EXPECT_EQ(rig.seen->kinds().back(), "run.completed");
  expect_legal(result.messages);
}

// TA 4
TEST(LimitCases, OneToolCallLetsTheModelBeAskedTwice) {
  auto model = testkit::recording(spinning());
  Rig rig(model);
  give_look(rig);
  const RunResult result = rig.run("go", {.limits = {.max_tool_calls = 1}});
  EXPECT_EQ(limit_of(result), LimitKind::tool_calls);
  EXPECT_EQ(model->requests().size(), 2u);
  EXPECT_EQ(result.counts.tool_calls, 1);
}

// TA 17, TH 7
TEST(LimitCases, ABatchIsAUnitOfWhichNothingStartsAndNothingIsCounted) {
  auto model = testkit::recording(scripted(
      {calls("look"), calls({{"a", "look", "{}"}, {"b", "look", "{}"}, {"c", "look", "{}"}})}));
  Rig rig(model);
  give_look(rig);
  const RunResult result = rig.run("go", {.limits = {.max_tool_calls = 3}});
  EXPECT_EQ(limit_of(result), LimitKind::tool_calls);
  EXPECT_EQ(rig.seen->count(Kind::tool_started), 1u);
  EXPECT_EQ(result.counts.tool_calls, 1);
  EXPECT_EQ(model->requests().size(), 2u);
  EXPECT_EQ(warnings_in(*rig.seen), std::vector<std::string>{});
}

TEST(LimitCases, ABatchThatWasCutCountsAndIsCheckedBeforeItDoes) {
  Rig rig(scripted({cut(calls({{"a", "look", "{}"}, {"b", "look", "{}"}})), says("done")}));
  give_look(rig);
  const RunResult result = rig.run("go", {.limits = {.max_tool_calls = 1}});
  EXPECT_EQ(result.stop, StopReason::limit_reached);
  EXPECT_EQ(limit_of(result), LimitKind::tool_calls);
  EXPECT_EQ(result.counts.tool_calls, 0);
  EXPECT_EQ(result.counts.model_calls, 1);
  expect_legal(result.messages);
}

TEST(LimitCases, ABatchThatFitsExactlyRuns) {
  Rig rig(scripted({calls({{"a", "look", "{}"}, {"b", "look", "{}"}}), says("done")}));
  give_look(rig);
  const RunResult result = rig.run("go", {.limits = {.max_tool_calls = 2}});
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.counts.tool_calls, 2);
}

TEST(LimitCases, ALimitAnswersEveryOpenCallAndTheRunGoesOnFromThere) {
  auto model = testkit::recording(
      scripted({calls({{"a", "look", "{}"}, {"b", "look", "{}"}}), says("then so")}));
  Rig rig(model);
  give_look(rig);
  const RunResult stopped = rig.run("go", {.limits = {.max_tool_calls = 1}});
  ASSERT_EQ(stopped.stop, StopReason::limit_reached);
  expect_legal(stopped.messages);
  const auto closed = stopped.messages.back()->tool_results();
  ASSERT_EQ(closed.size(), 2u);
  for (const ToolResult* result : closed) {
    EXPECT_FALSE(result->ok);
    EXPECT_TRUE(contains(result->content, "limit")) << result->content;
    EXPECT_EQ(result->metadata["error_type"].as_string(), "LimitReached");
  }
  EXPECT_EQ(stopped.tool_calls[0].result.metadata["error_type"].as_string(), "LimitReached");
  const RunResult more =
      rig.harness->resume(stopped.id, "", {.limits = {.max_tool_calls = 5}}).wait();
  EXPECT_EQ(more.text, "then so") << (more.error ? to_string(*more.error) : "");
  EXPECT_EQ(model->requests()[1].transcript, stopped.messages);
  expect_legal(more.messages);
}

// TA 18
TEST(LimitCases, ADeadlineStopsAModelWhetherItStreamsOrNot) {
  ScriptTurn dripping = says("a b c d e f g h");
  dripping.chunks = 8;
  dripping.chunk_delay_ms = 25;
  for (const ModelPtr& model : {slow(milliseconds(200), says("late")), scripted({dripping})}) {
    Rig rig(model);
    const RunResult result = rig.run("go", {.limits = {.max_time = 0.02}});
    EXPECT_EQ(result.stop, StopReason::limit_reached);
    EXPECT_EQ(limit_of(result), LimitKind::wall_clock);
    EXPECT_EQ(result.duration_ms, 20);
    EXPECT_EQ(rig.seen->find(Kind::limit_reached)->data["limit"].as_string(), "wall_clock");
    EXPECT_EQ(rig.seen->count(Kind::retry_scheduled), 0u) << "time that is over is not tried again";
  }
}

TEST(LimitCases, ADeadlineStopsAToolAndItsCallHasAResult) {
  Rig rig(scripted({calls("nap"), says("never")}));
  rig.harness->tool("nap", "Sleeps", [](const Context& ctx) -> Task<Result<std::string>> {
    const Until until{.cancel = ctx.cancel()};
    const Woken woken = co_await sleep_for(std::chrono::hours(1), until);
    if (woken != Woken::ready) co_return Failure(wait_error(woken, until, "a nap"));
    co_return "late";
  });
  const RunResult result = rig.run("go", {.timeout = 0.5});
  EXPECT_EQ(limit_of(result), LimitKind::wall_clock);
  EXPECT_EQ(result.duration_ms, 500);
  expect_legal(result.messages);
  EXPECT_EQ(result.tool_calls[0].result.metadata["error_type"].as_string(), "Timeout");
}

// Waits for a cancel, or for an hour.
class Dawdles final : public Middleware {
 public:
  explicit Dawdles(Around where) : where_(where) {}
  std::string name() const override { return "dawdles"; }
  Around around() const noexcept override { return where_; }
  Task<Result<RunResult>> around_run(Context ctx, RunInput input, NextRun& next) override {
    co_await sleep_for(std::chrono::hours(1), {ctx.cancel()});
    auto running = next.run(std::move(input));
    Result<RunResult> result = co_await std::move(running);
    co_return result;
  }
  Task<Result<ModelTurn>> around_model(Context ctx, ModelRequest request,
                                       NextModel& next) override {
    co_await sleep_for(std::chrono::hours(1), {ctx.cancel()});
    auto asking = next.run(std::move(request));
    Result<ModelTurn> turn = co_await std::move(asking);
    co_return turn;
  }
  Task<Result<ToolResult>> around_tool(Context ctx, ToolInput input, NextTool& next) override {
    co_await sleep_for(std::chrono::hours(1), {ctx.cancel()});
    auto running = next.run(std::move(input));
    Result<ToolResult> result = co_await std::move(running);
    co_return result;
  }

 private:
  Around where_;
};

TEST(LimitCases, ADeadlineStopsCodeAroundTheRunToo) {
  for (const Around where :
       {Around{true, false, false}, Around{false, true, false}, Around{false, false, true}}) {
    Rig rig(scripted({calls("look"), says("done")}));
    give_look(rig);
    rig.harness->use(std::make_shared<Dawdles>(where));
    const RunResult result = rig.run("go", {.limits = {.max_time = 2.0}});
    EXPECT_EQ(limit_of(result), LimitKind::wall_clock) << name_of(result.stop);
    EXPECT_EQ(result.duration_ms, 2000);
    EXPECT_EQ(rig.seen->kinds().back(), "run.completed");
    expect_legal(result.messages);
  }
}

TEST(LimitCases, TheShorterOfTimeoutAndMaxTimeCounts) {
  Rig rig(slow(std::chrono::seconds(9), says("late")));
  EXPECT_EQ(rig.run("go", {.limits = {.max_time = 5}, .timeout = 2}).duration_ms, 2000);
  EXPECT_EQ(rig.run("go", {.limits = {.max_time = 1}, .timeout = 2}).duration_ms, 1000);
}

TEST(LimitCases, TimeInAPauseIsNotTimeAlive) {
  ScriptTurn slow_call = calls("look");
  slow_call.delay_ms = 600;
  ScriptTurn slow_end = says("done");
  slow_end.delay_ms = 300;
  Rig rig(scripted({slow_call, slow_end}));
  give_look(rig);
  auto pause = std::make_shared<PauseAt>(Kind::tool_completed);
  const RunResult parked = run_to_pause(rig, pause, {.limits = {.max_time = 1}});
  ASSERT_EQ(parked.status, RunStatus::parked);
  rig.engine->advance(std::chrono::hours(24));
  const RunResult result = rig.harness->resume(parked.id).wait();
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.duration_ms, 900);
}

TEST(LimitCases, TokensStopBeforeACallThatCouldPassTheLimit) {
  auto model = testkit::recording(scripted({again(used(calls("look"), 400, 100))}));
  Rig rig(model);
  give_look(rig);
  const RunResult result = rig.run("go", {.limits = {.max_tokens = 1000}});
  EXPECT_EQ(limit_of(result), LimitKind::tokens);
  EXPECT_EQ(model->requests().size(), 2u);
  EXPECT_EQ(result.usage.total(), 1000);
  EXPECT_LT(model->requests()[1].max_output_tokens, 500) << "the answer is bounded by what is left";
  EXPECT_GE(model->requests()[1].max_output_tokens, 256);
  expect_legal(result.messages);
}

TEST(LimitCases, CostStopsBeforeACallThatCouldPassTheLimit) {
  auto model = testkit::recording(scripted({again(used(calls("look"), 400, 100))}));
  Rig rig(model);
  rig.models->override_with(
      {.provider = "test", .price = Price{.input = 1'000'000, .output = 1'000'000}});
  give_look(rig);
  const RunResult result = rig.run("go", {.limits = {.max_cost = 0.001}});
  EXPECT_EQ(limit_of(result), LimitKind::cost);
  EXPECT_EQ(model->requests().size(), 2u);
  EXPECT_EQ(result.cost.nanos(), 1'000'000);
  EXPECT_TRUE(result.cost.complete());
}

TEST(LimitCases, AnAnswerThatCostMoreThanWasHeldIsCountedAndStopsTheNext) {
  auto model = testkit::recording(scripted({again(used(calls("look"), 50'000, 100))}));
  Rig rig(model);
  give_look(rig);
  const RunResult result = rig.run("go", {.limits = {.max_tokens = 10'000}});
  EXPECT_EQ(limit_of(result), LimitKind::tokens);
  EXPECT_EQ(model->requests().size(), 1u);
  EXPECT_EQ(result.usage.total(), 50'100);
  EXPECT_EQ(rig.seen->find(Kind::limit_reached)->data["used"].as_int(), 50'100);
}

TEST(LimitCases, AProviderThatTellsNoUsageIsCountedByWhatItMustHaveBeen) {
  const auto calls_made = [](RunLimits limits) {
    ModelProfile profile{.name = "silent"};
    profile.price = Price{.input = 1'000'000, .output = 10'000'000};
    Rig rig(profiled(profile, {again(calls("look"))}));
    give_look(rig);
    limits.max_turns = 60;
    const RunResult result = rig.run("go", {.limits = limits, .max_output_tokens = 300});
    EXPECT_EQ(result.stop, StopReason::limit_reached);
    EXPECT_EQ(result.usage, Usage{}) << "what nobody told is not made up";
    EXPECT_EQ(rig.seen->find(Kind::model_completed)->data.contains("counted"),
              limits.max_tokens || limits.max_cost);
    return std::pair(limit_of(result), result.counts.model_calls);
  };
  const auto [tokens, by_tokens] = calls_made({.max_tokens = 2000});
  EXPECT_EQ(tokens, LimitKind::tokens);
  EXPECT_LT(by_tokens, 60);
  const auto [cost, by_cost] = calls_made({.max_cost = 0.005});
  EXPECT_EQ(cost, LimitKind::cost);
  EXPECT_LT(by_cost, 60);
  EXPECT_EQ(calls_made({}).second, 60);
}

// TH 3
TEST(LimitCases, ZeroToolCallsIsNoLimitForAnAnswerWithoutThem) {
  Rig rig(scripted({says("done")}));
  give_look(rig);
  EXPECT_EQ(rig.run("go", {.limits = {.max_tool_calls = 0}}).text, "done");
}

// Runs a child of the same harness in place of an answer.
void give_counted_child(Rig& rig, std::vector<RunResult>& results) {
  rig.harness->tool("child", "Runs a child",
                    [&rig, &results](const Context& ctx) -> Task<std::string> {
                      auto running = rig.harness->run_async(ctx, "go on");
                      RunResult result = co_await std::move(running);
                      results.push_back(result);
                      co_return result.text.empty() ? "nothing" : result.text;
                    });
}

TEST(LimitCases, ARunDeeperThanTheLimitIsAnErrorBeforeItsFirstModelCall) {
  auto model = testkit::recording(
      scripted({calls("child"), calls("child"), says("inner done"), says("outer done")}));
  Rig rig(model);
  std::vector<RunResult> children;
  give_counted_child(rig, children);
  const RunResult result = rig.run("go", {.limits = {.max_depth = 1}});
  EXPECT_EQ(result.text, "outer done");
  ASSERT_EQ(children.size(), 2u);
  EXPECT_EQ(children[0].status, RunStatus::failed);
  EXPECT_EQ(limit_of(children[0]), LimitKind::depth);
  EXPECT_EQ(children[0].counts.attempts, 0);
  EXPECT_EQ(children[1].text, "inner done");
  EXPECT_EQ(model->requests().size(), 4u);
}

TEST(LimitCases, EightLevelsBelowTheRootAreAllowedAndANinthIsNot) {
  Rig rig(scripted({calls("child"), calls("child"), calls("child"), calls("child"), calls("child"),
                    calls("child"), calls("child"), calls("child"), calls("child"),
                    again(says("up"))}));
  std::vector<RunResult> children;
  give_counted_child(rig, children);
  EXPECT_EQ(rig.run("go").text, "up");
  EXPECT_EQ(rig.seen->count(Kind::run_started), 9u);
  ASSERT_EQ(children.size(), 9u);
  EXPECT_EQ(limit_of(children[0]), LimitKind::depth);
}

// Four children at once, each of which would go on for ever.
std::vector<ScriptTurn> four_children_turns() {
  ScriptTurn more = again(used(calls("look"), 20, 200));
  more.delay_ms = 10;
  return {
      calls(
          {{"a", "child", "{}"}, {"b", "child", "{}"}, {"c", "child", "{}"}, {"d", "child", "{}"}}),
      more};
}
ModelPtr four_children() { return scripted(four_children_turns()); }

TEST(LimitCases, ChildrenAtOnceNeverPassALimitOfModelCallsAtTheRoot) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rig rig(four_children(), seed);
    std::vector<RunResult> children;
    give_look(rig);
    give_counted_child(rig, children);
    const RunResult result = rig.run("go", {.limits = {.max_turns = 11}});
    EXPECT_EQ(limit_of(result), LimitKind::model_calls) << "seed " << seed;
    EXPECT_EQ(rig.seen->count(Kind::model_started), 11u) << "seed " << seed;
    ASSERT_EQ(children.size(), 4u);
    for (const RunResult& child : children) {
      EXPECT_EQ(child.stop, StopReason::limit_reached) << "seed " << seed;
      EXPECT_EQ(child.error->detail_if<Limit>()->scope, result.id.text());
      expect_legal(child.messages);
    }
  }
}

TEST(LimitCases, ChildrenAtOnceNeverPassALimitOfToolCallsAtTheRoot) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rig rig(four_children(), seed);
    std::vector<RunResult> children;
    give_look(rig);
    give_counted_child(rig, children);
    const RunResult result = rig.run("go", {.limits = {.max_tool_calls = 9}});
    EXPECT_EQ(limit_of(result), LimitKind::tool_calls) << "seed " << seed;
    EXPECT_EQ(rig.seen->count(Kind::tool_started), 9u) << "seed " << seed;
  }
}

TEST(LimitCases, ChildrenAtOnceNeverPassALimitOfTokensAtTheRoot) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rig rig(four_children(), seed);
    std::vector<RunResult> children;
    give_look(rig);
    give_counted_child(rig, children);
    const RunResult result =
        rig.run("go", {.limits = {.max_tokens = 3000}, .max_output_tokens = 300});
    EXPECT_EQ(limit_of(result), LimitKind::tokens) << "seed " << seed;
    EXPECT_LE(result.usage.total(), 3000) << "seed " << seed;
    EXPECT_GT(result.usage.total(), 1000) << "seed " << seed;
  }
}

TEST(LimitCases, ChildrenAtOnceNeverPassALimitOfCostAtTheRoot) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ModelProfile profile{.name = "priced"};
    profile.price = Price{.input = 1'000'000, .output = 10'000'000};
    Rig rig(profiled(profile, four_children_turns()), seed);
    std::vector<RunResult> children;
    give_look(rig);
    give_counted_child(rig, children);
    const RunResult result =
        rig.run("go", {.limits = {.max_cost = 0.02}, .max_output_tokens = 300});
    EXPECT_EQ(limit_of(result), LimitKind::cost) << "seed " << seed;
    EXPECT_LE(result.cost.nanos(), 20'000'000) << "seed " << seed;
    EXPECT_GT(result.cost.nanos(), 10'000'000) << "seed " << seed;
  }
}

TEST(LimitCases, ADefaultLimitBindsEachRunOfATreeAlone) {
  Rig rig(scripted({calls("child"), calls("look"), says("inner"), says("outer")}), 1,
          {.defaults = {.max_turns = 2}});
  std::vector<RunResult> children;
  give_look(rig);
  give_counted_child(rig, children);
  EXPECT_EQ(rig.run("go").text, "outer") << "four model calls, two of each run";
}

TEST(LimitCases, NothingOfAnythingStopsTheRunBeforeAnyRequest) {
  const std::vector<std::pair<RunLimits, LimitKind>> cases = {
      {{.max_turns = 0}, LimitKind::model_calls},
      {{.max_tokens = 0}, LimitKind::tokens},
      {{.max_cost = 0}, LimitKind::cost},
      {{.max_time = 0}, LimitKind::wall_clock},
  };
  for (const auto& [limits, kind] : cases) {
    auto model = testkit::recording(scripted({again(says("never"))}));
    Rig rig(model);
    rig.models->override_with({.provider = "test", .price = Price{.input = 1000, .output = 1000}});
    const RunResult result = rig.run("go", {.limits = limits});
    EXPECT_EQ(limit_of(result), kind) << name_of(kind);
    EXPECT_TRUE(model->requests().empty()) << name_of(kind);
    EXPECT_EQ(rig.seen->kinds().back(), "run.completed") << name_of(kind);
  }
}

TEST(LimitCases, ALimitBelowZeroIsRefusedByName) {
  const std::vector<std::pair<RunLimits, std::string>> cases = {
      {{.max_turns = -1}, "max_turns"},   {{.max_tool_calls = -1}, "max_tool_calls"},
      {{.max_tokens = -1}, "max_tokens"}, {{.max_cost = -0.5}, "max_cost"},
      {{.max_time = -1}, "max_time"},
  };
  for (const auto& [limits, name] : cases) {
    Rig rig(scripted({says("never")}));
    const RunResult result = rig.run("go", {.limits = limits});
    ASSERT_TRUE(result.error) << name;
    EXPECT_EQ(result.error->kind(), ErrorKind::invalid) << name;
    EXPECT_TRUE(contains(result.error->message(), name)) << result.error->message();
  }
}

TEST(LimitCases, AConcurrencyOfZeroIsNoWayToHang) {
  Rig rig(scripted({calls({{"a", "look", "{}"}, {"b", "look", "{}"}}), says("done")}));
  give_look(rig);
  tug::Run run = rig.harness->start("go", {.limits = {.max_concurrency = 0}});
  rig.engine->run_until_idle();
  EXPECT_TRUE(run.ended());
}

}  // namespace
}  // namespace tug
