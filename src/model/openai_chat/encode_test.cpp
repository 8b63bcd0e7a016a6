// What is asked of Chat Completions servers.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/openai_chat/wire.h"
#include "model/wire_testing.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

using testing::WireCase;

ToolSpecs two_tools() {
  ToolSpec read{.name = "read_file", .description = "Reads a \"file\""};
  read.parameters =
      parse_json(R"({"type":"object","properties":{"path":{"type":"string"}}})").value();
  ToolSpec now{.name = "now"};
  return {std::make_shared<const ToolSpec>(std::move(now)),
          std::make_shared<const ToolSpec>(std::move(read))};
}

WireCase plain() {
  WireCase asked;
  asked.provider.name = "openai-chat";
  asked.provider.base_url = "https://api.openai.com/v1";
  asked.profile.provider = "openai-chat";
  asked.profile.name = "gpt-4.1";
  asked.profile.vision = true;
  EXPECT_TRUE(asked.request.transcript.append_user(Message::user("Hi")));
  return asked;
}

WireCase with_tools() {
  WireCase asked = plain();
  asked.tools = std::make_shared<const std::string>(
      openai_chat_dialect().encode_tools(two_tools(), asked.profile, asked.provider));
  return asked;
}

EncodedCall encoded(const WireCase& asked, bool stream = true) {
  Result<EncodedCall> call = openai_chat_dialect().encode(asked.call(stream));
  EXPECT_TRUE(call);
  EXPECT_TRUE(parse_json(call->body.joined())) << call->body.joined();
  return *std::move(call);
}
std::string body(const WireCase& asked, bool stream = true) {
  return encoded(asked, stream).body.joined();
}
Json json(const WireCase& asked) { return parse_json(body(asked)).value(); }

std::string written(const MessagePtr& message, const WireProfile& profile = {}) {
  return chat::encode_message(*message, profile);
}

TEST(ChatEncode, AShortRequestHasNothingItDoesNotNeed) {
  EXPECT_EQ(body(plain(), false),
            R"({"model":"gpt-4.1","messages":[{"role":"user","content":"Hi"}]})");
  EXPECT_EQ(body(plain()),
            R"({"model":"gpt-4.1","stream":true,"stream_options":{"include_usage":true},)"
            R"("messages":[{"role":"user","content":"Hi"}]})");
  EXPECT_EQ(encoded(plain()).path, "/chat/completions");
}

TEST(ChatEncode, EverythingThatIsAskedForStandsBeforeTheMessages) {
  WireCase asked = with_tools();
  ModelRequest& request = asked.request;
  request.system = std::make_shared<const std::string>("Be \"brief\".");
  request.max_output_tokens = 500;
  request.temperature = 0.5;
  request.top_p = 1;
  request.seed = 7;
  request.stop = {"END", "\n"};
  request.reasoning = "low";
  request.metadata = Json::object({{"team", "x"}});
  request.thread = "t-1";
  request.tool_choice = ToolChoice::required;
  request.output = std::make_shared<const OutputFormat>(
      OutputFormat{"my answer", Json::object({{"type", "object"}}), true});
  asked.profile.parallel_tools = false;
  asked.provider.thread_field = "prompt_cache_key";
  asked.provider.thread_header = "x-session-affinity";
  asked.provider.cache_ttl = "24h";
  asked.provider.options = Json::object({{"service_tier", "flex"}, {"seed", 1}});
  request.provider_options = Json::object({{"verbosity", "low"}, {"seed", 9}});
  EXPECT_EQ(
      body(asked),
      R"({"model":"gpt-4.1","stream":true,"stream_options":{"include_usage":true},)"
      R"("max_completion_tokens":500,"temperature":0.5,"top_p":1.0,"stop":["END","\n"],)"
      R"("reasoning_effort":"low","response_format":{"type":"json_schema","json_schema":)"
      R"({"name":"my_answer","schema":{"type":"object"},"strict":true}},"prompt_cache_key":"t-1",)"
      R"("prompt_cache_retention":"24h","metadata":{"team":"x"},"parallel_tool_calls":false,)"
      R"("tool_choice":"required","service_tier":"flex","seed":9,"verbosity":"low","tools":[)"
      R"({"type":"function","function":{"name":"now","parameters":{"type":"object","properties":{}}}},)"
      R"({"type":"function","function":{"name":"read_file","description":"Reads a \"file\"",)"
      R"("parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}],)"
      R"("messages":[{"role":"system","content":"Be \"brief\"."},{"role":"user","content":"Hi"}]})");
  const EncodedCall call = encoded(asked);
  ASSERT_EQ(call.headers.size(), 1u);
  EXPECT_EQ(call.headers[0].name, "x-session-affinity");
  EXPECT_EQ(call.headers[0].value, "t-1");
  EXPECT_TRUE(call.notes.empty());
}

