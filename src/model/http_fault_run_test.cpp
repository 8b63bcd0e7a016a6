// The rows of the fault table that a whole run answers: waits, attempts, keys. Virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/testing.h"
#include "tests/mock_model.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr RetryPolicy kPlain{.attempts = 4, .initial = milliseconds(200), .jitter = 0};

// One run against the mock, and what both sides saw.
struct WireRun {
  explicit WireRun(Api api, std::vector<MockReply> replies, ProviderConfig config = {},
                   RetryPolicy retry = kPlain) {
    for (MockReply& reply : replies) mock->reply(std::move(reply));
    rig = std::make_unique<Rig>(mock_model(*mock, api, mock->http_client(), std::move(config)), 1,
                                HarnessOptions{.retry = retry});
    result = rig->run("hi");
  }
  // Between one request and the next, in milliseconds.
  std::vector<std::int64_t> gaps() const {
    std::vector<std::int64_t> found;
    const auto requests = mock->requests();
    for (std::size_t i = 1; i < requests.size(); ++i) {
      found.push_back((requests[i].at - requests[i - 1].at) / milliseconds(1));
    }
    return found;
  }
  std::size_t asked() const { return mock->requests().size(); }
  std::string fault() const { return result.error ? fault_name(*result.error) : "none"; }

  std::shared_ptr<MockProvider> mock = make_mock_provider();
  std::unique_ptr<Rig> rig;
  RunResult result;
};

using Gaps = std::vector<std::int64_t>;

TEST(HttpFaultRun, Row01AStatedWaitIsWaitedForExactly) {
  for (const Api api : kApis) {
    const WireRun run(api, {{.status = 429, .headers = {{"retry-after", "3"}}}, {.text = "ok"}});
    EXPECT_EQ(run.result.text, "ok") << name_of(api) << run.fault();
    EXPECT_EQ(run.gaps(), Gaps{3000}) << name_of(api);
    EXPECT_EQ(run.result.counts.attempts, 2);
  }
}

TEST(HttpFaultRun, Row02EverySpellingOfAStatedWaitIsRead) {
  struct Row {
    std::string name;
    std::string value;
    Gaps gaps;
  };
  const Row rows[] = {
      {"retry-after", "2", {2000}},
      {"Retry-After", "1.5", {1500}},
      {"retry-after-ms", "700", {700}},
      {"retry-after", "Thu, 01 Jan 2026 00:00:05 GMT", {5000}},
      {"retry-after", "Mon, 01 Jan 2001 00:00:00 GMT", {200}},
      {"retry-after", "0", {200}},
      {"retry-after", "-3", {200}},
      {"retry-after", "abc", {1000}},  // the limiter's own pause after a limit that says nothing
      {"retry-after", "120", {120000}},
      {"retry-after", "121", {}},
      {"retry-after", "1000000000", {}},
      {"retry-after", "99999999999999999999999", {}},
  };
  for (const Row& row : rows) {
    const WireRun run(Api::openai_chat,
                      {{.status = 429, .headers = {{row.name, row.value}}}, {.text = "ok"}});
    EXPECT_EQ(run.gaps(), row.gaps) << row.name << ": " << row.value;
    EXPECT_EQ(run.result.text, row.gaps.empty() ? "" : "ok") << row.value;
    if (row.gaps.empty()) EXPECT_EQ(run.fault(), "retry_after") << row.value;
  }
}

TEST(HttpFaultRun, Row03ALimitWithoutAWaitIsBackedOffFromAndASpentAccountIsNot) {
  const WireRun limited(Api::openai_chat, {{.status = 429}}, {},
                        {.attempts = 4, .initial = seconds(2), .jitter = 0});
  EXPECT_EQ(limited.gaps(), (Gaps{2000, 4000, 8000}));
  EXPECT_EQ(limited.fault(), "retry_after");
  const WireRun spent(
      Api::anthropic,
      {{.status = 429,
        .body =
            R"({"type":"error","error":{"type":"rate_limit_error","message":"limit reached","details":{"error_code":"enforced_spend_limit_reached"}}})"}});
  EXPECT_EQ(spent.asked(), 1u);
  EXPECT_EQ(spent.fault(), "quota_terminal");
  const WireRun quota(
      Api::openai_chat,
      {{.status = 429,
        .body =
            R"({"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}})"}});
  EXPECT_EQ(quota.asked(), 1u);
  EXPECT_EQ(quota.fault(), "quota_terminal");
}

TEST(HttpFaultRun, Row04AWaitInProseOrInTypedDetailsCounts) {
  const WireRun prose(
      Api::openai_responses,
      {{.status = 429,
        .body =
            R"({"error":{"message":"Rate limit reached. Please try again in 1.2s.","type":"tokens","code":"rate_limit_exceeded"}})"},
       {.text = "ok"}});
  EXPECT_EQ(prose.gaps(), Gaps{1200});
  const WireRun typed(
      Api::gemini,
      {{.status = 429,
        .body =
            R"({"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"}]}})"},
       {.text = "ok"}});
  EXPECT_EQ(typed.gaps(), Gaps{17000});
  EXPECT_EQ(typed.result.text, "ok");
}

