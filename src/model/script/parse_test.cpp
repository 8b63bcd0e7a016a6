#include <gtest/gtest.h>

#include "tug/model/script.h"

namespace tug {
namespace {

// The one turn of a one-line script.
ScriptTurn only(std::string_view line) {
  auto turns = parse_script(line, "s.jsonl");
  if (!turns || turns->size() != 1) {
    ADD_FAILURE() << line << ": " << (turns ? "" : to_string(turns.error()));
    return {};
  }
  return turns->front();
}

std::string refused(std::string_view text) {
  auto turns = parse_script(text, "s.jsonl");
  if (turns) return "accepted";
  EXPECT_EQ(turns.error().kind(), ErrorKind::invalid);
  return to_string(turns.error());
}

TEST(ScriptParse, ReadsEveryKey) {
  const ScriptTurn turn = only(
      R"({"text":"hi","reasoning":"hm","tool_calls":[{"id":"c1","name":"read","arguments":{"path":"a"}},)"
      R"({"name":"list"},{"name":"x","arguments":"{not json"}],"usage":{"input_tokens":1,)"
      R"("output_tokens":2,"cache_read_tokens":3,"cache_write_tokens":4,"reasoning_tokens":5,)"
      R"("total_tokens":60},"finish":"length","delay_ms":7,"chunk_delay_ms":8,"chunks":9,)"
      R"("agent":"a","when":"w","repeat":true})");
  EXPECT_EQ(turn.text, "hi");
  EXPECT_EQ(turn.reasoning, "hm");
  ASSERT_EQ(turn.tool_calls.size(), 3u);
  EXPECT_EQ(turn.tool_calls[0].id, "c1");
  EXPECT_EQ(turn.tool_calls[0].arguments, R"({"path":"a"})");
  EXPECT_EQ(turn.tool_calls[1].arguments, "{}");
  EXPECT_EQ(turn.tool_calls[2].arguments, "{not json");
  EXPECT_EQ(turn.usage, (Usage{1, 2, 3, 4, 5, 60}));
  EXPECT_EQ(turn.finish, Finish::length);
  EXPECT_EQ(turn.delay_ms, 7);
  EXPECT_EQ(turn.chunk_delay_ms, 8);
  EXPECT_EQ(turn.chunks, 9u);
  EXPECT_EQ(turn.agent, "a");
  EXPECT_EQ(turn.when, "w");
  EXPECT_TRUE(turn.repeat);
  EXPECT_FALSE(turn.error);

  const ScriptTurn error = only(R"({"error":{"status":429,"retry_after":0.5,"body":{"a":1}}})");
  ASSERT_TRUE(error.error);
  EXPECT_EQ(error.error->status, 429);
  EXPECT_EQ(error.error->retry_after, 0.5);
  EXPECT_EQ(error.error->body, R"({"a":1})");
}

TEST(ScriptParse, WhatIsMissingOrNullHasItsDefault) {
  for (const char* line : {"{}", R"({"text":null,"tool_calls":null,"error":null,"finish":null})"}) {
    const ScriptTurn turn = only(line);
    EXPECT_EQ(turn.text, "");
    EXPECT_TRUE(turn.tool_calls.empty());
    EXPECT_EQ(turn.usage, Usage{});
    EXPECT_EQ(turn.chunks, 1u);
    EXPECT_FALSE(turn.finish);
    EXPECT_FALSE(turn.error);
    EXPECT_FALSE(turn.repeat);
  }
  EXPECT_EQ(only(R"({"error":{}})").error->status, 500);
}

TEST(ScriptParse, BlankLinesCarriageReturnsAndAByteOrderMarkAreFine) {
  auto turns = parse_script("\xef\xbb\xbf{\"text\":\"a\"}\r\n\n  \t\r\n{\"text\":\"b\"}", "s");
  ASSERT_TRUE(turns) << to_string(turns.error());
  ASSERT_EQ(turns->size(), 2u);
  EXPECT_EQ((*turns)[1].text, "b");
  EXPECT_TRUE(parse_script("", "s")->empty());
}

TEST(ScriptParse, ABadLineIsNamedWithItsPlaceAndTheFix) {
  const std::pair<const char*, const char*> rows[] = {
      {"{}\n\n{\"txt\":1}",
       "s.jsonl:3: \"txt\" is not a key of a script line (did you mean \"text\"?)"},
      {R"({"zzzzzz":1})", "\"zzzzzz\" is not a key of a script line (the keys are text, "},
      {R"({"tool_calls":[{"name":"a","argument":{}}]})", "did you mean \"arguments\"?"},
      {R"({"tool_calls":[{"arguments":{}}]})", "a tool call without \"name\""},
      {R"({"tool_calls":[{"name":"a","arguments":[1]}]})", "\"arguments\" must be an object"},
      {R"({"tool_calls":{}})", "\"tool_calls\" must be an array"},
      {R"({"tool_calls":[3]})", "must be an object"},
      {R"({"usage":{"input":1}})", "did you mean \"input_tokens\"?"},
      {R"({"usage":{"input_tokens":"x"}})", "s.jsonl:1: "},
      {R"({"finish":"stopped"})", "did you mean \"stop\"?"},
      {R"({"text":5})", "\"text\" must be a string, not 5"},
      {R"({"repeat":1})", "\"repeat\" must be true or false, not 1"},
      {R"({"chunks":0})", "\"chunks\" must be a whole number from 1 to "},
      {R"({"delay_ms":-1})", "\"delay_ms\" must be a whole number from 0 to "},
      {R"({"delay_ms":1e30})", "\"delay_ms\" must be"},
      {R"({"error":{"status":200}})", "\"status\" must be a whole number from 400 to 599, not 200"},
      {R"({"error":{"status":429,"retry_after":-1}})", "\"retry_after\" must be seconds"},
      {R"({"error":{"code":1}})", "is not a key of error"},
      {"[1]", "s.jsonl:1: a line must be an object, not an array"},
      {"{\"text\":\"a\"}\n{\"text\"", "s.jsonl:2: "},
  };
  for (const auto& [text, expected] : rows) {
    const std::string said = refused(text);
    EXPECT_TRUE(said.contains(expected)) << text << "\n  said: " << said;
    EXPECT_TRUE(said.starts_with("s.jsonl:")) << said;
  }
  EXPECT_FALSE(refused("{\"text\"").contains("line 1")) << refused("{\"text\"");
}

TEST(ScriptParse, HostileLinesGiveErrors) {
  EXPECT_TRUE(refused("{\"error\":" + std::string(100'000, '[')).starts_with("s.jsonl:1: "));
  EXPECT_EQ(only("{\"text\":\"a\xff\"}").text, "a\xef\xbf\xbd");
  std::string calls = R"({"tool_calls":[{"name":"a"})";
  for (int i = 0; i < 1024; ++i) calls += R"(,{"name":"a"})";
  EXPECT_TRUE(refused(calls + "]}").contains("more than 1024"));
}

TEST(ScriptParse, ManyShortLinesAreRefusedBeforeTheyFillTheMemory) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "{}\n";
  EXPECT_EQ(parse_script(text, "s.jsonl")->size(), 100'000u);
  EXPECT_TRUE(refused(text + "\n{}").starts_with("s.jsonl:100002: more than 100000 turns"));
}

}  // namespace
}  // namespace tug
