// What is sent to Anthropic.
#include "model/anthropic/wire.h"
#include "model/dialect_testing.h"
#include "model/wire_words.h"

namespace tug::testing {
namespace {

const Dialect& dialect() { return anthropic_dialect(); }

WireCase plain_case() {
  WireCase asked;
  asked.profile = {.provider = "anthropic", .name = "claude-sonnet-5"};
  asked.provider = {.name = "anthropic", .api = Api::anthropic};
  asked.request.cache_policy.protect_prefix = false;
  say(asked, Message::user("Hi."));
  return asked;
}
WireCase thinking_case() {
  WireCase asked = plain_case();
  asked.profile.reasoning = true;
  asked.request.reasoning = "high";
  return asked;
}
ToolSpecs two_tools() {
  return {tool_of("look", R"({"type":"object","properties":{}})"),
          tool_of("read.file", R"({"type":"object","properties":{"path":{"type":"string"}}})")};
}
std::string read_file_name() { return wire_tool_name("read.file"); }

// The content of the one message that is sent.
Json content_of(const WireCase& asked) {
  return body_of(dialect(), asked)["messages"][0]["content"];
}

TEST(AnthropicEncode, ARequestHasWhatIsRequiredAndNothingElse) {
  const WireCase asked = plain_case();
  const EncodedCall call = encoded(dialect(), asked);
  EXPECT_EQ(call.body.joined(),
            R"({"model":"claude-sonnet-5","max_tokens":8192,"stream":true,)"
            R"("messages":[{"role":"user","content":[{"type":"text","text":"Hi."}]}]})");
  EXPECT_EQ(call.path, "/v1/messages");
  ASSERT_EQ(call.headers.size(), 1u);
  EXPECT_EQ(call.headers[0].name, "anthropic-version");
  EXPECT_EQ(call.headers[0].value, "2026-10-21");
  EXPECT_EQ(call.notes, std::vector<std::string>());
  EXPECT_EQ(dialect().key_header().name, "x-api-key");
}

TEST(AnthropicEncode, MaxTokensComeFromTheRequestThenFromTheProfile) {
  WireCase asked = plain_case();
  asked.profile.max_output_tokens = 64'000;
  EXPECT_EQ(body_of(dialect(), asked)["max_tokens"], Json(64'000));
  asked.request.max_output_tokens = 100;
  EXPECT_EQ(body_of(dialect(), asked)["max_tokens"], Json(100));
}

TEST(AnthropicEncode, AnAnswerInOnePieceIsAskedForBySayingSo) {
  const WireCase asked = plain_case();
  EXPECT_EQ(json_of(encoded(dialect(), asked, false).body.joined())["stream"], Json(false));
}

TEST(AnthropicEncode, ToolsHaveLegalNamesAndSchemas) {
  WireCase asked = plain_case();
  give_tools(asked, dialect(), two_tools());
  EXPECT_EQ(body_of(dialect(), asked)["tools"], json_of(R"([{"name":"look","description":"Does it.",
                         "input_schema":{"type":"object","properties":{}}},
                        {"name":")" + read_file_name() + R"(","description":"Does it.",
                         "input_schema":{"type":"object",
                                         "properties":{"path":{"type":"string"}}}}])"));
  EXPECT_TRUE(read_file_name().starts_with("read_file_")) << read_file_name();
  EXPECT_FALSE(body_of(dialect(), asked).contains("tool_choice"));
}

TEST(AnthropicEncode, ASchemaOfAToolIsAlwaysThatOfAnObject) {
  EXPECT_EQ(dialect().encode_tools({tool_of("look", "null"), tool_of("see", R"({"title":"See"})")},
                                   {}, {}),
            R"([{"name":"look","description":"Does it.","input_schema":{"type":"object"}},)"
            R"({"name":"see","description":"Does it.",)"
            R"("input_schema":{"title":"See","type":"object"}}])");
}

TEST(AnthropicEncode, ToolChoiceNamesAToolAndTurnsParallelCallsOff) {
  WireCase asked = plain_case();
  give_tools(asked, dialect(), two_tools());
  const auto choice = [&] { return body_of(dialect(), asked)["tool_choice"]; };
  asked.request.tool_choice = ToolChoice::none;
  EXPECT_EQ(choice(), json_of(R"({"type":"none"})"));
  asked.request.tool_choice = ToolChoice::required;
  EXPECT_EQ(choice(), json_of(R"({"type":"any"})"));
  asked.request.tool = "read.file";
  EXPECT_EQ(choice(), json_of(R"({"type":"tool","name":")" + read_file_name() + R"("})"));
  asked.profile.parallel_tools = false;
  EXPECT_EQ(choice(), json_of(R"({"type":"tool","name":")" + read_file_name() +
                              R"(","disable_parallel_tool_use":true})"));
  asked.request.tool_choice = ToolChoice::automatic;
  EXPECT_EQ(choice(), json_of(R"({"type":"auto","disable_parallel_tool_use":true})"));
}

TEST(AnthropicEncode, CacheMarksStandOnTheLastToolTheSystemTextAndTheRequest) {
  WireCase asked = plain_case();
  asked.request.cache_policy.protect_prefix = std::nullopt;
  asked.request.system = std::make_shared<const std::string>("Be brief.");
  asked.provider.cache_ttl = "1h";
  give_tools(asked, dialect(), two_tools());
  const Json mark = json_of(R"({"type":"ephemeral","ttl":"1h"})");
  Json body = body_of(dialect(), asked);
  EXPECT_FALSE(body["tools"][0].contains("cache_control"));
  EXPECT_EQ(body["tools"][1]["cache_control"], mark);
  EXPECT_EQ(body["system"],
            Json::array({Json::object(
                {{"type", "text"}, {"text", "Be brief."}, {"cache_control", mark}})}));
  EXPECT_EQ(body["cache_control"], mark);
  asked.request.cache_policy.protect_prefix = false;
  body = body_of(dialect(), asked);
  EXPECT_EQ(encoded(dialect(), asked).body.joined().find("cache_control"), std::string::npos);
  EXPECT_EQ(body["system"], json_of(R"([{"type":"text","text":"Be brief."}])"));
  asked.request.cache_policy.protect_prefix = true;
  asked.provider.quirks = {"no_cache_control"};
  EXPECT_EQ(encoded(dialect(), asked).body.joined().find("cache_control"), std::string::npos);
}

TEST(AnthropicEncode, SamplingParametersAreLeftOutWithANoteUnlessTheOldVersionIsSpoken) {
  WireCase asked = plain_case();
  asked.request.temperature = 0.5;
  asked.request.top_p = 0.9;
  asked.request.stop = {"END"};
  EncodedCall call = encoded(dialect(), asked);
  Json body = json_of(call.body.joined());
  EXPECT_FALSE(body.contains("temperature") || body.contains("top_p"));
  EXPECT_EQ(body["stop_sequences"], Json::array({"END"}));
  EXPECT_EQ(call.notes, (std::vector<std::string>{
                            "temperature is left out: the API version 2026-10-21 refuses it "
                            "(api_version = \"2023-06-01\" takes it)",
                            "top_p is left out: the API version 2026-10-21 refuses it "
                            "(api_version = \"2023-06-01\" takes it)"}));
  asked.provider.api_version = "2023-06-01";
  asked.profile.drop_params = {"top_p"};
  call = encoded(dialect(), asked);
  body = json_of(call.body.joined());
  EXPECT_EQ(body["temperature"], Json(0.5));
  EXPECT_FALSE(body.contains("top_p"));
  EXPECT_EQ(call.headers[0].value, "2023-06-01");
  EXPECT_EQ(call.notes,
            (std::vector<std::string>{"top_p is left out: claude-sonnet-5 refuses it"}));
}

TEST(AnthropicEncode, EffortMeansAdaptiveThinking) {
  WireCase asked = thinking_case();
  asked.request.reasoning = "xhigh";
  Json body = body_of(dialect(), asked);
  EXPECT_EQ(body["thinking"], json_of(R"({"type":"adaptive","display":"summarized"})"));
  EXPECT_EQ(body["output_config"], json_of(R"({"effort":"xhigh"})"));
  asked.request.reasoning = "minimal";
  EXPECT_EQ(body_of(dialect(), asked)["output_config"], json_of(R"({"effort":"low"})"));
  asked.request.reasoning = "none";
  body = body_of(dialect(), asked);
  EXPECT_EQ(body["thinking"], json_of(R"({"type":"disabled"})"));
  EXPECT_FALSE(body.contains("output_config"));
}

TEST(AnthropicEncode, AnEffortTheModelDoesNotTakeBecomesTheNextOneBelowWithANote) {
  WireCase asked = thinking_case();
  asked.profile.efforts = {"low", "medium"};
  EncodedCall call = encoded(dialect(), asked);
  EXPECT_EQ(json_of(call.body.joined())["output_config"], json_of(R"({"effort":"medium"})"));
  EXPECT_EQ(call.notes, (std::vector<std::string>{"reasoning \"high\" is sent as \"medium\""}));
  asked.profile.reasoning = false;
  call = encoded(dialect(), asked);
  EXPECT_FALSE(json_of(call.body.joined()).contains("thinking"));
  EXPECT_EQ(call.notes, (std::vector<std::string>{"reasoning \"high\" is left out: claude-sonnet-5 "
                                                  "is not known to take it"}));
}

TEST(AnthropicEncode, OlderModelsAreGivenABudgetBelowMaxTokens) {
  WireCase asked = thinking_case();
  asked.profile.quirks = {"thinking_budget"};
  asked.profile.max_output_tokens = 64'000;
  Json body = body_of(dialect(), asked);
  EXPECT_EQ(body["thinking"], json_of(R"({"type":"enabled","budget_tokens":16384})"));
  EXPECT_FALSE(body.contains("output_config"));
  asked.request.max_output_tokens = 2'000;
  EXPECT_EQ(body_of(dialect(), asked)["thinking"]["budget_tokens"], Json(1'500));
  asked.request.max_output_tokens = 1'100;
  EXPECT_EQ(body_of(dialect(), asked)["thinking"]["budget_tokens"], Json(1'024));
  asked.request.max_output_tokens = 1'024;
  EXPECT_FALSE(body_of(dialect(), asked).contains("thinking"));
}

TEST(AnthropicEncode, AToolThatMustBeCalledTurnsThinkingOff) {
  WireCase asked = thinking_case();
  give_tools(asked, dialect(), two_tools());
  asked.request.tool_choice = ToolChoice::required;
  const EncodedCall call = encoded(dialect(), asked);
  EXPECT_FALSE(json_of(call.body.joined()).contains("thinking"));
  EXPECT_EQ(call.notes.size(), 1u);
}

TEST(AnthropicEncode, ASchemaOfTheAnswerIsSaidNatively) {
  WireCase asked = thinking_case();
  asked.request.output = std::make_shared<const OutputFormat>(
      OutputFormat{.name = "point", .schema = json_of(R"({"type":"object"})")});
  EXPECT_EQ(body_of(dialect(), asked)["output_config"], json_of(R"({"effort":"high",
                        "format":{"type":"json_schema","schema":{"type":"object"}}})"));
}

TEST(AnthropicEncode, OptionsWinAndAreWrittenOnce) {
  WireCase asked = thinking_case();
  asked.provider.options = json_of(R"({"service_tier":"auto","max_tokens":7})");
  asked.request.provider_options = json_of(
      R"({"max_tokens":9,"output_config":{"effort":"max"},"messages":[],"stream":false,
          "temperature":1})");
  asked.request.temperature = 0.5;
  const EncodedCall call = encoded(dialect(), asked);
  EXPECT_EQ(call.body.joined(),
            R"({"model":"claude-sonnet-5","max_tokens":9,"stream":true,)"
            R"("thinking":{"type":"adaptive","display":"summarized"},)"
            R"("output_config":{"effort":"max"},"service_tier":"auto","temperature":1,)"
            R"("messages":[{"role":"user","content":[{"type":"text","text":"Hi."}]}]})");
  EXPECT_EQ(call.notes,
            (std::vector<std::string>{"the option \"messages\" is left out: it is ours to say",
                                      "the option \"stream\" is left out: it is ours to say"}));
}

TEST(AnthropicEncode, ToolsOfTheProviderStandBehindOurs) {
  WireCase asked = plain_case();
  asked.request.cache_policy.protect_prefix = true;
  asked.request.provider_options =
      json_of(R"({"tools":[{"type":"web_search_20260209","name":"web_search"}]})");
  Json tools = body_of(dialect(), asked)["tools"];
  ASSERT_EQ(tools.size(), 1u);
  EXPECT_EQ(tools[0]["name"], Json("web_search"));
  give_tools(asked, dialect(), two_tools());
  tools = body_of(dialect(), asked)["tools"];
  ASSERT_EQ(tools.size(), 3u);
  EXPECT_TRUE(tools[1].contains("cache_control"));
  EXPECT_EQ(tools[2], json_of(R"({"type":"web_search_20260209","name":"web_search"})"));
}

TEST(AnthropicEncode, TheThreadGoesWhereTheProviderWantsIt) {
  WireCase asked = plain_case();
  asked.request.thread = "thread-1";
  asked.provider.thread_field = "metadata.user_id";
  asked.provider.thread_header = "x-session-affinity";
  EncodedCall call = encoded(dialect(), asked);
  EXPECT_EQ(json_of(call.body.joined())["metadata"], json_of(R"({"user_id":"thread-1"})"));
  EXPECT_EQ(find_header(call.headers, "x-session-affinity"), "thread-1");
  asked.provider.thread_salt = "salt";
  call = encoded(dialect(), asked);
  const std::string hashed(json_of(call.body.joined())["metadata"]["user_id"].as_string());
  EXPECT_EQ(hashed.size(), 64u);
  EXPECT_EQ(find_header(call.headers, "x-session-affinity"), hashed);
  asked.request.metadata = json_of(R"({"user_id":"mine","team":"red"})");
  EXPECT_EQ(body_of(dialect(), asked)["metadata"], json_of(R"({"user_id":"mine"})"));
}

TEST(AnthropicEncode, PicturesAreSentByBytesByAddressOrAsALineOfText) {
  WireCase asked = plain_case();
  asked.profile.vision = true;
  const auto bytes = std::make_shared<const std::string>("PNG");
  say(asked, Message::make(Role::user,
                           {MediaPart{.mime = "image/png", .bytes = bytes},
                            MediaPart{.mime = "image/png", .url = "https://a/b.png"},
                            MediaPart{.url = "data:image/gif;base64,R0lG"},
                            MediaPart{.mime = "audio/wav", .name = "s", .bytes = bytes},
                            MediaPart{.mime = "text/x-c++src", .name = "a.cpp", .bytes = bytes}}));
  EXPECT_EQ(content_of(asked), json_of(R"([
    {"type":"image","source":{"type":"base64","media_type":"image/png","data":"UE5H"}},
    {"type":"image","source":{"type":"url","url":"https://a/b.png"}},
    {"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lG"}},
    {"type":"text","text":"[audio/wav s: not sent, this model does not take it]"},
    {"type":"text","text":"a.cpp:\nPNG"}])"));
  asked.profile.vision = false;
  EXPECT_EQ(content_of(asked)[1], json_of(R"({"type":"text",
                "text":"[image/png https://a/b.png: not sent, this model does not take it]"})"));
}

TEST(AnthropicEncode, WhatIsInAnAssistantsTurnOrNotAtHandIsNamedOnly) {
  WireCase asked = plain_case();
  asked.profile.vision = true;
  const MediaPart picture{.mime = "image/png", .name = "p", .url = "https://a/b.png"};
  say(asked, Message::make(Role::assistant, {picture}));
  EXPECT_EQ(content_of(asked)[0]["type"], Json("text"));
  say(asked, Message::make(Role::user, {MediaPart{.mime = "image/png", .blob = sha256("x")}}));
  EXPECT_EQ(content_of(asked), json_of(R"([{"type":"text","text":"[image/png: not at hand]"}])"));
}

TEST(AnthropicEncode, DocumentsAreSentWhereTheModelTakesThem) {
  WireCase asked = plain_case();
  asked.profile.input = {Modality::text, Modality::document};
  say(asked,
      Message::make(Role::user, {MediaPart{.mime = "application/pdf", .url = "https://a/b.pdf"}}));
  EXPECT_EQ(content_of(asked),
            json_of(R"([{"type":"document","source":{"type":"url","url":"https://a/b.pdf"}}])"));
}

TEST(AnthropicEncode, ResultsOfOneTurnStandInOneUserMessageWithTheirErrors) {
  WireCase asked = plain_case();
  Transcript& said = asked.request.transcript;
  ASSERT_TRUE(said.append_turn(
      Message::make(Role::assistant, {ToolCall{{}, "toolu_a", "look", ""},
                                      ToolCall{{}, "toolu_a", "read.file", "{\"path\": \"a\"}"}}),
      7));
  ASSERT_TRUE(
      said.append_results({ToolResult{make_call_id(7, 1), "read.file", false, "no such file", {}},
                           ToolResult{make_call_id(7, 0), "look", true, "", {}}}));
  ASSERT_TRUE(said.append_user(Message::note("One call is left.")));
  const std::string first = wire_id(make_call_id(7, 0));
  const std::string second = wire_id(make_call_id(7, 1));
  const Json messages = body_of(dialect(), asked)["messages"];
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[1],
            json_of(R"({"role":"assistant","content":[{"type":"tool_use","id":")" + first +
                    R"(","name":"look","input":{}},{"type":"tool_use","id":")" + second +
                    R"(","name":")" + read_file_name() + R"(","input":{"path":"a"}}]})"));
  EXPECT_EQ(messages[2],
            json_of(R"({"role":"user","content":[{"type":"tool_result","tool_use_id":")" + first +
                    R"("},{"type":"tool_result","tool_use_id":")" + second +
                    R"(","content":"no such file","is_error":true}]})"));
  EXPECT_EQ(messages[3], json_of(R"({"role":"user",
      "content":[{"type":"text","text":"One call is left."}]})"));
}

