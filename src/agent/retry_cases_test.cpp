// Attempts that fail, models that take over, and answers that are none: the cases of the
// references. TA: TinyAgents.
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
TEST(RetryCases, RetriesPerCallBoundTheAttemptsOfThePolicy) {
  auto model = testkit::recording(scripted({again(fails(503))}));
  RetryPolicy ten = kPlain;
  ten.attempts = 10;
  Rig rig(model, 1, {.retry = ten});
  (void)rig.run("go", {.limits = {.retries = 1}});
  EXPECT_EQ(model->requests().size(), 2u);
  (void)rig.run("go", {.limits = {.retries = 0}});
  EXPECT_EQ(model->requests().size(), 3u);
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

// A chain of models in one rig: the primary and two more.
struct Chain {
  Chain(std::vector<ScriptTurn> first, std::vector<ScriptTurn> second,
        std::vector<ScriptTurn> third = {again(says("third"))}, ModelProfile of_second = {})
      : primary(testkit::recording(profiled({.name = "primary"}, std::move(first)))),
        backup(testkit::recording(profiled(named(std::move(of_second)), std::move(second)))),
        last(testkit::recording(profiled({.name = "last"}, std::move(third)))),
        rig(primary, 1, {.retry = {.attempts = 2, .jitter = 0}}) {
    rig.models->add(backup);
    rig.models->add(last);
  }
  static ModelProfile named(ModelProfile profile) {
    profile.name = "backup";
    return profile;
  }
  RunResult run(std::vector<std::string> fallbacks, RunOptions options = {}) {
    options.fallback_models = std::move(fallbacks);
    return rig.run("go", std::move(options));
  }

  std::shared_ptr<testkit::RecordingModel> primary;
  std::shared_ptr<testkit::RecordingModel> backup;
  std::shared_ptr<testkit::RecordingModel> last;
  Rig rig;
};

TEST(FallbackCases, AModelThatIsDownIsReplacedWithoutBeingListedItself) {
  Chain chain({again(fails(503))}, {says("from the backup")});
  const RunResult result = chain.run({"test/backup"});
  EXPECT_EQ(result.text, "from the backup");
  EXPECT_EQ(result.model, "test/backup");
  EXPECT_EQ(chain.primary->requests().size(), 2u);
  EXPECT_EQ(chain.backup->requests().size(), 1u);
  const Event* selected = chain.rig.seen->find(Kind::model_fallback_selected);
  ASSERT_TRUE(selected);
  EXPECT_EQ(selected->data["from"].as_string(), "test/primary");
  EXPECT_EQ(selected->data["to"].as_string(), "test/backup");
  EXPECT_EQ(chain.backup->requests()[0].model, "test/backup");
}

// TA 11
TEST(FallbackCases, NoModelIsAskedTwiceInOneTurnHoweverOftenItIsListed) {
  Chain chain({again(fails(503))}, {again(fails(503))});
  const RunResult result = chain.run({"test/backup", "test/primary", "test/backup"});
  EXPECT_EQ(result.stop, StopReason::provider_error);
  EXPECT_EQ(chain.primary->requests().size(), 2u);
  EXPECT_EQ(chain.backup->requests().size(), 2u) << "retries begin anew with each model";
  EXPECT_EQ(result.counts.attempts, 4);
  EXPECT_EQ(exit_code(result), 3);
}

// TA 11
TEST(FallbackCases, AModelThatCannotCallToolsIsPassedOverInARunThatHasSome) {
  Chain chain({again(fails(503))}, {again(says("never"))}, {says("third")}, {.tools = false});
  chain.rig.harness->inline_tool("look", "Looks", [] { return "seen"; });
  const RunResult result = chain.run({"test/backup", "test/last"});
  EXPECT_EQ(result.text, "third");
  EXPECT_TRUE(chain.backup->requests().empty());
  const Event* skipped = chain.rig.seen->find(Kind::model_fallback_skipped);
  ASSERT_TRUE(skipped);
  EXPECT_EQ(skipped->data["model"].as_string(), "test/backup");
  EXPECT_TRUE(contains(skipped->data["reason"].as_string(), "tools"));
}

TEST(FallbackCases, AModelThatCannotAnswerByTheSchemaIsPassedOver) {
  Chain chain({again(fails(503))}, {again(says("never"))}, {calls("final_result", R"({"n":3})")},
              {.tools = false});
  const RunResult result = chain.run({"test/backup", "test/last"},
                                     {.output_schema = Json::object({{"type", "object"}})});
  EXPECT_EQ(result.output, Json::object({{"n", 3}}));
  EXPECT_EQ(chain.rig.seen->count(Kind::model_fallback_skipped), 1u);
}

TEST(FallbackCases, AModelThatNobodyRegisteredIsPassedOverWithAReason) {
  Chain chain({again(fails(503))}, {says("from the backup")});
  const RunResult result = chain.run({"nobody/knows", "test/backup"});
  EXPECT_EQ(result.text, "from the backup");
  const Event* skipped = chain.rig.seen->find(Kind::model_fallback_skipped);
  ASSERT_TRUE(skipped);
  EXPECT_EQ(skipped->data["model"].as_string(), "nobody/knows");
  EXPECT_FALSE(skipped->data["reason"].as_string().empty());
}

TEST(FallbackCases, AMalformedRequestNeverReachesAnotherModel) {
  Chain chain({again(fails(400))}, {again(says("never"))});
  const RunResult result = chain.run({"test/backup"});
  EXPECT_EQ(result.stop, StopReason::provider_error);
  EXPECT_EQ(exit_code(result), 1);
  EXPECT_EQ(chain.primary->requests().size(), 1u);
  EXPECT_TRUE(chain.backup->requests().empty());
}

TEST(FallbackCases, ACancelDoesNotReachAnotherModel) {
  ScriptTurn hanging = says("late");
  hanging.delay_ms = 3'600'000;
  Chain chain({hanging}, {again(says("never"))});
  tug::Run run = chain.rig.harness->start("go", {.fallback_models = {{"test/backup"}}});
  chain.rig.engine->advance(seconds(1));
  run.cancel();
  EXPECT_EQ(run.wait().status, RunStatus::cancelled);
  EXPECT_TRUE(chain.backup->requests().empty());
}

TEST(FallbackCases, TheRunStaysWithTheModelThatTookOver) {
  Chain chain({fails(503), fails(503), again(says("never"))}, {calls("look"), says("done")});
  chain.rig.harness->inline_tool("look", "Looks", [] { return "seen"; });
  EXPECT_EQ(chain.run({"test/backup"}).text, "done");
  EXPECT_EQ(chain.primary->requests().size(), 2u);
  EXPECT_EQ(chain.backup->requests().size(), 2u);
  EXPECT_EQ(chain.rig.seen->count(Kind::model_fallback_selected), 1u);
}

TEST(FallbackCases, TheRunStaysWithItAfterAPauseToo) {
  Chain chain({fails(503), fails(503), again(says("never"))}, {calls("look"), says("done")});
  chain.rig.harness->inline_tool("look", "Looks", [] { return "seen"; });
  auto pause = std::make_shared<PauseAt>(Kind::tool_completed);
  const RunResult parked = run_to_pause(chain.rig, pause, {.fallback_models = {{"test/backup"}}});
  ASSERT_EQ(parked.status, RunStatus::parked);
  const RunResult result = chain.rig.harness->resume(parked.id).wait();
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.model, "test/backup");
}

