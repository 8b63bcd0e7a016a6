// The mock provider on real sockets, asked by a client that knows nothing but sockets.
#include "tug/testkit/mock_provider.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "tug/core/base64.h"
#include "tug/core/json.h"
#include "tug/io/engine.h"
#include "tug/io/http.h"
#include "tug/io/sse.h"

namespace tug {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kPatienceMs = 10'000;

// A connection that a test writes to and reads from.
class Wire {
 public:
  explicit Wire(std::string_view url) {
    sockaddr_in address{.sin_family = AF_INET,
                        .sin_port = htons(static_cast<std::uint16_t>(
                            std::stoi(std::string(url.substr(url.rfind(':') + 1))))),
                        .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire() { close(socket_); }

  bool connected() const { return connected_; }
  void write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  // More bytes into `unread`; 0 at the end of the connection, below it when it was reset.
  ssize_t more() {
    pollfd waiting{.fd = socket_, .events = POLLIN};
    if (poll(&waiting, 1, kPatienceMs) != 1) return -2;
    char bytes[65536];
    const ssize_t got = recv(socket_, bytes, sizeof bytes, 0);
    if (got > 0) unread.append(bytes, static_cast<std::size_t>(got));
    return got;
  }
  std::string take(std::size_t count) {
    while (unread.size() < count && more() > 0) {
    }
    std::string taken = unread.substr(0, count);
    unread.erase(0, taken.size());
    return taken;
  }
  std::string take_until(std::string_view mark) {
    std::size_t at = 0;
    while ((at = unread.find(mark)) == std::string::npos) {
      if (more() <= 0) return std::exchange(unread, {});
    }
    return take(at + mark.size());
  }

  std::string unread;

 private:
  int socket_ = -1;
  bool connected_ = false;
};

struct Reply {
  std::string head;
  std::string body;
  std::vector<std::string> chunks;  // as they were sent
  bool whole = false;
};

Reply read_reply(Wire& wire) {
  Reply reply{.head = wire.take_until("\r\n\r\n")};
  const std::size_t length = reply.head.find("content-length: ");
  if (length != std::string::npos) {
    const std::size_t bytes = std::stoul(reply.head.substr(length + 16));
    reply.body = wire.take(bytes);
    reply.whole = reply.body.size() == bytes;
    return reply;
  }
  if (reply.head.find("transfer-encoding: chunked") == std::string::npos) return reply;
  while (true) {
    const std::string size = wire.take_until("\r\n");
    if (!size.ends_with("\r\n")) return reply;
    const std::size_t bytes = std::stoul(size, nullptr, 16);
    std::string chunk = wire.take(bytes);
    reply.body += chunk;
    if (chunk.size() == bytes && bytes > 0) reply.chunks.push_back(std::move(chunk));
    if (wire.take(2) != "\r\n") return reply;
    if (bytes > 0) continue;
    reply.whole = true;
    return reply;
  }
}

std::string post(std::string_view path, std::string_view body, std::string_view headers = "") {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: mock\r\n" +
         "Content-Type: application/json\r\n" + std::string(headers) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

constexpr std::string_view kVersion = "anthropic-version: 2026-10-21\r\n";

struct Talk {
  Api api;
  std::string_view whole_path;
  std::string_view stream_path;
  std::string_view whole;
  std::string_view stream;
};
constexpr Talk kTalks[] = {
    {Api::openai_chat, "/v1/chat/completions", "/v1/chat/completions",
     R"({"model":"m-1","messages":[{"role":"user","content":"hi"}]})",
     R"({"model":"m-1","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]})"},
    {Api::openai_responses, "/v1/responses", "/v1/responses",
     R"({"model":"m-1","include":["reasoning.encrypted_content"],"input":[{"role":"user","content":"hi"}]})",
     R"({"model":"m-1","stream":true,"input":"hi"})"},
    {Api::anthropic, "/v1/messages", "/v1/messages",
     R"({"model":"m-1","max_tokens":10,"messages":[{"role":"user","content":"hi"}]})",
     R"({"model":"m-1","max_tokens":10,"stream":true,"messages":[{"role":"user","content":"hi"}]})"},
    {Api::gemini, "/v1beta/models/m-1:generateContent",
     "/v1beta/models/m-1:streamGenerateContent?alt=sse",
     R"({"contents":[{"role":"user","parts":[{"text":"hi"}]}]})",
     R"({"contents":[{"role":"user","parts":[{"text":"hi"}]}]})"},
};

MockReply full_reply() {
  return {.text = "All is well.",
          .reasoning = "Let me see.",
          .calls = {{.name = "look", .arguments = R"({"at":"sea"})"},
                    {.name = "ring", .arguments = ""}},
          .usage = {.input_tokens = 100,
                    .output_tokens = 20,
                    .cache_read_tokens = 60,
                    .cache_write_tokens = 10,
                    .reasoning_tokens = 5},
          .chunks = 3};
}

class MockProviderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto url = mock_->serve();
    ASSERT_TRUE(url) << to_string(url.error());
    url_ = *url;
  }
  Reply ask(std::string_view bytes) {
    Wire wire(url_);
    wire.write(bytes);
    return read_reply(wire);
  }
  // The data of every event of a stream, and the names.
  static std::vector<std::pair<std::string, Json>> events_of(const std::string& body) {
    std::vector<std::pair<std::string, Json>> events;
    SseFramer framer;
    const auto on_event = [&](const SseEvent& event) -> Result<void> {
      auto json = parse_json(event.data);
      events.emplace_back(event.name, json ? *std::move(json) : Json(event.data));
      return {};
    };
    EXPECT_TRUE(framer.feed(body, on_event));
    return events;
  }