TEST(AnthropicEncode, ArgumentsThatAreNoObjectStillMakeALegalRequest) {
  const auto input_of = [](std::string arguments) {
    WireCase asked = plain_case();
    say(asked, Message::user("Hi."));
    EXPECT_TRUE(asked.request.transcript.append_turn(
        Message::make(Role::assistant, {ToolCall{{}, "", "look", std::move(arguments)}}), 7));
    return body_of(dialect(), asked)["messages"][1]["content"][0]["input"];
  };
  EXPECT_EQ(input_of("{\"a\":\"cut"), json_of(R"({"unparsed_arguments":"{\"a\":\"cut"})"));
  EXPECT_EQ(input_of("[1]"), json_of(R"({"unparsed_arguments":"[1]"})"));
  EXPECT_EQ(input_of("\"{\\\"a\\\":1}\""), json_of(R"({"a":1})"));
  EXPECT_EQ(input_of(" \n"), Json::object());
  EXPECT_EQ(input_of("{\"a\":\"\\ud83d\"}"), json_of("{\"a\":\"\xEF\xBF\xBD\"}"));
}

TEST(AnthropicEncode, EmptyTextAndEmptyMessagesAreNotSent) {
  WireCase asked = plain_case();
  Transcript& said = asked.request.transcript;
  ASSERT_TRUE(said.append_turn(Message::make(Role::assistant, {TextPart{" \n"}}), 2));
  ASSERT_TRUE(said.append_user(Message::make(Role::user, {TextPart{""}, TextPart{"And?"}})));
  EXPECT_EQ(body_of(dialect(), asked)["messages"],
            json_of(R"([{"role":"user","content":[{"type":"text","text":"Hi."}]},
                        {"role":"user","content":[{"type":"text","text":"And?"}]}])"));
  say(asked, Message::user(" "));
  const Result<EncodedCall> none = dialect().encode(asked.call());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind(), ErrorKind::invalid);
}

