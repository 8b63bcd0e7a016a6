#include "tug/testkit/models.h"

#include <gtest/gtest.h>

#include "model/testing.h"

namespace tug::testkit {
namespace {

using std::chrono::milliseconds;
using tug::testing::Conversation;
using Lines = std::vector<std::string>;

TEST(TestModels, ScriptedSaysItsTurnsOnce) {
  Conversation talk(scripted({says("a"), calls("read", R"({"path":"x"})"), fails(503),
                              calls({{.name = "p"}, {.id = "own", .name = "q"}})}));
  EXPECT_EQ(talk.text(), "a");
  auto turn = talk.ask();
  EXPECT_EQ(
      *turn->message,
      *Message::make(
          Role::assistant,
          {ToolCall{.provider_id = "call_1", .tool = "read", .arguments = R"({"path":"x"})"}}));
  EXPECT_EQ(talk.text(), "error overloaded");
  turn = talk.ask();
  ASSERT_EQ(turn->message->tool_calls().size(), 2u);
  EXPECT_EQ(turn->message->tool_calls()[1]->provider_id, "own");
  EXPECT_EQ(talk.text(), "error invalid");
}

TEST(TestModels, CyclingBeginsAgain) {
  Conversation talk(cycling({says("a"), says("b"), says("c")}));
  std::string all;
  for (int i = 0; i < 8; ++i) all += talk.text();
  EXPECT_EQ(all, "abcabcab");
  EXPECT_EQ(Conversation(cycling({})).text(), "error invalid");
}

TEST(TestModels, ConstantAndEcho) {
  Conversation same(constant("yes"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(same.text(), "yes");
  Conversation back(echo());
  EXPECT_EQ(back.text(), "");
  back.user("hello");
  EXPECT_EQ(back.text(), "hello");
  auto turn = back.request.transcript.append_turn(
      Message::make(Role::assistant, {ToolCall{.tool = "t", .arguments = "{}"}}), Seq{1});
  ToolResult result = ToolResult::text("found");
  result.call = (*turn)->tool_calls()[0]->id;
  ASSERT_TRUE(back.request.transcript.append_results({result}));
  EXPECT_EQ(back.text(), "found");
}

TEST(TestModels, SlowWaitsOnTheLoopsClock) {
  Conversation talk(slow(milliseconds(250), calls("t")));
  auto heard = talk.listen();
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->lines, (Lines{"call 0 call_1 t {}", "turn tool_calls"}));
  EXPECT_EQ(heard->at_ms, (std::vector<std::int64_t>{250, 250}));
  auto late = talk.ask(Until{.deadline = later(talk.engine().now(), milliseconds(249))});
  EXPECT_EQ(late.error().kind(), ErrorKind::exhausted);
}

TEST(TestModels, StreamingCutsBySizeNeverInsideACharacter) {
  Conversation talk(
      streaming("ab\xe2\x82\xac"
                "cd",
                2, milliseconds(5)));
  auto heard = talk.listen();
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->lines, (Lines{"text:ab", "text:\xe2\x82\xac", "text:cd", "turn stop"}));
  EXPECT_EQ(heard->at_ms, (std::vector<std::int64_t>{0, 5, 10, 10}));
  EXPECT_EQ(Conversation(streaming("ab", 0)).listen()->lines,
            (Lines{"text:a", "text:b", "turn stop"}));
  EXPECT_EQ(Conversation(streaming("", 3)).listen()->lines, (Lines{"turn stop"}));
}

TEST(TestModels, RecordingKeepsWhatItWasAsked) {
  auto model = recording(scripted({says("a"), says("b")}));
  Conversation talk(model);
  talk.user("one");
  EXPECT_EQ(talk.text(), "a");
  talk.request.agent = "other";
  EXPECT_EQ(talk.text(), "b");
  ASSERT_EQ(model->requests().size(), 2u);
  EXPECT_EQ(model->requests()[0].transcript.back()->text(), "one");
  EXPECT_EQ(model->requests()[1].agent, "other");
  EXPECT_EQ(print_json(model->requests()[1].reservation), R"({"line":2})");
  EXPECT_TRUE(model->profile().id().starts_with("test/scripted-"));
}

}  // namespace
}  // namespace tug::testkit
