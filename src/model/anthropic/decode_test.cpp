// What is made of what Anthropic sends; rows are those of the table of provider faults.
#include "model/dialect_testing.h"
#include "tug/core/utf8.h"

namespace tug::testing {
namespace {

const Dialect& dialect() { return anthropic_dialect(); }

WireCase plain_case() {
  WireCase asked;
  asked.profile = {.provider = "anthropic", .name = "claude-sonnet-5", .context_tokens = 200'000};
  asked.provider = {.name = "anthropic", .api = Api::anthropic};
  return asked;
}

using Events = std::vector<std::string>;

const std::string kStart =
    R"({"type":"message_start","message":{"id":"msg_1","model":"claude-sonnet-5","usage":{"input_tokens":3}}})";
const std::string kStop = R"({"type":"message_stop"})";
const std::string kText =
    R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})";

std::string text_delta(std::string_view text) {
  return R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":")" +
         std::string(text) + "\"}}";
}
std::string use_start(std::string_view index, std::string_view id, std::string_view name,
                      std::string_view input = "{}") {
  return R"({"type":"content_block_start",)" + std::string(index) +
         R"("content_block":{"type":"tool_use","id":")" + std::string(id) + R"(","name":")" +
         std::string(name) + R"(","input":)" + std::string(input) + "}}";
}
std::string args(std::string_view index, std::string_view piece) {
  std::string quoted;
  print_json_string(piece, quoted);
  return R"({"type":"content_block_delta",)" + std::string(index) +
         R"("delta":{"type":"input_json_delta","partial_json":)" + quoted + "}}";
}
std::string stopped(std::string_view reason) {
  return R"({"type":"message_delta","delta":{"stop_reason":")" + std::string(reason) + R"("}})";
}
std::string closed(int index) {
  return R"({"type":"content_block_stop","index":)" + std::to_string(index) + "}";
}

std::vector<std::string> calls_of(const ModelTurn& turn) {
  std::vector<std::string> calls;
  for (const ToolCall* call : turn.message->tool_calls())
    calls.push_back(call->provider_id + " " + call->tool + " " + call->arguments);
  return calls;
}

TEST(AnthropicDecode, EveryStopReasonHasItsMeaning) {
  const std::vector<std::pair<std::string, Finish>> reasons = {
      {"end_turn", Finish::stop},     {"stop_sequence", Finish::stop},
      {"max_tokens", Finish::length}, {"pause_turn", Finish::pause},
      {"refusal", Finish::refusal},   {"compaction", Finish::pause},
      {"tool_use", Finish::stop},     {"something_new", Finish::other}};
  for (const auto& [reason, finish] : reasons) {
    const ModelTurn turn =
        turn_of(dialect(), plain_case(), {kStart, kText, text_delta("a"), stopped(reason), kStop});
    EXPECT_EQ(turn.finish, finish) << reason;
  }
  for (const char* reason : {"tool_use", "end_turn"}) {
    const ModelTurn turn =
        turn_of(dialect(), plain_case(),
                {kStart, use_start(R"("index":0,)", "t", "look"), stopped(reason), kStop});
    EXPECT_EQ(turn.finish, Finish::tool_calls) << reason;
  }
}

TEST(AnthropicDecode, AFullWindowIsAnOverflow) {
  const Error error =
      error_of(dialect(), plain_case(),
               {kStart, kText, text_delta("a"), stopped("model_context_window_exceeded"), kStop});
  EXPECT_EQ(fault_of(error), Fault::context_overflow);
  const Overflow* overflow = error.detail_if<Overflow>();
  ASSERT_TRUE(overflow);
  EXPECT_EQ(overflow->window, 200'000);
  EXPECT_EQ(overflow->prompt_tokens, 3);
  EXPECT_EQ(overflow->provider, "anthropic");
}

TEST(AnthropicDecode, NamesOfToolsAreMappedBack) {
  WireCase asked = plain_case();
  give_tools(asked, dialect(), {tool_of("read.file", R"({"type":"object"})")});
  const std::string sent(json_of(*asked.tools)[0]["name"].as_string());
  const ModelTurn turn =
      turn_of(dialect(), asked,
              {kStart, use_start(R"("index":0,)", "t", sent), stopped("tool_use"), kStop});
  EXPECT_EQ(calls_of(turn), (Events{"t read.file {}"}));
}

TEST(AnthropicDecode, TheSameAnswerStreamedOrWholeIsTheSameMessage) {
  const ModelTurn streamed =
      turn_of(dialect(), plain_case(),
              {kStart, kText, text_delta("Hi."), use_start(R"("index":1,)", "t", "look"),
               args(R"("index":1,)", R"({"a":1})"), stopped("tool_use"), kStop});
  const WireCase asked = plain_case();
  const WireCall call = asked.call(false);
  const auto decoder = dialect().decoder(call);
  std::vector<ModelEvent> out;
  ASSERT_TRUE(decoder->on_reply(
      R"({"id":"msg_1","content":[{"type":"text","text":"Hi."},
          {"type":"tool_use","id":"t","name":"look","input":{"a":1}}],"stop_reason":"tool_use"})",
      out));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(*std::get<ModelTurn>(out[0]).message, *streamed.message);
}