TEST(ChatEncode, EveryRequestIsTheOneBeforeAndMore) {
  for (const bool reasons : {false, true}) {
    WireCase asked = with_tools();
    asked.request.system = std::make_shared<const std::string>("Be brief.");
    if (reasons) asked.provider.quirks = {"reasoning_content"};
    const Json opaque = Json::object({{"field", "reasoning_content"}});
    std::string before;
    for (const Transcript& step : testing::growing_conversation(asked.provider.name, opaque)) {
      asked.request.transcript = step;
      const std::string now = body(asked);
      if (!before.empty()) EXPECT_TRUE(testing::extends(before, now));
      before = now;
    }
    EXPECT_EQ(before.find("reasoning_content") != std::string::npos, reasons);
  }
}

TEST(ChatEncode, MessagesAreWrittenOnceAndSharedByRequests) {
  WireCase asked = plain();
  const EncodedCall first = encoded(asked);
  const EncodedCall second = encoded(asked);
  const auto message = [](const EncodedCall& call) {
    return call.body.pieces()[call.body.pieces().size() - 2].data();
  };
  EXPECT_EQ(message(first), message(second));
}

// Row 27 of the faults: ids that are too long or have characters that others refuse.
TEST(ChatEncode, ATurnKeepsItsCallsUnderOurIds) {
  Transcript said;
  ASSERT_TRUE(said.append_user(Message::user("go")));
  ASSERT_TRUE(said.append_turn(
      Message::make(Role::assistant, {ToolCall{{}, "bad id! " + std::string(900, 'x'), "f", "{}"},
                                      ToolCall{{}, "", "g", R"({"x":"\"")"}}),
      40));
  ASSERT_TRUE(said.append_results({ToolResult{make_call_id(40, 1), "g", false, "no", {}},
                                   ToolResult{make_call_id(40, 0), "f", true, "yes", {}}}));
  EXPECT_EQ(
      written(said[1]),
      R"({"role":"assistant","content":null,"tool_calls":[)"
      R"({"id":"c00001400","type":"function","function":{"name":"f","arguments":"{}"}},)"
      R"({"id":"c00001401","type":"function","function":{"name":"g","arguments":"{\"x\":\"\\\"\""}}]})");
  EXPECT_EQ(written(said[2]),
            R"({"role":"tool","tool_call_id":"c00001400","content":"yes"},)"
            R"({"role":"tool","tool_call_id":"c00001401","content":"Error: no"})");
}

// Row 26 of the faults: a model that says call_0 in every turn.
TEST(ChatEncode, AnIdThatIsReusedInEveryTurnIsUniqueOnTheWire) {
  Transcript said;
  std::vector<std::string> ids;
  for (Seq seq = 1; seq <= 3; ++seq) {
    ASSERT_TRUE(said.append_user(Message::user("again")));
    ASSERT_TRUE(said.append_turn(
        Message::make(Role::assistant, {ToolCall{{}, "call_0", "f", "{}"}}), seq * 10));
    const Json turn = parse_json(written(said.back())).value();
    ids.emplace_back(turn["tool_calls"][0]["id"].as_string());
    ASSERT_TRUE(said.append_results({ToolResult{make_call_id(seq * 10, 0), "f", true, "", {}}}));
  }
  std::ranges::sort(ids);
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
}

// Row 16 of the faults, on the way out.
TEST(ChatEncode, BytesThatAreNoTextAreReplacedOnTheWayOut) {
  const auto results = Message::results({ToolResult{CallId("1.0"),
                                                    "f",
                                                    true,
                                                    "a\xFF"
                                                    "b\xED\xA0\xBD",
                                                    {}}});
  const std::string out = written(results);
  EXPECT_TRUE(is_utf8(out));
  EXPECT_TRUE(parse_json(out));
}

