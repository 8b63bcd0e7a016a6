#include "approval_text.h"

#include <algorithm>
#include <utility>

#include "tug/core/terminal_text.h"
#include "tug/core/utf8.h"

namespace tug::cli {
namespace {

constexpr std::size_t kListed = 160;

struct Range {
  char32_t first, last;
};
// Letters that take no room, or look like a space or like nothing.
constexpr Range kUnseen[] = {
    {0xa0, 0xa0},     {0xad, 0xad},     {0x34f, 0x34f},     {0x115f, 0x1160},  {0x1680, 0x1680},
    {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x2000, 0x200f},   {0x2028, 0x202f},  {0x205f, 0x206f},
    {0x2800, 0x2800}, {0x3000, 0x3000}, {0x3164, 0x3164},   {0xfe00, 0xfe0f},  {0xfeff, 0xfeff},
    {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
// Alphabets with letters that look like Latin ones.
constexpr Range kAlike[] = {{0x370, 0x3ff},   {0x400, 0x52f},    {0x531, 0x58f},   {0x13a0, 0x13ff},
                            {0x1d00, 0x1d7f}, {0x2c60, 0x2c7f},  {0xa640, 0xa69f}, {0xab30, 0xabbf},
                            {0xff21, 0xff5a}, {0x1d400, 0x1d7ff}};

bool within(char32_t point, std::span<const Range> ranges) {
  return std::ranges::any_of(
      ranges, [point](const Range& range) { return range.first <= point && point <= range.last; });
}

// Takes one code point off well-formed text.
char32_t take(std::string_view& text, std::size_t& size) {
  const auto lead = static_cast<unsigned char>(text[0]);
  size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  char32_t point = size == 1 ? lead : lead & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i)
    point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
  text.remove_prefix(size);
  return point;
}

void append_unit(std::string& out, char32_t unit) {
  constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[unit >> shift & 15];
}

// Of printed JSON; still the same JSON.
std::string seen(std::string_view json) {
  const std::string harmless = terminal_text(json, Newlines::keep);
  std::string out;
  for (std::string_view rest = harmless; !rest.empty();) {
    const std::string_view before = rest;
    std::size_t size = 0;
    const char32_t point = take(rest, size);
    if (!within(point, kUnseen)) {
      out += before.substr(0, size);
    } else if (point < 0x10000) {
      append_unit(out, point);
    } else {
      append_unit(out, 0xd800 + ((point - 0x10000) >> 10));
      append_unit(out, 0xdc00 + ((point - 0x10000) & 0x3ff));
    }
  }
  return out;
}

std::string margin(std::size_t depth) { return std::string(2 * depth, ' '); }

void print_string(std::string_view text, std::size_t depth, std::string& out) {
  const std::size_t first = text.find('\n');
  if (first == text.npos || first + 1 == text.size()) return print_json_string(text, out);
  while (!text.empty()) {
    const std::string_view line =
        text.substr(0, text.find('\n') == text.npos ? text.size() : text.find('\n') + 1);
    out += "\n" + margin(depth);
    print_json_string(line, out);
    text.remove_prefix(line.size());
  }
}

void print(const Json& value, std::size_t depth, std::string& out) {
  if (value.is_string()) return print_string(value.as_string(), depth + 1, out);
  if (value.empty()) return print_json(value, out);
  const bool object = value.is_object();
  out += object ? "{" : "[";
  bool first = true;
  const auto next = [&] {
    out += std::exchange(first, false) ? "\n" : ",\n";
    out += margin(depth + 1);
  };
  for (const Json::Member& member : value.members()) {
    next();
    print_json_string(member.key(), out);
    out += ": ";
    print(member.value, depth + 1, out);
  }
  for (const Json& item : value.items()) {
    next();
    print(item, depth + 1, out);
  }
  out += "\n" + margin(depth) + (object ? "}" : "]");
}

bool is_latin(char32_t point) {
  return (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z');
}

}  // namespace

std::string shown_arguments(const Json& arguments) {
  std::string out;
  print(arguments, 0, out);
  return seen(out);
}

std::string warning_about(const Json& arguments) {
  bool latin = false;
  bool alike = false;
  const std::string json = print_json(arguments);
  for (std::string_view rest = json; !rest.empty();) {
    std::size_t size = 0;
    const char32_t point = take(rest, size);
    if (is_latin(point)) {
      latin = true;
    } else if (within(point, kAlike)) {
      alike = true;
    } else {
      latin = alike = false;
    }
    if (latin && alike) return "a word mixes letters of two alphabets that look alike";
  }
  return {};
}

std::string pending_list(const std::vector<PendingApproval>& pending) {
  std::string out;
  for (const PendingApproval& call : pending) {
    const std::string arguments = print_json(call.arguments);
    const std::string_view clipped = clip_utf8(arguments, kListed);
    out += "  " + terminal_text(call.call.text()) + "  " + terminal_text(call.tool) + " " +
           seen(clipped) + (clipped.size() < arguments.size() ? ".." : "");
    if (!call.agent.empty() && call.agent != "main")
      out += "  (asked by " + terminal_text(call.agent) + ")";
    out += "\n";
    if (!call.reason.empty()) out += "      " + terminal_text(call.reason) + "\n";
  }
  return out;
}

}  // namespace tug::cli
