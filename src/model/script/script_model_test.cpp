#include <gtest/gtest.h>

#include "model/testing.h"
#include "tug/core/error_json.h"
#include "tug/model/script.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using testing::Conversation;
using testing::Heard;

ModelPtr model_of(std::string_view script) {
  auto turns = parse_script(script, "s.jsonl");
  EXPECT_TRUE(turns) << to_string(turns.error());
  return make_script_model(*std::move(turns), {.provider = "script", .name = "s.jsonl"});
}

TEST(ScriptModel, ServesItsLinesInOrderAndIsThenExhausted) {
  Conversation talk(model_of("{\"text\":\"one\"}\n{\"text\":\"two\"}"));
  EXPECT_EQ(talk.text(), "one");
  EXPECT_EQ(talk.text(), "two");
  for (int again = 0; again < 2; ++again) {
    auto turn = talk.ask();
    ASSERT_FALSE(turn);
    EXPECT_EQ(turn.error().kind(), ErrorKind::invalid);
    EXPECT_FALSE(is_retryable(turn.error()));
    EXPECT_EQ(turn.error().detail_if<Provider>()->fault, "script_exhausted");
    EXPECT_EQ(to_string(turn.error()),
              "script/s.jsonl is exhausted: its 2 lines are used (add a line for this model call, "
              "or put \"repeat\": true on one)");
  }
  EXPECT_EQ(print_json(talk.reserved()[0]), R"({"line":1})");
  EXPECT_EQ(print_json(talk.reserved()[3]), R"({"line":0})");
}

TEST(ScriptModel, AReservationSaysWhichLineAnswers) {
  ModelPtr model = model_of("{\"text\":\"one\"}\n{\"text\":\"two\"}\n{\"text\":\"three\"}");
  Conversation talk(model);
  // What another process had reserved before it died.
  talk.request.reservation = Json::object({{"line", 2}});
  std::shared_ptr<ModelStream> stream = model->ask(talk.request, {});
  auto turn = talk.engine().run(talk.engine().loop(0), collect(*stream));
  EXPECT_EQ(turn->message->text(), "two");
  talk.request.reserved =
      std::make_shared<const std::vector<Json>>(std::vector<Json>{Json::object({{"line", 2}})});
  EXPECT_EQ(print_json(model->reserve(talk.request)), R"({"line":3})");
  // A script that became shorter in between.
  talk.request.reservation = Json::object({{"line", 9}});
  stream = model->ask(talk.request, {});
  turn = talk.engine().run(talk.engine().loop(0), collect(*stream));
  EXPECT_EQ(turn.error().detail_if<Provider>()->fault, "script_exhausted");
}

