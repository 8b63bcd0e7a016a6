// What is sent to Gemini.
#include "model/dialect_testing.h"
#include "model/gemini/wire.h"
#include "model/wire_words.h"

namespace tug::testing {
namespace {

const Dialect& dialect() { return gemini_dialect(); }

WireCase plain_case() {
  WireCase asked;
  asked.profile = {.provider = "gemini", .name = "gemini-3.5-flash"};
  asked.provider = {.name = "gemini", .api = Api::gemini};
  say(asked, Message::user("Hi."));
  return asked;
}
ToolSpecs two_tools() {
  return {tool_of("look", R"({"type":"object","properties":{},"additionalProperties":false})"),
          tool_of("read.file", R"({"type":"object","properties":{"path":{"type":"string"}}})")};
}
std::string read_file_name() { return wire_tool_name("read.file"); }

Json parts_of(const WireCase& asked, std::size_t place = 0) {
  return body_of(dialect(), asked)["contents"][place]["parts"];
}

TEST(GeminiEncode, ARequestHasItsContentsAndNothingElse) {
  const WireCase asked = plain_case();
  const EncodedCall call = encoded(dialect(), asked);
  EXPECT_EQ(call.body.joined(), R"({"contents":[{"role":"user","parts":[{"text":"Hi."}]}]})");
  EXPECT_EQ(call.path, "/v1beta/models/gemini-3.5-flash:streamGenerateContent?alt=sse");
  EXPECT_EQ(call.headers.size(), 0u);
  EXPECT_EQ(call.notes, std::vector<std::string>());
  EXPECT_EQ(dialect().key_header().name, "x-goog-api-key");
}

TEST(GeminiEncode, ThePathNamesModelVersionAndWhetherItStreams) {
  WireCase asked = plain_case();
  EXPECT_EQ(encoded(dialect(), asked, false).path,
            "/v1beta/models/gemini-3.5-flash:generateContent");
  asked.provider.api_version = "v1";
  asked.profile.name = "tunedModels/my model?x";
  EXPECT_EQ(encoded(dialect(), asked, false).path,
            "/v1/tunedModels/my%20model%3Fx:generateContent");
}

TEST(GeminiEncode, ToolsAreDeclaredWithJsonSchema) {
  WireCase asked = plain_case();
  give_tools(asked, dialect(), two_tools());
  const Json body = body_of(dialect(), asked);
  EXPECT_EQ(body["tools"], json_of(R"([{"functionDeclarations":[
      {"name":"look","description":"Does it."},
      {"name":")" + read_file_name() +
                                   R"(","description":"Does it.","parametersJsonSchema":
          {"type":"object","properties":{"path":{"type":"string"}}}}]}])"));
  EXPECT_FALSE(body.contains("toolConfig"));
}

TEST(GeminiEncode, ToolChoiceIsAMode) {
  WireCase asked = plain_case();
  give_tools(asked, dialect(), two_tools());
  const auto choice = [&] {
    return body_of(dialect(), asked)["toolConfig"]["functionCallingConfig"];
  };
  asked.request.tool_choice = ToolChoice::none;
  EXPECT_EQ(choice(), json_of(R"({"mode":"NONE"})"));
  asked.request.tool_choice = ToolChoice::required;
  EXPECT_EQ(choice(), json_of(R"({"mode":"ANY"})"));
  asked.request.tool = "read.file";
  EXPECT_EQ(choice(),
            json_of(R"({"mode":"ANY","allowedFunctionNames":[")" + read_file_name() + "\"]}"));
}

