#include "agent_files.h"

#include <algorithm>
#include <filesystem>

#include "core/try.h"
#include "front_matter.h"

namespace tug::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".md";

const ConfigEntry* find(const std::vector<ConfigEntry>& entries, std::string_view key) {
  const auto found = std::ranges::find(entries, key, &ConfigEntry::key);
  return found == entries.end() ? nullptr : &*found;
}

Result<std::vector<std::string>> markdown_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end;
       at.increment(problem)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with('.') || !name.ends_with(kEnding) || at->is_directory()) continue;
    paths.push_back((folder.ends_with('/') ? folder : folder + "/") + name);
    if (paths.size() > kMaxAgentFiles) {
      return fail(ErrorKind::invalid,
                  "--agents " + folder + ": more than " + std::to_string(kMaxAgentFiles) +
                      " files of agents",
                  "name the files that are needed");
    }
  }
  if (problem) {
    return fail(ErrorKind::invalid, "--agents " + folder + ": " + problem.message(),
                "name a folder that can be read");
  }
  if (paths.empty()) {
    return fail(ErrorKind::invalid, "--agents " + folder + ": there is no .md file in it",
                "name a folder of agents, or a file");
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

Result<std::vector<std::string>> agent_files(const std::string& path) {
  std::error_code problem;
  const fs::file_status status = fs::status(path, problem);
  if (!fs::exists(status)) {
    return fail(ErrorKind::invalid, "--agents " + path + ": there is no such file or folder",
                "name a Markdown file with front matter, or a folder of them");
  }
  if (fs::is_directory(status)) return markdown_in(path);
  // A "-" of that name is a file here, not stdin.
  return std::vector<std::string>{path == "-" ? "./-" : path};
}

Result<std::vector<ConfigEntry>> read_agent_file(
    const std::string& path, const std::function<bool(std::string_view key)>& whole) {
  TUG_TRY(matter, read_front_matter(path, whole));
  std::vector<ConfigEntry> entries = std::move(matter.entries);
  std::erase_if(entries, [](const ConfigEntry& entry) { return entry.value.is_null(); });
  const ConfigEntry* words = find(entries, "system_prompt");
  if (words && !matter.body.empty()) {
    return fail(ErrorKind::invalid,
                path + ":" + std::to_string(words->line) +
                    ": system_prompt is given, and the file has a text, too",
                "leave one of them out: the text below the front matter is the system prompt");
  }
  if (!find(entries, "name")) entries.push_back({"name", fs::path(path).stem().string(), 1});
  if (!matter.body.empty()) entries.push_back({"system_prompt", matter.body, 1});
  return entries;
}

}  // namespace tug::cli
