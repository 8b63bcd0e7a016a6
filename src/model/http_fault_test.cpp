// The rows of the fault table that are about what a stream says and when, in virtual time: models
// over HTTP, asked once. Rows of whole runs: http_fault_run_test.cpp; of sockets:
// http_fault_socket_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/mock_model.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

class HttpFault : public ::testing::Test {
 protected:
  Answered ask(Api api, ProviderConfig config = {}, std::optional<bool> stream = {}) {
    const ModelPtr model = mock_model(*mock_, api, client_, std::move(config));
    return ask_model(*engine_, *model, {}, stream);
  }
  // What the mock streams for `reply`, whole.
  Answered ask_with(Api api, MockReply reply, ProviderConfig config = {}) {
    mock_ = make_mock_provider();
    client_ = mock_->http_client();
    mock_->reply(std::move(reply));
    return ask(api, std::move(config));
  }
  Answered chat_body(std::string body) {
    return ask_with(Api::openai_chat, {.body = std::move(body)});
  }

  const std::unique_ptr<SimEngine> engine_ = make_sim_engine({.seed = 3});
  std::shared_ptr<MockProvider> mock_ = make_mock_provider();
  HttpClientPtr client_ = mock_->http_client();
};

std::string chat_chunk(std::string_view delta, std::string_view finish = "null") {
  return R"({"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":)" +
         std::string(delta) + R"(,"finish_reason":)" + std::string(finish) + "}]}";
}
std::string chat_event(std::string_view delta, std::string_view finish = "null") {
  return "data: " + chat_chunk(delta, finish) + "\n\n";
}
const std::string kDone = "data: [DONE]\n\n";

// --- how an answer ends

TEST_F(HttpFault, Row08AStreamThatIsCutBetweenTwoEventsIsNeverFinished) {
  const MockReply reply{.text = "two parts", .reasoning = "hm", .chunks = 2};
  for (const Api api : kApis) {
    const Answered whole = ask_with(api, reply);
    ASSERT_TRUE(whole.turn) << name_of(api) << ": " << whole.fault();
    EXPECT_EQ(whole.text, "two parts");
    // The length of the body is found by cutting further and further.
    for (std::size_t cut = 0; cut < 8000; cut += 37) {
      MockReply cut_reply = reply;
      cut_reply.fault = MockFault::cut_stream;
      cut_reply.cut_after = cut;
      const Answered answered = ask_with(api, cut_reply);
      if (answered.turn) {
        // Only where the terminal sign was in before the connection broke.
        EXPECT_EQ(answered.text, "two parts") << name_of(api) << " at " << cut;
        break;
      }
      EXPECT_EQ(answered.fault(), "stream_cut") << name_of(api) << " at " << cut;
      EXPECT_EQ(answered.error->kind(), ErrorKind::disconnected);
    }
  }
}

TEST_F(HttpFault, Row08AStreamThatClosesCleanlyWithoutItsTerminalSignIsCut) {
  EXPECT_EQ(chat_body(chat_event(R"({"content":"half"})")).fault(), "stream_cut");
  EXPECT_EQ(chat_body("").text, "");
}

TEST_F(HttpFault, Row19AFinishReasonIsEnoughWithoutDone) {
  const Answered answered =
      chat_body(chat_event(R"({"content":"all"})") + chat_event("{}", "\"stop\""));
  ASSERT_TRUE(answered.turn) << answered.fault();
  EXPECT_EQ(answered.text, "all");
  EXPECT_EQ(answered.turn->finish, Finish::stop);
}

// --- time

TEST_F(HttpFault, Row09PingsOfAnyFormAreNoProgressAndEndAtTheFirstEventLimit) {
  for (const Api api : kApis) {
    const Answered answered =
        ask_with(api, {.between = seconds(1), .fault = MockFault::pings_only});
    EXPECT_EQ(answered.fault(), "stream_stalled") << name_of(api);
    EXPECT_EQ(answered.took, seconds(300)) << name_of(api);
    EXPECT_EQ(mock_->aborted(), 1u);
  }
}

