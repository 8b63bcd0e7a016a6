#include "tug/core/time.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace tug {
namespace {

namespace chrono = std::chrono;
constexpr std::int64_t kSecond = 1'000'000'000;

Failure not_a_time(std::string_view text, std::string_view why) {
  return fail(ErrorKind::invalid, fmt::format("\"{}\" is not a time: {}", text.substr(0, 64), why),
              "write it as 2026-02-03T04:05:06Z or 2026-02-03T04:05:06.789+01:00");
}

// Takes exactly `digits` digits off the front.
std::optional<int> take_number(std::string_view& rest, std::size_t digits) {
  if (rest.size() < digits) return std::nullopt;
  int number = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (rest[i] < '0' || rest[i] > '9') return std::nullopt;
    number = number * 10 + (rest[i] - '0');
  }
  rest.remove_prefix(digits);
  return number;
}

bool take_one(std::string_view& rest, std::string_view any_of) {
  if (rest.empty() || any_of.find(rest.front()) == std::string_view::npos) return false;
  rest.remove_prefix(1);
  return true;
}

// At least one digit; those after the ninth are cut.
std::optional<std::int64_t> take_fraction(std::string_view& rest) {
  std::int64_t nanos = 0;
  std::int64_t unit = kSecond;
  std::size_t digits = 0;
  for (; digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9'; ++digits) {
    unit /= 10;
    nanos += unit * (rest[digits] - '0');
  }
  if (digits == 0) return std::nullopt;
  rest.remove_prefix(digits);
  return nanos;
}

// Minutes east of UTC.
std::optional<int> take_offset(std::string_view& rest) {
  if (take_one(rest, "Zz")) return 0;
  if (rest.empty()) return std::nullopt;
  const int sign = rest.front() == '-' ? -1 : 1;
  if (!take_one(rest, "+-")) return std::nullopt;
  auto hours = take_number(rest, 2);
  if (!hours || !take_one(rest, ":")) return std::nullopt;
  auto minutes = take_number(rest, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return sign * (*hours * 60 + *minutes);
}

}  // namespace

std::string to_rfc3339(Time time) {
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss clock(time - day);
  const std::int64_t nanos = clock.subseconds().count();
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", int(date.year()), unsigned(date.month()),
                  unsigned(date.day()), clock.hours().count(), clock.minutes().count(),
                  clock.seconds().count());
  if (nanos % 1'000'000 == 0) return text + fmt::format(".{:03}Z", nanos / 1'000'000);
  if (nanos % 1'000 == 0) return text + fmt::format(".{:06}Z", nanos / 1'000);
  return text + fmt::format(".{:09}Z", nanos);
}

Result<Time> parse_rfc3339(std::string_view text) {
  std::string_view rest = text;
  auto year = take_number(rest, 4);
  if (!year || !take_one(rest, "-")) return not_a_time(text, "no date");
  auto month = take_number(rest, 2);
  if (!month || !take_one(rest, "-")) return not_a_time(text, "no date");
  auto day = take_number(rest, 2);
  if (!day || !take_one(rest, "Tt ")) return not_a_time(text, "no date");
  auto hour = take_number(rest, 2);
  if (!hour || !take_one(rest, ":")) return not_a_time(text, "no time of day");
  auto minute = take_number(rest, 2);
  if (!minute || !take_one(rest, ":")) return not_a_time(text, "no time of day");
  auto second = take_number(rest, 2);
  if (!second || *hour > 23 || *minute > 59 || *second > 60)
    return not_a_time(text, "no time of day");
  std::int64_t nanos = 0;
  if (take_one(rest, ".")) {
    auto fraction = take_fraction(rest);
    if (!fraction) return not_a_time(text, "no digits after the point");
    nanos = *second == 60 ? 0 : *fraction;
  }
  auto offset = take_offset(rest);
  if (!offset) return not_a_time(text, "no offset (Z or +hh:mm)");
  if (!rest.empty()) return not_a_time(text, "something follows the offset");

  const chrono::year_month_day date{chrono::year(*year), chrono::month(unsigned(*month)),
                                    chrono::day(unsigned(*day))};
  if (!date.ok()) return not_a_time(text, "no such day");
  const std::int64_t days = chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t seconds =
      days * 86'400 + *hour * 3'600 + (*minute - *offset) * std::int64_t{60} + *second;
  std::int64_t count = 0;
  if (__builtin_mul_overflow(seconds, kSecond, &count) ||
      __builtin_add_overflow(count, nanos, &count))
    return not_a_time(text, "outside the years 1678 to 2261");
  return Time(Duration(count));
}

}  // namespace tug
