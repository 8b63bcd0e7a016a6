// What is made of what Gemini sends; rows are those of the table of provider faults.
#include "model/dialect_testing.h"
#include "tug/core/utf8.h"

namespace tug::testing {
namespace {

const Dialect& dialect() { return gemini_dialect(); }

WireCase plain_case() {
  WireCase asked;
  asked.profile = {.provider = "gemini", .name = "gemini-3.5-flash"};
  asked.provider = {.name = "gemini", .api = Api::gemini};
  return asked;
}

using Events = std::vector<std::string>;

std::string chunk(std::string_view parts, std::string_view reason = "") {
  std::string out = R"({"candidates":[{"content":{"role":"model","parts":[)";
  out += parts;
  out += "]}";
  if (!reason.empty()) out += R"(,"finishReason":")" + std::string(reason) + "\"";
  return out + "}]}";
}
std::string text(std::string_view text) { return R"({"text":")" + std::string(text) + "\"}"; }

std::vector<std::string> calls_of(const ModelTurn& turn) {
  std::vector<std::string> calls;
  for (const ToolCall* call : turn.message->tool_calls())
    calls.push_back(call->provider_id + " " + call->tool + " " + call->arguments);
  return calls;
}

// The parts that are sent when a turn goes back to where it came from.
Json sent_back(const ModelTurn& turn) {
  WireCase asked = plain_case();
  say(asked, Message::user("?"));
  EXPECT_TRUE(asked.request.transcript.append_turn(turn.message, 1));
  Json parts = body_of(dialect(), asked)["contents"][1]["parts"];
  Json without_ids = Json::array();
  for (Json part : parts.items()) {
    if (part["functionCall"].is_object()) part.edit("functionCall").erase("id");
    without_ids.push_back(std::move(part));
  }
  return without_ids;
}