TEST(AnthropicDecode, WhatAProviderSaysComesBackToItByteForByte) {
  const WireCase heard = plain_case();
  const ModelTurn turn = turn_of(
      dialect(), heard,
      {kStart,
       R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm \u00e9"}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"Eq+/w=="}})",
       R"({"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"Em+/="}})",
       use_start(R"("index":2,)", "t", "look"), stopped("tool_use"), kStop});
  WireCase asked = plain_case();
  asked.profile.reasoning = true;
  asked.request.reasoning = "low";
  say(asked, Message::user("?"));
  ASSERT_TRUE(asked.request.transcript.append_turn(turn.message, 1));
  EXPECT_NE(
      encoded(dialect(), asked)
          .body.joined()
          .find("[{\"type\":\"thinking\",\"thinking\":\"Hm \xC3\xA9\",\"signature\":\"Eq+/w==\"},"
                "{\"type\":\"redacted_thinking\",\"data\":\"Em+/=\"},{\"type\":\"tool_use\","),
      std::string::npos);
}

TEST(AnthropicDecode, ABlockOfAKindThatIsNewIsKeptWholeOrNotAtAll) {
  const auto parts_of = [](const Events& middle) {
    Events events = {kStart, kText, text_delta("a")};
    events.insert(events.end(), middle.begin(), middle.end());
    events.insert(events.end(), {stopped("end_turn"), kStop});
    return turn_of(dialect(), plain_case(), events).message->parts();
  };
  const std::string begun =
      R"({"type":"content_block_start","index":1,"content_block":{"type":"compaction","content":null}})";
  const std::string grown =
      R"({"type":"content_block_delta","index":1,"delta":{"type":"compaction_delta","content":"So far","encrypted_content":"Zw=="}})";
  EXPECT_EQ(
      parts_of({begun, grown, closed(1)}),
      (std::vector<Part>{
          TextPart{"a"},
          ProviderBlock{
              "anthropic",
              json_of(R"({"type":"compaction","content":"So far","encrypted_content":"Zw=="})")}}));
  EXPECT_EQ(
      parts_of(
          {R"({"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"s","name":"n","input":{}}})",
           args(R"("index":1,)", R"({"q":"cu)")}),
      (std::vector<Part>{TextPart{"a"}}));
}

TEST(AnthropicDecode, AnAnswerOfMoreThan64MegabytesIsRefused) {
  const WireCase asked = plain_case();
  const WireCall call = asked.call();
  const auto decoder = dialect().decoder(call);
  const std::string piece = text_delta(std::string(8 << 20, 'x'));
  std::vector<ModelEvent> out;
  ASSERT_TRUE(decoder->on_event("", kText, out));
  Result<void> taken;
  int pieces = 0;
  for (; taken && pieces < 20; ++pieces) {
    out.clear();
    taken = decoder->on_event("", piece, out);
  }
  ASSERT_FALSE(taken);
  EXPECT_EQ(pieces, 9);
  EXPECT_EQ(fault_of(taken.error()), Fault::response_too_large);
}

TEST(AnthropicDecode, AnAnswerOfTooManyCallsIsRefused) {
  Events events = {kStart};
  for (int i = 0; i < 1100; ++i) events.push_back(use_start("", "t", "look"));
  EXPECT_EQ(fault_of(error_of(dialect(), plain_case(), events)), Fault::response_too_large);
}

