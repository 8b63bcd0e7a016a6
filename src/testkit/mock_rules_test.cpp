// What the mock says about requests: rules they break, requests they extend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "testkit/mock_core.h"
#include "tug/core/json.h"

namespace tug {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MockRulesTest : public ::testing::Test {
 protected:
  MockRequest ask(std::string path, std::string body, std::string version = "2026-10-21") {
    core_.take({.method = "POST",
                .path = std::move(path),
                .headers = {{"content-type", "application/json"},
                            {"anthropic-version", std::move(version)}},
                .body = std::move(body)});
    return core_.requests().back();
  }
  MockRequest chat(std::string_view messages, std::string_view more = "") {
    return ask("/v1/chat/completions", R"({"model":"m",)" + std::string(more) + R"("messages":[)" +
                                           std::string(messages) + "]}");
  }
  MockRequest responses(std::string_view items, std::string_view more = "") {
    return ask("/v1/responses",
               R"({"model":"m",)" + std::string(more) + R"("input":[)" + std::string(items) + "]}");
  }
  MockRequest anthropic(std::string_view messages, std::string_view more = R"("max_tokens":9,)",
                        std::string version = "2026-10-21") {
    return ask(
        "/v1/messages",
        R"({"model":"m",)" + std::string(more) + R"("messages":[)" + std::string(messages) + "]}",
        std::move(version));
  }
  MockRequest gemini(std::string_view contents) {
    return ask("/v1beta/models/m:generateContent",
               R"({"contents":[)" + std::string(contents) + "]}");
  }

  MockCore core_;
};

constexpr std::string_view kUser = R"({"role":"user","content":"hi"})";

std::string chat_call(std::string_view id) {
  return R"({"role":"assistant","content":null,"tool_calls":[{"id":")" + std::string(id) +
         R"(","type":"function","function":{"name":"f","arguments":"{}"}}]})";
}
std::string chat_result(std::string_view id) {
  return R"({"role":"tool","tool_call_id":")" + std::string(id) + R"(","content":"ok"})";
}

TEST_F(MockRulesTest, ChatCallsAreAnsweredRightBehindThemOnce) {
  const std::string user(kUser);
  EXPECT_THAT(chat(user + "," + chat_call("a") + "," + chat_result("a")).faults, IsEmpty());
  EXPECT_THAT(chat(user + "," + chat_call("a")).faults,
              ElementsAre(HasSubstr("call \"a\" has no result")));
  EXPECT_THAT(chat(user + "," + chat_call("a") + "," + user).faults,
              ElementsAre(HasSubstr("messages[2]: call \"a\" has no result")));
  EXPECT_THAT(chat(user + "," + chat_result("a")).faults,
              ElementsAre(HasSubstr("a result for no call")));
  EXPECT_THAT(
      chat(user + "," + chat_call("a") + "," + chat_result("a") + "," + chat_result("a")).faults,
      ElementsAre(HasSubstr("a result for no call")));
  EXPECT_THAT(chat(user + "," + chat_call("a") + "," + chat_result("a") + "," + chat_call("a") +
                   "," + chat_result("a"))
                  .faults,
              ElementsAre(HasSubstr("used twice")));
  EXPECT_THAT(chat(user + "," + chat_call("a b") + "," + chat_result("a b")).faults,
              ElementsAre(HasSubstr("is not one")));
}

TEST_F(MockRulesTest, ChatKnowsItsRolesPartsAndTools) {
  EXPECT_THAT(chat(R"({"role":"robot","content":"hi"})").faults,
              ElementsAre(HasSubstr("no such role: \"robot\"")));
  EXPECT_THAT(chat(R"({"role":"user","content":[{"type":"tool_use"}]})").faults,
              ElementsAre(HasSubstr("cannot have: \"tool_use\"")));
  EXPECT_THAT(chat("").faults, ElementsAre(HasSubstr("messages: there are none")));
  EXPECT_THAT(chat(kUser, R"("tools":[],)").faults, ElementsAre(HasSubstr("the list is empty")));
  EXPECT_THAT(chat(kUser, R"("tool_choice":{"type":"function","function":{"name":"g"}},)").faults,
              ElementsAre(HasSubstr("names no tool")));
  EXPECT_THAT(
      chat(kUser, R"("tools":[{"type":"function","function":{"name":"no spaces please"}}],)")
          .faults,
      ElementsAre(HasSubstr("not a name of a tool")));
  EXPECT_THAT(ask("/v1/chat/completions", "{").faults, ElementsAre("the body is no JSON object"));
}

TEST_F(MockRulesTest, ResponsesPairsCallsAndOutputs) {
  const std::string call = R"({"type":"function_call","call_id":"a","name":"f","arguments":"{}"})";
  const std::string output = R"({"type":"function_call_output","call_id":"a","output":"ok"})";
  const std::string user(kUser);
  EXPECT_THAT(responses(user + "," + call + "," + output).faults, IsEmpty());
  EXPECT_THAT(responses(output).faults, ElementsAre(HasSubstr("a result for no call")));
  EXPECT_THAT(responses(output, R"("previous_response_id":"resp_1",)").faults, IsEmpty());
  EXPECT_THAT(responses(user + "," + call + "," + user).faults,
              ElementsAre(HasSubstr("has no result")));
  const std::string thought = R"({"type":"reasoning","id":"rs_1","summary":[]})";
  EXPECT_THAT(responses(user + "," + thought + "," + call + "," + output).faults, IsEmpty());
  EXPECT_THAT(responses(user + "," + thought).faults,
              ElementsAre(HasSubstr("without the item that followed it")));
}

