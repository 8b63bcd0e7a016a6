#include <gtest/gtest.h>

#include "model/openai_responses/wire.h"
#include "model/wire_testing.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

using testing::growing_conversation;
using testing::WireCase;

const Json kThought = Json::object({{"type", "reasoning"},
                                    {"id", "rs_1"},
                                    {"summary", Json::array()},
                                    {"encrypted_content", "gAAA"},
                                    {"status", nullptr}});

WireCase asked() {
  WireCase asked;
  asked.profile = {.provider = "openai", .name = "gpt-6.1-sol", .vision = true, .reasoning = true};
  asked.provider.name = "openai";
  asked.provider.api = Api::openai_responses;
  return asked;
}
EncodedCall encoded(const WireCase& wire) {
  auto call = openai_responses_dialect().encode(wire.call());
  EXPECT_TRUE(call);
  return *std::move(call);
}
Json body_of(const WireCase& wire) {
  auto json = parse_json(encoded(wire).body.joined());
  EXPECT_TRUE(json);
  return *json;
}
std::string input_of(const WireCase& wire) { return print_json(body_of(wire)["input"]); }
void say(WireCase& wire, std::vector<Part> parts, Seq seq = 7) {
  ASSERT_TRUE(wire.request.transcript.append_user(Message::user("Go.")));
  ASSERT_TRUE(
      wire.request.transcript.append_turn(Message::make(Role::assistant, std::move(parts)), seq));
}
constexpr std::string_view kGo =
    R"({"type":"message","role":"user","content":[{"type":"input_text","text":"Go."}]})";

TEST(ResponsesEncode, APlainRequestIsStatelessAndAsksForItsReasoning) {
  WireCase wire = asked();
  wire.request.system = std::make_shared<const std::string>("Be brief.");
  ASSERT_TRUE(wire.request.transcript.append_user(Message::user("Go.")));
  const EncodedCall call = encoded(wire);
  EXPECT_EQ(call.path, "/responses");
  EXPECT_EQ(
      call.body.joined(),
      R"({"model":"gpt-6.1-sol","stream":true,"store":false,"reasoning":{"summary":"auto"},"instructions":"Be brief.","include":["reasoning.encrypted_content"],"input":[)" +
          std::string(kGo) + "]}");
  EXPECT_TRUE(call.notes.empty());
}

TEST(ResponsesEncode, AModelThatDoesNotReasonIsNotAskedForIt) {
  WireCase wire = asked();
  wire.profile.reasoning = false;
  ASSERT_TRUE(wire.request.transcript.append_user(Message::user("Go.")));
  EXPECT_EQ(
      encoded(wire).body.joined(),
      R"({"model":"gpt-6.1-sol","stream":true,"store":false,"input":[)" + std::string(kGo) + "]}");
}

TEST(ResponsesEncode, SettingsAreMembersOfTheRequest) {
  WireCase wire = asked();
  wire.request.temperature = 0.5;
  wire.request.top_p = 0.9;
  wire.request.max_output_tokens = 100;
  wire.request.reasoning = "high";
  wire.request.metadata = Json::object({{"team", "a"}});
  wire.request.thread = "thread-1";
  wire.provider.thread_field = "prompt_cache_key";
  wire.provider.thread_header = "x-session";
  wire.provider.cache_ttl = "24h";
  wire.request.output = std::make_shared<const OutputFormat>(
      OutputFormat{"my answer", Json::object({{"type", "object"}}), true});
  const EncodedCall call = encoded(wire);
  const Json body = *parse_json(call.body.joined());
  EXPECT_EQ(body["temperature"], Json(0.5));
  EXPECT_EQ(body["top_p"], Json(0.9));
  EXPECT_EQ(body["max_output_tokens"], Json(100));
  EXPECT_EQ(print_json(body["reasoning"]), R"({"effort":"high","summary":"auto"})");
  EXPECT_EQ(print_json(body["metadata"]), R"({"team":"a"})");
  EXPECT_EQ(body["prompt_cache_key"], Json("thread-1"));
  EXPECT_EQ(body["prompt_cache_retention"], Json("24h"));
  EXPECT_EQ(
      print_json(body["text"]),
      R"({"format":{"type":"json_schema","name":"my_answer","schema":{"type":"object"},"strict":true}})");
  ASSERT_EQ(call.headers.size(), 1u);
  EXPECT_EQ(call.headers[0].name, "x-session");
  EXPECT_EQ(call.headers[0].value, "thread-1");
  wire.provider.thread_salt = "salt";
  EXPECT_EQ(body_of(wire)["prompt_cache_key"].as_string().size(), 64u);
}