TEST(ChatEncode, PicturesAreDataOrAddressesOrALineOfText) {
  const auto png = std::make_shared<const std::string>("\x89PNG");
  const MessagePtr message = Message::make(
      Role::user, {TextPart{"Look"}, MediaPart{.mime = "image/png", .name = "a.png", .bytes = png},
                   MediaPart{.mime = "image/jpeg", .url = "https://x/y.jpg"}});
  EXPECT_EQ(written(message),
            R"({"role":"user","content":[{"type":"text","text":"Look"},)"
            R"({"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw=="}},)"
            R"({"type":"image_url","image_url":{"url":"https://x/y.jpg"}}]})");
  EXPECT_EQ(written(message, {.images = false}),
            R"({"role":"user","content":[{"type":"text","text":"Look"},{"type":"text","text":)"
            R"("[image/png a.png, 4 bytes: not shown, this model cannot take it]"},{"type":"text",)"
            R"("text":"[image/jpeg: not shown, this model cannot take it]"}]})");
  WireCase asked = plain();
  ASSERT_TRUE(asked.request.transcript.append_user(message));
  EXPECT_TRUE(encoded(asked).notes.empty());
  asked.profile.vision = false;
  EXPECT_EQ(encoded(asked).notes.size(), 1u);
}

TEST(ChatEncode, SoundsAndFilesGoWhereTheModelTakesThem) {
  const auto bytes = std::make_shared<const std::string>("abc");
  WireCase asked = plain();
  ASSERT_TRUE(asked.request.transcript.append_user(Message::make(
      Role::user, {MediaPart{.mime = "audio/wav", .bytes = bytes},
                   MediaPart{.mime = "application/pdf", .name = "a.pdf", .bytes = bytes},
                   MediaPart{.mime = "text/csv", .name = "a.csv", .bytes = bytes}})));
  const auto kinds = [&] {
    std::string all;
    const Json message = json(asked)["messages"][1];
    for (const Json& part : message["content"].items())
      all += std::string(part["type"].as_string()) + " ";
    return all;
  };
  EXPECT_EQ(kinds(), "text text text ");
  asked.profile.input = {Modality::text, Modality::audio, Modality::document};
  EXPECT_EQ(kinds(), "input_audio file text ");
}

TEST(ChatEncode, ReasoningGoesBackNativelyOnlyToWhoSaidItAndCanTakeIt) {
  const Json details =
      parse_json(R"({"reasoning_details":[{"type":"reasoning.text","text":"t","signature":"s"}]})")
          .value();
  const Json field = Json::object({{"field", "reasoning_content"}});
  const auto turn = [](std::string text, std::string provider, const Json& opaque,
                       bool redacted = false) {
    return Message::make(
        Role::assistant,
        {ReasoningPart{std::move(text), std::move(provider), opaque, redacted}, TextPart{"Hi"}});
  };
  const WireProfile router{.provider = "openrouter"};
  const WireProfile deep{.provider = "deepseek", .reasoning = true};
  const WireProfile shallow{.provider = "deepseek"};
  const std::string as_text =
      R"({"role":"assistant","content":"<thinking>\nt\n</thinking>\n\nHi"})";
  EXPECT_EQ(
      written(turn("t", "openrouter", details), router),
      R"({"role":"assistant","content":"Hi","reasoning_details":[{"type":"reasoning.text","text":"t","signature":"s"}]})");
  EXPECT_EQ(written(turn("t", "deepseek", field), deep),
            R"({"role":"assistant","content":"Hi","reasoning_content":"t"})");
  EXPECT_EQ(written(turn("t", "deepseek", field), shallow), as_text);
  EXPECT_EQ(written(turn("t", "openrouter", details), deep), as_text);
  EXPECT_EQ(written(turn("t", "anthropic", Json::object({{"signature", "x"}})), router), as_text);
  EXPECT_EQ(written(turn("t", "vllm", {}), {.provider = "vllm", .reasoning = true}), as_text);
  EXPECT_EQ(written(turn("", "anthropic", Json::object({{"data", "x"}}), true), router),
            R"({"role":"assistant","content":"Hi"})");
}

TEST(ChatEncode, ReasoningThatCannotGoBackIsToldOnce) {
  WireCase asked = plain();
  asked.provider.name = "openrouter";
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(asked.request.transcript.append_turn(
        Message::make(Role::assistant,
                      {ReasoningPart{"t", "anthropic", {}, false}, TextPart{"Hi"}}),
        static_cast<Seq>(i + 1)));
    ASSERT_TRUE(asked.request.transcript.append_user(Message::user("go on")));
  }
  EXPECT_EQ(
      encoded(asked).notes,
      std::vector<std::string>{"reasoning is sent to openai-chat/gpt-4.1 as text where it has "
                               "one: it cannot take it as it came"});
}