TEST(GeminiEncode, SettingsStandInTheGenerationConfig) {
  WireCase asked = plain_case();
  asked.request.system = std::make_shared<const std::string>("Be brief.");
  asked.request.max_output_tokens = 100;
  asked.request.temperature = 0.5;
  asked.request.top_p = 0.9;
  asked.request.seed = 7;
  asked.request.stop = {"END"};
  asked.request.output = std::make_shared<const OutputFormat>(
      OutputFormat{.name = "point", .schema = json_of(R"({"type":"object"})")});
  Json body = body_of(dialect(), asked);
  EXPECT_EQ(body["systemInstruction"], json_of(R"({"parts":[{"text":"Be brief."}]})"));
  EXPECT_EQ(body["generationConfig"],
            json_of(R"({"maxOutputTokens":100,"temperature":0.5,"topP":0.9,"seed":7,
                        "stopSequences":["END"],"responseMimeType":"application/json",
                        "responseJsonSchema":{"type":"object"}})"));
  asked.profile.drop_params = {"temperature", "stop"};
  const EncodedCall call = encoded(dialect(), asked);
  body = json_of(call.body.joined());
  EXPECT_FALSE(body["generationConfig"].contains("temperature"));
  EXPECT_FALSE(body["generationConfig"].contains("stopSequences"));
  EXPECT_EQ(call.notes,
            (std::vector<std::string>{"temperature is left out: gemini-3.5-flash refuses it",
                                      "stop is left out: gemini-3.5-flash refuses it"}));
}

TEST(GeminiEncode, EffortIsALevelOrABudget) {
  WireCase asked = plain_case();
  asked.profile.reasoning = true;
  const auto thinking = [&](const char* effort) {
    asked.request.reasoning = effort;
    return body_of(dialect(), asked)["generationConfig"]["thinkingConfig"];
  };
  EXPECT_EQ(thinking(""), Json());
  EXPECT_EQ(thinking("low"), json_of(R"({"includeThoughts":true,"thinkingLevel":"LOW"})"));
  EXPECT_EQ(thinking("max"), json_of(R"({"includeThoughts":true,"thinkingLevel":"HIGH"})"));
  EXPECT_EQ(thinking("none"), json_of(R"({"thinkingLevel":"MINIMAL"})"));
  asked.profile.quirks = {"thinking_budget"};
  EXPECT_EQ(thinking("none"), json_of(R"({"thinkingBudget":0})"));
  EXPECT_EQ(thinking("medium"), json_of(R"({"includeThoughts":true,"thinkingBudget":8192})"));
  asked.profile.efforts = {"low", "high"};
  EXPECT_EQ(thinking("none"), json_of(R"({"includeThoughts":true,"thinkingBudget":4096})"));
  asked.profile.reasoning = false;
  EXPECT_EQ(thinking("high"), Json());
  EXPECT_EQ(encoded(dialect(), asked).notes.size(), 1u);
}

TEST(GeminiEncode, OptionsWinAndAreWrittenOnce) {
  WireCase asked = plain_case();
  asked.request.temperature = 0.5;
  asked.request.max_output_tokens = 10;
  asked.provider.options = json_of(R"({"safetySettings":[],"generationConfig":{"topK":3}})");
  asked.request.provider_options = json_of(
      R"({"generationConfig":{"temperature":1,"mediaResolution":"LOW"},"cachedContent":"c",
          "contents":[]})");
  const EncodedCall call = encoded(dialect(), asked);
  EXPECT_EQ(call.body.joined(),
            R"({"generationConfig":{"maxOutputTokens":10,"temperature":1,"mediaResolution":"LOW"},)"
            R"("safetySettings":[],"cachedContent":"c",)"
            R"("contents":[{"role":"user","parts":[{"text":"Hi."}]}]})");
  EXPECT_EQ(call.notes,
            (std::vector<std::string>{"the option \"contents\" is left out: it is ours to say"}));
}

TEST(GeminiEncode, ToolsOfTheProviderStandBehindOurs) {
  WireCase asked = plain_case();
  give_tools(asked, dialect(), two_tools());
  asked.request.provider_options = json_of(R"({"tools":[{"googleSearch":{}}]})");
  const Json tools = body_of(dialect(), asked)["tools"];
  ASSERT_EQ(tools.size(), 2u);
  EXPECT_TRUE(tools[0].contains("functionDeclarations"));
  EXPECT_EQ(tools[1], json_of(R"({"googleSearch":{}})"));
}