TEST(ScriptModel, AmongTheFittingLinesTheFirstUnusedIsServed) {
  Conversation talk(model_of(R"({"text":"for child","agent":"child"}
{"text":"for cats","when":"cat"}
{"text":"plain 1"}
{"text":"plain 2"}
{"text":"child again","agent":"child"})"));
  talk.request.agent = "main";
  talk.user("dogs");
  EXPECT_EQ(talk.text(), "plain 1");
  talk.request.agent = "child";
  EXPECT_EQ(talk.text(), "for child");
  talk.user("a cat");
  talk.request.agent = "main";
  EXPECT_EQ(talk.text(), "for cats");
  EXPECT_EQ(talk.text(), "plain 2");
  auto turn = talk.ask();
  ASSERT_FALSE(turn);
  EXPECT_EQ(turn.error().message(),
            "script/s.jsonl is exhausted: none of its 5 lines is unused and fits this request of "
            "agent \"main\"");
  talk.request.agent = "child";
  EXPECT_EQ(talk.text(), "child again");
}

TEST(ScriptModel, WhenLooksAtTheNewestMessageAndAtToolResults) {
  Conversation talk(model_of(R"({"text":"saw it","when":"needle","repeat":true}
{"text":"no","repeat":true})"));
  EXPECT_EQ(talk.text(), "no");
  talk.user("a needle here");
  EXPECT_EQ(talk.text(), "saw it");
  talk.user("something else");
  EXPECT_EQ(talk.text(), "no");
  MessagePtr call = Message::make(Role::assistant, {ToolCall{.tool = "read", .arguments = "{}"}});
  auto appended = talk.request.transcript.append_turn(call, Seq{1});
  ASSERT_TRUE(appended);
  ToolResult result = ToolResult::text("hay needle hay");
  result.call = (*appended)->tool_calls()[0]->id;
  ASSERT_TRUE(talk.request.transcript.append_results({result}));
  EXPECT_EQ(talk.text(), "saw it");
}

TEST(ScriptModel, ARepeatedLineIsNeverUsedUp) {
  Conversation talk(model_of("{\"text\":\"once\"}\n{\"text\":\"ever\",\"repeat\":true}"));
  EXPECT_EQ(talk.text(), "once");
  for (int i = 0; i < 100; ++i) ASSERT_EQ(talk.text(), "ever");
}

TEST(ScriptModel, ATurnHasItsPartsUsageFinishAndRawForm) {
  Conversation talk(model_of(
      R"({"reasoning":"hm","text":"hi","tool_calls":[{"name":"read","arguments":{"path":"a"}},{"id":"x","name":"list","arguments":"oops"},{"name":"b"}],"usage":{"input_tokens":3,"output_tokens":4}})"));
  auto turn = talk.ask();
  ASSERT_TRUE(turn);
  const MessagePtr expected = Message::make(
      Role::assistant,
      {ReasoningPart{.text = "hm"}, TextPart{"hi"},
       ToolCall{.provider_id = "call_1", .tool = "read", .arguments = R"({"path":"a"})"},
       ToolCall{.provider_id = "x", .tool = "list", .arguments = "oops"},
       ToolCall{.provider_id = "call_3", .tool = "b", .arguments = "{}"}});
  EXPECT_EQ(*turn->message, *expected);
  EXPECT_EQ(turn->finish, Finish::tool_calls);
  EXPECT_EQ(turn->usage, (Usage{.input_tokens = 3, .output_tokens = 4}));
  EXPECT_EQ(turn->model, "s.jsonl");
  EXPECT_EQ(turn->raw["text"], Json("hi"));
  EXPECT_EQ(turn->raw["tool_calls"][0]["arguments"], Json::object({{"path", "a"}}));
  EXPECT_EQ(turn->raw["tool_calls"][1]["arguments"], Json("oops"));
}

TEST(ScriptModel, TheTextComesInChunksAtCharacterBoundaries) {
  Conversation talk(model_of(
      "{\"reasoning\":\"r\",\"text\":\"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z\",\"chunks\":3,"
      "\"tool_calls\":[{\"id\":\"i\",\"name\":\"t\"}]}"));
  auto heard = talk.listen();
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->lines, (std::vector<std::string>{
                              "reasoning:r", "text:a", "text:\xc3\xa9\xe2\x82\xac",
                              "text:\xf0\x9f\x98\x80z", "call 0 i t {}", "turn tool_calls"}));
  Conversation few(model_of(R"({"text":"ab","chunks":50})"));
  EXPECT_EQ(few.listen()->lines, (std::vector<std::string>{"text:a", "text:b", "turn stop"}));
  Conversation none(model_of(R"({"text":"","chunks":5})"));
  EXPECT_EQ(none.listen()->lines, (std::vector<std::string>{"turn stop"}));
}

TEST(ScriptModel, DelaysComeBeforeTheTurnAndBetweenChunks) {
  Conversation talk(model_of(R"({"text":"abc","chunks":3,"delay_ms":100,"chunk_delay_ms":10})"));
  auto heard = talk.listen();
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->lines, (std::vector<std::string>{"text:a", "text:b", "text:c", "turn stop"}));
  EXPECT_EQ(heard->at_ms, (std::vector<std::int64_t>{100, 110, 120, 120}));
}

TEST(ScriptModel, ALateWaitIsExhaustedAndACancelledOneCancelled) {
  Conversation late(model_of(R"({"text":"x","delay_ms":1000})"));
  auto turn = late.ask(Until{.deadline = later(late.engine().now(), milliseconds(5))});
  ASSERT_FALSE(turn);
  EXPECT_EQ(turn.error().kind(), ErrorKind::exhausted);
  EXPECT_EQ(turn.error().detail_if<Limit>()->kind, LimitKind::wall_clock);

  Conversation stopped(model_of(R"({"text":"x","delay_ms":1000})"));
  CancelToken token = CancelToken::root();
  token.request(CancelReason{CancelReason::Why::user});
  turn = stopped.ask(Until{.cancel = token});
  ASSERT_FALSE(turn);
  EXPECT_EQ(turn.error().kind(), ErrorKind::cancelled);
}

TEST(ScriptModel, AnErrorLineIsAnAttemptThatFails) {
  Conversation talk(model_of(R"({"error":{"status":429,"retry_after":2,"body":"slow down"}}
{"text":"after"}
{"text":"said before the cut","error":{"status":500}})"));
  auto turn = talk.ask();
  ASSERT_FALSE(turn);
  EXPECT_EQ(turn.error().kind(), ErrorKind::overloaded);
  EXPECT_EQ(turn.error().message(), "script/s.jsonl answered 429: slow down");
  EXPECT_EQ(turn.error().detail_if<Provider>()->retry_after_ms, 2000);
  EXPECT_EQ(talk.text(), "after");
  EXPECT_EQ(talk.text(), "error overloaded");
}

TEST(ScriptModel, TwoStreamsAtOnceDoNotDisturbEachOther) {
  ModelPtr model = model_of(R"({"text":"abcd","chunks":4,"repeat":true})");
  auto engine = make_sim_engine();
  std::shared_ptr<ModelStream> one = model->ask({}, {});
  std::shared_ptr<ModelStream> two = model->ask({}, {});
  model.reset();  // a stream keeps what it reads
  const std::vector<std::string> all{"text:a", "text:b", "text:c", "text:d", "turn stop"};
  EXPECT_EQ(engine->run(engine->loop(0), testing::hear(one))->lines, all);
  EXPECT_EQ(engine->run(engine->loop(0), testing::hear(two))->lines, all);
}

}  // namespace
}  // namespace tug
