// Agents that are Markdown files: front matter with the keys of [[agents]], then the words for it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config_entry.h"
#include "tug/core/error.h"

namespace tug::cli {

// The file itself, or every *.md of a folder, by name, hidden ones aside. `invalid` for what is not
// there, a folder without any, and one with more than kMaxAgentFiles.
inline constexpr std::size_t kMaxAgentFiles = 1000;
Result<std::vector<std::string>> agent_files(const std::string& path);

// The keys of one agent: those of the front matter, the text as `system_prompt`, and the name of
// the file as `name` where none is given. A key without a value is as if it were not there.
// `invalid` as of read_front_matter, and for a system prompt in both places.
Result<std::vector<ConfigEntry>> read_agent_file(
    const std::string& path, const std::function<bool(std::string_view key)>& whole);

}  // namespace tug::cli