TEST(GeminiEncode, TheThreadGoesWhereTheProviderWantsIt) {
  WireCase asked = plain_case();
  asked.request.thread = "thread-1";
  asked.provider.thread_header = "x-session-affinity";
  EXPECT_EQ(find_header(encoded(dialect(), asked).headers, "x-session-affinity"), "thread-1");
}

TEST(GeminiEncode, MediaIsSentByBytesByAddressOrAsALineOfText) {
  WireCase asked = plain_case();
  asked.profile.input = {Modality::text, Modality::image, Modality::audio};
  const auto bytes = std::make_shared<const std::string>("PNG");
  say(asked, Message::make(Role::user, {MediaPart{.mime = "image/png", .bytes = bytes},
                                        MediaPart{.mime = "image/png", .url = "https://a/b.png"},
                                        MediaPart{.mime = "audio/wav", .bytes = bytes},
                                        MediaPart{.mime = "video/mp4", .url = "https://a/v"},
                                        MediaPart{.mime = "text/plain", .bytes = bytes}}));
  EXPECT_EQ(parts_of(asked), json_of(R"([
    {"inlineData":{"mimeType":"image/png","data":"UE5H"}},
    {"fileData":{"mimeType":"image/png","fileUri":"https://a/b.png"}},
    {"inlineData":{"mimeType":"audio/wav","data":"UE5H"}},
    {"text":"[video/mp4 https://a/v: not sent, this model does not take it]"},
    {"text":"PNG"}])"));
}

TEST(GeminiEncode, CallsAndResponsesHaveNamesIdsAndObjects) {
  WireCase asked = plain_case();
  Transcript& said = asked.request.transcript;
  ASSERT_TRUE(said.append_turn(
      Message::make(Role::assistant,
                    {ToolCall{{}, "x", "look", ""}, ToolCall{{}, "x", "read.file", "{\"n\":1}"},
                     ToolCall{{}, "x", "look", "{cut"}}),
      7));
  ASSERT_TRUE(
      said.append_results({ToolResult{make_call_id(7, 0), "look", true, " {\"seen\":[1]}", {}},
                           ToolResult{make_call_id(7, 1), "read.file", true, "[1]", {}},
                           ToolResult{make_call_id(7, 2), "look", false, "{\"bad\":1}", {}}}));
  const auto id = [](std::uint32_t index) { return Json(wire_id(make_call_id(7, index))); };
  Json calls = parts_of(asked, 1);
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0]["functionCall"],
            Json::object({{"id", id(0)}, {"name", "look"}, {"args", Json::object()}}));
  EXPECT_EQ(
      calls[1]["functionCall"],
      Json::object({{"id", id(1)}, {"name", read_file_name()}, {"args", json_of(R"({"n":1})")}}));
  EXPECT_EQ(calls[2]["functionCall"]["args"], json_of(R"({"unparsed_arguments":"{cut"})"));
  const Json answer = body_of(dialect(), asked)["contents"][2];
  EXPECT_EQ(answer["role"], Json("user"));
  const Json& responses = answer["parts"];
  ASSERT_EQ(responses.size(), 3u);
  EXPECT_EQ(
      responses[0]["functionResponse"],
      Json::object({{"id", id(0)}, {"name", "look"}, {"response", json_of(R"({"seen":[1]})")}}));
  EXPECT_EQ(responses[1]["functionResponse"],
            Json::object({{"id", id(1)},
                          {"name", read_file_name()},
                          {"response", json_of(R"({"result":"[1]"})")}}));
  EXPECT_EQ(responses[2]["functionResponse"]["response"], json_of(R"({"error":"{\"bad\":1}"})"));
}

// Row 34: only the first of calls made together is signed; one of another model by a stand-in.
TEST(GeminiEncode, CallsOfAnotherModelAreSignedByAStandIn) {
  WireCase asked = plain_case();
  ASSERT_TRUE(asked.request.transcript.append_turn(
      Message::make(Role::assistant,
                    {ReasoningPart{"Hm.", "anthropic", json_of(R"({"signature":"x"})"), false},
                     ToolCall{{}, "", "look", "{}"}, ToolCall{{}, "", "look", "{}"}}),
      7));
  const EncodedCall call = encoded(dialect(), asked);
  const Json parts = json_of(call.body.joined())["contents"][1]["parts"];
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0], json_of(R"({"text":"<thinking>\nHm.\n</thinking>"})"));
  EXPECT_EQ(parts[1]["thoughtSignature"], Json("skip_thought_signature_validator"));
  EXPECT_FALSE(parts[2].contains("thoughtSignature"));
  EXPECT_EQ(call.notes,
            (std::vector<std::string>{"reasoning of another provider is sent as text"}));
  asked.provider.quirks = {"no_thought_signature"};
  EXPECT_FALSE(parts_of(asked, 1)[1].contains("thoughtSignature"));
}