TEST(GeminiDecode, EveryFinishReasonHasItsMeaning) {
  const std::vector<std::pair<std::string, Finish>> reasons = {
      {"STOP", Finish::stop},
      {"MAX_TOKENS", Finish::length},
      {"SAFETY", Finish::refusal},
      {"RECITATION", Finish::refusal},
      {"LANGUAGE", Finish::other},
      {"OTHER", Finish::other},
      {"BLOCKLIST", Finish::refusal},
      {"PROHIBITED_CONTENT", Finish::refusal},
      {"SPII", Finish::refusal},
      {"TOO_MANY_TOOL_CALLS", Finish::other},
      {"IMAGE_SAFETY", Finish::refusal},
      {"NO_IMAGE", Finish::other},
      {"CONTINUATION", Finish::pause},
      {"SOMETHING_NEW", Finish::other}};
  for (const auto& [reason, finish] : reasons)
    EXPECT_EQ(turn_of(dialect(), plain_case(), {chunk(text("a"), reason)}).finish, finish)
        << reason;
  EXPECT_EQ(turn_of(dialect(), plain_case(), {chunk(R"({"functionCall":{"name":"look"}})", "STOP")})
                .finish,
            Finish::tool_calls);
  for (const char* reason : {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"}) {
    const Error error = error_of(dialect(), plain_case(), {chunk("", reason)});
    EXPECT_EQ(fault_of(error), Fault::malformed_call) << reason;
  }
}

TEST(GeminiDecode, ABlockedPromptIsARefusal) {
  const ModelTurn turn =
      turn_of(dialect(), plain_case(), {R"({"promptFeedback":{"blockReason":"SAFETY"}})"});
  EXPECT_EQ(turn.finish, Finish::refusal);
  EXPECT_EQ(turn.notes, (Events{"the prompt was blocked (SAFETY)"}));
}

TEST(GeminiDecode, NamesOfToolsAreMappedBack) {
  WireCase asked = plain_case();
  give_tools(asked, dialect(), {tool_of("read.file", R"({"type":"object"})")});
  const std::string sent(json_of(*asked.tools)[0]["functionDeclarations"][0]["name"].as_string());
  const ModelTurn turn =
      turn_of(dialect(), asked, {chunk(R"({"functionCall":{"name":")" + sent + R"("}})", "STOP")});
  EXPECT_EQ(calls_of(turn), (Events{" read.file {}"}));
}

TEST(GeminiDecode, ArgumentsInPiecesAreNotUnderstoodAndSaidSo) {
  const Error error = error_of(
      dialect(), plain_case(),
      {chunk(
          R"({"functionCall":{"name":"look","partialArgs":[{"jsonPath":"$.a","stringValue":"x"}],"willContinue":true}})")});
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_NE(error.fix().find("streamFunctionCallArguments"), std::string::npos);
}

TEST(GeminiDecode, AListOfPiecesIsReadAsOneReply) {
  const WireCase asked = plain_case();
  const WireCall call = asked.call(false);
  std::vector<ModelEvent> out;
  ASSERT_TRUE(dialect().decoder(call)->on_reply(
      "[" + chunk(text("a")) + "," + chunk(text("b"), "STOP") + "]", out));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(std::get<ModelTurn>(out[0]).message->text(), "ab");
}

TEST(GeminiDecode, AnAnswerThatHoldsTooMuchIsRefused) {
  Events events;
  for (int i = 0; i < 1100; ++i) events.push_back(chunk(R"({"functionCall":{"name":"look"}})"));
  EXPECT_EQ(fault_of(error_of(dialect(), plain_case(), events)), Fault::response_too_large);
}

TEST(GeminiFaults, Row8AStreamThatEndsWithoutAFinishReasonIsCut) {
  for (const Events& events :
       {Events{}, Events{chunk(text("a"))}, Events{chunk(text("a")), R"({"usageMetadata":{}})"},
        Events{chunk(text("a"), "FINISH_REASON_UNSPECIFIED")}})
    EXPECT_EQ(fault_of(error_of(dialect(), plain_case(), events)), Fault::stream_cut);
}

TEST(GeminiFaults, Row13OtherMembersAndEventsAreSkipped) {
  EXPECT_EQ(
      lines_of(dialect(), plain_case(),
               {"[DONE]", R"({"news":1})", chunk(text("a")), "", chunk("{}", "STOP"), "[DONE]"}),
      (Events{"text:a", "turn stop", "  text:a", "  usage in=0 out=0 read=0 write=0 reasoning=0"}));
}

TEST(GeminiFaults, Row14CharactersAreWholeWhereverTheBytesAreCut) {
  const std::string bytes = stream_of({chunk(text("\xF0\x9F\x98\x80"), "STOP")});
  const WireCase asked = plain_case();
  const auto whole = decode_stream(dialect(), asked.call(), {bytes});
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    const std::string_view view = bytes;
    ASSERT_EQ(decode_stream(dialect(), asked.call(), {view.substr(0, i), view.substr(i)}), whole);
  }
}

TEST(GeminiFaults, Row15And16BrokenCharactersAreReplacedOnTheirWayInAndOut) {
  for (const char* bad : {"\xFF", "\xC3", "\xE2\x82", "\xED\xA0\x80", "\\ud83d", "\\udc00"}) {
    const ModelTurn turn =
        turn_of(dialect(), plain_case(),
                {chunk(text(std::string("a") + bad + "b") +
                           R"(,{"functionCall":{"name":"f","args":{"s":")" + bad + R"("}}})",
                       "STOP")});
    EXPECT_TRUE(is_utf8(turn.message->text()));
    EXPECT_TRUE(turn.message->text().starts_with("a\xEF\xBF\xBD")) << turn.message->text();
    EXPECT_TRUE(turn.message->text().ends_with("b"));
    const std::string back = print_json(sent_back(turn));
    EXPECT_TRUE(is_utf8(back));
    EXPECT_EQ(back.find("\\ud"), std::string::npos);
  }
}