TEST_F(HttpFault, Row09AfterTheFirstEventTheIdleLimitCounts) {
  std::string body = chat_event(R"({"content":"so"})");
  for (int i = 0; i < 200; ++i) body += ": ping\n\n";
  const Answered answered = ask_with(Api::openai_chat, {.between = seconds(2), .body = body});
  EXPECT_EQ(answered.fault(), "stream_stalled");
  EXPECT_EQ(answered.took, seconds(120));
  EXPECT_EQ(answered.text, "so");
}

TEST_F(HttpFault, Row10ASilentConnectionEndsAtTheByteLimit) {
  const Answered answered =
      ask_with(Api::anthropic, {.text = "x", .fault = MockFault::stall, .cut_after = 30});
  EXPECT_EQ(answered.fault(), "stream_stalled");
  EXPECT_EQ(answered.took, seconds(60));
}

TEST_F(HttpFault, Row10AConnectionThatNeverAnswersEndsAtTheFirstByteLimit) {
  const Answered answered = ask_with(Api::gemini, {.text = "x", .delay = seconds(1000)});
  EXPECT_EQ(answered.fault(), "timeout");
  EXPECT_EQ(answered.took, seconds(120));
}

TEST_F(HttpFault, Row11ADripIsAllowedWhileEventsComeAndTheTotalStillRules) {
  const MockReply drip{.text = "slow", .write_bytes = 8, .between = seconds(1)};
  ProviderConfig patient;
  patient.timeouts.total = seconds(3600);
  const Answered answered = ask_with(Api::openai_chat, drip, patient);
  EXPECT_EQ(answered.fault(), "none");
  EXPECT_EQ(answered.text, "slow");
  EXPECT_GT(answered.took, seconds(50));
  ProviderConfig hasty;
  hasty.timeouts.total = seconds(20);
  const Answered cut = ask_with(Api::openai_chat, drip, hasty);
  EXPECT_EQ(cut.fault(), "timeout");
  EXPECT_EQ(cut.took, seconds(20));
}

TEST_F(HttpFault, Row12AStreamThatComesLateAndInOnePieceIsTheSameAnswer) {
  const std::string text(2 << 20, 'x');
  const Answered answered =
      ask_with(Api::openai_chat,
               {.text = text, .chunks = 400, .write_bytes = 64 << 20, .delay = seconds(119)});
  EXPECT_EQ(answered.fault(), "none");
  EXPECT_EQ(answered.text, text);
  EXPECT_EQ(answered.took, seconds(119));
}

// --- bytes

TEST_F(HttpFault, Row13FramingIsThatOfTheStandard) {
  const std::string hello = chat_chunk(R"({"content":"hello"})");
  const std::string end = chat_chunk("{}", "\"stop\"");
  const std::string streams[] = {
      "data: " + hello + "\r\n\r\ndata: " + end + "\r\n\r\n",
      "data: " + hello + "\r\rdata: " + end + "\r\r",
      "\xEF\xBB\xBF"
      "data: " +
          hello + "\n\ndata: " + end + "\n\n",
      ": OPENROUTER PROCESSING\n\nretry: 100\nid: 7\ndata: " + hello + "\n\ndata: " + end + "\n\n",
      "data:" + hello.substr(0, 1) + "\ndata: " + hello.substr(1) + "\n\ndata: " + end + "\n\n",
      "data: " + hello + "\n\ndata: " + end + "\n",  // no blank line at the end
  };
  for (const std::string& stream : streams) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{7}}) {
      const Answered answered = ask_with(Api::openai_chat, {.write_bytes = bytes, .body = stream});
      EXPECT_TRUE(answered.turn) << answered.fault() << " of " << stream;
      EXPECT_EQ(answered.text, "hello");
    }
  }
}

TEST_F(HttpFault, Row14CharactersMayBeCutBetweenTwoReads) {
  for (const Api api : kApis) {
    const Answered answered = ask_with(
        api, {.text = "\xC3\xA6 \xE2\x98\x94 \xF0\x9F\x9A\xA2", .chunks = 2, .write_bytes = 1});
    EXPECT_EQ(answered.text, "\xC3\xA6 \xE2\x98\x94 \xF0\x9F\x9A\xA2") << name_of(api);
    EXPECT_TRUE(answered.turn);
  }
}