TEST(AnthropicFaults, Row8AStreamThatEndsWithoutMessageStopIsCut) {
  const Events whole = {kStart, kText, text_delta("a"), closed(0), stopped("end_turn")};
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const Error error =
        error_of(dialect(), plain_case(), Events(whole.begin(), whole.begin() + size));
    EXPECT_EQ(fault_of(error), Fault::stream_cut) << size;
  }
}

TEST(AnthropicFaults, Row13EventsWithoutNamesAndWithPingsAreRead) {
  EXPECT_EQ(lines_of(dialect(), plain_case(),
                     {R"({"type":"ping"})", kStart, kText, R"({"type":"news","x":1})",
                      text_delta("a"), "[DONE]", stopped("end_turn"), kStop}),
            (Events{"usage in=3 out=0 read=0 write=0 reasoning=0", "text:a", "turn stop",
                    "  text:a", "  usage in=3 out=0 read=0 write=0 reasoning=0",
                    "  model claude-sonnet-5", "  response msg_1"}));
}

TEST(AnthropicFaults, Row14CharactersAreWholeWhereverTheBytesAreCut) {
  const std::string bytes =
      stream_of({kStart, kText, text_delta("\xF0\x9F\x98\x80"), stopped("end_turn"), kStop});
  const WireCase asked = plain_case();
  const auto whole = decode_stream(dialect(), asked.call(), {bytes});
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    const std::string_view view = bytes;
    ASSERT_EQ(decode_stream(dialect(), asked.call(), {view.substr(0, i), view.substr(i)}), whole);
  }
}

TEST(AnthropicFaults, Row15InvalidUtf8IsReplacedInTextAndInArguments) {
  for (const char* bad :
       {"\xFF", "\xC3", "\xE2\x82", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xC0\xAF"}) {
    const ModelTurn turn = turn_of(
        dialect(), plain_case(),
        {kStart, kText, text_delta(std::string("a") + bad + "b"), stopped("end_turn"), kStop});
    EXPECT_TRUE(is_utf8(turn.message->text()));
    EXPECT_TRUE(turn.message->text().starts_with("a\xEF\xBF\xBD")) << turn.message->text();
    EXPECT_TRUE(turn.message->text().ends_with("b"));
  }
}

TEST(AnthropicFaults, Row16ALoneSurrogateIsReplacedOnItsWayInAndOut) {
  const ModelTurn turn =
      turn_of(dialect(), plain_case(),
              {kStart, kText, text_delta("a\\ud83db"), use_start(R"("index":1,)", "t", "look"),
               args(R"("index":1,)", R"({"s":"\ud83d"})"), stopped("tool_use"), kStop});
  EXPECT_EQ(turn.message->text(),
            "a\xEF\xBF\xBD"
            "b");
  WireCase asked = plain_case();
  asked.request.transcript = Transcript();
  ASSERT_TRUE(asked.request.transcript.append_user(Message::user("?")));
  ASSERT_TRUE(asked.request.transcript.append_turn(turn.message, 1));
  EXPECT_EQ(encoded(dialect(), asked).body.joined().find("\\ud83d"), std::string::npos);
}

TEST(AnthropicFaults, Row17WhatIsShownOfGarbageIsNeverHalfACharacter) {
  std::string garbage = "<html>";
  for (int i = 0; i < 200; ++i) garbage += "\xE2\x82\xAC";
  for (int shift = 0; shift < 3; ++shift) {
    const Error error = error_of(dialect(), plain_case(), {std::string(shift, 'x') + garbage});
    EXPECT_EQ(fault_of(error), Fault::not_an_answer);
    EXPECT_TRUE(is_utf8(error.message()));
    EXPECT_LT(error.message().size(), 500u);
  }
}

TEST(AnthropicFaults, Row18NullAndMissingMembersAreSkipped) {
  const Events odd = {
      R"({"type":"message_start"})",
      R"({"type":"message_start","message":null})",
      R"({"type":"content_block_delta","index":0,"delta":null})",
      R"({"type":"content_block_delta","index":0})",
      R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":null}})",
      R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta"}})",
      R"({"type":"content_block_delta","index":0,"delta":{"type":"unheard_of","x":1}})",
      R"({"type":"message_delta"})",
      R"({"type":"message_delta","delta":null,"usage":null})",
      R"({"type":"message_delta","delta":{"stop_reason":null}})",
      R"({"type":"content_block_stop","index":77})",
      R"({})"};
  for (const std::string& event : odd) {
    const bool head = event.find("message_start") != event.npos;
    const ModelTurn turn = turn_of(
        dialect(), plain_case(),
        {head ? event : kStart, kText, head ? kText : event, text_delta("a"),
         R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}})",
         kStop});
    EXPECT_EQ(turn.message->text(), "a") << event;
    EXPECT_EQ(turn.usage.output_tokens, 2) << event;
  }
}

