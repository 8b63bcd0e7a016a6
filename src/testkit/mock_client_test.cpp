#include <gtest/gtest.h>

#include <string>

#include "tug/core/loop.h"
#include "tug/core/task.h"
#include "tug/io/http.h"
#include "tug/io/sim_engine.h"
#include "tug/model/faults.h"
#include "tug/testkit/mock_provider.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kChat =
    R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})";

HttpRequest chat_request(std::string_view body = kChat) {
  HttpRequest request{.url = "http://mock.invalid/v1/chat/completions"};
  request.headers.push_back({"content-type", "application/json"});
  request.body.add(std::string(body));
  return request;
}

struct Exchange {
  int status = 0;
  std::string body;
  std::size_t reads = 0;
  std::optional<Error> error;
  Duration took{};

  std::string_view fault() const {
    const Provider* provider = error ? error->detail_if<Provider>() : nullptr;
    return provider ? std::string_view(provider->fault) : std::string_view();
  }
};

Task<Exchange> exchange(HttpClientPtr client, HttpRequest request, Until until) {
  Loop& loop = co_await this_loop();
  const Instant begun = loop.now();
  Exchange seen;
  auto sending = client->send(std::move(request), until);
  auto response = co_await std::move(sending);
  if (!response) seen.error = response.error();
  if (response) seen.status = (*response)->status();
  while (response) {
    auto reading = (*response)->read(until);
    auto bytes = co_await std::move(reading);
    if (!bytes) {
      seen.error = bytes.error();
      break;
    }
    if (!*bytes) break;
    seen.body += **bytes;
    ++seen.reads;
  }
  seen.took = loop.now() - begun;
  co_return seen;
}

class MockClientTest : public ::testing::Test {
 protected:
  Exchange ask(HttpRequest request, Duration deadline = {}) {
    Until until;
    if (deadline > Duration::zero()) until.deadline = later(engine_->now(), deadline);
    auto task = exchange(client_, std::move(request), until);
    auto seen = engine_->run(engine_->place(), std::move(task));
    EXPECT_TRUE(seen);
    return seen ? *std::move(seen) : Exchange{};
  }

  const std::unique_ptr<SimEngine> engine_ = make_sim_engine({.seed = 6});
  const std::shared_ptr<MockProvider> mock_ = make_mock_provider();
  const HttpClientPtr client_ = mock_->http_client();
};

TEST_F(MockClientTest, AStreamComesWriteByWriteInVirtualTime) {
  mock_->reply({.text = "one two", .chunks = 2, .delay = seconds(3), .between = milliseconds(500)});
  const Exchange seen = ask(chat_request());
  EXPECT_FALSE(seen.error);
  EXPECT_EQ(seen.status, 200);
  EXPECT_EQ(seen.reads, 5u);  // the role, two deltas, the finish, [DONE]
  EXPECT_EQ(seen.took, seconds(3) + 4 * milliseconds(500));
  EXPECT_TRUE(seen.body.ends_with("data: [DONE]\n\n"));
  EXPECT_EQ(mock_->aborted(), 0u);
}

TEST_F(MockClientTest, EveryLimitOfTimeEndsAnExchangeWithItsOwnFault) {
  HttpRequest request = chat_request();
  request.timeouts = {.first_byte = seconds(2), .byte_idle = seconds(5), .total = seconds(18)};
  mock_->reply({.text = "late", .delay = seconds(3)});
  mock_->reply({.text = "halts", .fault = MockFault::stall, .cut_after = 10});
  mock_->reply({.between = seconds(4), .fault = MockFault::pings_only});
  mock_->reply({.text = "slow", .delay = seconds(1)});
  Exchange seen = ask(request);
  EXPECT_EQ(seen.fault(), "timeout");
  EXPECT_EQ(seen.took, seconds(2));
  seen = ask(request);
  EXPECT_EQ(seen.fault(), "stream_stalled");
  EXPECT_EQ(seen.body.size(), 10u);
  EXPECT_EQ(seen.took, seconds(5));
  seen = ask(request);
  EXPECT_EQ(seen.fault(), "timeout");
  EXPECT_EQ(seen.took, seconds(18));
  EXPECT_EQ(seen.body, ": ping\n\n: ping\n\n: ping\n\n: ping\n\n");
  seen = ask(request, milliseconds(500));
  ASSERT_TRUE(seen.error);
  EXPECT_EQ(seen.error->kind(), ErrorKind::exhausted);
  ASSERT_TRUE(seen.error->detail_if<Limit>());
  EXPECT_EQ(seen.took, milliseconds(500));
  EXPECT_EQ(mock_->aborted(), 4u);
}

TEST_F(MockClientTest, BrokenExchangesSayWhetherTheyWereSentAndTheirReadersDidNotAbortThem) {
  mock_->reply({.fault = MockFault::refuse_connection});
  mock_->reply({.fault = MockFault::close_unanswered});
  mock_->reply({.fault = MockFault::reset_unanswered});
  mock_->reply({.text = "cut", .fault = MockFault::cut_stream, .cut_after = 7});
  EXPECT_EQ(ask(chat_request()).fault(), "transport_unsent");
  EXPECT_EQ(ask(chat_request()).fault(), "transport_ambiguous");
  EXPECT_EQ(ask(chat_request()).fault(), "transport_ambiguous");
  const Exchange seen = ask(chat_request());
  EXPECT_EQ(seen.fault(), "stream_cut");
  EXPECT_EQ(seen.body, "data: {");
  EXPECT_EQ(mock_->aborted(), 0u);
  EXPECT_EQ(mock_->requests().size(), 3u);  // the refused one was never read
  EXPECT_EQ(mock_->connections(), 4u);
}

TEST_F(MockClientTest, AConnectionIsUsedAgainWhenItsReplyWasWhole) {
  mock_->reply({.text = "one"});
  ask(chat_request());
  ask(chat_request());
  ASSERT_EQ(mock_->requests().size(), 2u);
  EXPECT_EQ(mock_->requests()[1].connection, 1u);
  EXPECT_EQ(mock_->connections(), 1u);
}

TEST_F(MockClientTest, BodiesThatAreTooLargeOrNotWhatTheySayEndTheirExchange) {
  mock_->reply({.text = "x", .fault = MockFault::garbage_gzip});
  mock_->reply({.fault = MockFault::bomb, .cut_after = 100 << 20});
  EXPECT_EQ(ask(chat_request()).fault(), "not_an_answer");
  HttpRequest small = chat_request();
  small.max_response_bytes = 1 << 20;
  const Exchange seen = ask(small);
  EXPECT_EQ(seen.fault(), "response_too_large");
  EXPECT_EQ(seen.body.size(), 1u << 20);
}

Task<void> read_once(HttpClientPtr client, HttpRequest request) {
  auto sending = client->send(std::move(request), Until{});
  auto response = co_await std::move(sending);
  auto reading = (*response)->read(Until{});
  auto bytes = co_await std::move(reading);
}

TEST_F(MockClientTest, DroppingAResponseCountsAsAborted) {
  mock_->reply({.text = "a long story", .chunks = 5});
  auto task = read_once(client_, chat_request());
  ASSERT_TRUE(engine_->run(engine_->place(), std::move(task)));
  EXPECT_EQ(mock_->aborted(), 1u);
}

}  // namespace
}  // namespace tug