TEST(AnthropicEncode, SystemWordsInTheMiddleKeepTheirRole) {
  WireCase asked = plain_case();
  ASSERT_TRUE(asked.request.transcript.append_user(Message::system("Now in French.")));
  EXPECT_EQ(body_of(dialect(), asked)["messages"][1]["role"], Json("system"));
  asked.provider.api_version = "2023-06-01";
  EXPECT_EQ(body_of(dialect(), asked)["messages"][1]["role"], Json("user"));
}

// --- reasoning

MessagePtr thoughts_of(const std::string& provider) {
  return Message::make(
      Role::assistant,
      {ReasoningPart{"Hm.", provider, json_of(R"({"signature":"c2ln+/=="})"), false},
       ReasoningPart{"", provider, json_of(R"({"data":"ZGF0YQ=="})"), true}, TextPart{"Yes."}});
}

TEST(AnthropicEncode, SignedAndRedactedThinkingGoesBackAsItCame) {
  WireCase asked = thinking_case();
  say(asked, thoughts_of("anthropic"));
  const EncodedCall call = encoded(dialect(), asked);
  EXPECT_NE(call.body.joined().find(
                R"([{"type":"thinking","thinking":"Hm.","signature":"c2ln+/=="},)"
                R"({"type":"redacted_thinking","data":"ZGF0YQ=="},{"type":"text","text":"Yes."}])"),
            std::string::npos);
  EXPECT_EQ(call.notes, std::vector<std::string>());
}