TEST(GeminiFaults, Row17WhatIsShownOfGarbageIsNeverHalfACharacter) {
  std::string garbage = "<html>";
  for (int i = 0; i < 200; ++i) garbage += "\xE2\x82\xAC";
  for (int shift = 0; shift < 3; ++shift) {
    const Error error = error_of(dialect(), plain_case(), {std::string(shift, 'x') + garbage});
    EXPECT_EQ(fault_of(error), Fault::not_an_answer);
    EXPECT_TRUE(is_utf8(error.message()));
    EXPECT_LT(error.message().size(), 500u);
  }
}

TEST(GeminiFaults, Row18NullAndMissingMembersAreSkipped) {
  const Events odd = {
      R"({"candidates":[]})",
      R"({"candidates":null})",
      R"({})",
      R"({"candidates":[null]})",
      R"({"candidates":[{}]})",
      R"({"candidates":[{"content":null}]})",
      R"({"candidates":[{"content":{}}]})",
      R"({"candidates":[{"content":{"parts":null}}]})",
      R"({"candidates":[{"content":{"parts":[null,{},{"text":null},{"text":""}]}}]})",
      R"({"promptFeedback":{"safetyRatings":[]}})",
      R"({"usageMetadata":null})",
      R"({"usageMetadata":{"promptTokenCount":3}})"};
  for (const std::string& event : odd) {
    const ModelTurn turn = turn_of(dialect(), plain_case(),
                                   {event, chunk(text("a")), event, chunk("", "STOP"), event});
    EXPECT_EQ(turn.message->text(), "a") << event;
    EXPECT_EQ(turn.finish, Finish::stop) << event;
  }
}

TEST(GeminiFaults, Row19AFinishReasonIsTheEndAndUsageBehindItIsTaken) {
  const ModelTurn turn =
      turn_of(dialect(), plain_case(),
              {chunk(text("a"), "STOP"),
               R"({"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1}})"});
  EXPECT_EQ(turn.finish, Finish::stop);
  EXPECT_EQ(turn.usage, (Usage{.input_tokens = 3, .output_tokens = 1}));
}

TEST(GeminiFaults, Row21ACutAnswerWithCallsIsCut) {
  const ModelTurn turn = turn_of(dialect(), plain_case(),
                                 {chunk(R"({"functionCall":{"name":"look"}})", "MAX_TOKENS")});
  EXPECT_EQ(turn.finish, Finish::length);
  EXPECT_EQ(calls_of(turn), (Events{" look {}"}));
}