TEST(HttpFaultRun, Row05ABusyProviderIsAskedAgain) {
  for (const Api api : kApis) {
    const WireRun run(api, {{.status = 529}, {.status = 503}, {.status = 500}, {.text = "ok"}});
    EXPECT_EQ(run.result.text, "ok") << name_of(api) << ": " << run.fault();
    EXPECT_EQ(run.asked(), 4u);
  }
}

MockReply overloaded(Api api, std::string text) {
  MockReply reply{.text = std::move(text)};
  reply.error_event =
      api == Api::gemini
          ? R"({"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}})"
      : api == Api::anthropic
          ? R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})"
      : api == Api::openai_responses
          ? R"({"type":"error","code":"server_is_overloaded","message":"Overloaded","param":null})"
          : R"({"error":{"message":"Overloaded","type":"server_error","code":"server_is_overloaded"}})";
  return reply;
}

TEST(HttpFaultRun, Row06AnOverloadInsideAStreamIsRetriedUnseen) {
  for (const Api api : kApis) {
    const WireRun run(api, {overloaded(api, ""), {.text = "ok"}});
    EXPECT_EQ(run.result.text, "ok") << name_of(api) << ": " << run.fault();
    EXPECT_EQ(run.asked(), 2u) << name_of(api);
    EXPECT_EQ(run.mock->requests()[0].body, run.mock->requests()[1].body) << name_of(api);
  }
}

TEST(HttpFaultRun, Row07WhatWasHeardBeforeAnOverloadIsNoPartOfTheAnswer) {
  for (const Api api : kApis) {
    const WireRun run(api, {overloaded(api, "once "), {.text = "once more"}});
    EXPECT_EQ(run.result.text, "once more") << name_of(api) << ": " << run.fault();
    EXPECT_EQ(run.result.messages.size(), 2u);
    EXPECT_EQ(run.asked(), 2u);
  }
}

TEST(HttpFaultRun, Row08ACutAnswerIsAskedForAgain) {
  for (const Api api : kApis) {
    const WireRun run(api, {{.text = "never seen", .fault = MockFault::cut_stream, .cut_after = 60},
                            {.text = "whole"}});
    EXPECT_EQ(run.result.text, "whole") << name_of(api) << ": " << run.fault();
    EXPECT_EQ(run.asked(), 2u);
  }
}

TEST(HttpFaultRun, Row20AnEmptyAnswerIsAskedForOnceMoreThenAnError) {
  for (const Api api : kApis) {
    const WireRun mended(api, {{.text = ""}, {.text = "here"}});
    EXPECT_EQ(mended.result.text, "here") << name_of(api) << ": " << mended.fault();
    const WireRun empty(api, {{.text = ""}});
    EXPECT_EQ(empty.asked(), 2u) << name_of(api);
    EXPECT_FALSE(empty.result.ok()) << name_of(api);
  }
}

TEST(HttpFaultRun, Row40ARefusalIsNotAskedAgain) {
  const WireRun run(Api::anthropic, {{.text = "I cannot", .finish = "refusal"}});
  EXPECT_EQ(run.asked(), 1u);
  const WireRun filtered(Api::gemini, {{.text = "I", .finish = "SAFETY"}});
  EXPECT_EQ(filtered.asked(), 1u);
}

TEST(HttpFaultRun, Row43WhatMayHaveBeenWorkedOnIsAskedAgainAndCounted) {
  const WireRun run(Api::openai_chat, {{.fault = MockFault::close_unanswered}, {.text = "ok"}});
  EXPECT_EQ(run.result.text, "ok") << run.fault();
  EXPECT_EQ(run.result.counts.attempts, 2);
}

TEST(HttpFaultRun, Row52ARefusedKeyIsReadAgainOnce) {
  ProviderConfig config;
  config.key = Secret("old-key-0000");
  int reloads = 0;
  config.reload_key = [&]() -> Result<Secret> {
    ++reloads;
    return Secret("new-key-1111");
  };
  const WireRun run(Api::openai_chat, {{.status = 401}, {.text = "ok"}}, config);
  EXPECT_EQ(run.result.text, "ok") << run.fault();
  ASSERT_EQ(run.asked(), 2u);
  EXPECT_EQ(find_header(run.mock->requests()[0].headers, "authorization"), "Bearer old-key-0000");
  EXPECT_EQ(find_header(run.mock->requests()[1].headers, "authorization"), "Bearer new-key-1111");
  EXPECT_EQ(reloads, 1);
  const WireRun refused(Api::openai_chat, {{.status = 401}}, config);
  EXPECT_EQ(refused.fault(), "auth");
  EXPECT_EQ(refused.asked(), 2u);
  ASSERT_TRUE(refused.result.error);
  EXPECT_THAT(to_string(*refused.result.error), Not(HasSubstr("key-1111")));
  EXPECT_THAT(to_string(*refused.result.error), Not(HasSubstr("key-0000")));
}

TEST(HttpFaultRun, Row55AWaitIsMeasuredByTheClockThatCannotJump) {
  // The date says ten seconds by the wall clock of this moment; what is waited is a length of time.
  const WireRun run(Api::openai_chat,
                    {{.delay = seconds(4),
                      .status = 503,
                      .headers = {{"retry-after", "Thu, 01 Jan 2026 00:00:10 GMT"}}},
                     {.text = "ok"}});
  EXPECT_EQ(run.gaps(), Gaps{10000});
}

}  // namespace
}  // namespace tug
