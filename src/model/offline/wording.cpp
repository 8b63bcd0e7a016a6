#include "model/offline/wording.h"

#include <algorithm>

#include <fmt/format.h>

#include "tug/core/utf8.h"

namespace tug {
namespace {

constexpr std::size_t kMostBytes = 6000;

}  // namespace

std::string counted(std::int64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string place(const std::string& path) { return path == "." ? "this folder" : path; }

std::string excerpt(const std::vector<std::string>& lines, std::int64_t total) {
  std::string out;
  std::size_t shown = 0;
  for (; shown < std::min(lines.size(), kMostLines) && out.size() < kMostBytes; ++shown) {
    out += '\n';
    out += clip_utf8(lines[shown], kMostBytes);
  }
  const std::int64_t left = total - static_cast<std::int64_t>(shown);
  if (left > 0) out += fmt::format("\n... and {} more", counted(left, "line"));
  return out;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string excerpt(std::string_view text) {
  std::vector<std::string> lines = split(text);
  if (!lines.empty() && lines[0].starts_with('[') && lines[0].ends_with(']'))
    lines.erase(lines.begin());
  return excerpt(lines, static_cast<std::int64_t>(lines.size()));
}

std::string lead_out(std::string text) {
  if (text.starts_with('\n')) text.erase(0, 1);
  return text;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " and " : ", ";
    out += names[i];
  }
  return out;
}

}  // namespace tug
