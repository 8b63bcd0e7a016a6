#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tug/core/json.h"
#include "tug/model/faults.h"

namespace tug {
namespace {

using Wait = std::optional<std::int64_t>;

Wait stated(std::vector<HttpHeader> headers, std::string_view body = "", int status = 429) {
  const Time now = *parse_rfc3339("2026-11-15T12:00:00Z");
  return stated_wait_ms({.status = status, .body = body, .headers = &headers, .now = now});
}

TEST(StatedWait, RetryAfterInAllSpellings) {
  struct Row {
    const char* value;
    Wait wait;
  };
  const Row rows[] = {
      {"2", 2000},
      {" 2 ", 2000},
      {"+2", 2000},
      {"0", 0},
      {"-5", 0},
      {"-0.0", 0},
      {"1.5", 1500},
      {"0.0001", 1},
      {"1e3", 1000000},
      {"1000000000", 1000000000000},
      {"1e300", 1000000000000},
      {"1e999", 1000000000000},
      {"99999999999999999999999999", 1000000000000},
      {"20s", 20000},
      {"6m0s", 360000},
      {"abc", std::nullopt},
      {"", std::nullopt},
      {"nan", std::nullopt},
      {"2,3", std::nullopt},
      {"Sun, 15 Nov 2026 12:00:30 GMT", 30000},
      {"Sun, 15 Nov 2026 11:59:30 GMT", 0},
      {"Sunday, 15-Nov-26 12:01:00 GMT", 60000},
      {"Sun Nov 15 12:00:07 2026", 7000},
      {"Mon Nov  9 12:00:07 2026", 0},
      {"Sun, 31 Feb 2027 12:00:00 GMT", std::nullopt},
      {"Sun, 15 Nov 2026 25:00:00 GMT", std::nullopt},
      {"Sun, 15 Nov 9999 12:00:00 GMT", std::nullopt},
      {"Sun, 15 Nov 2026 12:00:30 CET", std::nullopt},
  };
  for (const Row& row : rows)
    EXPECT_EQ(stated({{"Retry-After", row.value}}), row.wait) << row.value;
}

TEST(StatedWait, MillisecondsBeatSeconds) {
  EXPECT_EQ(stated({{"retry-after", "9"}, {"retry-after-ms", "250"}}), 250);
  EXPECT_EQ(stated({{"retry-after", "9"}, {"retry-after-ms", "-1"}}), 0);
  EXPECT_EQ(stated({{"retry-after", "9"}, {"retry-after-ms", "abc"}}), 9000);
  EXPECT_EQ(stated({{"retry-after-ms", "0.4"}}), 1);
}

TEST(StatedWait, ADateWithoutAClockStatesNothing) {
  const std::vector<HttpHeader> headers = {{"retry-after", "Sun, 15 Nov 2026 12:00:30 GMT"}};
  EXPECT_EQ(stated_wait_ms({.status = 429, .headers = &headers}), std::nullopt);
  EXPECT_EQ(stated_wait_ms({.status = 429}), std::nullopt);
}

TEST(StatedWait, BodiesStateItInTypesAndInProse) {
  struct Row {
    const char* text;
    Wait wait;
  };
  const Row rows[] = {
      {"Rate limit reached. Please try again in 1.3s. Visit us", 1300},
      {"Please try again in 6m0s.", 360000},
      {"try again in 20ms", 20},
      {"Please retry in 36.524s.", 36524},
      {"Please retry after 12 seconds.", 12000},
      {"Try again in 2 minutes 3 seconds", 123000},
      {"try again in 1h2m3s", 3723000},
      {"quota resets in 2 hours", 7200000},
      {"try again in a while", std::nullopt},
      {"try again in 5 attempts", std::nullopt},
      {"retry", std::nullopt},
  };
  for (const Row& row : rows) {
    const std::string body =
        print_json(Json::object({{"error", Json::object({{"message", row.text}})}}));
    EXPECT_EQ(stated({}, body), row.wait) << row.text;
    EXPECT_EQ(stated({}, row.text), row.wait) << row.text;
  }
  EXPECT_EQ(
      stated({},
             R"({"error":{"details":[{"@type":"x/google.rpc.RetryInfo","retryDelay":"17.5s"}]}})"),
      17500);
  EXPECT_EQ(stated({}, R"({"error":{"details":[{"retryDelay":"soon"}]}})"), std::nullopt);
  EXPECT_EQ(stated({}, R"({"error":{"message":"x","retry_after":2.5}})"), 2500);
  EXPECT_EQ(stated({}, R"({"error":{"type":"usage_limit_reached","resets_in_seconds":90}})"),
            90000);
  EXPECT_EQ(stated({{"retry-after", "1"}}, "try again in 9s"), 1000) << "headers come first";
}

TEST(StatedWait, LimitsThatAreUsedUpStateTheirReset) {
  EXPECT_EQ(stated({{"x-ratelimit-reset-requests", "6m0s"},
                    {"x-ratelimit-remaining-requests", "12"},
                    {"x-ratelimit-reset-tokens", "20ms"},
                    {"x-ratelimit-remaining-tokens", "0"}}),
            20);
  EXPECT_EQ(stated({{"x-ratelimit-reset-requests", "1s"}, {"x-ratelimit-reset-tokens", "3s"}}),
            3000);
  EXPECT_EQ(stated({{"anthropic-ratelimit-tokens-reset", "2026-11-15T12:00:10Z"},
                    {"anthropic-ratelimit-tokens-remaining", "0"}}),
            10000);
  EXPECT_EQ(stated({{"x-ratelimit-reset", "1794744005000"}}), 5000);
  EXPECT_EQ(stated({{"x-ratelimit-reset", "1794744007"}}), 7000);
  EXPECT_EQ(stated({{"x-ratelimit-reset", "abc"}}), std::nullopt);
  EXPECT_EQ(stated({{"x-ratelimit-reset-requests", "6m0s"}}, "", 500), std::nullopt)
      << "every answer has them";
}

}  // namespace
}  // namespace tug