TEST(ResponsesEncode, WhatTheModelOrTheApiDoesNotTakeIsLeftOutWithANote) {
  WireCase wire = asked();
  wire.request.temperature = 0.5;
  wire.request.seed = 3;
  wire.request.stop = {"END"};
  wire.request.reasoning = "xhigh";
  wire.profile.drop_params = {"temperature"};
  wire.profile.efforts = {"low", "high"};
  const EncodedCall call = encoded(wire);
  const Json body = *parse_json(call.body.joined());
  for (const char* name : {"temperature", "seed", "stop"})
    EXPECT_FALSE(body.contains(name)) << name;
  EXPECT_EQ(body["reasoning"]["effort"], Json("high"));
  EXPECT_EQ(call.notes.size(), 4u);
}

TEST(ResponsesEncode, OptionsWinMemberByMemberAndAreWrittenOnce) {
  WireCase wire = asked();
  wire.provider.options = *parse_json(R"({"service_tier":"flex","truncation":"auto"})");
  wire.request.provider_options = *parse_json(
      R"({"service_tier":"priority","store":true,"text":{"verbosity":"low"},"reasoning":{"summary":"detailed"},"include":["x"],"input":[],"temperature":1})");
  wire.request.temperature = 0.5;
  wire.request.reasoning = "low";
  const std::string text = encoded(wire).body.joined();
  const Json body = *parse_json(text);
  EXPECT_EQ(body["service_tier"], Json("priority"));
  EXPECT_EQ(body["truncation"], Json("auto"));
  EXPECT_EQ(body["store"], Json(true));
  EXPECT_EQ(body["temperature"], Json(1));
  EXPECT_EQ(print_json(body["text"]), R"({"verbosity":"low"})");
  EXPECT_EQ(print_json(body["reasoning"]), R"({"effort":"low","summary":"detailed"})");
  EXPECT_EQ(print_json(body["include"]), R"(["x","reasoning.encrypted_content"])");
  for (const std::string name : {"store", "temperature", "text", "include", "input"}) {
    const std::string key = "\"" + name + "\":";
    EXPECT_EQ(text.find(key, text.find(key) + 1), std::string::npos) << name;
  }
  EXPECT_EQ(encoded(wire).notes.size(), 1u);
}

TEST(ResponsesEncode, ToolsAreFlatAndNotStrict) {
  ToolSpecs tools;
  tools.push_back(std::make_shared<const ToolSpec>(
      ToolSpec{.name = "look",
               .description = "Looks \"well\"",
               .parameters = *parse_json(R"({"type":"object"})")}));
  tools.push_back(std::make_shared<const ToolSpec>(ToolSpec{.name = "wait"}));
  WireCase wire = asked();
  wire.tools = std::make_shared<const std::string>(
      openai_responses_dialect().encode_tools(tools, wire.profile, wire.provider));
  EXPECT_EQ(
      *wire.tools,
      R"([{"type":"function","name":"look","description":"Looks \"well\"","parameters":{"type":"object"},"strict":false},{"type":"function","name":"wait","parameters":{"type":"object","properties":{}},"strict":false}])");
  EXPECT_EQ(print_json(body_of(wire)["tools"]), *wire.tools);
  const auto choice = [&](ToolChoice choice, std::string tool) {
    wire.request.tool_choice = choice;
    wire.request.tool = std::move(tool);
    return print_json(body_of(wire)["tool_choice"]);
  };
  EXPECT_EQ(choice(ToolChoice::automatic, ""), "null");
  EXPECT_EQ(choice(ToolChoice::none, ""), R"("none")");
  EXPECT_EQ(choice(ToolChoice::required, ""), R"("required")");
  EXPECT_EQ(choice(ToolChoice::required, "look"), R"({"type":"function","name":"look"})");
  EXPECT_FALSE(body_of(wire).contains("parallel_tool_calls"));
  wire.profile.parallel_tools = false;
  EXPECT_EQ(body_of(wire)["parallel_tool_calls"], Json(false));
}