TEST(AnthropicEncode, ThinkingOfAnotherProviderOrWithoutThinkingBecomesLeadingText) {
  const Json as_text = json_of(R"([{"type":"text","text":"<thinking>\nHm.\n</thinking>"},
                                   {"type":"text","text":"Yes."}])");
  WireCase asked = thinking_case();
  say(asked, thoughts_of("openai"));
  EncodedCall call = encoded(dialect(), asked);
  EXPECT_EQ(json_of(call.body.joined())["messages"][0]["content"], as_text);
  EXPECT_EQ(call.notes,
            (std::vector<std::string>{"reasoning of another provider is sent as text"}));
  asked = plain_case();
  say(asked, thoughts_of("anthropic"));
  call = encoded(dialect(), asked);
  EXPECT_EQ(json_of(call.body.joined())["messages"][0]["content"], as_text);
  EXPECT_EQ(call.notes, (std::vector<std::string>{"earlier reasoning is sent as text: this request "
                                                  "does not reason"}));
  asked.request.provider_options = json_of(R"({"thinking":{"type":"adaptive"}})");
  EXPECT_EQ(body_of(dialect(), asked)["messages"][0]["content"][0]["type"], Json("thinking"));
}

// Row 33.
TEST(AnthropicEncode, ThinkingThatWasRefusedGoesBackAsText) {
  WireCase asked = thinking_case();
  asked.request.drop_reasoning = true;
  say(asked, thoughts_of("anthropic"));
  const EncodedCall call = encoded(dialect(), asked);
  const Json body = json_of(call.body.joined());
  EXPECT_EQ(body["messages"][0]["content"],
            json_of(R"([{"type":"text","text":"<thinking>\nHm.\n</thinking>"},
                        {"type":"text","text":"Yes."}])"));
  EXPECT_TRUE(body.contains("thinking"));
  EXPECT_EQ(call.notes,
            (std::vector<std::string>{"earlier reasoning is sent as text: it was refused"}));
}

