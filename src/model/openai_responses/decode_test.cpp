#include <gtest/gtest.h>

#include "model/openai_responses/wire.h"
#include "model/wire_testing.h"

namespace tug {
namespace {

using testing::decode_reply;
using testing::decode_stream;
using testing::WireCase;
using Lines = std::vector<std::string>;

WireCase asked() {
  WireCase asked;
  asked.profile = {.provider = "openai", .name = "gpt-6.1-sol", .reasoning = true};
  asked.provider.name = "openai";
  asked.provider.api = Api::openai_responses;
  return asked;
}

Lines decode(std::string_view events) {
  const WireCase wire = asked();
  return decode_stream(openai_responses_dialect(), wire.call(), {events});
}
Lines reply(std::string_view body) {
  const WireCase wire = asked();
  return decode_reply(openai_responses_dialect(), wire.call(false), body);
}
// Events, each {"type":TYPE,..}.
std::string events(std::initializer_list<std::string_view> all) {
  std::string out;
  for (const std::string_view event : all) out += "data: " + std::string(event) + "\n\n";
  return out;
}
std::string completed(std::string_view items) {
  return R"({"type":"response.completed","response":{"id":"r","status":"completed","output":[)" +
         std::string(items) + "]}}";
}
std::string call_with(std::string_view arguments) {
  return R"({"type":"function_call","call_id":"c","name":"f","arguments":)" +
         std::string(arguments) + "}";
}

// The data line that ends an answer is there, with its end.
bool ended(std::string_view bytes) {
  for (const std::string_view sign : {"response.completed", "response.incomplete"}) {
    const std::size_t name = bytes.find(sign);
    const std::size_t line = name == std::string_view::npos ? name : bytes.find("data:", name);
    // The type stands in the line of the data, or in the line of the name before it.
    const std::size_t from = line == std::string_view::npos ? name : line;
    if (from != std::string_view::npos && bytes.find_first_of("\r\n", from) != std::string::npos)
      return true;
  }
  return false;
}

TEST(ResponsesDecode, EveryGoldenSaysTheSameHoweverItIsCut) {
  const auto goldens = testing::goldens_of("openai_responses");
  ASSERT_GE(goldens.size(), 20u);
  for (const testing::Golden& golden : goldens)
    testing::check_golden(openai_responses_dialect(), asked(), golden, ended);
}

TEST(ResponsesDecode, Row08AStreamWithoutItsEndIsCutHoweverCompleteItLooks) {
  EXPECT_EQ(decode("").back(), "error stream_cut");
  const Lines lines = decode(events(
      {R"({"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"All."}]}})"}));
  EXPECT_EQ(lines, (Lines{"text:All.", "error stream_cut"}));
}

TEST(ResponsesDecode, Row13FramingIsThatOfTheStandard) {
  const std::string end = completed("");
  for (const std::string& bytes :
       {"\xEF\xBB\xBF"
        "data:" +
            end + "\n\n",
        ": x\ndata: " + end + "\r\r", "data: " + end + "\r\n",
        "retry: 3\nid: 7\nevent: response.completed\ndata: " + end + "\n\n"}) {
    EXPECT_EQ(decode(bytes).front(), "turn stop") << bytes;
  }
  // Several lines of data are one.
  EXPECT_EQ(decode("data: {\"type\":\"response.output_text.delta\",\ndata: \"delta\":\"a\"}\n\n"),
            (Lines{"text:a", "error stream_cut"}));
}

TEST(ResponsesDecode, Row15And16BadTextIsRepaired) {
  const Lines lines = decode(events({"{\"type\":\"response.output_text.delta\",\"delta\":\"\xff\"}",
                                     R"({"type":"response.output_text.delta","delta":"\ud83d"})"}));
  EXPECT_EQ(lines, (Lines{"text:\xEF\xBF\xBD", "text:\xEF\xBF\xBD", "error stream_cut"}));
}

TEST(ResponsesDecode, Row18EventsThatSayNothingAreSkipped) {
  EXPECT_EQ(decode(events({R"({"type":"response.output_text.delta"})",
                           R"({"type":"response.output_text.delta","delta":null})",
                           R"({"type":"response.output_item.added","item":null})",
                           R"({"type":"response.output_item.done"})",
                           R"({"type":"response.created","response":null})", R"({})",
                           R"({"type":"keepalive"})", completed("")})),
            (Lines{"turn stop", "  usage in=0 out=0 read=0 write=0 reasoning=0", "  response r"}));
}

TEST(ResponsesDecode, Row19NoDoneIsNeededAndOneIsIgnored) {
  EXPECT_EQ(decode(events({completed("")})), decode(events({completed(""), "[DONE]"})));
  EXPECT_EQ(decode(events({"[DONE]"})), (Lines{"error stream_cut"}));
}