TEST_F(MockRulesTest, AnthropicWantsResultsInOneMessageAndRoomForTheAnswer) {
  const std::string user(kUser);
  const std::string calls =
      R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},)"
      R"({"type":"tool_use","id":"b","name":"f","input":{}}]})";
  const auto result = [](std::string_view id) {
    return R"({"type":"tool_result","tool_use_id":")" + std::string(id) + R"(","content":"ok"})";
  };
  const auto said = [](const std::string& blocks) {
    return R"({"role":"user","content":[)" + blocks + "]}";
  };
  const std::string text = R"({"type":"text","text":"and"})";
  const std::string begin = user + "," + calls + ",";
  EXPECT_THAT(anthropic(begin + said(result("a") + "," + result("b") + "," + text)).faults,
              IsEmpty());
  EXPECT_THAT(anthropic(begin + said(result("a")) + "," + said(result("b"))).faults,
              ElementsAre(HasSubstr("\"b\" has no tool_result right behind it"),
                          HasSubstr("a tool_result for no tool_use")));
  EXPECT_THAT(anthropic(begin + said(result("a") + "," + text + "," + result("b"))).faults,
              ElementsAre(HasSubstr("come before everything else")));
  EXPECT_THAT(anthropic(user, "").faults, ElementsAre("max_tokens: it is missing"));
  EXPECT_THAT(anthropic(user, R"("max_tokens":9,"temperature":1,)").faults,
              ElementsAre("temperature: Extra inputs are not permitted"));
  EXPECT_THAT(anthropic(user, R"("max_tokens":9,"temperature":1,)", "2023-06-01").faults,
              IsEmpty());
  EXPECT_THAT(anthropic(user + R"(,{"role":"assistant","content":[)"
                               R"({"type":"thinking","thinking":"x","signature":"y"}]})")
                  .faults,
              ElementsAre(HasSubstr("Invalid `signature`")));
}

TEST_F(MockRulesTest, GeminiWantsAsManyResponsesAsCalls) {
  const std::string user = R"({"role":"user","parts":[{"text":"hi"}]})";
  const std::string calls = R"({"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},)"
                            R"({"functionCall":{"name":"g","args":{}}}]})";
  const auto response = [](std::string_view name) {
    return R"({"functionResponse":{"name":")" + std::string(name) + R"(","response":{}}})";
  };
  const auto said = [](const std::string& parts) {
    return R"({"role":"user","parts":[)" + parts + "]}";
  };
  const std::string begin = user + "," + calls + ",";
  EXPECT_THAT(gemini(begin + said(response("f") + "," + response("g"))).faults, IsEmpty());
  EXPECT_THAT(gemini(begin + said(response("f"))).faults,
              ElementsAre(HasSubstr("function response parts (1)")));
  EXPECT_THAT(gemini(begin + said(response("g") + "," + response("f"))).faults,
              ElementsAre(HasSubstr("has its name"), HasSubstr("has its name")));
  EXPECT_THAT(gemini(R"({"role":"assistant","parts":[{"text":"x"}]})").faults,
              ElementsAre(HasSubstr("no such role")));
}

TEST_F(MockRulesTest, ARequestExtendsTheLongestOneThatItBeginsWith) {
  const std::string user(kUser);
  const std::string answer = R"({"role":"assistant","content":"ho"})";
  EXPECT_TRUE(chat(user).extends_previous);
  MockRequest second = chat(user + "," + answer + "," + user);
  EXPECT_TRUE(second.extends_previous);
  EXPECT_EQ(second.extends, 1u);
  MockRequest third = chat(user + "," + answer + "," + user + "," + answer);
  EXPECT_EQ(third.extends, 2u);
  MockRequest edited = chat(user + R"(,{"role":"assistant","content":"HO"},)" + user);
  EXPECT_EQ(edited.extends, 1u) << "what was said after the first request is another thing now";
  MockRequest other_head = chat(user + "," + answer, R"("temperature":1,)");
  EXPECT_FALSE(other_head.extends_previous);
  EXPECT_EQ(other_head.extends, 0u);
  MockRequest other_talk = chat(R"({"role":"user","content":"bye"})");
  EXPECT_TRUE(other_talk.extends_previous) << "the first of its conversation";
  EXPECT_EQ(other_talk.extends, 0u);
}

TEST_F(MockRulesTest, CacheMarksAreLeftOutOfTheComparison) {
  const auto block = [](std::string_view text, std::string_view mark) {
    return R"({"role":"user","content":[{"type":"text","text":")" + std::string(text) + "\"" +
           std::string(mark) + "}]}";
  };
  constexpr std::string_view kMark = R"(,"cache_control":{"type":"ephemeral","ttl":"5m"})";
  anthropic(block("a", kMark));
  EXPECT_TRUE(anthropic(block("a", "") + "," + block("b", kMark)).extends_previous);
  EXPECT_EQ(core_.requests().back().extends, 1u);
  EXPECT_EQ(without_cache_marks(R"({"cache_control":{"a":[1,"}"]},"b":"\"cache_control\":1"})"),
            R"({"b":"\"cache_control\":1"})");
  EXPECT_EQ(without_cache_marks(R"({"x":1, "cache_control" : null})"), R"({"x":1})");
  EXPECT_EQ(without_cache_marks(R"(["cache_control","y"])"), R"(["cache_control","y"])");
}

}  // namespace
}  // namespace tug
