// The rows of the fault table that are about connections: the real client, real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/mock_model.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Task<int> status_of(HttpClientPtr client, HttpRequest request) {
  auto sending = client->send(std::move(request), Until{});
  auto response = co_await std::move(sending);
  co_return response ? (*response)->status() : 0;
}

class HttpSocketFault : public ::testing::Test {
 protected:
  void SetUp() override {
    auto url = mock_->serve();
    ASSERT_TRUE(url) << to_string(url.error());
    url_ = *url;
  }
  Answered ask(Api api, ProviderConfig config = {}) {
    const ModelPtr model = mock_model(*mock_, api, client_, std::move(config));
    return ask_model(*engine_, *model);
  }
  // The mock is one thread: when this is answered, what it was about before is done.
  void settle() {
    HttpRequest request{.method = "GET", .url = url_ + "/nothing/here"};
    auto task = status_of(make_http_client({.proxy = "none"}), std::move(request));
    EXPECT_EQ(engine_->run(engine_->loop(0), std::move(task)).value(), 404);
  }

  const std::unique_ptr<Engine> engine_ = make_engine({.loops = 1, .workers = 1});
  const std::shared_ptr<MockProvider> mock_ = make_mock_provider();
  const HttpClientPtr client_ = make_http_client({.proxy = "none"});
  std::string url_;
};

TEST_F(HttpSocketFault, EveryApiAnswersStreamedAndWholeAndConnectionsAreKept) {
  mock_->reply({.text = "All is well.", .reasoning = "Hm.", .chunks = 4});
  for (const Api api : kApis) {
    const ModelPtr model = mock_model(*mock_, api, client_);
    for (const bool stream : {true, false}) {
      const Answered answered = ask_model(*engine_, *model, {}, stream);
      ASSERT_TRUE(answered.turn) << name_of(api) << ": " << answered.fault();
      EXPECT_EQ(answered.text, "All is well.") << name_of(api);
      EXPECT_EQ(answered.turn->usage.input_tokens, 10) << name_of(api);
      EXPECT_EQ(answered.turn->usage.output_tokens, 5) << name_of(api);
    }
  }
  // A stream whose terminal event came before its last chunk gives its connection up.
  EXPECT_LE(mock_->connections(), 5u);
  for (const MockRequest& request : mock_->requests()) {
    EXPECT_THAT(request.faults, ::testing::IsEmpty()) << name_of(request.api);
  }
}

TEST_F(HttpSocketFault, Row10ASilentSocketEndsAtTheByteLimit) {
  mock_->reply({.text = "x", .fault = MockFault::stall, .cut_after = 30});
  ProviderConfig config;
  config.timeouts.byte_idle = milliseconds(100);
  EXPECT_EQ(ask(Api::openai_chat, config).fault(), "stream_stalled");
}

TEST_F(HttpSocketFault, Row10ASocketThatNeverAnswersEndsAtTheFirstByteLimit) {
  mock_->reply({.text = "x", .delay = seconds(100)});
  ProviderConfig config;
  config.timeouts.first_byte = milliseconds(100);
  EXPECT_EQ(ask(Api::openai_chat, config).fault(), "timeout");
}

TEST_F(HttpSocketFault, Row14BytesMayComeOneByOne) {
  mock_->reply({.text = "\xE2\x98\x94 \xF0\x9F\x9A\xA2", .write_bytes = 1});
  for (const Api api : kApis) {
    EXPECT_EQ(ask(api).text, "\xE2\x98\x94 \xF0\x9F\x9A\xA2") << name_of(api);
  }
}

TEST_F(HttpSocketFault, Row08ACutSocketIsACutStream) {
  mock_->reply({.text = "x", .fault = MockFault::cut_stream, .cut_after = 100});
  for (const Api api : kApis) EXPECT_EQ(ask(api).fault(), "stream_cut") << name_of(api);
}

