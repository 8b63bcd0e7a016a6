// Attempts that fail and are made again: the cases of the references. TA: TinyAgents.
#include "agent/cases_testing.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testkit::calls;
using testkit::fails;
using testkit::says;
using testkit::scripted;

constexpr RetryPolicy kPlain{.attempts = 4, .initial = milliseconds(100), .jitter = 0};

ScriptTurn asks_to_wait(int status, double seconds) {
  ScriptTurn turn = fails(status);
  turn.error->retry_after = seconds;
  return turn;
}

std::vector<std::int64_t> gaps(const SeenEvents& seen) {
  std::vector<std::int64_t> gaps;
  const auto started = events_of(seen, Kind::model_started);
  for (std::size_t i = 1; i < started.size(); ++i) {
    const auto gap = started[i]->ts - started[i - 1]->ts;
    gaps.push_back(std::chrono::duration_cast<milliseconds>(gap).count());
  }
  return gaps;
}

// TA 8
TEST(RetryCases, FourAttemptsAreSpacedByDoublingWaits) {
  auto model = testkit::recording(scripted({again(fails(503))}));
  Rig rig(model, 1, {.retry = kPlain});
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.stop, StopReason::provider_error);
  EXPECT_EQ(model->requests().size(), 4u);
  EXPECT_EQ(gaps(*rig.seen), (std::vector<std::int64_t>{100, 200, 400}));
  EXPECT_EQ(exit_code(result), 3);
}

TEST(RetryCases, EveryWaitIsAnnouncedBeforeItAndTheAttemptsAreCounted) {
  Rig rig(scripted({fails(503), fails(500), says("done")}), 1, {.retry = kPlain});
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(
      rig.seen->kinds(),
      (std::vector<std::string>{"run.started", "model.started", "model.failed", "retry.scheduled",
                                "model.started", "model.failed", "retry.scheduled", "model.started",
                                "model.completed", "run.completed"}));
  const auto waits = events_of(*rig.seen, Kind::retry_scheduled);
  EXPECT_EQ(waits[0]->data["attempt"].as_int(), 1);
  EXPECT_EQ(waits[0]->data["delay_ms"].as_int(), 100);
  EXPECT_EQ(waits[1]->data["attempt"].as_int(), 2);
  EXPECT_EQ(waits[1]->data["delay_ms"].as_int(), 200);
  EXPECT_EQ(rig.seen->events.back().data["result"]["counts"]["attempts"].as_int(), 3);
  EXPECT_EQ(result.counts.model_calls, 1);
}

TEST(RetryCases, TheNextTurnBeginsWithTheFirstWaitAgain) {
  Rig rig(scripted({fails(503), fails(503), calls("look"), fails(503), says("done")}), 1,
          {.retry = kPlain});
  rig.harness->inline_tool("look", "Looks", [] { return "seen"; });
  EXPECT_EQ(rig.run("go").text, "done");
  EXPECT_EQ(gaps(*rig.seen), (std::vector<std::int64_t>{100, 200, 0, 100}));
}

// TA 9
TEST(RetryCases, AWrongKeyIsTriedOnce) {
  auto model = testkit::recording(scripted({again(fails(401))}));
  Rig rig(model, 1, {.retry = kPlain});
  const RunResult result = rig.run("go");
  EXPECT_EQ(model->requests().size(), 1u);
  EXPECT_EQ(exit_code(result), 4);
  EXPECT_EQ(rig.seen->count(Kind::retry_scheduled), 0u);
}

// TA 9
TEST(RetryCases, TooManyRequestsAreTriedAsOftenAsAllowed) {
  auto model = testkit::recording(scripted({again(fails(429))}));
  Rig rig(model, 1, {.retry = kPlain});
  EXPECT_EQ(rig.run("go").stop, StopReason::provider_error);
  EXPECT_EQ(model->requests().size(), 4u);
}

TEST(RetryCases, ASpentAccountIsNotTriedAgainThoughItsStatusSaysTooManyRequests) {
  auto model = testkit::recording(
      scripted({again(fails(429, R"({"error":{"code":"insufficient_quota"}})"))}));
  Rig rig(model, 1, {.retry = kPlain});
  EXPECT_EQ(exit_code(rig.run("go")), 4);
  EXPECT_EQ(model->requests().size(), 1u);
}