TEST(ChatEncode, WhatWasCapturedFromAStreamGoesBackAsItCame) {
  for (const auto& [golden, provider] :
       {std::pair("openrouter.sse", "openrouter"), std::pair("deepseek.sse", "deepseek")}) {
    WireCase asked = plain();
    asked.provider.name = provider;
    if (asked.provider.name == "deepseek") asked.provider.quirks = {"reasoning_content"};
    const auto decoder = openai_chat_dialect().decoder(asked.call());
    std::vector<ModelEvent> events;
    SseFramer framer;
    const auto take = [&](const SseEvent& event) {
      return decoder->on_event(event.name, event.data, events);
    };
    ASSERT_TRUE(framer.feed(testing::read_golden_file(std::string(TUG_SOURCE_DIR) +
                                                      "/tests/wire/openai_chat/" + golden),
                            take));
    const auto& turn = std::get<ModelTurn>(events.back());
    const Json raw = turn.raw["choices"][0]["message"];
    const Json sent = parse_json(written(turn.message, chat::wire_profile(asked.call()))).value();
    EXPECT_EQ(sent["reasoning_details"], raw["reasoning_details"]);
    EXPECT_EQ(sent["reasoning_content"], raw["reasoning_content"]);
    EXPECT_FALSE(sent["reasoning_details"].is_null() && sent["reasoning_content"].is_null());
    EXPECT_EQ(sent["content"], raw["content"]);
  }
}

TEST(ChatEncode, SystemWordsHaveTheRoleTheModelKnows) {
  WireCase asked = plain();
  asked.request.system = std::make_shared<const std::string>("S");
  ASSERT_TRUE(asked.request.transcript.append_user(Message::system("later")));
  EXPECT_EQ(json(asked)["messages"][0]["role"].as_string(), "system");
  EXPECT_EQ(json(asked)["messages"][2]["role"].as_string(), "system");
  asked.profile.quirks = {"developer_role"};
  EXPECT_EQ(json(asked)["messages"][0]["role"].as_string(), "developer");
  EXPECT_EQ(json(asked)["messages"][2]["role"].as_string(), "developer");
}

TEST(ChatEncode, ToolsAreChosenAsAsked) {
  WireCase asked = with_tools();
  const auto choice = [&] { return print_json(json(asked)["tool_choice"]); };
  EXPECT_EQ(choice(), "null");
  asked.request.tool_choice = ToolChoice::none;
  EXPECT_EQ(choice(), R"("none")");
  asked.request.tool_choice = ToolChoice::required;
  EXPECT_EQ(choice(), R"("required")");
  asked.request.tool = "now";
  EXPECT_EQ(choice(), R"({"type":"function","function":{"name":"now"}})");
  asked.provider.quirks = {"no_named_tool"};
  EXPECT_EQ(choice(), R"("required")");
  EXPECT_EQ(encoded(asked).notes.size(), 1u);
  asked.tools = nullptr;
  EXPECT_EQ(choice(), "null");
}

TEST(ChatEncode, WhatAModelDoesNotTakeIsLeftOutAndTold) {
  WireCase asked = plain();
  asked.request.temperature = 1;
  asked.request.seed = 1;
  asked.request.reasoning = "xhigh";
  asked.profile.drop_params = {"temperature", "stop"};
  asked.profile.efforts = {"low", "high"};
  const EncodedCall call = encoded(asked);
  EXPECT_EQ(
      call.notes,
      (std::vector<std::string>{
          "temperature is left out for openai-chat/gpt-4.1: it does not take it",
          "reasoning_effort xhigh is left out for openai-chat/gpt-4.1: it has no such effort"}));
  const Json sent = json(asked);
  EXPECT_FALSE(sent.contains("temperature"));
  EXPECT_FALSE(sent.contains("reasoning_effort"));
  EXPECT_TRUE(sent.contains("seed"));
}