TEST(ResponsesEncode, Row35EveryItemGoesBackInItsOrder) {
  WireCase wire = asked();
  const Json search = *parse_json(R"({"id":"ws_1","type":"web_search_call","status":"completed"})");
  say(wire, {ReasoningPart{"why", "openai", kThought, false},
             ProviderBlock{"openai", *parse_json(R"({"type":"message","phase":"commentary"})")},
             TextPart{"I look."}, ProviderBlock{"openai", search},
             ProviderBlock{"openai", *parse_json(R"({"type":"function_call","namespace":"n"})")},
             ToolCall{{}, "call_x", "look", "{\"a\":1}"},
             ReasoningPart{"led nowhere", "openai", kThought, false}});
  const std::string id = wire_id(make_call_id(7, 0));
  EXPECT_EQ(
      input_of(wire),
      "[" + std::string(kGo) +
          R"(,{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}],"phase":"commentary"},{"id":"ws_1","type":"web_search_call","status":"completed"},{"type":"function_call","call_id":")" +
          id + R"(","name":"look","arguments":"{\"a\":1}","namespace":"n"}])");
}

TEST(ResponsesEncode, WhatWasDecodedGoesBackAsItCame) {
  WireCase wire = asked();
  const std::string items =
      R"([{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"so"}],"encrypted_content":"e"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"t"}],"phase":"final_answer"},{"type":"compaction","encrypted_content":"c"}])";
  const auto decoder = openai_responses_dialect().decoder(wire.call(false));
  std::vector<ModelEvent> out;
  ASSERT_TRUE(decoder->on_reply(R"({"id":"r","output":)" + items + "}", out));
  ASSERT_TRUE(wire.request.transcript.append_user(Message::user("Go.")));
  ASSERT_TRUE(wire.request.transcript.append_turn(std::get<ModelTurn>(out.back()).message, 3));
  EXPECT_EQ(input_of(wire), "[" + std::string(kGo) + "," + items.substr(1));
}

TEST(ResponsesEncode, ReasoningThatCannotGoBackIsALeadingText) {
  const auto input = [](WireCase wire, ReasoningPart thought) {
    say(wire, {TextPart{"Hi."}, std::move(thought)});
    const EncodedCall call = encoded(wire);
    EXPECT_EQ(call.notes.size(), 1u);
    return print_json((*parse_json(call.body.joined()))["input"]);
  };
  const std::string hi =
      R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi."}]})";
  const std::string as_text =
      "[" + std::string(kGo) +
      R"(,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"<thinking>\nwhy\n</thinking>"}]},)" +
      hi + "]";
  const std::string dropped = "[" + std::string(kGo) + "," + hi + "]";
  EXPECT_EQ(input(asked(), {"why", "other", kThought, false}), as_text);
  EXPECT_EQ(input(asked(), {"why", "openai", Json::object({{"id", "rs"}}), false}), as_text)
      << "an id alone means nothing to a provider that keeps nothing";
  EXPECT_EQ(input(asked(), {"", "other", kThought, false}), dropped);
  EXPECT_EQ(input(asked(), {"why", "other", kThought, true}), dropped);
  WireCase plain = asked();
  plain.profile.reasoning = false;
  EXPECT_EQ(input(plain, {"why", "openai", kThought, false}), as_text);
}

TEST(ResponsesEncode, BlocksOfOtherProvidersAreLeftOut) {
  WireCase wire = asked();
  say(wire,
      {ProviderBlock{"anthropic", *parse_json(R"({"type":"server_tool_use"})")}, TextPart{"Hi."}});
  EXPECT_EQ(input_of(wire).find("server_tool_use"), std::string::npos);
}

TEST(ResponsesEncode, ResultsAnswerTheirCallsAndSayThatTheyFailed) {
  WireCase wire = asked();
  say(wire, {ToolCall{{}, "call_x", "look", "{}"}, ToolCall{{}, "call_x", "look", "{}"}});
  ASSERT_TRUE(wire.request.transcript.append_results(
      {ToolResult{make_call_id(7, 0), "look", true, "seen", {}},
       ToolResult{make_call_id(7, 1), "look", false, "dark", {}}}));
  const Json input = body_of(wire)["input"];
  ASSERT_EQ(input.size(), 5u);
  EXPECT_EQ(input[1]["call_id"], input[3]["call_id"]);
  EXPECT_EQ(input[2]["call_id"], input[4]["call_id"]);
  EXPECT_NE(input[1]["call_id"], input[2]["call_id"]);
  EXPECT_EQ(input[3]["output"], Json("seen"));
  EXPECT_EQ(input[4]["output"], Json("Error: dark"));
}

