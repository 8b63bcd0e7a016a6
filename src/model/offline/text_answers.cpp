#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/offline/answers.h"
#include "model/offline/wording.h"

namespace tug {
namespace {

constexpr std::size_t kMostFiles = 10;

std::int64_t words_in(const std::vector<std::string>& lines) {
  std::int64_t words = 0;
  for (const std::string& line : lines) {
    bool inside = false;
    for (const char c : line) {
      const bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
      words += !blank && !inside ? 1 : 0;
      inside = !blank;
    }
  }
  return words;
}

struct Heading {
  std::size_t level;
  std::string text;
};

std::vector<Heading> headings_in(const std::vector<std::string>& lines) {
  std::vector<Heading> found;
  std::string fence;
  for (const std::string& line : lines) {
    if (line.starts_with("```") || line.starts_with("~~~")) {
      const std::string mark = line.substr(0, 3);
      if (fence.empty()) {
        fence = mark;
      } else if (fence == mark) {
        fence.clear();
      }
    }
    const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
    if (!fence.empty() || level < 1 || level > 6 || level == line.size() || line[level] != ' ')
      continue;
    std::string text = line.substr(level + 1);
    while (!text.empty() && (text.back() == '#' || text.back() == ' ' || text.back() == '\r'))
      text.pop_back();
    found.push_back({level, std::move(text)});
  }
  return found;
}

// Patterns replaced by the files they stand for.
struct Files {
  std::vector<std::string> paths;
  std::string note;
};
std::optional<Files> files_of(const Wish& wish, Errands& errands) {
  Files files;
  bool waits = false;
  for (const std::string& target : wish.targets) {
    if (!is_pattern(target)) {
      files.paths.push_back(target);
      continue;
    }
    const std::optional<FileNames> names = find_files(errands, target, kMostFiles);
    if (!names) {
      waits = true;
      continue;
    }
    if (!names->error.empty())
      files.note += fmt::format("\n{}: {}", target, names->error);
    else if (names->total == 0)
      files.note += fmt::format("\nNo file matches {}.", target);
    if (names->total > names->paths.size())
      files.note += fmt::format("\nI looked at {} of the {} files that match {}.",
                                names->paths.size(), names->total, target);
    files.paths.insert(files.paths.end(), names->paths.begin(), names->paths.end());
  }
  if (waits) return std::nullopt;
  return files;
}

std::string ask_for_name(const Wish& wish) {
  return fmt::format("To {} I need the name of a file, such as README.md.", doing(wish));
}

// One answer per file, put together once all are there.
template <class OfFile>
Answer each_file(const Wish& wish, Errands& errands, OfFile of_file) {
  const std::optional<Files> files = files_of(wish, errands);
  if (!files) return std::nullopt;
  std::string out;
  bool waits = false;
  for (const std::string& path : files->paths) {
    const Answer one = of_file(path);
    waits = waits || !one;
    if (one) out += "\n" + *one;
  }
  if (waits) return std::nullopt;
  return lead_out(out + files->note);
}

std::string count_line(std::string_view name, std::int64_t count, std::string_view unit,
                       bool complete) {
  return fmt::format("{} has {}{}.", name, complete ? "" : "at least ", counted(count, unit));
}

}  // namespace

Answer answer_read(const Wish& wish, Errands& errands, std::string_view attached) {
  if (wish.targets.empty()) {
    if (attached.empty()) return ask_for_name(wish);
    return "The text that came with the request:" + excerpt(attached);
  }
  return each_file(wish, errands, [&](const std::string& path) -> Answer {
    const std::optional<FileText> file = read_start(errands, path, kMostLines);
    if (!file) return std::nullopt;
    if (!file->error.empty()) return fmt::format("I could not read {}: {}", path, file->error);
    if (!file->total_known)
      return fmt::format("{} is large; it begins with:{}", path,
                         excerpt(file->lines, static_cast<std::int64_t>(file->lines.size())));
    return fmt::format("{} ({}):{}", path, counted(file->total, "line"),
                       excerpt(file->lines, file->total));
  });
}

Answer answer_count(const Wish& wish, Errands& errands, std::string_view attached) {
  const bool words = wish.kind == WishKind::count_words;
  const std::string_view unit = words ? "word" : "line";
  if (wish.targets.empty()) {
    if (attached.empty()) return ask_for_name(wish);
    const std::vector<std::string> lines = split(attached);
    const std::int64_t count = words ? words_in(lines) : static_cast<std::int64_t>(lines.size());
    return count_line("The text that came with the request", count, unit, true);
  }
  std::int64_t sum = 0;
  std::size_t files = 0;
  Answer out = each_file(wish, errands, [&](const std::string& path) -> Answer {
    const std::optional<FileText> file =
        words ? read_whole(errands, path) : read_first(errands, path);
    if (!file) return std::nullopt;
    if (!file->error.empty())
      return fmt::format("I could not count the {}s of {}: {}", unit, path, file->error);
    const std::int64_t count = words ? words_in(file->lines) : file->total;
    sum += count;
    ++files;
    return count_line(path, count, unit, words ? file->complete : file->total_known);
  });
  if (out && files > 1)
    *out += fmt::format("\nTogether: {} in {}.", counted(sum, unit),
                        counted(static_cast<std::int64_t>(files), "file"));
  return out;
}

Answer answer_headings(Wish wish, Errands& errands, std::string_view attached) {
  const auto outline = [](std::string_view name, const std::vector<std::string>& lines,
                          bool complete) {
    const std::vector<Heading> found = headings_in(lines);
    if (found.empty()) return fmt::format("{} has no headings.", name);
    std::string out = fmt::format("{} has {}{}:", name, complete ? "" : "at least ",
                                  counted(static_cast<std::int64_t>(found.size()), "heading"));
    std::vector<std::string> entries;
    for (const Heading& heading : found)
      entries.push_back(std::string(2 * (heading.level - 1), ' ') + "- " + heading.text);
    out += excerpt(entries, static_cast<std::int64_t>(entries.size()));
    return out;
  };
  if (wish.targets.empty()) {
    if (!attached.empty())
      return outline("The text that came with the request", split(attached), true);
    wish.targets.push_back(wish.recursive ? "**/*.md" : "*.md");
  }
  for (std::string& target : wish.targets) {
    // A name without an ending in small letters is most likely a folder.
    const bool folder =
        !is_pattern(target) &&
        (target.find('.') == std::string::npos || target == "." || target.ends_with("/..")) &&
        std::ranges::none_of(target, [](char c) { return c >= 'A' && c <= 'Z'; });
    if (folder) target = target == "." ? "*.md" : target + "/*.md";
  }
  return each_file(wish, errands, [&](const std::string& path) -> Answer {
    const std::optional<FileText> file = read_whole(errands, path);
    if (!file) return std::nullopt;
    if (!file->error.empty()) return fmt::format("I could not read {}: {}", path, file->error);
    return outline(path, file->lines, file->complete);
  });
}

}  // namespace tug
