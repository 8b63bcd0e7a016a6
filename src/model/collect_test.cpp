#include <gtest/gtest.h>

#include <stdexcept>

#include "model/testing.h"

namespace tug {
namespace {

using testing::FixedStream;
using testing::line_of;
using Step = FixedStream::Step;

Step step(ModelEvent event) { return std::optional<ModelEvent>(std::move(event)); }
Step failure(ErrorKind kind, std::string message) { return fail(kind, std::move(message)); }

Result<ModelTurn> collected(std::vector<Step> steps, DeltaObserver* observer = nullptr) {
  auto engine = make_sim_engine();
  FixedStream stream(std::move(steps));
  return engine->run(engine->loop(0), collect(stream, observer));
}

ModelTurn closing(std::string text) { return {.message = Message::assistant(std::move(text))}; }

TEST(Collect, TheClosingTurnBeatsTheDeltas) {
  auto turn = collected({step(TextDelta{"half"}), step(closing("whole"))});
  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->message->text(), "whole");
  EXPECT_EQ(turn->finish, Finish::stop);
}

TEST(Collect, AFailureBeatsEverythingBeforeIt) {
  auto after_deltas = collected({step(TextDelta{"half"}), failure(ErrorKind::overloaded, "busy")});
  ASSERT_FALSE(after_deltas);
  EXPECT_EQ(after_deltas.error().message(), "busy");
  auto after_turn = collected({step(closing("whole")), failure(ErrorKind::denied, "no")});
  ASSERT_FALSE(after_turn);
  EXPECT_EQ(after_turn.error().kind(), ErrorKind::denied);
}

TEST(Collect, DeltasWithoutAClosingTurnArePutTogether) {
  auto turn = collected({step(TextDelta{"he"}), step(ToolCallDelta{7, "c7", "", "{\"a\""}),
                         step(ReasoningDelta{"hm"}), step(ToolCallDelta{2, "c2", "list", ""}),
                         step(ToolCallDelta{7, "late", "read", ":1}"}),
                         step(ToolCallDelta{7, "", "other", ""}), step(TextDelta{"llo"})});
  ASSERT_TRUE(turn);
  const MessagePtr expected = Message::make(
      Role::assistant, {ReasoningPart{.text = "hm"}, TextPart{"hello"},
                        ToolCall{.provider_id = "c7", .tool = "read", .arguments = "{\"a\":1}"},
                        ToolCall{.provider_id = "c2", .tool = "list", .arguments = "{}"}});
  EXPECT_EQ(*turn->message, *expected);
  EXPECT_EQ(turn->finish, Finish::tool_calls);
  EXPECT_EQ(collected({step(TextDelta{"x"})})->finish, Finish::stop);
}

TEST(Collect, AStreamThatSaysNothingIsDisconnected) {
  for (auto& steps :
       {std::vector<Step>{}, {step(UsageDelta{{.input_tokens = 3}})}, {step(TextDelta{""})}}) {
    auto turn = collected(steps);
    ASSERT_FALSE(turn);
    EXPECT_EQ(turn.error().kind(), ErrorKind::disconnected);
    EXPECT_EQ(turn.error().detail_if<Provider>()->fault, "stream_ended");
  }
}

TEST(Collect, UsageIsNeverOverwrittenByLess) {
  ModelTurn last = closing("x");
  last.usage = {.input_tokens = 0, .output_tokens = 9};
  auto turn = collected({step(UsageDelta{{.input_tokens = 40, .cache_read_tokens = 8}}),
                         step(UsageDelta{{.input_tokens = 30, .output_tokens = 5}}), step(last)});
  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->usage, (Usage{.input_tokens = 40, .output_tokens = 9, .cache_read_tokens = 8}));
}

TEST(Collect, ATurnWithoutAMessageGetsTheDeltas) {
  auto turn = collected({step(TextDelta{"said"}), step(ModelTurn{.finish = Finish::length})});
  ASSERT_TRUE(turn);
  EXPECT_EQ(turn->message->text(), "said");
  EXPECT_EQ(turn->finish, Finish::length);
}

TEST(Collect, ACharacterCutInTwoIsWholeAndBadBytesAreRepaired) {
  EXPECT_EQ(collected({step(TextDelta{"caf\xc3"}), step(TextDelta{"\xa9"})})->message->text(),
            "caf\xc3\xa9");
  EXPECT_EQ(collected({step(TextDelta{"a\xff z"})})->message->text(), "a\xef\xbf\xbd z");
}

TEST(Collect, AnAnswerHoldsAtMost64MB) {
  std::vector<Step> steps(65, step(TextDelta{std::string(1 << 20, 'x')}));
  auto turn = collected(steps);
  ASSERT_FALSE(turn);
  EXPECT_EQ(turn.error().kind(), ErrorKind::exhausted);
  EXPECT_EQ(turn.error().detail_if<Provider>()->fault, "answer_too_large");
  steps.pop_back();
  EXPECT_TRUE(collected(steps));
  auto whole = collected({step(closing(std::string(kMaxAnswerBytes + 1, 'x')))});
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().kind(), ErrorKind::exhausted);
}

TEST(Collect, AnAnswerHoldsAtMost1024Calls) {
  std::vector<Step> steps;
  for (std::uint32_t i = 0; i < kMaxCallsOfAnAnswer; ++i)
    steps.push_back(step(ToolCallDelta{i, "", "read", ""}));
  EXPECT_EQ(collected(steps)->message->tool_calls().size(), kMaxCallsOfAnAnswer);
  steps.push_back(step(ToolCallDelta{4'000'000'000, "", "read", ""}));
  EXPECT_EQ(collected(steps).error().kind(), ErrorKind::exhausted);
}

struct Lines final : DeltaObserver {
  std::vector<std::string> seen;
  void on_delta(const ModelEvent& event) override { seen.push_back(line_of(event)); }
};

TEST(Collect, TheObserverSeesTheDeltasAndNotTheTurn) {
  Lines lines;
  ASSERT_TRUE(collected({step(ReasoningDelta{"r"}), step(TextDelta{"t"}),
                         step(UsageDelta{{.input_tokens = 1}}), step(closing("x"))},
                        &lines));
  EXPECT_EQ(lines.seen, (std::vector<std::string>{"reasoning:r", "text:t", "usage"}));
}

class Thrower final : public ModelStream {
 public:
  Task<Result<std::optional<ModelEvent>>> next() override {
    throw std::runtime_error("boom");
    co_return std::optional<ModelEvent>();
  }
};

TEST(Collect, WhatAStreamThrowsIsAnInternalError) {
  auto engine = make_sim_engine();
  Thrower stream;
  auto turn = engine->run(engine->loop(0), collect(stream));
  ASSERT_FALSE(turn);
  EXPECT_EQ(turn.error().kind(), ErrorKind::internal);
  EXPECT_TRUE(turn.error().message().contains("the model's stream")) << turn.error().message();
}

}  // namespace
}  // namespace tug