TEST_F(HttpSocketFault, Row43AConnectionThatDiesAfterTheRequestIsAmbiguousAndNotRetriedBelow) {
  mock_->reply({.text = "first"});
  mock_->reply({.fault = MockFault::close_unanswered});
  mock_->reply({.fault = MockFault::reset_unanswered});
  mock_->reply({.text = "last"});
  EXPECT_EQ(ask(Api::openai_chat).text, "first");
  EXPECT_EQ(ask(Api::openai_chat).fault(), "transport_ambiguous");  // on the kept connection
  EXPECT_EQ(ask(Api::openai_chat).fault(), "transport_ambiguous");  // on a fresh one
  EXPECT_EQ(mock_->requests().size(), 3u);
  EXPECT_EQ(ask(Api::openai_chat).text, "last");
}

TEST_F(HttpSocketFault, Row44AKeptConnectionThatTheServerClosedIsReplacedUnseen) {
  mock_->reply({.text = "one"});
  mock_->reply({.fault = MockFault::refuse_connection});  // what waits is closed
  mock_->reply({.text = "two"});
  const ModelPtr model = mock_model(*mock_, Api::openai_chat, client_);
  EXPECT_EQ(ask_model(*engine_, *model, {}, false).text, "one");  // whole: its connection is kept
  settle();
  const Answered answered = ask(Api::openai_chat);
  EXPECT_EQ(answered.text, "two") << answered.fault();
}

TEST_F(HttpSocketFault, Row45WhatCannotBeReachedOrTrustedHasItsClass) {
  EXPECT_EQ(ask(Api::openai_chat, {.base_url = "http://no-such-host.invalid/v1"}).fault(),
            "transport_unsent");
  // A port where nobody listens any more.
  const auto gone = make_mock_provider();
  const std::string address = *gone->serve();
  gone->stop();
  EXPECT_EQ(ask(Api::openai_chat, {.base_url = address + "/v1"}).fault(), "transport_unsent");
  // TLS with a server that does not speak it.
  const std::string secure = "https" + url_.substr(4) + "/v1";
  EXPECT_EQ(ask(Api::openai_chat, {.base_url = secure}).fault(), "tls");
}

TEST_F(HttpSocketFault, Row45NoRedirectIsFollowed) {
  mock_->reply({.status = 307, .headers = {{"location", url_ + "/v1/chat/completions"}}});
  EXPECT_EQ(ask(Api::openai_chat).fault(), "not_an_answer");
  EXPECT_EQ(mock_->requests().size(), 1u);
}

TEST_F(HttpSocketFault, Row46CompressedGarbageAndBombsEndEarly) {
  mock_->reply({.text = "x", .fault = MockFault::garbage_gzip});
  mock_->reply({.fault = MockFault::bomb, .cut_after = 100 << 20});
  EXPECT_EQ(ask(Api::openai_chat).fault(), "not_an_answer");
  EXPECT_EQ(ask(Api::openai_chat).fault(), "response_too_large");
}

TEST_F(HttpSocketFault, Row47AHeaderOfSeventyKilobytesIsRefused) {
  mock_->reply({.text = "x", .headers = {{"x-large", std::string(70 << 10, 'a')}}});
  EXPECT_EQ(ask(Api::openai_chat).fault(), "response_too_large");
}

TEST_F(HttpSocketFault, DroppingAStreamClosesItsConnectionAtOnce) {
  mock_->reply({.text = "x", .fault = MockFault::stall, .cut_after = 60});
  const ModelPtr model = mock_model(*mock_, Api::openai_chat, client_);
  Until until{.deadline = later(engine_->now(), milliseconds(150))};
  const Answered answered = ask_model(*engine_, *model, until);
  ASSERT_TRUE(answered.error);
  EXPECT_EQ(answered.error->kind(), ErrorKind::exhausted);
  for (int i = 0; mock_->aborted() == 0 && i < 1000; ++i) settle();
  EXPECT_EQ(mock_->aborted(), 1u);
}

}  // namespace
}  // namespace tug