  const std::shared_ptr<MockProvider> mock_ = make_mock_provider();
  std::string url_;
};

TEST_F(MockProviderTest, AWholeReplyHasTheShapeOfEachApi) {
  mock_->reply(full_reply());
  for (const Talk& talk : kTalks) {
    const Reply reply = ask(post(talk.whole_path, talk.whole, kVersion));
    EXPECT_TRUE(reply.head.starts_with("HTTP/1.1 200 ")) << reply.head;
    EXPECT_TRUE(reply.whole);
    auto json = parse_json(reply.body);
    ASSERT_TRUE(json) << reply.body;
    const Json& said = *json;
    switch (talk.api) {
      case Api::openai_chat: {
        const Json& message = said["choices"][0]["message"];
        EXPECT_EQ(message["content"], "All is well.");
        EXPECT_EQ(message["reasoning"], "Let me see.");
        EXPECT_EQ(message["tool_calls"][0]["id"], "call_1");
        EXPECT_EQ(message["tool_calls"][0]["function"]["arguments"], R"({"at":"sea"})");
        EXPECT_EQ(said["choices"][0]["finish_reason"], "tool_calls");
        EXPECT_EQ(said["usage"]["prompt_tokens"], 100);
        EXPECT_EQ(said["usage"]["prompt_tokens_details"]["cached_tokens"], 60);
        break;
      }
      case Api::openai_responses:
        EXPECT_EQ(said["status"], "completed");
        EXPECT_EQ(said["output"][0]["type"], "reasoning");
        EXPECT_TRUE(said["output"][0]["encrypted_content"].is_string());
        EXPECT_EQ(said["output"][1]["content"][0]["text"], "All is well.");
        EXPECT_EQ(said["output"][2]["call_id"], "call_3");
        EXPECT_EQ(said["output"][3]["name"], "ring");
        EXPECT_EQ(said["usage"]["output_tokens_details"]["reasoning_tokens"], 5);
        break;
      case Api::anthropic:
        EXPECT_EQ(said["content"][0]["thinking"], "Let me see.");
        EXPECT_TRUE(said["content"][0]["signature"].is_string());
        EXPECT_EQ(said["content"][2]["input"]["at"], "sea");
        EXPECT_EQ(said["content"][3]["input"], Json::object());
        EXPECT_EQ(said["stop_reason"], "tool_use");
        EXPECT_EQ(said["usage"]["input_tokens"], 30);  // what the cache had is apart
        break;
      case Api::gemini: {
        const Json& parts = said["candidates"][0]["content"]["parts"];
        EXPECT_EQ(parts[0]["thought"], true);
        EXPECT_EQ(parts[2]["functionCall"]["args"]["at"], "sea");
        EXPECT_TRUE(parts[2]["thoughtSignature"].is_string());
        EXPECT_FALSE(parts[3].contains("thoughtSignature"));
        EXPECT_EQ(said["candidates"][0]["finishReason"], "STOP");
        EXPECT_EQ(said["usageMetadata"]["candidatesTokenCount"], 15);
        EXPECT_EQ(said["modelVersion"], "m-1");
        break;
      }
    }
  }
  for (const MockRequest& request : mock_->requests()) EXPECT_THAT(request.faults, IsEmpty());
}

