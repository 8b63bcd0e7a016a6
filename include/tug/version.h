// Which tug this is and what it was built from.
#pragma once

#include <string>
#include <string_view>

namespace tug {

inline constexpr std::string_view kVersion = "0.1.0";

struct BuildInfo {
  std::string compiler;
  std::string sqlite;   // of the library in use, not of the header
  std::string openssl;  // likewise
  int journal_format = 1;
  int event_schema = 1;
};
BuildInfo build_info();

}  // namespace tug
