#include "tug/middleware/message_trim.h"

#include "middleware/testing.h"

namespace tug {
namespace {

using Places = std::vector<std::size_t>;

// "s": system, "u": user, "a": assistant, "c": a turn with a call, "r": its result; each of 40
// bytes, which are 10 tokens.
std::vector<MessagePtr> conversation(std::string_view roles) {
  std::vector<MessagePtr> messages;
  CallId open;
  Seq seq = 0;
  for (const char role : roles) {
    const std::string text(40, 'x');
    ++seq;
    if (role == 's') messages.push_back(Message::system(text));
    if (role == 'u') messages.push_back(Message::user(text));
    if (role == 'a') messages.push_back(Message::assistant(text));
    if (role == 'c') {
      open = make_call_id(seq, 0);
      messages.push_back(Message::make(
          Role::assistant,
          {TextPart{std::string(38, 'x')}, ToolCall{.id = open, .tool = "t", .arguments = ""}}));
    }
    if (role == 'r') {
      ToolResult result = ToolResult::text(text);
      result.call = open;
      messages.push_back(Message::results({result}));
    }
  }
  return messages;
}

struct Case {
  std::string_view roles;
  TrimPolicy policy;
  Places kept;
};

TEST(KeptMessages, NeverCutACallFromItsResults) {
  const Case cases[] = {
      {"sucra", {}, {0, 1, 2, 3, 4}},
      {"", {.keep_last = 2, .max_tokens = 1}, {}},
      // Counts: the cut moves back to the turn that made the calls.
      {"sucra", {.keep_last = 2}, {0, 2, 3, 4}},
      {"sucra", {.keep_last = 1}, {0, 4}},
      {"sucra", {.keep_last = 9}, {0, 1, 2, 3, 4}},
      {"suaus", {.keep_last = 1}, {0, 4}},
      {"sucra", {.keep_first = 1, .keep_last = ~std::size_t{0}}, {0, 1, 2, 3, 4}},
      {"sucra", {.keep_first = ~std::size_t{0}, .keep_last = 1}, {0, 1, 2, 3, 4}},
      // First and last: a turn at the end of the first ones goes when its results do.
      {"uaucrau", {.keep_first = 2, .keep_last = 1}, {0, 1, 6}},
      {"ucraauu", {.keep_first = 2, .keep_last = 1}, {0, 6}},
      {"ucraauu", {.keep_first = 3, .keep_last = 1}, {0, 1, 2, 6}},
      {"ucrcr", {.keep_first = 1, .keep_last = 1}, {0, 3, 4}},
      // Tokens: oldest first, results with their turn, system messages last, the newest never.
      {"sucra", {.max_tokens = 50}, {0, 1, 2, 3, 4}},
      {"sucra", {.max_tokens = 40}, {0, 2, 3, 4}},
      {"sucra", {.max_tokens = 39}, {0, 4}},
      {"sucra", {.max_tokens = 10}, {4}},
      {"sucra", {.max_tokens = 1}, {4}},
      {"sucr", {.max_tokens = 1}, {2, 3}},
      {"saucra", {.max_tokens = 40}, {0, 3, 4, 5}},
      // Both, and a role to start on.
      {"uauauau", {.keep_last = 4, .max_tokens = 20}, {5, 6}},
      {"uauauau", {.keep_last = 4, .start_on = Role::user}, {4, 5, 6}},
      {"suauaa", {.keep_last = 2, .start_on = Role::user}, {0, 4, 5}},
      {"uacrau", {.keep_last = 3, .start_on = Role::tool}, {2, 3, 4, 5}},
  };
  for (const Case& one : cases) {
    const auto messages = conversation(one.roles);
    const Places kept = kept_messages(messages, one.policy);
    std::vector<MessagePtr> list;
    for (const std::size_t place : kept) list.push_back(messages[place]);
    const bool whole = Transcript::of(list).has_value();
    EXPECT_TRUE(whole) << one.roles;
    EXPECT_EQ(kept, one.kept) << one.roles << " last " << one.policy.keep_last << " tokens "
                              << one.policy.max_tokens;
  }
}

class MessageTrimTest : public BuiltIn {};

TEST_F(MessageTrimTest, TrimsTheRequestAndSaysSo) {
  const auto messages = conversation("sucrau");
  ModelRequest request;
  request.transcript = *Transcript::of(messages);
  links = {make_message_trim({.keep_last = 2})};
  ASSERT_TRUE(ask(request));
  const Transcript& sent = model.asked[0].transcript;
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0], messages[0]) << "messages are shared, not copied";
  EXPECT_EQ(sent[1], messages[4]);
  EXPECT_EQ(request.transcript.size(), 6u);
  const auto told = events(Kind::context_trimmed);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0]["before_tokens"], Json(60));
  EXPECT_EQ(told[0]["after_tokens"], Json(30));
  EXPECT_EQ(told[0]["covers"], Json::object({{"from", 1}, {"to", 4}}));
  EXPECT_EQ(told[0]["reason"], Json("message_trim"));
}

TEST_F(MessageTrimTest, WhatFitsIsLeftAlone) {
  ModelRequest request;
  request.transcript = *Transcript::of(conversation("ua"));
  links = {make_message_trim({.keep_last = 2})};
  ASSERT_TRUE(ask(request));
  EXPECT_EQ(model.asked[0].transcript, request.transcript);
  EXPECT_TRUE(events(Kind::context_trimmed).empty());
}

TEST_F(MessageTrimTest, WhatABoundaryReplacesIsReplacedFirst) {
  ModelRequest request;
  request.transcript = *Transcript::of(conversation("uauau"));
  const MessagePtr summary = Message::user("what was said before");
  ASSERT_TRUE(request.transcript.append_boundary({.from = 0, .to = 2, .replacement = {summary}}));
  ASSERT_TRUE(request.transcript.append_boundary({.from = 0, .to = 4, .replacement = {summary}}));
  links = {make_message_trim({.keep_last = 1})};
  ASSERT_TRUE(ask(request));
  EXPECT_EQ(model.asked[0].transcript.size(), 1u);
  links = {make_message_trim({.keep_last = 2})};
  ASSERT_TRUE(ask(request));
  EXPECT_EQ(model.asked[1].transcript, request.transcript) << "two messages are what is shown";
}

}  // namespace
}  // namespace tug
