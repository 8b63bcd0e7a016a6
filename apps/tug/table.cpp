#include "table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "tug/core/utf8.h"

namespace tug::cli {
namespace {

std::size_t width_of_stdout() {
  winsize size = {};
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20)
    return 0;
  return size.ws_col;
}

std::string cut(const std::string& text, std::size_t columns) {
  if (columns == 0 || count_code_points(text) <= columns) return text;
  std::size_t bytes = 0;
  for (std::size_t points = 0; bytes < text.size(); ++bytes) {
    const bool begins = (static_cast<unsigned char>(text[bytes]) & 0xc0) != 0x80;
    if (begins && points++ == columns) break;
  }
  return text.substr(0, bytes);
}

}  // namespace

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], count_code_points(row[i]));
  }
  const std::size_t columns = width_of_stdout();
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line += std::string(widths[i] + 2 - count_code_points(row[i]), ' ');
    }
    while (line.ends_with(' ')) line.pop_back();
    text += cut(line, columns) + "\n";
  }
  return text;
}

std::string age(Time then, Time now) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - then).count();
  if (seconds < 60) return std::to_string(std::max<std::int64_t>(seconds, 0)) + " s";
  if (seconds < 3600) return std::to_string(seconds / 60) + " min";
  if (seconds < 2 * 86400) return std::to_string(seconds / 3600) + " h";
  return std::to_string(seconds / 86400) + " d";
}

Time now() {
  return std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
}

}  // namespace tug::cli
