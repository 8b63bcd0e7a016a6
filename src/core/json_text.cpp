#include "core/json_text.h"

#include "core/json_node.h"
#include "core/scan.h"

namespace tug::detail {
namespace {

constexpr unsigned kReplacement = 0xfffd;

char* write_code_point(char* to, unsigned code) noexcept {
  const auto put = [&](unsigned byte) { *to++ = static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
  return to;
}

// The number after "\u" at `p`; -1 when there are not four digits.
int read_unit(const char* p, const char* end) noexcept {
  if (end - p < 6 || p[0] != '\\' || p[1] != 'u') return -1;
  int unit = 0;
  for (int i = 2; i < 6; ++i) {
    const int digit = hex_digit(p[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

// At a "\u" escape: moves `p` behind it and a second half if there is one.
bool read_unicode(const char*& p, const char* end, unsigned& code) noexcept {
  const int unit = read_unit(p, end);
  if (unit < 0) return false;
  p += 6;
  code = static_cast<unsigned>(unit);
  if (code < 0xd800 || code > 0xdfff) return true;
  const int low = code < 0xdc00 ? read_unit(p, end) : -1;
  if (low < 0xdc00 || low > 0xdfff) {
    code = kReplacement;
    return true;
  }
  p += 6;
  code = 0x10000 + ((code - 0xd800) << 10) + (static_cast<unsigned>(low) - 0xdc00);
  return true;
}

char simple_escape(char letter) noexcept {
  switch (letter) {
    case '"':
    case '\\':
    case '/':
      return letter;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return '\0';
  }
}

// Writes the plain text to `to`, which has room for raw.size() bytes: no escape gets longer.
const char* unescape(std::string_view raw, char*& to) noexcept {
  const char* p = raw.data();
  const char* end = p + raw.size();
  while (p != end) {
    const char* run = p;
    bool non_ascii = false;
    p = scan_string(p, end, non_ascii);
    std::memcpy(to, run, static_cast<std::size_t>(p - run));
    to += p - run;
    if (p == end) return nullptr;
    if (p[1] == 'u') {
      unsigned code = 0;
      const char* escape = p;
      if (!read_unicode(p, end, code)) return escape;
      to = write_code_point(to, code);
      continue;
    }
    const char plain = simple_escape(p[1]);
    if (plain == '\0') return p;
    *to++ = plain;
    p += 2;
  }
  return nullptr;
}

}  // namespace

const char* put_escaped_text(Json& value, std::string_view raw) {
  char small[96];
  if (raw.size() <= sizeof small) {
    char* end = small;
    const char* bad = unescape(raw, end);
    JsonAccess::put_text(value, {small, static_cast<std::size_t>(end - small)});
    return bad;
  }
  TextNode* node = TextNode::make(raw.size());
  char* end = node->chars();
  const char* bad = unescape(raw, end);
  const auto size = static_cast<std::size_t>(end - node->chars());
  if (raw.size() - size > raw.size() / 8) {
    // Much was escapes: give the rest back.
    JsonAccess::put_text(value, {node->chars(), size});
    deallocate(node);
  } else {
    node->size = size;
    JsonAccess::put_node(value, Tag::long_text, node);
  }
  return bad;
}

}  // namespace tug::detail