TEST_F(MockProviderTest, AStreamHasTheEventsOfEachApiAndSaysWhatTheWholeReplySays) {
  mock_->reply(full_reply());
  for (const Talk& talk : kTalks) {
    const Reply reply = ask(post(talk.stream_path, talk.stream, kVersion));
    EXPECT_THAT(reply.head, HasSubstr("content-type: text/event-stream"));
    EXPECT_TRUE(reply.whole);
    const auto events = events_of(reply.body);
    EXPECT_EQ(reply.chunks.size(), events.size()) << "one write an event";
    std::string text;
    std::string reasoning;
    std::string arguments;
    for (const auto& [name, data] : events) {
      switch (talk.api) {
        case Api::openai_chat: {
          const Json& delta = data["choices"][0]["delta"];
          text += delta["content"].as_string();
          reasoning += delta["reasoning"].as_string();
          if (delta["tool_calls"][0]["index"] == 0) {
            arguments += delta["tool_calls"][0]["function"]["arguments"].as_string();
          }
          break;
        }
        case Api::openai_responses:
          if (name == "response.output_text.delta") text += data["delta"].as_string();
          if (name == "response.reasoning_summary_text.delta")
            reasoning += data["delta"].as_string();
          if (name == "response.function_call_arguments.delta" && data["output_index"] == 2)
            arguments += data["delta"].as_string();
          EXPECT_EQ(data["type"], name);
          break;
        case Api::anthropic:
          text += data["delta"]["text"].as_string();
          reasoning += data["delta"]["thinking"].as_string();
          if (data["index"] == 2) arguments += data["delta"]["partial_json"].as_string();
          EXPECT_EQ(data["type"], name);
          break;
        case Api::gemini:
          for (const Json& part : data["candidates"][0]["content"]["parts"].items()) {
            (part["thought"].as_bool() ? reasoning : text) += part["text"].as_string();
            if (part["functionCall"]["name"] == "look") {
              arguments += print_json(part["functionCall"]["args"]);
            }
          }
          break;
      }
    }
    EXPECT_EQ(text, "All is well.");
    EXPECT_EQ(reasoning, "Let me see.");
    EXPECT_EQ(arguments, R"({"at":"sea"})");
  }
  for (const MockRequest& request : mock_->requests()) {
    EXPECT_THAT(request.faults, IsEmpty());
    EXPECT_TRUE(request.stream);
  }
}

TEST_F(MockProviderTest, TheChatStreamIsWhatTheApiSendsToTheByte) {
  mock_->reply({.text = "ab", .chunks = 2});
  const Reply reply = ask(post("/v1/chat/completions", kTalks[0].stream));
  const std::string frame =
      R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"m-1","choices":[)";
  const std::string rest = R"(],"usage":null})"
                           "\n\n";
  EXPECT_EQ(
      reply.body,
      frame +
          R"({"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null})" +
          rest + frame +
          R"({"index":0,"delta":{"content":"a"},"logprobs":null,"finish_reason":null})" + rest +
          frame + R"({"index":0,"delta":{"content":"b"},"logprobs":null,"finish_reason":null})" +
          rest + frame + R"({"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"})" + rest +
          frame +
          R"(],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}})"
          "\n\ndata: [DONE]\n\n");
}

TEST_F(MockProviderTest, OneConnectionCarriesManyRequests) {
  mock_->reply({.text = "one"});
  mock_->reply({.text = "two"});
  Wire wire(url_);
  wire.write(post("/v1/chat/completions", kTalks[0].whole));
  EXPECT_THAT(read_reply(wire).body, HasSubstr("\"one\""));
  wire.write(post("/v1/chat/completions", kTalks[0].stream));
  EXPECT_THAT(read_reply(wire).body, HasSubstr("\"two\""));
  wire.write(post("/v1/chat/completions", kTalks[0].whole, "Connection: close\r\n"));
  EXPECT_THAT(read_reply(wire).body, HasSubstr("\"two\""));  // the last one again
  EXPECT_EQ(wire.more(), 0);
  EXPECT_EQ(mock_->connections(), 1u);
  EXPECT_EQ(mock_->requests().back().connection, 1u);
}

