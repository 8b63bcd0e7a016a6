#include "harmless_text.h"

#include "tug/core/terminal_text.h"

namespace tug::cli {
namespace {

// Bytes at the end that may be the beginning of a character, or of a line end.
std::size_t unfinished(std::string_view text) {
  if (text.ends_with('\r')) return 1;
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;
    const std::size_t size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return size > back ? back : 0;
  }
  return 0;
}

std::string harmless(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t place = text.find_first_of("\t\r");
    out += terminal_text(text.substr(0, place), Newlines::keep);
    if (place == text.npos) break;
    const bool line_end = text[place] == '\r' && text.substr(place + 1).starts_with('\n');
    if (text[place] == '\t') {
      out += '\t';
    } else if (!line_end) {
      out += terminal_text("\r");
    }
    text.remove_prefix(place + 1);
  }
  return out;
}

}  // namespace

std::string HarmlessText::push(std::string_view piece) {
  std::string text = std::move(waiting_) + std::string(piece);
  const std::size_t keep = unfinished(text);
  waiting_ = text.substr(text.size() - keep);
  text.resize(text.size() - keep);
  return harmless(text);
}

std::string HarmlessText::flush() {
  std::string text = std::move(waiting_);
  waiting_.clear();
  return harmless(text);
}

}  // namespace tug::cli