TEST_F(HttpFault, Row15InvalidUtf8IsReplacedInTheText) {
  const char* const sequences[] = {"\xFF",         "\xC3(",    "\xE2\x98",        "\xF0\x9F\x9A",
                                   "\xED\xA0\x80", "\xC0\xAF", "\xF5\x80\x80\x80"};
  for (const char* sequence : sequences) {
    const Answered answered =
        chat_body(chat_event("{\"content\":\"a" + std::string(sequence) + "b\"}") +
                  chat_event("{}", "\"stop\"") + kDone);
    ASSERT_TRUE(answered.turn) << answered.fault();
    const std::string text = answered.turn->message->text();
    EXPECT_TRUE(text.starts_with('a') && text.find("\xEF\xBF\xBD") != std::string::npos) << text;
    EXPECT_EQ(repair_utf8(text), text);
  }
}

TEST_F(HttpFault, Row16ALoneSurrogateBecomesTheReplacementCharacter) {
  const Answered answered =
      chat_body(chat_event(R"({"content":"a\ud83db"})") + chat_event("{}", "\"stop\"") + kDone);
  ASSERT_TRUE(answered.turn) << answered.fault();
  EXPECT_EQ(answered.turn->message->text(),
            "a\xEF\xBF\xBD"
            "b");
}

TEST_F(HttpFault, Row17WhatIsKeptOfAFailureIsCutBetweenCharacters) {
  std::string body;
  for (int i = 0; i < 3000; ++i) body += "\xE2\x98\x94";
  for (const std::size_t shift : {0, 1, 2}) {
    const Answered answered =
        ask_with(Api::openai_chat, {.status = 400, .body = std::string(shift, 'x') + body});
    ASSERT_TRUE(answered.error);
    const Provider* provider = answered.error->detail_if<Provider>();
    ASSERT_TRUE(provider);
    EXPECT_LE(provider->body.size(), 2100u);
    EXPECT_EQ(repair_utf8(provider->body), provider->body);
    EXPECT_EQ(repair_utf8(answered.error->message()), answered.error->message());
  }
}

TEST_F(HttpFault, Row18ChunksWithoutChoicesOrDeltasAreSkippedAndTheirUsageKept) {
  const std::string usage = R"("usage":{"prompt_tokens":7,"completion_tokens":3})";
  const Answered answered =
      chat_body("data: {\"choices\":[]}\n\ndata: {\"choices\":null}\n\ndata: {\"id\":\"x\"}\n\n" +
                chat_event("null") + chat_event(R"({"role":"","content":null})") +
                chat_event(R"({"content":"yes"})") + chat_event("{}", "\"stop\"") +
                "data: {\"choices\":[]," + usage + "}\n\n" + kDone);
  ASSERT_TRUE(answered.turn) << answered.fault();
  EXPECT_EQ(answered.text, "yes");
  EXPECT_EQ(answered.turn->usage.input_tokens, 7);
  EXPECT_EQ(answered.turn->usage.output_tokens, 3);
}

// --- what providers say

struct Said {
  Api api;
  int status;
  std::string_view body;
  std::int64_t window;
  std::int64_t prompt;
  bool from_output;
};