TEST(ChatEncode, OptionsOfTheProviderWinAndNothingIsWrittenTwice) {
  WireCase asked = with_tools();
  asked.request.temperature = 1;
  asked.request.max_output_tokens = 10;
  asked.request.reasoning = "low";
  asked.request.provider_options =
      parse_json(
          R"({"model":"other","temperature":0,"max_tokens":5,"reasoning_effort":"high","tools":[],)"
          R"("stream":false,"messages":[],"stream_options":{}})")
          .value();
  const EncodedCall call = encoded(asked);
  EXPECT_EQ(
      call.body.joined(),
      R"({"stream":true,"model":"other","temperature":0,"max_tokens":5,"reasoning_effort":"high",)"
      R"("tools":[],"stream_options":{},"messages":[{"role":"user","content":"Hi"}]})");
  EXPECT_EQ(call.notes.size(), 2u);  // messages, stream
}

TEST(ChatEncode, QuirksOfServersAreKept) {
  WireCase asked = plain();
  asked.request.max_output_tokens = 10;
  asked.request.reasoning = "low";
  asked.provider.quirks = {"max_tokens", "no_stream_usage", "reasoning_object", "cache_control",
                           "json_object"};
  asked.provider.cache_ttl = "1h";
  asked.request.output = std::make_shared<const OutputFormat>(
      OutputFormat{"a", Json::object({{"type", "object"}}), false});
  EXPECT_EQ(
      body(asked),
      R"({"model":"gpt-4.1","stream":true,"max_tokens":10,"reasoning":{"effort":"low"},)"
      R"("response_format":{"type":"json_object"},"cache_control":{"type":"ephemeral","ttl":"1h"},)"
      R"("messages":[{"role":"system","content":"Answer with one JSON object and nothing else. )"
      R"(It must match this JSON Schema:\n{\"type\":\"object\"}"},{"role":"user","content":"Hi"}]})");
  asked.request.cache_policy.protect_prefix = false;
  EXPECT_FALSE(json(asked).contains("cache_control"));
}

TEST(ChatEncode, AThreadIsHashedWhereThereIsSalt) {
  WireCase asked = plain();
  asked.request.thread = "t-1";
  asked.provider.thread_field = "user";
  asked.provider.thread_header = "x-thread";
  EXPECT_EQ(json(asked)["user"].as_string(), "t-1");
  asked.provider.thread_salt = "pepper";
  const std::string hashed(json(asked)["user"].as_string());
  EXPECT_EQ(hashed.size(), 64u);
  EXPECT_EQ(encoded(asked).headers[0].value, hashed);
  asked.provider.thread_salt = "salt";
  EXPECT_NE(json(asked)["user"].as_string(), hashed);
  asked.request.thread.clear();
  EXPECT_FALSE(json(asked).contains("user"));
  EXPECT_TRUE(encoded(asked).headers.empty());
}

TEST(ChatEncode, AzureHasAPathPerDeployment) {
  WireCase asked = plain();
  asked.provider.quirks = {"azure"};
  asked.profile.name = "my gpt";
  const auto path = [&](std::string base, std::string version = "") {
    asked.provider.base_url = std::move(base);
    asked.provider.api_version = std::move(version);
    return encoded(asked).path;
  };
  EXPECT_EQ(path("https://r.openai.azure.com"),
            "/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21");
  EXPECT_EQ(path("https://r.openai.azure.com/openai/", "2025-04-01-preview"),
            "/deployments/my%20gpt/chat/completions?api-version=2025-04-01-preview");
  EXPECT_EQ(path("https://r.openai.azure.com/openai/deployments/d"),
            "/chat/completions?api-version=2024-10-21");
  EXPECT_EQ(path("https://r.openai.azure.com/openai/v1"), "/chat/completions");
  EXPECT_EQ(path("https://r.openai.azure.com/openai/v1", "2024-10-21"), "/chat/completions");
  EXPECT_EQ(path("https://r.openai.azure.com/openai/v1", "preview"),
            "/chat/completions?api-version=preview");
}

}  // namespace
}  // namespace tug