TEST(GeminiFaults, Row22And25ArgumentsThatAreTextStayTheTextTheModelWrote) {
  const ModelTurn turn =
      turn_of(dialect(), plain_case(),
              {chunk(R"({"functionCall":{"name":"f","args":"{\"path\":\"/etc"}},)"
                     R"({"functionCall":{"name":"g","args":"{\"a\":1}"}})",
                     "STOP")});
  EXPECT_EQ(calls_of(turn), (Events{R"( f {"path":"/etc)", R"( g {"a":1})"}));
}

TEST(GeminiFaults, Row24NoArgumentsAreAnEmptyObject) {
  for (const char* args : {"", R"(,"args":null)", R"(,"args":{})", R"(,"args":"")"}) {
    const ModelTurn turn =
        turn_of(dialect(), plain_case(),
                {chunk(R"({"functionCall":{"name":"look")" + std::string(args) + "}}", "STOP")});
    EXPECT_EQ(calls_of(turn), (Events{" look {}"})) << args;
  }
}

TEST(GeminiFaults, Row26And27IdsOfTheProviderNeverReachARequest) {
  const std::string odd = "list_dir:0/" + std::string(100, 'x');
  const std::string call = R"({"functionCall":{"id":")" + odd + R"(","name":"look"}})";
  WireCase asked = plain_case();
  Transcript& said = asked.request.transcript;
  ASSERT_TRUE(said.append_user(Message::user("?")));
  for (Seq seq = 1; seq <= 3; ++seq) {
    const ModelTurn turn = turn_of(dialect(), plain_case(), {chunk(call + "," + call, "STOP")});
    EXPECT_EQ(calls_of(turn), (Events{odd + " look {}", odd + " look {}"}));
    ASSERT_TRUE(said.append_turn(turn.message, seq));
    ASSERT_TRUE(said.append_results({ToolResult{make_call_id(seq, 0), "look", true, "a", {}},
                                     ToolResult{make_call_id(seq, 1), "look", true, "b", {}}}));
  }
  const std::string body = encoded(dialect(), asked).body.joined();
  EXPECT_EQ(body.find("list_dir"), std::string::npos);
  std::vector<std::string> called;
  std::vector<std::string> answered;
  for (const Json& content : json_of(body)["contents"].items()) {
    for (const Json& part : content["parts"].items()) {
      if (part["functionCall"].is_object())
        called.emplace_back(part["functionCall"]["id"].as_string());
      if (part["functionResponse"].is_object())
        answered.emplace_back(part["functionResponse"]["id"].as_string());
    }
  }
  EXPECT_EQ(called.size(), 6u);
  EXPECT_EQ(called, answered);
  std::ranges::sort(called);
  EXPECT_EQ(std::ranges::adjacent_find(called), called.end());
}

TEST(GeminiFaults, Row28CallsAreToldApartByTheirOrder) {
  EXPECT_EQ(
      lines_of(dialect(), plain_case(),
               {chunk(R"({"functionCall":{"name":"f"}},{"text":"x"})"),
                chunk(R"({"functionCall":{"name":"f","args":{"n":1}}})", "STOP")}),
      (Events{"call 0  f {}", "text:x", "call 1  f {\"n\":1}", "turn tool_calls", "  call  f {}",
              "  text:x", "  call  f {\"n\":1}", "  usage in=0 out=0 read=0 write=0 reasoning=0"}));
}

// Row 34: what is signed goes back signed, part by part.
TEST(GeminiFaults, Row33And34SignaturesComeBackByteForByteOnTheirParts) {
  const ModelTurn turn =
      turn_of(dialect(), plain_case(),
              {chunk(R"({"text":"Hm","thought":true})"),
               chunk(R"({"text":".","thought":true,"thoughtSignature":"dGg="})"),
               chunk(text("One ") + "," + text("two ")),
               chunk(R"({"text":"three","thoughtSignature":"dGhyZWU+/=="})"), chunk(text("four")),
               chunk(R"({"text":"","thoughtSignature":"ZW1wdHk="})"),
               chunk(R"({"functionCall":{"name":"f","args":{}},"thoughtSignature":"Zg=="},)"
                     R"({"functionCall":{"name":"g","args":{"a":1}}})"),
               chunk(R"({"inlineData":{"mimeType":"image/png","data":"UE5H"}})"),
               chunk(R"({"text":"","thoughtSignature":"bGFzdA=="})", "STOP")});
  Json expected = json_of(R"([
      {"text":"Hm","thought":true},
      {"text":".","thought":true,"thoughtSignature":"dGg="},
      {"text":"One two "},
      {"text":"three","thoughtSignature":"dGhyZWU+/=="},
      {"text":"four"},
      {"text":"","thoughtSignature":"ZW1wdHk="},
      {"functionCall":{"name":"f","args":{}},"thoughtSignature":"Zg=="},
      {"functionCall":{"name":"g","args":{"a":1}}},
      {"text":"[image/png: not sent, this model does not take it]"},
      {"text":"","thoughtSignature":"bGFzdA=="}])");
  EXPECT_EQ(print_json(sent_back(turn)), print_json(expected));
}

TEST(GeminiFaults, Row40ARefusalIsATurnThatSaysWhy) {
  const ModelTurn turn =
      turn_of(dialect(), plain_case(),
              {chunk(text("First")),
               R"({"candidates":[{"finishReason":"SAFETY","finishMessage":"Not this."}]})"});
  EXPECT_EQ(turn.finish, Finish::refusal);
  EXPECT_EQ(turn.notes, (Events{"refused (SAFETY): Not this."}));
}

