#include "tug/core/utf8.h"

#include "core/scan.h"

namespace tug {
namespace {

// The first ill-formed byte, or `end`.
const char* skip_well_formed(const char* p, const char* end) noexcept {
  for (;;) {
    p = detail::skip_ascii(p, end);
    while (p != end && static_cast<unsigned char>(*p) >= 0x80) {
      const auto sequence = detail::utf8_sequence(p, end);
      if (!sequence.well_formed) return p;
      p += sequence.length;
    }
    if (p == end) return end;
  }
}

}  // namespace

bool is_utf8(std::string_view bytes) noexcept {
  const char* end = bytes.data() + bytes.size();
  return skip_well_formed(bytes.data(), end) == end;
}

std::string repair_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  const char* p = bytes.data();
  const char* end = p + bytes.size();
  while (p != end) {
    const char* bad = skip_well_formed(p, end);
    out.append(p, bad);
    p = bad;
    if (p == end) break;
    out += "\xef\xbf\xbd";
    p += detail::utf8_sequence(p, end).length;
  }
  return out;
}

std::string_view clip_utf8(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit) return text;
  std::size_t cut = limit;
  // A code point has at most three continuation bytes; more of them are garbage, cut anywhere.
  for (int back = 0; back < 3 && cut > 0; ++back) {
    if ((static_cast<unsigned char>(text[cut]) & 0xc0) != 0x80) return text.substr(0, cut);
    --cut;
  }
  return (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80 ? text.substr(0, limit)
                                                                : text.substr(0, cut);
}

std::size_t count_code_points(std::string_view text) noexcept {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

}  // namespace tug