TEST(ResponsesEncode, PicturesAreSentToModelsThatSee) {
  WireCase wire = asked();
  const auto bytes = std::make_shared<const std::string>("PNG");
  ASSERT_TRUE(wire.request.transcript.append_user(Message::make(
      Role::user,
      {TextPart{"See:"}, MediaPart{.mime = "image/png", .name = "a.png", .bytes = bytes},
       MediaPart{.mime = "image/png", .url = "https://x.example/a.png"}})));
  EXPECT_EQ(
      input_of(wire),
      R"([{"type":"message","role":"user","content":[{"type":"input_text","text":"See:"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,UE5H"},{"type":"input_image","detail":"auto","image_url":"https://x.example/a.png"}]}])");
  wire.profile.vision = false;
  const EncodedCall call = encoded(wire);
  EXPECT_EQ(call.body.joined().find("UE5H"), std::string::npos);
  EXPECT_NE(call.body.joined().find("a.png"), std::string::npos);
  EXPECT_EQ(call.notes.size(), 1u);
}

TEST(ResponsesEncode, ChainedRequestsSendWhatIsNewWithTheProvidersIds) {
  WireCase wire = asked();
  say(wire, {ToolCall{{}, "call_x", "look", "{}"}});
  ASSERT_TRUE(wire.request.transcript.append_results(
      {ToolResult{make_call_id(7, 0), "look", true, "seen", {}}}));
  ASSERT_TRUE(wire.request.transcript.append_user(Message::note("2 left")));
  wire.request.system = std::make_shared<const std::string>("Be brief.");
  wire.provider.chain_responses = true;
  EXPECT_EQ(body_of(wire)["store"], Json(true));
  EXPECT_EQ(body_of(wire)["input"].size(), 4u) << "nothing to go on from yet";
  wire.request.previous_response = "resp_1";
  wire.request.previous_messages = 2;
  const Json body = body_of(wire);
  EXPECT_EQ(body["previous_response_id"], Json("resp_1"));
  EXPECT_EQ(body["instructions"], Json("Be brief.")) << "they are not inherited";
  EXPECT_EQ(
      print_json(body["input"]),
      R"([{"type":"function_call_output","call_id":"call_x","output":"seen"},{"type":"message","role":"user","content":[{"type":"input_text","text":"2 left"}]}])");
  // Another model's turn since is not known to it: its ids are ours.
  ASSERT_TRUE(wire.request.transcript.append_turn(
      Message::make(Role::assistant, {ToolCall{{}, "call_x", "look", "{}"}}), 9));
  ASSERT_TRUE(wire.request.transcript.append_results(
      {ToolResult{make_call_id(9, 0), "look", true, "again", {}}}));
  const Json later = body_of(wire)["input"];
  ASSERT_EQ(later.size(), 4u);
  EXPECT_EQ(later[0]["call_id"], Json("call_x"));
  EXPECT_EQ(later[2]["call_id"], Json(wire_id(make_call_id(9, 0))));
  EXPECT_EQ(later[3]["call_id"], later[2]["call_id"]);
}

TEST(ResponsesEncode, EveryRequestExtendsTheOneBefore) {
  WireCase wire = asked();
  wire.request.system = std::make_shared<const std::string>("Be brief.");
  std::string before;
  for (const Transcript& step : growing_conversation("openai", kThought)) {
    wire.request.transcript = step;
    const std::string body = encoded(wire).body.joined();
    ASSERT_TRUE(parse_json(body));
    if (!before.empty()) EXPECT_TRUE(testing::extends(before, body));
    before = body;
  }
}

TEST(ResponsesEncode, Row27IdsOfOtherProvidersNeverReachTheWire) {
  WireCase wire = asked();
  const std::string odd = "list_dir:0/" + std::string(200, 'x');
  say(wire, {ToolCall{{}, odd, "look", "{}"}});
  ASSERT_TRUE(wire.request.transcript.append_results(
      {ToolResult{make_call_id(7, 0), "look", true, "seen", {}}}));
  EXPECT_EQ(input_of(wire).find("list_dir"), std::string::npos);
}

TEST(ResponsesEncode, Row16BadTextIsRepairedOnTheWayOut) {
  WireCase wire = asked();
  wire.request.system = std::make_shared<const std::string>("\xff");
  say(wire, {ToolCall{{}, "c", "look", "{\"a\":\"\xed\xa0\xbd\"}"}});
  EXPECT_TRUE(is_utf8(encoded(wire).body.joined()));
}

TEST(ResponsesEncode, AzureTakesItsVersionInThePath) {
  WireCase wire = asked();
  wire.provider.quirks = {"azure"};
  wire.provider.api_version = "preview";
  EXPECT_EQ(encoded(wire).path, "/responses?api-version=preview");
}

}  // namespace
}  // namespace tug
