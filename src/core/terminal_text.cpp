#include "tug/core/terminal_text.h"

#include <cstdint>

#include "tug/core/utf8.h"

namespace tug {
namespace {

// Left-to-right and right-to-left marks, embeddings, overrides and isolates.
bool turns_direction(std::uint32_t point) noexcept {
  return point == 0x200e || point == 0x200f || point == 0x061c ||
         (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

void append_escape(std::string& out, std::uint32_t point) {
  constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out.push_back(kHex[point >> shift & 15]);
}

}  // namespace

std::string terminal_text(std::string_view given, Newlines newlines) {
  const std::string text = repair_utf8(given);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    std::uint32_t point = size == 1 ? lead : lead & (0x7fu >> size);
    for (std::size_t j = 1; j < size; ++j) {
      point = point << 6 | (static_cast<unsigned char>(text[i + j]) & 0x3f);
    }
    const bool control = point < 0x20 || (point >= 0x7f && point < 0xa0);
    if (point == '\n') {
      out += newlines == Newlines::keep ? "\n" : "\\n";
    } else if (point == '\t') {
      out += "\\t";
    } else if (control || turns_direction(point)) {
      append_escape(out, point);
    } else {
      out.append(text, i, size);
    }
    i += size;
  }
  return out;
}

}  // namespace tug
