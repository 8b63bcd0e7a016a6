#include "model/stated_duration.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

namespace tug::detail {
namespace {

namespace chrono = std::chrono;
constexpr double kMostMs = 1e12;

constexpr std::pair<std::string_view, double> kUnits[] = {
    {"ms", 1},        {"millisecond", 1}, {"milliseconds", 1},
    {"s", 1e3},       {"sec", 1e3},       {"secs", 1e3},
    {"second", 1e3},  {"seconds", 1e3},   {"m", 6e4},
    {"min", 6e4},     {"mins", 6e4},      {"minute", 6e4},
    {"minutes", 6e4}, {"h", 3.6e6},       {"hr", 3.6e6},
    {"hour", 3.6e6},  {"hours", 3.6e6},   {"d", 8.64e7},
    {"day", 8.64e7},  {"days", 8.64e7},   {"microseconds", 1e-3},
    {"us", 1e-3},     {"ns", 1e-6},
};

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

void skip_spaces(std::string_view& text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

std::string take_word(std::string_view& text) {
  std::string word;
  while (!text.empty() && is_letter(text.front())) {
    word += static_cast<char>(text.front() | 0x20);
    text.remove_prefix(1);
  }
  return word;
}

std::optional<int> take_int(std::string_view& text, std::size_t most) {
  int value = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && digits < most; ++digits) {
    if (text[digits] < '0' || text[digits] > '9') break;
    value = value * 10 + (text[digits] - '0');
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

bool take_char(std::string_view& text, char c) noexcept {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<unsigned> month_of(std::string_view word) {
  constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                        "jul", "aug", "sep", "oct", "nov", "dec"};
  for (unsigned i = 0; i < kMonths.size(); ++i) {
    if (word == kMonths[i]) return i + 1;
  }
  return std::nullopt;
}

std::optional<chrono::seconds> take_clock(std::string_view& text) {
  const auto hour = take_int(text, 2);
  if (!hour || !take_char(text, ':')) return std::nullopt;
  const auto minute = take_int(text, 2);
  if (!minute || !take_char(text, ':')) return std::nullopt;
  const auto second = take_int(text, 2);
  if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return chrono::hours(*hour) + chrono::minutes(*minute) + chrono::seconds(*second);
}

int year_of(Time now) {
  return static_cast<int>(chrono::year_month_day(chrono::floor<chrono::days>(now)).year());
}

}  // namespace

std::int64_t clamped_ms(double milliseconds) noexcept {
  if (!(milliseconds > 0)) return 0;
  return static_cast<std::int64_t>(std::ceil(std::fmin(milliseconds, kMostMs) - 1e-6));
}

std::optional<std::int64_t> parse_stated_duration(std::string_view text) {
  double total = 0;
  bool any = false;
  bool negative = false;
  skip_spaces(text);
  if (take_char(text, '-')) negative = true;
  while (true) {
    skip_spaces(text);
    if (text.empty()) break;
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec == std::errc::result_out_of_range) {
      number = kMostMs;
    } else if (read.ec != std::errc()) {
      return std::nullopt;
    }
    if (!(number >= 0)) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    skip_spaces(text);
    const std::string word = take_word(text);
    double unit = 0;
    for (const auto& [name, size] : kUnits) {
      if (word == name) unit = size;
    }
    if (word.empty() && !any && text.empty()) unit = 1e3;
    if (unit == 0) return std::nullopt;
    total += number * unit;
    any = true;
  }
  if (!any) return std::nullopt;
  return negative ? 0 : clamped_ms(total);
}

std::optional<Time> parse_http_date(std::string_view text, Time now) {
  skip_spaces(text);
  if (take_word(text).size() < 3) return std::nullopt;
  std::optional<int> day;
  std::optional<int> year;
  std::optional<unsigned> month;
  std::optional<chrono::seconds> clock;
  if (take_char(text, ',')) {
    skip_spaces(text);
    day = take_int(text, 2);
    const char between = take_char(text, '-') ? '-' : ' ';
    skip_spaces(text);
    month = month_of(take_word(text));
    if (between == '-') take_char(text, '-');
    skip_spaces(text);
    const std::size_t before = text.size();
    year = take_int(text, 4);
    if (year && before - text.size() == 2) {
      // RFC 9110: a year that seems over 50 years ahead is one of the past.
      const int this_year = year_of(now);
      *year += this_year - this_year % 100;
      if (*year > this_year + 50) *year -= 100;
    }
    skip_spaces(text);
    clock = take_clock(text);
    skip_spaces(text);
    const std::string zone = take_word(text);
    if (zone != "gmt" && zone != "utc") return std::nullopt;
  } else {
    skip_spaces(text);
    month = month_of(take_word(text));
    skip_spaces(text);
    day = take_int(text, 2);
    skip_spaces(text);
    clock = take_clock(text);
    skip_spaces(text);
    year = take_int(text, 4);
  }
  skip_spaces(text);
  if (!day || !month || !year || !clock || !text.empty()) return std::nullopt;
  const chrono::year_month_day date{chrono::year(*year), chrono::month(*month),
                                    chrono::day(static_cast<unsigned>(*day))};
  // What Time can hold.
  if (!date.ok() || *year < 1678 || *year > 2261) return std::nullopt;
  return Time(chrono::sys_days(date)) + *clock;
}

}  // namespace tug::detail
