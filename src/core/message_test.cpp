#include "tug/core/message.h"

#include <gtest/gtest.h>

namespace tug {
namespace {

std::vector<Part> every_part() {
  return {TextPart{"hi"},
          MediaPart{.mime = "image/png",
                    .name = "a.png",
                    .bytes = std::make_shared<const std::string>(std::string("\x89PNG\0", 5))},
          MediaPart{.mime = "image/jpeg", .url = "https://example.org/b.jpg"},
          MediaPart{.mime = "application/pdf", .blob = sha256("document")},
          ReasoningPart{"because", "anthropic", Json::object({{"signature", "c2ln"}}), false},
          ReasoningPart{"", "anthropic", Json("opaque"), true},
          ToolCall{CallId("3.0"), "toolu_1", "read", R"({"path": "x",  "limit":1})"},
          ToolResult{CallId("3.0"), "read", false, "no such file",
                     Json::object({{"error_type", "Exception"}})},
          ProviderBlock{"openai", Json::object({{"type", "web_search_call"}})}};
}

TEST(Message, EveryKindOfPartComesBackFromItsJournalForm) {
  MessagePtr message = Message::make(Role::assistant, every_part());
  auto text = print_json(to_json(*message));
  auto read = message_from_json(parse_json(text).value());
  ASSERT_TRUE(read);
  EXPECT_EQ(**read, *message);
  EXPECT_EQ((*read)->fingerprint(), message->fingerprint());
  EXPECT_EQ((*read)->size(), message->size());
}

TEST(Message, ANoteIsInTheUsersPlaceAndKnownAsOne) {
  const MessagePtr note = Message::note("one call is left");
  EXPECT_EQ(note->role(), Role::user);
  EXPECT_EQ(note->text(), "one call is left");
  EXPECT_TRUE(note->is_note());
  EXPECT_FALSE(*note == *Message::user("one call is left"));
  const MessagePtr back = *message_from_json(to_json(*note));
  EXPECT_EQ(*back, *note);
  EXPECT_FALSE(message_from_json(to_json(*Message::user("x"))).value()->is_note());
}

TEST(Message, ArgumentsKeepTheBytesTheModelWrote) {
  MessagePtr message = Message::make(Role::assistant, every_part());
  ASSERT_EQ(message->tool_calls().size(), 1u);
  EXPECT_EQ(message->tool_calls()[0]->arguments, R"({"path": "x",  "limit":1})");
  EXPECT_EQ(message->tool_results()[0]->content, "no such file");
  EXPECT_EQ(message->text(), "hi");
}

TEST(Message, FingerprintTellsRolePartsAndPlaceApart) {
  EXPECT_EQ(Message::user("a")->fingerprint(), Message::user("a")->fingerprint());
  EXPECT_NE(Message::user("a")->fingerprint(), Message::assistant("a")->fingerprint());
  EXPECT_NE(Message::make(Role::user, {TextPart{"ab"}, TextPart{"c"}})->fingerprint(),
            Message::make(Role::user, {TextPart{"a"}, TextPart{"bc"}})->fingerprint());
  EXPECT_NE(Message::make(Role::user, {TextPart{"a"}})->fingerprint(),
            Message::make(Role::user, {ReasoningPart{.text = "a"}})->fingerprint());
}

TEST(Message, InvalidUtf8IsRepairedOnEntry) {
  EXPECT_EQ(Message::user("a\xff"
                          "b")
                ->text(),
            "a\xef\xbf\xbd"
            "b");
  auto result = Message::results({ToolResult::text("\xc3")});
  EXPECT_EQ(result->tool_results()[0]->content, "\xef\xbf\xbd");
}

TEST(Message, WhatIsNotAMessageIsRefusedByName) {
  const std::pair<const char*, const char*> table[] = {
      {R"({"role":"robot","parts":[]})", "role"},
      {R"({"role":"user"})", "parts"},
      {R"({"role":"user","parts":[{"type":"hologram"}]})", "hologram"},
      {R"({"role":"user","parts":[{"type":"media","base64":"%"}]})", "base64"},
      {R"({"role":"user","parts":[{"type":"media","blob":"12"}]})", "SHA-256"},
  };
  for (auto [text, named] : table) {
    auto read = message_from_json(parse_json(text).value());
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message().find(named), std::string::npos) << read.error().message();
  }
}

TEST(ToolResult, HelpersMakeTheOneEnvelope) {
  EXPECT_TRUE(ToolResult::text("a").ok);
  EXPECT_EQ(ToolResult::json(Json::object({{"a", 1}})).content, R"({"a":1})");
  ToolResult error = ToolResult::error("late", "Timeout");
  EXPECT_TRUE(error.is_error());
  EXPECT_EQ(error.metadata["error_type"].as_string(), "Timeout");
}

}  // namespace
}  // namespace tug
