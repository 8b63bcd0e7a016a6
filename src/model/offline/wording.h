// How answers are worded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tug {

// "1 file", "3 files".
std::string counted(std::int64_t count, std::string_view one);
// "a, b and c".
std::string joined(const std::vector<std::string>& names);
// "this folder" for ".".
std::string place(const std::string& path);
std::vector<std::string> split(std::string_view text);  // into lines

// So many lines of it, each on a new line, and how many of `total` were left out.
inline constexpr std::size_t kMostLines = 60;
std::string excerpt(const std::vector<std::string>& lines, std::int64_t total);
// The same of a tool's result, without the note in brackets that begins those of the file tools.
std::string excerpt(std::string_view text);

// Without the line break it begins with.
std::string lead_out(std::string text);

}  // namespace tug