TEST(GeminiFaults, Row48HostileJsonIsAnErrorOrAValueNeverACrash) {
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(fault_of(error_of(dialect(), plain_case(), {deep})), Fault::not_an_answer);
  const WireCase asked = plain_case();
  const WireCall call = asked.call(false);
  std::vector<ModelEvent> out;
  const Result<void> read = dialect().decoder(call)->on_reply("{\"a\":" + deep, out);
  ASSERT_FALSE(read);
  EXPECT_EQ(fault_of(read.error()), Fault::not_an_answer);
  const ModelTurn turn = turn_of(
      dialect(), plain_case(),
      {R"({"responseId":"x","responseId":"r","candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"n":9223372036854775808,"x":1e999}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1e999,"totalTokenCount":9223372036854775808}})"});
  EXPECT_EQ(turn.response_id, "r");
  EXPECT_EQ(turn.usage, Usage());
  EXPECT_EQ(calls_of(turn), (Events{R"( f {"n":9223372036854775808,"x":1e999})"}));
}

TEST(GeminiFaults, Row49TheFirstEndWinsAndTheRestIsIgnored) {
  const ModelTurn turn =
      turn_of(dialect(), plain_case(),
              {chunk(text("a"), "STOP"), chunk(text("b"), "MAX_TOKENS"), chunk("", "SAFETY"),
               R"({"error":{"code":500,"message":"late"}})", chunk("", "MALFORMED_FUNCTION_CALL")});
  EXPECT_EQ(turn.message->text(), "a");
  EXPECT_EQ(turn.finish, Finish::stop);
}

TEST(GeminiFaults, Row50UsageMayBeAbsentNegativeOrDecreasing) {
  const auto usage_of = [](const std::string& first, const std::string& second) {
    return turn_of(dialect(), plain_case(),
                   {R"({"usageMetadata":)" + first + "}", chunk(text("a"), "STOP"),
                    R"({"usageMetadata":)" + second + "}"})
        .usage;
  };
  EXPECT_EQ(usage_of("null", "null"), Usage());
  EXPECT_EQ(usage_of(R"({"promptTokenCount":-5,"totalTokenCount":-1})",
                     R"({"candidatesTokenCount":-9,"thoughtsTokenCount":-1})"),
            Usage());
  EXPECT_EQ(usage_of(R"({"promptTokenCount":10,"candidatesTokenCount":8,"totalTokenCount":18})",
                     R"({"promptTokenCount":2,"candidatesTokenCount":3,"totalTokenCount":5})"),
            (Usage{.input_tokens = 10, .output_tokens = 8, .total_tokens = 18}));
  EXPECT_EQ(usage_of("{}", R"({"promptTokenCount":10,"toolUsePromptTokenCount":2,
                "cachedContentTokenCount":6,"candidatesTokenCount":3,"thoughtsTokenCount":4,
                "totalTokenCount":19})"),
            (Usage{.input_tokens = 12,
                   .output_tokens = 7,
                   .cache_read_tokens = 6,
                   .reasoning_tokens = 4,
                   .total_tokens = 19}));
}

TEST(GeminiFaults, Row51AnAnswerToAnotherRequestIsNoticed) {
  const Error error = error_of(
      dialect(), plain_case(),
      {R"({"responseId":"r-1","candidates":[]})", R"({"responseId":"r-2","candidates":[]})"});
  EXPECT_EQ(fault_of(error), Fault::not_an_answer);
  EXPECT_NE(error.message().find("r-2"), std::string::npos) << error.message();
}

TEST(GeminiFaults, AWebPageIsNoAnswer) {
  const WireCase asked = plain_case();
  const WireCall call = asked.call(false);
  for (const char* body : {"<html><body>Sign in</body></html>", "", "[]", "{}", "\"text\""}) {
    std::vector<ModelEvent> out;
    const Result<void> read = dialect().decoder(call)->on_reply(body, out);
    ASSERT_FALSE(read) << body;
    EXPECT_EQ(fault_of(read.error()), Fault::not_an_answer) << body;
  }
}

}  // namespace
}  // namespace tug::testing