// Row 33.
TEST(GeminiEncode, SignaturesThatWereRefusedAreLeftOut) {
  WireCase asked = plain_case();
  asked.request.drop_reasoning = true;
  ASSERT_TRUE(asked.request.transcript.append_turn(
      Message::make(
          Role::assistant,
          {ReasoningPart{"Hm.", "gemini", {}, false},
           ProviderBlock{"gemini", json_of(R"({"executableCode":{},"thoughtSignature":"Yw=="})")},
           ReasoningPart{"", "gemini", json_of(R"({"thoughtSignature":"c2ln"})"), false},
           ToolCall{{}, "", "look", "{}"}}),
      7));
  const EncodedCall call = encoded(dialect(), asked);
  Json parts = json_of(call.body.joined())["contents"][1]["parts"];
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0], json_of(R"({"text":"<thinking>\nHm.\n</thinking>"})"));
  EXPECT_EQ(parts[1], json_of(R"({"executableCode":{}})"));
  EXPECT_EQ(parts[2]["thoughtSignature"], Json("skip_thought_signature_validator"));
  EXPECT_EQ(call.notes,
            (std::vector<std::string>{"earlier reasoning is sent as text: it was refused"}));
}

TEST(GeminiEncode, BlocksOfTheProviderGoBackAsTheyCame) {
  const Json code = json_of(R"({"executableCode":{"code":"1"},"thoughtSignature":"Yw=="})");
  WireCase asked = plain_case();
  say(asked, Message::make(Role::assistant, {ProviderBlock{"gemini", code}, TextPart{"One."},
                                             ProviderBlock{"anthropic", Json::object()}}));
  const EncodedCall call = encoded(dialect(), asked);
  EXPECT_EQ(json_of(call.body.joined())["contents"][0],
            Json::object({{"role", "model"},
                          {"parts", Json::array({code, json_of(R"({"text":"One."})")})}}));
  EXPECT_EQ(call.notes.size(), 1u);
}

TEST(GeminiEncode, EmptyMessagesAreNotSent) {
  WireCase asked = plain_case();
  ASSERT_TRUE(asked.request.transcript.append_turn(Message::make(Role::assistant, {}), 2));
  EXPECT_EQ(body_of(dialect(), asked)["contents"].size(), 1u);
  say(asked, Message::user(""));
  EXPECT_FALSE(dialect().encode(asked.call()));
}

TEST(GeminiEncode, EachRequestOfAGrowingConversationExtendsTheOneBefore) {
  for (const char* provider : {"gemini", "anthropic"}) {
    WireCase asked = plain_case();
    asked.profile.vision = true;
    asked.request.system = std::make_shared<const std::string>("Be brief.");
    asked.request.temperature = 0.5;
    give_tools(asked, dialect(), two_tools());
    std::string before;
    for (const Transcript& said :
         growing_conversation(provider, json_of(R"({"thoughtSignature":"c2ln"})"))) {
      asked.request.transcript = said;
      const std::string body = encoded(dialect(), asked).body.joined();
      if (!before.empty()) EXPECT_TRUE(extends(before, body));
      before = body;
    }
  }
}

}  // namespace
}  // namespace tug::testing