TEST_F(MockProviderTest, ABodyMayComeInChunksOrBeAskedForFirst) {
  mock_->reply({.text = "yes"});
  Wire wire(url_);
  wire.write(
      "POST /v1/chat/completions HTTP/1.1\r\ncontent-type: application/json\r\n"
      "transfer-encoding: chunked\r\n\r\n5\r\n{\"mod\r\n4\r\nel\":\r\n2\r\n1}\r\n0\r\n\r\n");
  read_reply(wire);
  wire.write(
      "POST /v1/chat/completions HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
  EXPECT_EQ(wire.take_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  wire.write("{}");
  EXPECT_TRUE(read_reply(wire).whole);
  ASSERT_EQ(mock_->requests().size(), 2u);
  EXPECT_EQ(mock_->requests()[0].body, "{\"model\":1}");
  EXPECT_EQ(mock_->requests()[1].body, "{}");
}

TEST_F(MockProviderTest, FaultsOfTheConnectionAreThoseOfARealOne) {
  mock_->reply({.fault = MockFault::refuse_connection});
  mock_->reply({.fault = MockFault::close_unanswered});
  mock_->reply({.fault = MockFault::reset_unanswered});
  mock_->reply({.text = "abcdef", .fault = MockFault::cut_stream, .cut_after = 9});
  {
    Wire wire(url_);
    EXPECT_LE(wire.more(), 0);
  }
  EXPECT_EQ(mock_->requests().size(), 0u);
  {
    Wire wire(url_);
    wire.write(post("/v1/chat/completions", kTalks[0].stream));
    EXPECT_EQ(wire.more(), 0);
  }
  {
    Wire wire(url_);
    wire.write(post("/v1/chat/completions", kTalks[0].stream));
    EXPECT_EQ(wire.more(), -1);
  }
  const Reply cut = ask(post("/v1/chat/completions", kTalks[0].stream));
  EXPECT_EQ(cut.body, "data: {\"i");
  EXPECT_FALSE(cut.whole);
  EXPECT_EQ(mock_->aborted(), 0u);
}

TEST_F(MockProviderTest, AReaderThatGoesAwayIsCounted) {
  mock_->reply({.text = "never ends", .fault = MockFault::stall, .cut_after = 20});
  {
    Wire wire(url_);
    wire.write(post("/v1/chat/completions", kTalks[0].stream));
    EXPECT_THAT(wire.take_until("data: "), HasSubstr("200"));
  }
  // The server sees the end of the connection in its own time.
  for (int i = 0; mock_->aborted() == 0 && i < 1000; ++i) {
    pollfd nothing{.fd = -1};
    poll(&nothing, 1, 10);
  }
  EXPECT_EQ(mock_->aborted(), 1u);
}

TEST_F(MockProviderTest, WritesEndWhereTheyAreTold) {
  mock_->reply({.cuts = {1, 4}, .body = "data: x\n\n"});
  mock_->reply({.write_bytes = 4, .body = "data: x\n\n"});
  mock_->reply({.body = "data: x\n\ndata: y\n\n"});
  const std::string request = post("/v1/chat/completions", kTalks[0].stream);
  EXPECT_THAT(ask(request).chunks, ElementsAre("d", "ata", ": x\n\n"));
  EXPECT_THAT(ask(request).chunks, ElementsAre("data", ": x\n", "\n"));
  EXPECT_THAT(ask(request).chunks, ElementsAre("data: x\n\n", "data: y\n\n"));
}

TEST_F(MockProviderTest, FailuresHaveTheShapeOfTheirApi) {
  mock_->reply({.status = 429, .headers = {{"retry-after", "2"}}});
  const Reply chat = ask(post("/v1/chat/completions", kTalks[0].stream));
  EXPECT_TRUE(chat.head.starts_with("HTTP/1.1 429 "));
  EXPECT_THAT(chat.head, HasSubstr("retry-after: 2\r\n"));
  EXPECT_THAT(chat.body, HasSubstr(R"("code":"rate_limit_exceeded")"));
  EXPECT_THAT(ask(post("/v1/messages", kTalks[2].stream)).body,
              HasSubstr(R"("type":"rate_limit_error")"));
  EXPECT_THAT(ask(post(kTalks[3].whole_path, kTalks[3].whole)).body,
              HasSubstr(R"("status":"RESOURCE_EXHAUSTED")"));
  EXPECT_TRUE(ask(post("/v1/no/such/path", "{}")).head.starts_with("HTTP/1.1 404 "));
}

TEST_F(MockProviderTest, AnErrorInsideAStreamEndsItWithoutItsTerminalSign) {
  mock_->reply({.text = "so far", .error_event = R"({"type":"error","error":{"type":"x"}})"});
  for (const Talk& talk : kTalks) {
    const std::string body = ask(post(talk.stream_path, talk.stream, kVersion)).body;
    EXPECT_TRUE(body.ends_with("data: {\"type\":\"error\",\"error\":{\"type\":\"x\"}}\n\n"));
    EXPECT_THAT(body, HasSubstr("so far"));
  }
}

TEST_F(MockProviderTest, VectorsAreAFunctionOfTheText) {
  const Reply twice =
      ask(post("/v1/embeddings", R"({"model":"e","input":["a","b"],"dimensions":3})"));
  auto json = parse_json(twice.body);
  ASSERT_TRUE(json);
  ASSERT_EQ((*json)["data"].size(), 2u);
  EXPECT_EQ((*json)["data"][1]["embedding"].size(), 3u);
  EXPECT_NE((*json)["data"][0]["embedding"], (*json)["data"][1]["embedding"]);
  auto ollama =
      parse_json(ask(post("/api/embed", R"({"model":"e","input":"b","dimensions":3})")).body);
  ASSERT_TRUE(ollama);
  EXPECT_EQ((*ollama)["embeddings"][0], (*json)["data"][1]["embedding"]);
  auto packed =
      parse_json(ask(post("/v1/embeddings",
                          R"({"model":"e","input":"b","dimensions":3,"encoding_format":"base64"})"))
                     .body);
  ASSERT_TRUE(packed);
  EXPECT_EQ(from_base64((*packed)["data"][0]["embedding"].as_string())->size(), 12u);
}

TEST_F(MockProviderTest, AnswersMayDependOnWhatIsAsked) {
  mock_->reply_with([](const MockRequest& request) {
    return MockReply{.text = std::string(request.json["messages"][0]["content"].as_string())};
  });
  EXPECT_THAT(ask(post("/v1/chat/completions", kTalks[0].whole)).body,
              HasSubstr(R"("content":"hi")"));
}

TEST_F(MockProviderTest, AfterStopNobodyListens) {
  mock_->reply({.text = "x", .fault = MockFault::stall});
  Wire wire(url_);
  wire.write(post("/v1/chat/completions", kTalks[0].stream));
  EXPECT_THAT(wire.take_until("\r\n\r\n"), HasSubstr("200"));
  mock_->stop();
  EXPECT_LE(wire.more(), 0);
  EXPECT_FALSE(Wire(url_).connected());
}

// --- with the client that reads what it is sent

struct Fetched {
  std::string body;
  std::string fault;
};

Task<Fetched> fetch(HttpClientPtr client, HttpRequest request) {
  Fetched fetched;
  auto sending = client->send(std::move(request), Until{});
  auto response = co_await std::move(sending);
  while (response) {
    auto reading = (*response)->read(Until{});
    auto bytes = co_await std::move(reading);
    if (bytes && *bytes) {
      fetched.body += **bytes;
      continue;
    }
    if (!bytes && bytes.error().detail_if<Provider>()) {
      fetched.fault = bytes.error().detail_if<Provider>()->fault;
    }
    break;
  }
  co_return fetched;
}

TEST_F(MockProviderTest, ABombIsRealGzipAndGarbageIsNone) {
  const auto engine = make_engine({.loops = 1, .workers = 1});
  const HttpClientPtr client = make_http_client({.proxy = "none"});
  const auto get = [&] {
    HttpRequest request{.url = url_ + "/v1/chat/completions"};
    request.body.add(std::string(kTalks[0].stream));
    auto task = fetch(client, std::move(request));
    return *engine->run(engine->loop(0), std::move(task));
  };
  constexpr std::size_t kSizes[] = {0, 1, 2, 257, 258, 259, 100'000};
  for (const std::size_t zeros : kSizes) {
    mock_->reply({.fault = MockFault::bomb, .cut_after = zeros});
  }
  mock_->reply({.fault = MockFault::bomb, .cut_after = 100 << 20});
  mock_->reply({.text = "x", .fault = MockFault::garbage_gzip});
  for (const std::size_t zeros : kSizes) {
    const Fetched fetched = get();
    EXPECT_EQ(fetched.fault, "");
    EXPECT_EQ(fetched.body, std::string(zeros, '\0'));
  }
  EXPECT_EQ(get().fault, "response_too_large");
  EXPECT_EQ(get().fault, "not_an_answer");
}

}  // namespace
}  // namespace tug