TEST(AnthropicFaults, Row19MessageStopIsTheEndWithoutAnythingBehindIt) {
  const WireCase asked = plain_case();
  const WireCall call = asked.call();
  const auto decoder = dialect().decoder(call);
  std::vector<ModelEvent> out;
  for (const std::string& event : {kStart, kText, text_delta("a"), stopped("end_turn"), kStop})
    ASSERT_TRUE(decoder->on_event("message", event, out));
  ASSERT_TRUE(std::holds_alternative<ModelTurn>(out.back()));
  const std::size_t count = out.size();
  ASSERT_TRUE(decoder->on_end(out));
  EXPECT_EQ(out.size(), count);
}

TEST(AnthropicFaults, Row21ACutAnswerWithCallsIsCut) {
  const ModelTurn turn = turn_of(dialect(), plain_case(),
                                 {kStart, use_start(R"("index":0,)", "t", "look"),
                                  args(R"("index":0,)", "{}"), stopped("max_tokens"), kStop});
  EXPECT_EQ(turn.finish, Finish::length);
  EXPECT_EQ(calls_of(turn), (Events{"t look {}"}));
}

TEST(AnthropicFaults, Row22CutArgumentsAreNeverRepaired) {
  const ModelTurn turn =
      turn_of(dialect(), plain_case(),
              {kStart, use_start(R"("index":0,)", "t", "look"),
               args(R"("index":0,)", R"({"path":"/etc)"), stopped("tool_use"), kStop});
  EXPECT_EQ(calls_of(turn), (Events{R"(t look {"path":"/etc)"}));
}

TEST(AnthropicFaults, Row24NoArgumentsAreAnEmptyObject) {
  for (const Events& middle : {Events{}, Events{args(R"("index":0,)", "")}, Events{closed(0)}}) {
    Events events = {kStart, use_start(R"("index":0,)", "t", "look")};
    events.insert(events.end(), middle.begin(), middle.end());
    events.insert(events.end(), {stopped("tool_use"), kStop});
    EXPECT_EQ(calls_of(turn_of(dialect(), plain_case(), events)), (Events{"t look {}"}));
  }
}

TEST(AnthropicFaults, Row25ArgumentsStayTheTextTheModelWrote) {
  const ModelTurn turn =
      turn_of(dialect(), plain_case(),
              {kStart, use_start(R"("index":0,)", "t", "look"),
               args(R"("index":0,)", R"("{\"a\":1}")"), stopped("tool_use"), kStop});
  EXPECT_EQ(calls_of(turn), (Events{R"(t look "{\"a\":1}")"}));
  const ModelTurn whole = turn_of(dialect(), plain_case(),
                                  {kStart, use_start(R"("index":0,)", "t", "look", R"({"a":1})"),
                                   closed(0), stopped("tool_use"), kStop});
  EXPECT_EQ(calls_of(whole), (Events{R"(t look {"a":1})"}));
}

TEST(AnthropicFaults, Row26And27IdsOfTheProviderNeverReachARequest) {
  const std::string odd = "call:0/" + std::string(100, 'x');
  WireCase asked = plain_case();
  Transcript& said = asked.request.transcript;
  ASSERT_TRUE(said.append_user(Message::user("?")));
  for (Seq seq = 1; seq <= 3; ++seq) {
    const ModelTurn turn = turn_of(
        dialect(), plain_case(),
        {kStart, use_start(R"("index":0,)", odd, "look"), use_start(R"("index":1,)", odd, "look"),
         use_start(R"("index":2,)", "", "look"), stopped("tool_use"), kStop});
    EXPECT_EQ(calls_of(turn), (Events{odd + " look {}", odd + " look {}", " look {}"}));
    ASSERT_TRUE(said.append_turn(turn.message, seq));
    ASSERT_TRUE(said.append_results({ToolResult{make_call_id(seq, 0), "look", true, "a", {}},
                                     ToolResult{make_call_id(seq, 1), "look", true, "b", {}},
                                     ToolResult{make_call_id(seq, 2), "look", true, "c", {}}}));
  }
  const std::string body = encoded(dialect(), asked).body.joined();
  EXPECT_EQ(body.find("call:0"), std::string::npos);
  std::vector<std::string> used;
  std::vector<std::string> answered;
  for (const Json& message : json_of(body)["messages"].items()) {
    for (const Json& block : message["content"].items()) {
      if (block["type"] == Json("tool_use")) used.emplace_back(block["id"].as_string());
      if (block["type"] == Json("tool_result"))
        answered.emplace_back(block["tool_use_id"].as_string());
    }
  }
  EXPECT_EQ(used.size(), 9u);
  EXPECT_EQ(used, answered);
  std::ranges::sort(used);
  EXPECT_EQ(std::ranges::adjacent_find(used), used.end());
}

TEST(AnthropicFaults, Row28BlocksAreToldApartByIndexInAnyOrder) {
  const std::string a = R"("index":1,)";
  const std::string b = R"("index":7,)";
  const Events whole = {R"(a look {"n":1})", R"(b read {"n":2})"};
  const std::vector<Events> orders = {
      {use_start(a, "a", "look"), args(a, "{\"n\":"), args(a, "1}"), use_start(b, "b", "read"),
       args(b, "{\"n\":2}")},
      {use_start(a, "a", "look"), use_start(b, "b", "read"), args(b, "{\"n\""), args(a, "{\"n\":"),
       args(b, ":2}"), args(a, "1}")},
      {use_start(b, "b", "read"), use_start(a, "a", "look"), args(a, "{\"n\":1}"),
       args(b, "{\"n\":2}")},
      // An index that is missing means the newest block.
      {use_start("", "a", "look"), args("", "{\"n\":1}"), use_start("", "b", "read"),
       args("", "{\"n\":2}")},
      // One that comes again means a new block.
      {use_start(a, "a", "look"), args(a, "{\"n\":1}"), use_start(a, "b", "read"),
       args(a, "{\"n\":2}")}};
  for (const Events& order : orders) {
    Events events = {kStart};
    events.insert(events.end(), order.begin(), order.end());
    events.insert(events.end(), {stopped("tool_use"), kStop});
    EXPECT_EQ(calls_of(turn_of(dialect(), plain_case(), events)), whole);
  }
  const Error unknown = error_of(dialect(), plain_case(), {kStart, args(a, "{}")});
  EXPECT_EQ(fault_of(unknown), Fault::not_an_answer);
  EXPECT_NE(unknown.message().find("block 1"), std::string::npos) << unknown.message();
}

TEST(AnthropicFaults, Row33ThinkingWithoutASignatureHasNothingOpaque) {
  const ModelTurn turn = turn_of(
      dialect(), plain_case(),
      {kStart,
       R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"Hm","signature":""}})",
       kText, text_delta("a"), stopped("end_turn"), kStop});
  const auto& part = std::get<ReasoningPart>(turn.message->parts()[0]);
  EXPECT_EQ(part, (ReasoningPart{"Hm", "anthropic", {}, false}));
}

TEST(AnthropicFaults, Row40ARefusalIsATurnThatSaysWhy) {
  const ModelTurn turn = turn_of(
      dialect(), plain_case(),
      {kStart, kText, text_delta("I"),
       R"({"type":"message_delta","delta":{"stop_reason":"refusal"},"stop_details":{"type":"refusal","category":"bio","explanation":"No."}})",
       kStop});
  EXPECT_EQ(turn.finish, Finish::refusal);
  EXPECT_EQ(turn.notes, (Events{"refused (bio): No."}));
}

TEST(AnthropicFaults, Row48HostileJsonIsAnErrorOrAValueNeverACrash) {
  std::string deep(1'000'000, '[');
  EXPECT_EQ(fault_of(error_of(dialect(), plain_case(), {deep})), Fault::not_an_answer);
  const WireCase asked = plain_case();
  const WireCall call = asked.call(false);
  std::vector<ModelEvent> out;
  const Result<void> read = dialect().decoder(call)->on_reply("{\"a\":" + deep, out);
  ASSERT_FALSE(read);
  EXPECT_EQ(fault_of(read.error()), Fault::not_an_answer);
  const ModelTurn turn = turn_of(
      dialect(), plain_case(),
      {R"({"type":"message_start","message":{"id":"x","id":"msg_2","usage":{"input_tokens":1e999,"output_tokens":9223372036854775808}}})",
       R"({"type":"content_block_start","index":-0,"content_block":{"type":"text","text":"a"}})",
       kStop});
  EXPECT_EQ(turn.response_id, "msg_2");
  EXPECT_EQ(turn.usage, Usage());
  EXPECT_EQ(turn.message->text(), "a");
}

TEST(AnthropicFaults, Row49TheFirstEndWinsAndTheRestIsIgnored) {
  EXPECT_EQ(
      lines_of(dialect(), plain_case(),
               {kText, text_delta("a"), stopped("end_turn"), stopped("max_tokens"), kStop,
                text_delta("b"), kStop, R"({"type":"error","error":{"type":"x"}})", "{nonsense"}),
      (Events{"text:a", "turn stop", "  text:a", "  usage in=0 out=0 read=0 write=0 reasoning=0"}));
}

TEST(AnthropicFaults, Row50UsageMayBeAbsentNegativeOrDecreasing) {
  const auto usage_of = [](const std::string& first, const std::string& second) {
    return turn_of(dialect(), plain_case(),
                   {R"({"type":"message_start","message":{"usage":)" + first + "}}", kText,
                    text_delta("a"),
                    R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":)" +
                        second + "}",
                    kStop})
        .usage;
  };
  EXPECT_EQ(usage_of("null", "null"), Usage());
  EXPECT_EQ(usage_of(R"({"input_tokens":-5,"output_tokens":-1})", R"({"output_tokens":-9})"),
            Usage());
  EXPECT_EQ(usage_of(R"({"input_tokens":10,"cache_read_input_tokens":4,"output_tokens":8})",
                     R"({"input_tokens":2,"cache_read_input_tokens":0,"output_tokens":3})"),
            (Usage{.input_tokens = 14, .output_tokens = 8, .cache_read_tokens = 4}));
  EXPECT_EQ(usage_of(R"({"input_tokens":1,"cache_creation":{"ephemeral_5m_input_tokens":5,
                   "ephemeral_1h_input_tokens":7}})",
                     R"({"output_tokens":9,"output_tokens_details":{"thinking_tokens":4}})"),
            (Usage{.input_tokens = 13,
                   .output_tokens = 9,
                   .cache_write_tokens = 12,
                   .reasoning_tokens = 4}));
}

TEST(AnthropicFaults, Row51AnAnswerToAnotherRequestIsNoticed) {
  const Error error =
      error_of(dialect(), plain_case(),
               {kStart, kText, R"({"type":"message_start","message":{"id":"msg_9"}})"});
  EXPECT_EQ(fault_of(error), Fault::not_an_answer);
  EXPECT_NE(error.message().find("msg_9"), std::string::npos) << error.message();
}

TEST(AnthropicFaults, AWebPageIsNoAnswer) {
  const WireCase asked = plain_case();
  const WireCall call = asked.call(false);
  for (const char* body : {"<html><body>Sign in</body></html>", "", "[]", "{}", "\"text\""}) {
    std::vector<ModelEvent> out;
    const Result<void> read = dialect().decoder(call)->on_reply(body, out);
    ASSERT_FALSE(read) << body;
    EXPECT_EQ(fault_of(read.error()), Fault::not_an_answer) << body;
  }
}

TEST(AnthropicFaults, AKeyThatComesBackIsNotToldOn) {
  WireCase asked = plain_case();
  asked.provider.key = Secret("sk-ant-very-secret");
  const Error error = error_of(dialect(), asked, {"garbage with sk-ant-very-secret in it"});
  EXPECT_EQ(to_string(error).find("very-secret"), std::string::npos);
}

}  // namespace
}  // namespace tug::testing
