#include "core/time_formats.h"

#include <cstddef>

namespace tug::detail {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Exactly `digits` digits at the front, taken off; -1 when they are not there.
int take_number(std::string_view& text, std::size_t digits) noexcept {
  if (text.size() < digits) return -1;
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (!is_digit(text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char c) noexcept {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

int days_in(int year, int month) noexcept {
  if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// "1Y2M3D": any run of the units that follow each other, at least one.
bool take_units(std::string_view& text, std::string_view units) noexcept {
  std::size_t next = 0;
  bool any = false;
  while (!text.empty() && is_digit(text[0])) {
    std::size_t digits = 0;
    while (digits < text.size() && is_digit(text[digits])) ++digits;
    if (digits == text.size()) return false;
    const std::size_t unit = units.find(text[digits], any ? next : 0);
    if (unit == std::string_view::npos || (any && unit != next)) return false;
    next = unit + 1;
    any = true;
    text.remove_prefix(digits + 1);
  }
  return any;
}

}  // namespace

bool is_date(std::string_view text) {
  const int year = take_number(text, 4);
  if (year < 0 || !take(text, '-')) return false;
  const int month = take_number(text, 2);
  if (month < 1 || month > 12 || !take(text, '-')) return false;
  const int day = take_number(text, 2);
  return day >= 1 && day <= days_in(year, month) && text.empty();
}

bool is_time(std::string_view text) {
  const int hour = take_number(text, 2);
  if (hour < 0 || hour > 23 || !take(text, ':')) return false;
  const int minute = take_number(text, 2);
  if (minute < 0 || minute > 59 || !take(text, ':')) return false;
  const int second = take_number(text, 2);
  if (second < 0 || second > 60) return false;
  if (take(text, '.')) {
    if (text.empty() || !is_digit(text[0])) return false;
    while (!text.empty() && is_digit(text[0])) text.remove_prefix(1);
  }
  int offset = 0;
  if (!take(text, 'Z') && !take(text, 'z')) {
    const bool west = text.starts_with('-');
    if (!take(text, '+') && !take(text, '-')) return false;
    const int hours = take_number(text, 2);
    if (hours < 0 || hours > 23 || !take(text, ':')) return false;
    const int minutes = take_number(text, 2);
    if (minutes < 0 || minutes > 59) return false;
    offset = (west ? -1 : 1) * (hours * 60 + minutes);
  }
  if (!text.empty()) return false;
  // A leap second comes at the end of a day in UTC only.
  constexpr int day = 24 * 60;
  return second < 60 || (hour * 60 + minute - offset + day) % day == day - 1;
}

bool is_date_time(std::string_view text) {
  const std::size_t t = text.find_first_of("Tt");
  return t != std::string_view::npos && is_date(text.substr(0, t)) && is_time(text.substr(t + 1));
}

bool is_duration(std::string_view text) {
  if (!take(text, 'P') || text.empty()) return false;
  if (text.ends_with('W')) {
    text.remove_suffix(1);
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  }
  if (text[0] != 'T' && !take_units(text, "YMD")) return false;
  if (text.empty()) return true;
  return take(text, 'T') && take_units(text, "HMS") && text.empty();
}

}  // namespace tug::detail
