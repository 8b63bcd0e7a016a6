#include "tug/middleware/redaction.h"

#include "middleware/testing.h"

namespace tug {
namespace {

TEST(Redacted, IsOnePassOfLiteralsLongestFirstAndDoingItTwiceIsDoingItOnce) {
  struct Case {
    std::string_view text;
    std::vector<std::string> patterns;
    std::string_view mask;
    std::string_view wanted;
  };
  const Case cases[] = {
      {"the key is k-1", {"k-1"}, "***", "the key is ***"},
      {"aXbXXc", {"X"}, "*", "a*b**c"},
      {"ababab", {"abab"}, "*", "*ab"},
      {"secretkey", {"secret", "secretkey"}, "*", "*"},
      {"no such", {"k-1", ""}, "***", "no such"},
      {"it is redacted", {"redacted"}, "[redacted]", "it is [redacted]"},
      {"[redacted] red", {"red"}, "[redacted]", "[redacted] [redacted]"},
      {"a.c abc", {"a.c"}, "*", "* abc"},
      {"secret", {"secret"}, "", ""},
      {"", {"x"}, "*", ""},
  };
  for (const Case& one : cases) {
    const std::string once = redacted(one.text, one.patterns, one.mask);
    EXPECT_EQ(once, one.wanted);
    EXPECT_EQ(redacted(once, one.patterns, one.mask), once) << one.text;
  }
}

class RedactionTest : public BuiltIn {};

TEST_F(RedactionTest, WhereverAStreamIsCutItsWordsAreThoseOfTheWhole) {
  const std::vector<std::string> patterns = {"secret", "secretkey", "ke"};
  const std::string text = "secretkey sec keseret secret[redacted]secre";
  const std::string wanted = redacted(text, patterns, "[redacted]");
  links = {make_redaction(patterns)};
  ASSERT_TRUE(ask());
  ASSERT_EQ(model.asked[0].filters.size(), 1u);
  for (std::size_t a = 0; a <= text.size(); ++a) {
    for (std::size_t b = a; b <= text.size(); ++b) {
      auto filter = model.asked[0].filters[0]();
      std::vector<ModelEvent> out;
      const std::string pieces[] = {text.substr(0, a), text.substr(a, b - a), text.substr(b)};
      for (const std::string& piece : pieces) {
        filter->push(TextDelta{piece}, out);
        filter->push(ReasoningDelta{piece}, out);
        filter->push(ToolCallDelta{.index = 0, .arguments = piece}, out);
      }
      filter->flush(out);
      std::string said;
      std::string thought;
      std::string arguments;
      for (const ModelEvent& event : out) {
        if (auto* delta = std::get_if<TextDelta>(&event)) said += delta->text;
        if (auto* delta = std::get_if<ReasoningDelta>(&event)) thought += delta->text;
        if (auto* delta = std::get_if<ToolCallDelta>(&event)) arguments += delta->arguments;
      }
      EXPECT_EQ(said, wanted);
      EXPECT_EQ(thought, wanted);
      EXPECT_EQ(arguments, text) << "a tool needs what it was given";
    }
  }
}

TEST_F(RedactionTest, MasksWhatTheModelSaysAndWhatToolsAnswer) {
  model.say("the secret is out");
  outcomes.results = {ToolResult::text("password: secret")};
  links = {make_redaction({"secret"}, {.mask = "***"})};
  EXPECT_EQ(ask()->message->text(), "the *** is out");
  EXPECT_EQ(use(tool("t"))->content, "password: ***");
}

TEST_F(RedactionTest, WhatGoesToTheModelIsNotTouched) {
  ModelRequest request;
  ASSERT_TRUE(request.transcript.append_user(Message::user("my secret")));
  links = {make_redaction({"secret"})};
  ASSERT_TRUE(ask(request));
  EXPECT_EQ(model.asked[0].transcript[0]->text(), "my secret");
}

TEST_F(RedactionTest, ArgumentsAreMaskedOnRequest) {
  model.answers.push_back(
      ModelTurn{.message = Message::make(
                    Role::assistant, {ToolCall{.tool = "t", .arguments = R"({"key":"secret"})"}}),
                .finish = Finish::tool_calls});
  links = {make_redaction({"secret"}, {.mask = "***", .arguments = true})};
  EXPECT_EQ(ask()->message->tool_calls()[0]->arguments, R"({"key":"***"})");
}

}  // namespace
}  // namespace tug
