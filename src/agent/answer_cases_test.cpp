// Answers that are none, or not yet, and what is left of a run that ends without one: the cases of
// the references. TA: TinyAgents.
#include <stdexcept>

#include "agent/cases_testing.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::fails;
using testkit::says;
using testkit::scripted;

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

ModelTurn thinking(Finish finish) {
  return {.message = Message::make(Role::assistant, {ReasoningPart{.text = "hm"}}),
          .finish = finish};
}
ModelTurn saying(std::string text) { return {.message = Message::assistant(std::move(text))}; }

TEST(EmptyCases, ThoughtsAloneAreNoAnswer) {
  using Said = std::vector<ModelTurn>;
  auto model =
      testkit::recording(std::make_shared<Turns>(Said{thinking(Finish::length), saying("done")}));
  Rig rig(model);
  EXPECT_EQ(rig.run("go", {.max_output_tokens = 64}).text, "done");
  EXPECT_EQ(rig.seen->find(Kind::output_retry)->data["reason"].as_string(), "empty");
  EXPECT_EQ(model->requests()[1].max_output_tokens, 128);
  EXPECT_EQ(model->requests()[1].transcript.size(), 1u);
  Rig never(std::make_shared<Turns>(Said{thinking(Finish::stop)}));
  const RunResult result = never.run("go");
  EXPECT_EQ(result.stop, StopReason::error);
  EXPECT_EQ(result.counts.model_calls, 2);
}

TEST(EmptyCases, ThoughtsOfATurnThatPausesAreSentBack) {
  auto model = testkit::recording(
      std::make_shared<Turns>(std::vector<ModelTurn>{thinking(Finish::pause), saying("done")}));
  Rig rig(model);
  EXPECT_EQ(rig.run("go").text, "done");
  EXPECT_EQ(*model->requests()[1].transcript.back(), *thinking(Finish::pause).message);
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

// What no model should do.
class Broken final : public Model {
 public:
  enum class How { no_stream, throws, no_message, nothing };
  explicit Broken(How how) : how_(how) {}
  const ModelProfile& profile() const noexcept override { return profile_; }
  std::unique_ptr<ModelStream> ask(ModelRequest, Until) override {
    if (how_ == How::no_stream) return nullptr;
    if (how_ == How::throws) throw std::runtime_error("boom");
    return std::make_unique<Stream>(how_);
  }

 private:
  class Stream final : public ModelStream {
   public:
    explicit Stream(How how) : how_(how) {}
    Task<Result<std::optional<ModelEvent>>> next() override {
      std::optional<ModelEvent> event;
      if (how_ == How::no_message && !std::exchange(said_, true)) event = ModelTurn{};
      co_return event;
    }

   private:
    How how_;
    bool said_ = false;
  };
  How how_;
  ModelProfile profile_{.provider = "test", .name = "broken"};
};

TEST(BrokenModelCases, AModelThatBreaksItsContractIsAFailedRunWithPairedEvents) {
  using enum Broken::How;
  for (const auto how : {no_stream, throws, no_message, nothing}) {
    Rig rig(std::make_shared<Broken>(how), 1, {.retry = {.attempts = 1}});
    const RunResult result = rig.run("go");
    EXPECT_EQ(result.status, RunStatus::failed);
    ASSERT_TRUE(result.error);
    EXPECT_FALSE(contains(result.error->message(), "middleware")) << result.error->message();
    EXPECT_EQ(rig.seen->count(Kind::model_started),
              rig.seen->count(Kind::model_failed) + rig.seen->count(Kind::model_completed));
  }
}

}  // namespace
}  // namespace tug