// TA 9
TEST(RetryCases, RetriesPerCallThatAreGivenWinOverThePolicy) {
  auto model = testkit::recording(scripted({again(fails(503))}));
  RetryPolicy ten = kPlain;
  ten.attempts = 10;
  Rig rig(model, 1, {.retry = ten});
  (void)rig.run("go", {.limits = {.retries = 1}});
  EXPECT_EQ(model->requests().size(), 2u);
  (void)rig.run("go", {.limits = {.retries = 0}});
  EXPECT_EQ(model->requests().size(), 3u);
  (void)rig.run("go", {.limits = {.retries = 11}});
  EXPECT_EQ(model->requests().size(), 15u);
}

// TA 10
TEST(RetryCases, JitterMovesAWaitByAQuarterEitherWay) {
  const RetryPolicy policy{.initial = milliseconds(200), .jitter = 0.25};
  EXPECT_EQ(policy.backoff(1, 0), milliseconds(150));
  EXPECT_EQ(policy.backoff(1, 0.5), milliseconds(200));
  EXPECT_EQ(policy.backoff(1, 1), milliseconds(250));
  EXPECT_EQ(policy.backoff(3, 0.5), milliseconds(800));
  EXPECT_EQ(policy.backoff(60, 1), policy.most);
  for (std::uint32_t failed = 1; failed < 70; ++failed) {
    EXPECT_GE(policy.backoff(failed, 0), milliseconds(150));
  }
}

TEST(RetryCases, JitterIsDrawnFromTheSeedOfTheRun) {
  std::vector<std::vector<std::int64_t>> drawn;
  for (int i = 0; i < 2; ++i) {
    Rig rig(scripted({again(fails(503))}));
    (void)rig.run("go");
    drawn.push_back(gaps(*rig.seen));
    for (std::size_t n = 0; n < drawn.back().size(); ++n) {
      const std::int64_t base = 200 << n;
      EXPECT_GE(drawn.back()[n], base * 3 / 4 - 1);
      EXPECT_LE(drawn.back()[n], base * 5 / 4);
    }
  }
  EXPECT_EQ(drawn[0].size(), 3u);
  EXPECT_EQ(drawn[0], drawn[1]);
}

// TA 10
TEST(RetryCases, AStatedWaitOnlyEverMakesTheWaitLonger) {
  Rig rig(scripted({asks_to_wait(429, 5), asks_to_wait(429, 0), says("done")}), 1,
          {.retry = kPlain});
  EXPECT_EQ(rig.run("go").text, "done");
  EXPECT_EQ(gaps(*rig.seen), (std::vector<std::int64_t>{5000, 200}));
}