TEST(AnthropicEncode, ThinkingWithoutItsSignatureIsNeverSentAsThinking) {
  WireCase asked = thinking_case();
  say(asked, Message::make(Role::assistant,
                           {ReasoningPart{"Cut.", "anthropic", {}, false}, TextPart{"Yes."}}));
  EXPECT_EQ(content_of(asked)[0],
            json_of(R"({"type":"text","text":"<thinking>\nCut.\n</thinking>"})"));
}

TEST(AnthropicEncode, BlocksOfTheProviderGoBackAsTheyCame) {
  const Json use = json_of(R"({"type":"server_tool_use","id":"s","name":"n","input":{"q":1}})");
  WireCase asked = plain_case();
  say(asked, Message::make(Role::assistant,
                           {ProviderBlock{"anthropic", use}, TextPart{"Tow."},
                            ProviderBlock{"anthropic", json_of(R"({"citations":[{"c":1}]})")},
                            ProviderBlock{"gemini", json_of(R"({"executableCode":{}})")}}));
  const EncodedCall call = encoded(dialect(), asked);
  EXPECT_EQ(json_of(call.body.joined())["messages"][0]["content"],
            Json::array({use, json_of(R"({"type":"text","text":"Tow.","citations":[{"c":1}]})")}));
  EXPECT_EQ(call.notes.size(), 1u);
}

