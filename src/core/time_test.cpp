#include "tug/core/time.h"

#include <gtest/gtest.h>

#include <utility>

namespace tug {
namespace {

TEST(Time, IsWrittenWithAsManyDigitsAsItNeeds) {
  const std::pair<std::int64_t, const char*> cases[] = {
      {0, "1970-01-01T00:00:00.000Z"},
      {1'767'225'600'000'000'000, "2026-01-01T00:00:00.000Z"},
      {1'709'164'799'999'000'000, "2024-02-28T23:59:59.999Z"},
      {1'709'164'800'000'001'000, "2024-02-29T00:00:00.000001Z"},
      {1'709'164'800'000'000'001, "2024-02-29T00:00:00.000000001Z"},
      {-1, "1969-12-31T23:59:59.999999999Z"},
      {-86'400'000'000'000, "1969-12-31T00:00:00.000Z"},
  };
  for (const auto& [nanos, text] : cases) {
    EXPECT_EQ(to_rfc3339(Time(Duration(nanos))), text);
    EXPECT_EQ(parse_rfc3339(text).value(), Time(Duration(nanos))) << text;
  }
}

TEST(Time, IsReadWithAnyOffsetAndFraction) {
  const std::pair<const char*, const char*> cases[] = {
      {"2026-01-01T01:30:00+01:30", "2026-01-01T00:00:00.000Z"},
      {"2025-12-31T19:00:00-05:00", "2026-01-01T00:00:00.000Z"},
      {"2026-01-01t00:00:00z", "2026-01-01T00:00:00.000Z"},
      {"2026-01-01 00:00:00.5Z", "2026-01-01T00:00:00.500Z"},
      {"2026-01-01T00:00:00.1234567891234Z", "2026-01-01T00:00:00.123456789Z"},
      {"2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"},
      {"2016-12-31T23:59:60.75Z", "2017-01-01T00:00:00.000Z"},
      {"2262-04-11T23:47:16.854775807Z", "2262-04-11T23:47:16.854775807Z"},
  };
  for (const auto& [text, same] : cases) EXPECT_EQ(to_rfc3339(parse_rfc3339(text).value()), same);
}

TEST(Time, RefusesWhatIsNotATime) {
  const char* cases[] = {
      "",
      "2026",
      "2026-01-01",
      "2026-01-01T00:00Z",
      "2026-01-01T00:00:00",
      "2026-01-01T00:00:00.Z",
      "2026-01-01T00:00:00Z ",
      "2026-02-29T00:00:00Z",
      "2026-13-01T00:00:00Z",
      "2026-01-01T24:00:00Z",
      "2026-01-01T00:60:00Z",
      "2026-01-01T00:00:61Z",
      "2026-01-01T00:00:00+24:00",
      "2026-01-01T00:00:00+0100",
      "2262-04-11T23:47:16.854775808Z",
      "9999-01-01T00:00:00Z",
      "0001-01-01T00:00:00Z",
      "+2026-01-01T00:00:00Z",
  };
  for (const char* text : cases) {
    auto time = parse_rfc3339(text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().kind(), ErrorKind::invalid);
  }
  EXPECT_EQ(parse_rfc3339("2026-02-29T00:00:00Z").error().message(),
            "\"2026-02-29T00:00:00Z\" is not a time: no such day");
}

TEST(Time, LaterStopsAtNeverInsteadOfOverflowing) {
  EXPECT_EQ(later(Instant(Duration(5)), Duration(7)), Instant(Duration(12)));
  EXPECT_EQ(later(Instant(Duration(5)), Duration::max()), kNever);
  EXPECT_EQ(later(kNever, Duration(1)), kNever);
}

}  // namespace
}  // namespace tug