// Answers with one error for ever.
class Refusing final : public Model {
 public:
  Refusing(ModelProfile profile, Error error)
      : profile_(std::move(profile)), error_(std::move(error)) {}
  const ModelProfile& profile() const noexcept override { return profile_; }
  std::unique_ptr<ModelStream> ask(ModelRequest, Until) override {
    return std::make_unique<Stream>(error_);
  }

 private:
  class Stream final : public ModelStream {
   public:
    explicit Stream(Error error) : error_(std::move(error)) {}
    Task<Result<std::optional<ModelEvent>>> next() override { co_return Failure(error_); }

   private:
    Error error_;
  };

  ModelProfile profile_;
  Error error_;
};

TEST(FallbackCases, WhatDoesNotFitGoesOnlyToALargerWindow) {
  const Error overflow(ErrorKind::invalid, "too long", "", Overflow{.window = 1000});
  const auto full = std::make_shared<Refusing>(
      ModelProfile{.provider = "test", .name = "full", .context_tokens = 1000}, overflow);
  Rig rig(full, 1, {.fallback_models = {"test/small", "test/large"}});
  rig.models->add(profiled({.name = "small", .context_tokens = 900}, {again(says("never"))}));
  rig.models->add(profiled({.name = "large", .context_tokens = 9000}, {says("it fits")}));
  EXPECT_EQ(rig.run("go").text, "it fits");
  EXPECT_EQ(rig.seen->find(Kind::model_fallback_skipped)->data["model"].as_string(), "test/small");
  const RunResult none = rig.harness->run("go", {.fallback_models = {{"test/small"}}});
  EXPECT_EQ(none.stop, StopReason::context_overflow);
  EXPECT_EQ(exit_code(none), 5);
}