TEST(ResponsesDecode, Row21LengthWithCallsStaysLength) {
  const Lines lines = decode(events(
      {R"({"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[)" +
       call_with(R"("{\"a\":1}")") + "]}}"}));
  EXPECT_EQ(lines[0], "turn length");
  EXPECT_EQ(lines[1], R"(  call c f {"a":1})");
}

TEST(ResponsesDecode, Row22ArgumentsThatWereCutAreNotRepaired) {
  const Lines lines = decode(events({completed(call_with(R"("{\"a\":[1,")"))}));
  EXPECT_EQ(lines[1], R"(  call c f {"a":[1,)");
}

TEST(ResponsesDecode, Row24NoArgumentsAreAnEmptyObject) {
  for (const std::string_view none : {R"("")", "null", "{}"})
    EXPECT_EQ(decode(events({completed(call_with(none))}))[1], "  call c f {}") << none;
}

TEST(ResponsesDecode, Row25ArgumentsAreTheTextThatCameAndObjectsArePrinted) {
  EXPECT_EQ(decode(events({completed(call_with(R"("\"{\\\"a\\\":1}\"")"))}))[1],
            R"(  call c f "{\"a\":1}")");
  EXPECT_EQ(decode(events({completed(call_with(R"({"a":[1,2]})"))}))[1],
            R"(  call c f {"a":[1,2]})");
}

TEST(ResponsesDecode, Row26IdsMayBeMissingOrTheSame) {
  const Lines lines =
      decode(events({completed(R"({"type":"function_call","name":"f","arguments":"{}"},)" +
                               call_with("\"{}\"") + "," + call_with("\"{}\""))}));
  EXPECT_EQ(lines[1], "  call  f {}");
  EXPECT_EQ(lines[2], "  call c f {}");
  EXPECT_EQ(lines[3], "  call c f {}");
}

TEST(ResponsesDecode, Row28CallsAreToldApartInAnyOrder) {
  const std::string a_added =
      R"({"type":"response.output_item.added","output_index":4,"item":{"id":"fa","type":"function_call","call_id":"a","name":"f"}})";
  const std::string b_added =
      R"({"type":"response.output_item.added","output_index":9,"item":{"id":"fb","type":"function_call","call_id":"b","name":"g"}})";
  const auto part = [](std::string_view place, std::string_view text) {
    return R"({"type":"response.function_call_arguments.delta",)" + std::string(place) +
           R"("delta":")" + std::string(text) + "\"}";
  };
  const std::string by_index = "\"output_index\":4,";
  const std::string by_id = "\"item_id\":\"fb\",";
  const Lines lines =
      decode(events({a_added, b_added, part(by_index, "1"), part(by_id, "2"), part(by_index, "3"),
                     part(by_id, "4"), R"({"type":"response.completed","response":{"id":"r"}})"}));
  EXPECT_EQ(lines, (Lines{"call 0 a f ", "call 1 b g ", "call 0   1", "call 1   2", "call 0   3",
                          "call 1   4", "turn tool_calls", "  call a f 13", "  call b g 24",
                          "  usage in=0 out=0 read=0 write=0 reasoning=0", "  response r"}));
}

TEST(ResponsesDecode, Row35ItemsKeepTheirOrderAndReasoningIsKeptWhole) {
  const Lines lines = decode(events({completed(
      R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e1"},)" +
      call_with("\"{}\"") +
      R"(,{"type":"reasoning","id":"rs_2","summary":[{"type":"summary_text","text":"so"}],"encrypted_content":"e2"},{"type":"message","content":[{"type":"output_text","text":"t"}]})")}));
  EXPECT_EQ(
      Lines(lines.begin() + 1, lines.begin() + 5),
      (Lines{
          R"(  reasoning openai {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e1"}:)",
          "  call c f {}",
          R"(  reasoning openai {"type":"reasoning","id":"rs_2","summary":[{"type":"summary_text","text":"so"}],"encrypted_content":"e2"}:so)",
          "  text:t"}));
}

TEST(ResponsesDecode, Row40RefusalsAndFiltersAreRefusals) {
  EXPECT_EQ(decode(events({completed(
                R"({"type":"message","content":[{"type":"refusal","refusal":"No."}]})")}))[0],
            "turn refusal");
  EXPECT_EQ(
      decode(events(
          {R"({"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"},"output":[]}})"}))
          [0],
      "turn refusal");
  EXPECT_EQ(
      decode(events(
          {R"({"type":"response.failed","response":{"error":{"code":"cyber_policy","message":"no"}}})"})),
      (Lines{"error content_filter"}));
}

TEST(ResponsesDecode, Row48HostileJsonIsAnErrorOrANumber) {
  const std::string deep(100000, '[');
  EXPECT_EQ(decode(events({deep})), (Lines{"error not_an_answer"}));
  EXPECT_EQ(reply(deep), (Lines{"error not_an_answer"}));
  for (const std::string_view index :
       {"-1", "9223372036854775807", "9223372036854775808", "1e999", "-0", "0.5", "\"x\""}) {
    const Lines lines = decode(events({R"({"type":"response.output_text.delta","output_index":)" +
                                           std::string(index) + R"(,"delta":"a"})",
                                       completed("")}));
    EXPECT_FALSE(lines.empty()) << index;
  }
  EXPECT_EQ(decode(events({R"({"type":"x","type":"response.output_text.delta","delta":"a"})"}))[0],
            "text:a");
}

TEST(ResponsesDecode, Row48NoAnswerHasMoreItemsThanAreTaken) {
  std::string stream;
  for (int i = 0; i < 5000; ++i) {
    stream += R"(data: {"type":"response.output_text.delta","delta":"a","output_index":)" +
              std::to_string(i) + "}\n\n";
  }
  EXPECT_EQ(decode(stream).back(), "error response_too_large");
}

TEST(ResponsesDecode, Row49TheFirstEndCounts) {
  const Lines once = decode(events({completed("")}));
  EXPECT_EQ(decode(events({completed(""), completed(call_with("\"{}\"")),
                           R"({"type":"error","code":"server_error"})", "no json"})),
            once);
}

TEST(ResponsesDecode, Row50UsageMayBeMissingOrNonsense) {
  const auto usage = [](std::string_view usage) {
    return decode(events({R"({"type":"response.completed","response":{"output":[],"usage":)" +
                          std::string(usage) + "}}"}))[1];
  };
  const std::string none = "  usage in=0 out=0 read=0 write=0 reasoning=0";
  EXPECT_EQ(usage("null"), none);
  EXPECT_EQ(usage("[]"), none);
  EXPECT_EQ(usage(R"({"input_tokens":-1,"output_tokens":"many","total_tokens":-9})"), none);
  EXPECT_EQ(
      usage(
          R"({"input_tokens":10,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":2},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":15})"),
      "  usage in=10 out=5 read=4 write=2 reasoning=3 total=15");
}

TEST(ResponsesDecode, Row51AnAnswerToSomebodyElseIsNone) {
  EXPECT_EQ(decode(events({R"({"type":"response.created","response":{"id":"other"}})",
                           completed(call_with("\"{}\""))})),
            (Lines{"error not_an_answer"}));
}

TEST(ResponsesDecode, Row23SchemasAreNotTheDialectsToCheck) {
  EXPECT_EQ(decode(events({completed(call_with(R"("[1]")"))}))[1], "  call c f [1]");
}

TEST(ResponsesDecode, WhatWasNotStreamedIsShownWhenItIsDone) {
  EXPECT_EQ(
      decode(events(
          {R"({"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","summary":[{"text":"hm"}]}})",
           R"({"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}})"})),
      (Lines{"reasoning:hm", "call 0 c f ", "call 0   {}", "error stream_cut"}));
}

TEST(ResponsesDecode, AReplyThatIsNoAnswerIsAnError) {
  EXPECT_EQ(reply("<html>hello</html>"), (Lines{"error not_an_answer"}));
  EXPECT_EQ(reply(""), (Lines{"error not_an_answer"}));
  EXPECT_EQ(reply("[]"), (Lines{"error not_an_answer"}));
  EXPECT_EQ(reply("{}"), (Lines{"error not_an_answer"}));
  EXPECT_EQ(reply(R"({"error":{"code":"insufficient_quota"}})"), (Lines{"error quota_terminal"}));
  EXPECT_EQ(reply(R"({"status":"cancelled","output":[]})"), (Lines{"error stream_cut"}));
}

TEST(ResponsesDecode, TheRawReplyIsKeptOnlyWhereItIsWanted) {
  for (const bool wanted : {true, false}) {
    WireCase wire = asked();
    wire.request.keep_raw = wanted;
    const auto decoder = openai_responses_dialect().decoder(wire.call(false));
    std::vector<ModelEvent> out;
    ASSERT_TRUE(decoder->on_reply(R"({"id":"r","output":[]})", out));
    EXPECT_EQ(std::get<ModelTurn>(out.back()).raw["id"].as_string(), wanted ? "r" : "");
  }
}

}  // namespace
}  // namespace tug