// TA 10, and CLI.md
TEST(RetryCases, AStatedWaitThatIsTooLongIsNotWaitedOut) {
  auto model = testkit::recording(scripted({again(asks_to_wait(429, 999'999))}));
  Rig rig(model, 1, {.retry = kPlain});
  const RunResult result = rig.run("go");
  EXPECT_EQ(model->requests().size(), 1u);
  EXPECT_EQ(result.stop, StopReason::provider_error);
  EXPECT_EQ(result.duration_ms, 0);
  EXPECT_EQ(exit_code(result), 3);
  Rig longest(scripted({asks_to_wait(429, 120), says("done")}), 1, {.retry = kPlain});
  EXPECT_EQ(longest.run("go").duration_ms, 120'000);
}

TEST(RetryCases, ACancelDuringAWaitEndsTheRunAtOnce) {
  auto model = testkit::recording(scripted({again(asks_to_wait(429, 100))}));
  Rig rig(model, 1, {.retry = kPlain});
  tug::Run run = rig.harness->start("go", {.observers = {rig.seen}});
  rig.engine->advance(seconds(3));
  ASSERT_EQ(rig.seen->count(Kind::retry_scheduled), 1u);
  run.cancel("enough");
  const RunResult result = run.wait();
  EXPECT_EQ(result.status, RunStatus::cancelled);
  EXPECT_EQ(result.duration_ms, 3000);
  EXPECT_EQ(model->requests().size(), 1u);
}

TEST(RetryCases, ADeadlineDuringAWaitEndsTheRunThereAndAsksNobodyElse) {
  auto model = testkit::recording(scripted({again(asks_to_wait(429, 100))}));
  auto backup = testkit::recording(profiled({.name = "backup"}, {again(says("never"))}));
  Rig rig(model, 1, {.fallback_models = {"test/backup"}, .retry = kPlain});
  rig.models->add(backup);
  const RunResult result = rig.run("go", {.limits = {.max_time = 2}});
  EXPECT_EQ(limit_of(result), LimitKind::wall_clock);
  EXPECT_EQ(result.duration_ms, 2000);
  EXPECT_EQ(model->requests().size(), 1u);
  EXPECT_TRUE(backup->requests().empty());
}

TEST(RetryCases, WhatAFailedAttemptHadSaidIsVoidAndOnlyTheLastAttemptCounts) {
  ScriptTurn broken = says("half a wo");
  broken.chunks = 3;
  broken.error = ScriptError{.status = 500};
  ScriptTurn whole = says("whole");
  whole.chunks = 2;
  Rig rig(scripted({broken, whole}), 1, {.retry = kPlain});
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "whole");
  std::string shown;
  std::string voided;
  for (const Event& event : rig.seen->events) {
    if (event.kind == Kind::model_delta) shown += event.data["text"].as_string();
    if (event.kind == Kind::model_failed) voided = std::exchange(shown, "");
  }
  EXPECT_EQ(voided, "half a wo");
  EXPECT_EQ(shown, "whole");
  EXPECT_EQ(result.messages.size(), 2u);
}

TEST(RetryCases, DeltasOfAnAttemptNameItsCall) {
  ScriptTurn broken = says("half");
  broken.error = ScriptError{.status = 500};
  Rig rig(scripted({broken, says("whole")}), 1, {.retry = kPlain});
  (void)rig.run("go");
  std::string call;
  for (const Event& event : rig.seen->events) {
    if (event.kind == Kind::model_started) call = event.data["call"].as_string();
    if (event.kind == Kind::model_delta) EXPECT_EQ(event.data["call"].as_string(), call);
  }
}

TEST(RetryCases, ACancelOfTheRootEndsTheWaitOfAChildAtOnce) {
  Rig rig(scripted({calls("child"), again(asks_to_wait(429, 100))}), 1, {.retry = kPlain});
  rig.harness->tool("child", "Runs a child", [&rig](const Context& ctx) -> Task<std::string> {
    auto running = rig.harness->run_async(ctx, "go on");
    RunResult result = co_await std::move(running);
    co_return std::string(name_of(result.status));
  });
  tug::Run run = rig.harness->start("go", {.observers = {rig.seen}});
  rig.engine->advance(seconds(3));
  run.cancel("enough");
  const RunResult result = run.wait();
  EXPECT_EQ(result.status, RunStatus::cancelled);
  EXPECT_EQ(result.duration_ms, 3000);
  EXPECT_EQ(rig.seen->count(Kind::run_cancelled), 2u);
  expect_legal(result.messages);
}

TEST(RetryCases, APauseDuringAWaitParksTheRunAtOnceAndItIsTriedAgainWhenItGoesOn) {
  ScriptTurn busy = fails(429, "busy");
  busy.error->retry_after = 60;
  Rig rig(scripted({busy, says("at last")}));
  tug::Run run = rig.harness->start("go");
  rig.engine->advance(std::chrono::seconds(1));
  run.pause("shutdown");
  const RunResult parked = run.wait();
  EXPECT_EQ(parked.status, RunStatus::parked);
  EXPECT_LT(parked.duration_ms, 2000);
  const RunResult result = rig.harness->resume(parked.id).wait();
  EXPECT_EQ(result.text, "at last");
  EXPECT_EQ(result.counts.attempts, 2);
}

}  // namespace
}  // namespace tug