// TA, truncated-empty recovery (18 of its section 1)
TEST(EmptyCases, AnAnswerCutBeforeItsFirstWordGetsTwiceTheRoomForThatTurnAlone) {
  auto model = testkit::recording(scripted({cut(says("")), calls("look"), says("done")}));
  Rig rig(model);
  rig.harness->inline_tool("look", "Looks", [] { return "seen"; });
  const RunResult result = rig.run("go", {.max_output_tokens = 64});
  EXPECT_EQ(result.text, "done");
  ASSERT_EQ(model->requests().size(), 3u);
  EXPECT_EQ(model->requests()[0].max_output_tokens, 64);
  EXPECT_EQ(model->requests()[1].max_output_tokens, 128);
  EXPECT_EQ(model->requests()[2].max_output_tokens, 64);
  EXPECT_EQ(model->requests()[1].transcript.size(), 1u) << "the blank turn is not kept";
}

TEST(EmptyCases, WithoutABoundThereIsNoneAfterACutEither) {
  auto model = testkit::recording(scripted({cut(says("")), says("done")}));
  Rig rig(model);
  EXPECT_EQ(rig.run("go").text, "done");
  EXPECT_EQ(model->requests()[0].max_output_tokens, 0);
  EXPECT_EQ(model->requests()[1].max_output_tokens, 0);
}

TEST(EmptyCases, AnEmptyAnswerThatWasNotCutIsAskedForAgainWithTheSameRoom) {
  auto model = testkit::recording(scripted({says(" \n"), says("done")}));
  Rig rig(model);
  EXPECT_EQ(rig.run("go", {.max_output_tokens = 64}).text, "done");
  EXPECT_EQ(model->requests()[1].max_output_tokens, 64);
  EXPECT_EQ(rig.seen->find(Kind::output_retry)->data["reason"].as_string(), "empty");
}

TEST(EmptyCases, EachTurnMayBeEmptyOnce) {
  Rig rig(scripted({says(""), calls("look"), says(""), says("done")}));
  rig.harness->inline_tool("look", "Looks", [] { return "seen"; });
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.counts.model_calls, 4);
  expect_legal(result.messages);
}

TEST(EmptyCases, TwoEmptyAnswersAreAnErrorThatKeepsWhatWasThere) {
  Rig rig(scripted({used(calls("look"), 10, 1), used(cut(says("")), 5, 1), used(says(""), 5, 1)}));
  rig.harness->inline_tool("look", "Looks", [] { return "seen"; });
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.stop, StopReason::error);
  EXPECT_EQ(exit_code(result), 1);
  EXPECT_EQ(result.usage.total(), 23);
  EXPECT_EQ(result.messages.size(), 3u);
}

ModelTurn nudging(std::string text, std::string nudge) {
  return {.message = Message::assistant(std::move(text)), .nudge = std::move(nudge)};
}

// TA 17 of its section 1
TEST(NudgeCases, AModelThatIsNotDoneIsToldSoAndAskedAgain) {
  auto model = testkit::recording(
      std::make_shared<Turns>(std::vector{nudging("working", "Go on."), nudging("done", "")}));
  Rig rig(model);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  ASSERT_EQ(model->requests().size(), 2u);
  EXPECT_EQ(model->requests()[1].transcript.back()->role(), Role::user);
  EXPECT_EQ(model->requests()[1].transcript.back()->text(), "Go on.");
  EXPECT_EQ(result.messages.size(), 4u);
}

