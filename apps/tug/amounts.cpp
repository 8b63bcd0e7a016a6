#include "amounts.h"

#include <cstdio>

#include "tug/core/utf8.h"

namespace tug::cli {

std::string thousands(std::int64_t tokens) {
  if (tokens < 1000) return std::to_string(tokens);
  char text[32];
  const double value = static_cast<double>(tokens) / 1000;
  std::snprintf(text, sizeof text, value < 10 ? "%.1fk" : "%.0fk", value);
  return text;
}

std::string counted(std::int64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string duration(std::int64_t milliseconds) {
  if (milliseconds < 1000) return std::to_string(milliseconds) + " ms";
  const std::int64_t seconds = milliseconds / 1000;
  if (seconds >= 60)
    return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  return std::to_string(seconds) + "." + std::to_string(milliseconds % 1000 / 100) + " s";
}

std::string clip_columns(std::string text, std::size_t columns) {
  if (count_code_points(text) <= columns) return text;
  std::size_t bytes = 0;
  for (std::size_t points = 0; bytes < text.size(); ++bytes) {
    const bool begins = (static_cast<unsigned char>(text[bytes]) & 0xc0) != 0x80;
    if (begins && points++ == columns) break;
  }
  text.resize(bytes);
  return text;
}

std::string short_id(const RunId& id) {
  const std::string& text = id.text();
  return text.size() <= 6 ? text : text.substr(text.size() - 6);
}

}  // namespace tug::cli