TEST_F(HttpFault, Row36And37AnOverflowSaysWhoFillsTheWindowAndWhetherTheAnswerDoes) {
  const Said rows[] = {
      {Api::anthropic, 400,
       R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}})",
       200000, 210000, false},
      {Api::anthropic, 400,
       R"({"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"}})",
       200000, 190000, true},
      {Api::gemini, 400,
       R"({"error":{"code":400,"message":"The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}})",
       1048576, 1100000, false},
      {Api::openai_chat, 400,
       R"({"error":{"message":"maximum prompt length is 131072 but the request contains 140000 tokens","type":"invalid_request_error","code":null}})",
       131072, 140000, false},
      {Api::openai_responses, 400,
       R"({"error":{"message":"Your input exceeds the context window of this model","type":"invalid_request_error","code":"context_length_exceeded"}})",
       0, 0, false},
  };
  for (const Said& row : rows) {
    const Answered answered =
        ask_with(row.api, {.status = row.status, .body = std::string(row.body)});
    EXPECT_EQ(answered.fault(), "context_overflow") << row.body;
    ASSERT_TRUE(answered.error);
    const Overflow* overflow = answered.error->detail_if<Overflow>();
    ASSERT_TRUE(overflow) << row.body;
    EXPECT_EQ(overflow->window, row.window) << row.body;
    EXPECT_EQ(overflow->prompt_tokens, row.prompt) << row.body;
    EXPECT_EQ(overflow->from_output, row.from_output) << row.body;
  }
}

TEST_F(HttpFault, Row40ARefusalIsAnEndOfTheTurnNotAnError) {
  const std::pair<Api, std::string> words[] = {{Api::openai_chat, "content_filter"},
                                               {Api::openai_responses, "refusal"},
                                               {Api::anthropic, "refusal"},
                                               {Api::gemini, "SAFETY"}};
  for (const auto& [api, word] : words) {
    const Answered answered = ask_with(api, {.text = "I would ra", .finish = word});
    ASSERT_TRUE(answered.turn) << name_of(api) << ": " << answered.fault();
    EXPECT_EQ(answered.turn->finish, Finish::refusal) << name_of(api);
  }
}

TEST_F(HttpFault, Row41ASchemaThatIsRefusedIsAClassOfItsOwn) {
  const Answered answered = ask_with(
      Api::openai_chat,
      {.status = 400,
       .body =
           R"({"error":{"message":"Invalid schema for function 'look': schema must have type 'object' and not have 'oneOf' at the top level","type":"invalid_request_error","param":"tools[0].function.parameters","code":"invalid_function_parameters"}})"});
  EXPECT_EQ(answered.fault(), "bad_schema");
  ASSERT_TRUE(answered.error);
  EXPECT_THAT(answered.error->message(), HasSubstr("look"));
}

TEST_F(HttpFault, Row45AWebPageIsNeverReadAsAnAnswer) {
  for (const Api api : kApis) {
    EXPECT_EQ(ask_with(api, {.fault = MockFault::html}).fault(), "not_an_answer") << name_of(api);
    EXPECT_EQ(
        ask_with(api, {.status = 302, .headers = {{"location", "http://login.example/"}}}).fault(),
        "not_an_answer")
        << name_of(api);
    EXPECT_EQ(ask_with(api, {.status = 407}).fault(), "forbidden") << name_of(api);
  }
}

TEST_F(HttpFault, Row47AnEventOfSeventeenMegabytesIsRefused) {
  const std::string text(17 << 20, 'x');
  const Answered answered = ask_with(Api::openai_chat, {.text = text, .write_bytes = 1 << 20});
  EXPECT_EQ(answered.fault(), "response_too_large");
  EXPECT_EQ(mock_->aborted(), 1u);
}

TEST_F(HttpFault, Row48WildJsonIsRefusedOrReadButNeverBelieved) {
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(chat_body("data: " + deep + "\n\n").fault(), "not_an_answer");
  EXPECT_EQ(chat_body("data: {not json}\n\n").fault(), "not_an_answer");
  const Answered answered = chat_body(
      chat_event(R"({"content":"no","content":"yes"})") + chat_event("{}", "\"stop\"") +
      R"(data: {"choices":[],"usage":{"prompt_tokens":1e999,"completion_tokens":9223372036854775808,"total_tokens":-0}})" +
      "\n\n" + kDone);
  ASSERT_TRUE(answered.turn) << answered.fault();
  EXPECT_EQ(answered.text, "yes");  // the last of equal keys
  EXPECT_EQ(answered.turn->usage.input_tokens, 0);
  EXPECT_EQ(answered.turn->usage.output_tokens, 0);
}

}  // namespace
}  // namespace tug