TEST(NudgeCases, OnlyModelCallsBoundAModelThatIsNeverDone) {
  Rig rig(std::make_shared<Turns>(std::vector{nudging("working", "Go on.")}));
  const RunResult result = rig.run("go", {.limits = {.max_turns = 7}});
  EXPECT_EQ(limit_of(result), LimitKind::model_calls);
  EXPECT_EQ(result.counts.model_calls, 7);
}

TEST(NudgeCases, WhatWasSaidBeforeANudgeIsNoPartOfTheAnswer) {
  ModelTurn half = nudging("half ", "");
  half.finish = Finish::length;
  Rig rig(
      std::make_shared<Turns>(std::vector{half, nudging("whole", "Go on."), nudging("done", "")}));
  EXPECT_EQ(rig.run("go").text, "done");
}

TEST(PauseTurnCases, ATurnThatPausesIsAskedForAgainAsItStands) {
  ScriptTurn pausing = says("searching");
  pausing.finish = Finish::pause;
  auto model = testkit::recording(scripted({pausing, says("found")}));
  Rig rig(model);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.stop, StopReason::end_turn);
  EXPECT_TRUE(contains(result.text, "found"));
  EXPECT_EQ(model->requests()[1].transcript.back()->role(), Role::assistant);
  EXPECT_EQ(model->requests()[1].transcript.back()->text(), "searching");
}

TEST(PauseTurnCases, OnlyModelCallsBoundAModelThatPausesForEver) {
  ScriptTurn pausing = again(says("searching"));
  pausing.finish = Finish::pause;
  Rig rig(scripted({pausing}));
  const RunResult result = rig.run("go", {.limits = {.max_turns = 5}});
  EXPECT_EQ(limit_of(result), LimitKind::model_calls);
  EXPECT_EQ(result.counts.model_calls, 5);
}

// TA 5: everything so far is in the result of every ending.
TEST(PartialCases, EveryEndingKeepsTranscriptUsageAndCost) {
  const ScriptTurn first = used(calls("look"), 100, 10);
  ScriptTurn hanging = says("late");
  hanging.delay_ms = 3'600'000;
  ScriptTurn refusing = says("no");
  refusing.finish = Finish::refusal;
  struct Case {
    ScriptTurn second;
    RunOptions options;
    StopReason stop;
  };
  std::stop_source stop;
  const std::vector<Case> cases = {
      {fails(401), {}, StopReason::provider_error},
      {again(fails(503)), {}, StopReason::provider_error},
      {again(says("")), {}, StopReason::error},
      {refusing, {}, StopReason::refusal},
      {hanging, {.timeout = 1}, StopReason::limit_reached},
      {says("never"), {.limits = {.max_turns = 1}}, StopReason::limit_reached},
      {calls("fatal"), {}, StopReason::error},
  };
  for (const Case& one : cases) {
    Rig rig(scripted({first, one.second}));
    rig.models->override_with({.provider = "test", .price = Price{.input = 1000, .output = 1000}});
    rig.harness->inline_tool("look", "Looks", [] { return "seen"; });
    rig.harness->inline_tool(
        "fatal", "Fails", []() -> Result<std::string> { return fail(ErrorKind::internal, "bang"); },
        {.on_error = OnError::fail_run});
    const RunResult result = rig.run("go", one.options);
    EXPECT_EQ(result.stop, one.stop) << name_of(one.stop);
    EXPECT_TRUE(result.error);
    EXPECT_GE(result.messages.size(), 3u) << name_of(one.stop);
    ASSERT_FALSE(result.tool_calls.empty()) << name_of(one.stop);
    EXPECT_GE(result.usage.total(), 110) << name_of(one.stop);
    EXPECT_GE(result.cost.nanos(), 110) << name_of(one.stop);
    EXPECT_EQ(result.tool_calls[0].result.content, "seen");
    EXPECT_EQ(rig.seen->events.back().data["result"], to_json(result));
    expect_legal(result.messages);
  }
}

}  // namespace
}  // namespace tug