TEST(AnthropicEncode, EachRequestOfAGrowingConversationExtendsTheOneBefore) {
  for (const char* effort : {"", "high"}) {
    WireCase asked = thinking_case();
    asked.request.reasoning = effort;
    asked.request.cache_policy.protect_prefix = std::nullopt;
    asked.profile.vision = true;
    asked.request.system = std::make_shared<const std::string>("Be brief.");
    give_tools(asked, dialect(), two_tools());
    std::string before;
    for (const Transcript& said :
         growing_conversation("anthropic", json_of(R"({"signature":"c2ln"})"))) {
      asked.request.transcript = said;
      const std::string body = encoded(dialect(), asked).body.joined();
      if (!before.empty()) EXPECT_TRUE(extends(before, body));
      before = body;
    }
  }
}

TEST(AnthropicEncode, WhatIsKeptOfAMessageIsTheSameForEverybody) {
  WireCase asked = thinking_case();
  const MessagePtr first = thoughts_of("anthropic");
  say(asked, first);
  const std::string native = encoded(dialect(), asked).body.joined();
  asked.request.reasoning.clear();
  const std::string text = encoded(dialect(), asked).body.joined();
  asked.request.reasoning = "high";
  EXPECT_EQ(encoded(dialect(), asked).body.joined(), native);
  asked.request.reasoning.clear();
  say(asked, thoughts_of("anthropic"));
  EXPECT_EQ(encoded(dialect(), asked).body.joined(), text);
}

}  // namespace
}  // namespace tug::testing
