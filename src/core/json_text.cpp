#include "core/json_text.h"

#include <algorithm>
#include <array>

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

constexpr auto kSimpleEscapes = [] {
  std::array<char, 256> table{};
  table['"'] = '"';
  table['\\'] = '\\';
  table['/'] = '/';
  table['b'] = '\b';
  table['f'] = '\f';
  table['n'] = '\n';
  table['r'] = '\r';
  table['t'] = '\t';
  return table;
}();

// At a backslash: writes what it stands for and moves `p` behind it; false when it is no escape.
bool read_escape(const char*& p, const char* end, char*& to) noexcept {
  const char plain = kSimpleEscapes[static_cast<unsigned char>(p[1])];
  if (plain != '\0') {
    *to++ = plain;
    p += 2;
    return true;
  }
  unsigned code = 0;
  if (!read_unicode(p, end, code)) return false;
  to = write_code_point(to, code);
  return true;
}

// Unescapes up to the end of the block at `p`, or further when an escape reaches over it, but not
// beyond `end`. Returns the backslash of what is no escape, else null.
const char* unescape_block(const char*& p, const char* end, std::uint64_t backslashes,
                           std::size_t size, char*& to) noexcept {
  const char* const block = p;
  const char* const block_end = p + size;
  while (backslashes != 0) {
    const char* escape = block + std::countr_zero(backslashes);
    const auto run = static_cast<std::size_t>(escape - p);
    copy_loosely(to, p, run);
    to += run;
    p = escape;
    if (!read_escape(p, end, to)) return escape;
    if (p >= block_end) return nullptr;
    backslashes &= ~std::uint64_t{0} << (p - block);
  }
  const auto run = static_cast<std::size_t>(block_end - p);
  copy_loosely(to, p, run);
  to += run;
  p = block_end;
  return nullptr;
}

// Writes the plain text to `to`, which has room for raw.size() + kLoose bytes: no escape gets
// longer, so what is written never overtakes what is read.
const char* unescape(std::string_view raw, char*& to) noexcept {
  const char* p = raw.data();
  const char* end = p + raw.size();
  while (end - p >= kBlock + kLoose) {
    const char* bad = unescape_block(p, end, string_block(p).backslashes, kBlock, to);
    if (bad != nullptr) return bad;
  }
  while (p != end) {
    const auto size = static_cast<std::size_t>(std::min(end - p, kBlock));
    const Tail tail(p, end);
    const std::uint64_t within =
        size == kBlock ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
    const std::uint64_t backslashes = string_block(tail.bytes).backslashes & within;
    const char* from = tail.bytes;
    const char* bad = unescape_block(from, tail.bytes + (end - p), backslashes, size, to);
    if (bad != nullptr) return p + (bad - tail.bytes);
    p += from - tail.bytes;
  }
  return nullptr;
}

}  // namespace

constexpr std::size_t kSmall = 96;

const char* put_escaped_text(Json& value, std::string_view raw) {
  char small[kSmall + kLoose];
  if (raw.size() <= kSmall) {
    char* end = small;
    const char* bad = unescape(raw, end);
    JsonAccess::put_text(value, {small, static_cast<std::size_t>(end - small)});
    return bad;
  }
  TextNode* node = TextNode::make(raw.size() + kLoose);
  char* end = node->chars();
  const char* bad = unescape(raw, end);
  const auto size = static_cast<std::size_t>(end - node->chars());
  if (bad != nullptr || raw.size() - size > raw.size() / 8) {
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
