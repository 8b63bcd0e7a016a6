#include <gtest/gtest.h>

#include <limits>

#include "tug/core/error_json.h"
#include "tug/model/script.h"

namespace tug {
namespace {

const ModelProfile kProfile{.provider = "script", .name = "a.jsonl"};

TEST(ProviderError, TheStatusDecidesTheKind) {
  struct Row {
    int status;
    ErrorKind kind;
    const char* fault;
    bool retryable;
  };
  const Row rows[] = {
      {400, ErrorKind::invalid, "bad_request", false},
      {401, ErrorKind::denied, "auth", false},
      {402, ErrorKind::denied, "quota_terminal", false},
      {403, ErrorKind::denied, "forbidden", false},
      {404, ErrorKind::invalid, "not_found", false},
      {408, ErrorKind::disconnected, "timeout", true},
      {413, ErrorKind::invalid, "request_too_large", false},
      {418, ErrorKind::invalid, "bad_request", false},
      {422, ErrorKind::invalid, "bad_request", false},
      {429, ErrorKind::overloaded, "retry_after", true},
      {500, ErrorKind::overloaded, "overloaded", true},
      {502, ErrorKind::overloaded, "overloaded", true},
      {503, ErrorKind::overloaded, "overloaded", true},
      {504, ErrorKind::disconnected, "timeout", true},
      {529, ErrorKind::overloaded, "overloaded", true},
      {599, ErrorKind::overloaded, "overloaded", true},
      {200, ErrorKind::internal, "not_an_answer", false},
      {-1, ErrorKind::internal, "not_an_answer", false},
  };
  for (const Row& row : rows) {
    const Error error = provider_error(kProfile, row.status, "", std::nullopt);
    EXPECT_EQ(error.kind(), row.kind) << row.status;
    ASSERT_TRUE(error.detail_if<Provider>());
    EXPECT_EQ(error.detail_if<Provider>()->fault, row.fault) << row.status;
    EXPECT_EQ(error.detail_if<Provider>()->status, row.status);
    EXPECT_EQ(is_retryable(error), row.retryable) << row.status;
    EXPECT_FALSE(error.fix().empty());
  }
}

TEST(ProviderError, SaysWhoAnsweredWhat) {
  const Error error = provider_error(
      kProfile, 429, R"({"error":{"type":"rate_limit_error","message":"slow down"}})", 1.5);
  EXPECT_EQ(error.message(), "script/a.jsonl answered 429: slow down");
  EXPECT_EQ(error.detail_if<Provider>()->code, "rate_limit_error");
  EXPECT_EQ(error.detail_if<Provider>()->retry_after_ms, 1500);
  EXPECT_EQ(error.detail_if<Provider>()->provider, "script");
  EXPECT_EQ(error.detail_if<Provider>()->model, "a.jsonl");
}

TEST(ProviderError, ASpentAccountIsNotWorthWaitingFor) {
  const Error error = provider_error(
      kProfile, 429, R"({"error":{"code":"insufficient_quota","message":"pay"}})", std::nullopt);
  EXPECT_EQ(error.kind(), ErrorKind::denied);
  EXPECT_EQ(error.detail_if<Provider>()->fault, "quota_terminal");
}

TEST(ProviderError, HostileBodiesAndWaitsAreBounded) {
  const Error error = provider_error(kProfile, 500, std::string(100 << 20, '\xff'), 1e300);
  EXPECT_LT(error.message().size(), 1000u);
  EXPECT_EQ(error.detail_if<Provider>()->retry_after_ms, 1'000'000'000'000);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(provider_error(kProfile, 500, "x", nan).detail_if<Provider>()->retry_after_ms,
            std::nullopt);
  EXPECT_EQ(provider_error(kProfile, 500, "x", -3.0).detail_if<Provider>()->retry_after_ms, 0);
}

}  // namespace
}  // namespace tug
