#include "model/offline/answers.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/offline/arithmetic.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

constexpr std::size_t kMostFiles = 10;
constexpr std::size_t kMostLines = 60;
constexpr std::size_t kMostBytes = 6000;

using Answer = std::optional<std::string>;

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " and " : ", ";
    out += names[i];
  }
  return out;
}

std::string counted(std::int64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string place(const std::string& path) { return path == "." ? "this folder" : path; }

// So many lines and bytes of it, and how much was left out.
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

// The first line of the file tools' results is a note in brackets; what it says is said here.
std::string excerpt(std::string_view text) {
  std::vector<std::string> lines = split(text);
  if (!lines.empty() && lines[0].starts_with('[') && lines[0].ends_with(']'))
    lines.erase(lines.begin());
  return excerpt(lines, static_cast<std::int64_t>(lines.size()));
}

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

std::string lead_out(std::string text) {
  if (text.starts_with('\n')) text.erase(0, 1);
  return text;
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

Answer read_files(const Wish& wish, Errands& errands, std::string_view attached) {
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

std::string count_line(std::string_view name, std::int64_t count, std::string_view unit,
                       bool complete) {
  return fmt::format("{} has {}{}.", name, complete ? "" : "at least ", counted(count, unit));
}

Answer count_text(const Wish& wish, Errands& errands, std::string_view attached) {
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

Answer headings(Wish wish, Errands& errands, std::string_view attached) {
  const auto outline = [](std::string_view name, const std::vector<std::string>& lines,
                          bool complete) {
    const std::vector<Heading> found = headings_in(lines);
    if (found.empty()) return fmt::format("{} has no headings.", name);
    std::string out = fmt::format("{} has {}{}:", name, complete ? "" : "at least ",
                                  counted(static_cast<std::int64_t>(found.size()), "heading"));
    for (const Heading& heading : found)
      out += fmt::format("\n{}- {}", std::string(2 * (heading.level - 1), ' '), heading.text);
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

struct Listing {
  std::string path = ".";
  std::string pattern;
};
std::vector<Listing> listings(const Wish& wish) {
  std::vector<Listing> out;
  for (const std::string& target : wish.targets) {
    if (!is_pattern(target)) {
      out.push_back({target, ""});
      continue;
    }
    const std::size_t slash = target.substr(0, target.find_first_of("*?[")).rfind('/');
    if (slash == std::string::npos) {
      out.push_back({".", target});
    } else {
      out.push_back({target.substr(0, slash), target.substr(slash + 1)});
    }
  }
  if (out.empty()) out.emplace_back();
  return out;
}

Json list_arguments(const Listing& listing, bool recursive) {
  Json arguments = Json::object({{"path", listing.path}});
  if (!listing.pattern.empty()) arguments.set("glob", listing.pattern);
  if (recursive || listing.pattern.contains("**")) arguments.set("recursive", true);
  return arguments;
}

// How many of them, as the tool says or as its lines show.
struct Entries {
  std::int64_t files = 0;
  std::int64_t folders = 0;
};
Entries entries_in(const ToolResult& result) {
  const std::optional<std::int64_t> files = result.metadata["files"].as_int();
  const std::optional<std::int64_t> folders = result.metadata["folders"].as_int();
  if (files && folders) return {*files, *folders};
  Entries seen;
  for (const std::string& line : split(result.content)) {
    if (line.empty()) continue;
    ++(line.substr(0, line.find_first_of("\t ")).ends_with('/') ? seen.folders : seen.files);
  }
  if (const auto total = result.metadata["total"].as_int()) seen.files = *total - seen.folders;
  return seen;
}

template <class Say>
Answer each_listing(const Wish& wish, Errands& errands, Say say) {
  if (!errands.can("list"))
    return fmt::format("I cannot {}: this run has no tool `list`.", doing(wish));
  std::string out;
  bool waits = false;
  for (const Listing& listing : listings(wish)) {
    const ToolResult* result = errands.ask("list", list_arguments(listing, wish.recursive));
    waits = waits || !result;
    if (!result) continue;
    const std::string where = listing.pattern.empty()
                                  ? place(listing.path)
                                  : fmt::format("{} ({})", place(listing.path), listing.pattern);
    out += '\n';
    out += result->is_error()
               ? fmt::format("I could not list {}:{}", where, excerpt(result->content))
               : say(where, *result);
  }
  if (waits) return std::nullopt;
  return lead_out(std::move(out));
}

Answer list_files(const Wish& wish, Errands& errands) {
  return each_listing(wish, errands, [](const std::string& where, const ToolResult& result) {
    const Entries entries = entries_in(result);
    return fmt::format("{} holds {} and {}:{}", where == "this folder" ? "This folder" : where,
                       counted(entries.folders, "folder"), counted(entries.files, "file"),
                       excerpt(result.content));
  });
}

Answer count_entries(const Wish& wish, Errands& errands) {
  const bool folders = wish.kind == WishKind::count_folders;
  return each_listing(wish, errands, [&](const std::string& where, const ToolResult& result) {
    const Entries entries = entries_in(result);
    const std::int64_t count = folders ? entries.folders : entries.files;
    return fmt::format("There {} {} {}{}.", count == 1 ? "is" : "are",
                       counted(count, folders ? "folder" : "file"),
                       wish.recursive ? "in and below " : "directly in ", where);
  });
}

Answer search(const Wish& wish, Errands& errands) {
  if (wish.text.empty()) return "Tell me what to search for: search for \"TODO\" in src.";
  if (!errands.can("search")) return "I cannot search: this run has no tool `search`.";
  std::vector<std::string> places = wish.targets;
  if (places.empty()) places.push_back(".");
  std::string out;
  bool waits = false;
  for (const std::string& path : places) {
    Json arguments = Json::object({{"query", wish.text}});
    if (path != ".") arguments.set("path", path);
    const ToolResult* result = errands.ask("search", arguments);
    waits = waits || !result;
    if (!result) continue;
    const auto matches = result->metadata["matches"].as_int();
    const auto files = result->metadata["files"].as_int();
    out += '\n';
    if (result->is_error()) {
      out += fmt::format("I could not search {}:{}", place(path), excerpt(result->content));
    } else if (matches == 0) {
      out += fmt::format("\"{}\" does not occur in {}.", wish.text, place(path));
    } else {
      out += fmt::format("\"{}\" in {}", wish.text, place(path));
      if (matches && files)
        out += fmt::format(": {} match{} in {}", *matches, *matches == 1 ? "" : "es",
                           counted(*files, "file"));
      out += excerpt(result->content);
    }
  }
  if (waits) return std::nullopt;
  return lead_out(std::move(out));
}

std::string sum_of(const std::string& expression) {
  const Result<Sum> sum = evaluate(expression);
  if (!sum) return fmt::format("I cannot work out {}: {}.", expression, sum.error().message());
  return fmt::format("{} {} {}", expression, sum->exact ? "=" : "is about", sum->value);
}

Answer delegate(const Wish& wish, Errands& errands) {
  if (wish.agent.empty() || wish.text.empty())
    return "Say whom to ask and what: ask reviewer to read README.md.";
  if (!errands.can(wish.agent))
    return fmt::format("There is no agent {} in this run that I could ask.", wish.agent);
  const ToolResult* result = errands.ask(wish.agent, Json::object({{"input", wish.text}}));
  if (!result) return std::nullopt;
  return fmt::format("{} {}:{}", wish.agent, result->is_error() ? "failed" : "says",
                     excerpt(result->content));
}

}  // namespace

std::string doing(const Wish& wish) {
  const std::string targets = joined(wish.targets);
  const std::string in = targets.empty() ? " here" : " in " + targets;
  const std::string of = targets.empty() ? "" : " of " + targets;
  switch (wish.kind) {
    case WishKind::list:
      return "list the files" + in;
    case WishKind::read:
      return "read " + (targets.empty() ? "a file" : targets);
    case WishKind::search:
      return fmt::format("search for \"{}\"{}", wish.text, in);
    case WishKind::count_lines:
      return "count the lines" + of;
    case WishKind::count_words:
      return "count the words" + of;
    case WishKind::count_files:
      return "count the files" + in;
    case WishKind::count_folders:
      return "count the folders" + in;
    case WishKind::headings:
      return "collect the headings" + (targets.empty() ? " of the Markdown files here" : of);
    case WishKind::delegate:
      return "ask " + wish.agent;
    case WishKind::sum:
      return "work out " + wish.text;
    case WishKind::greeting:
    case WishKind::help:
    case WishKind::unknown:
      break;
  }
  return "answer";
}

std::string abilities() {
  return "I am a small planner without a language model. I can\n"
         "- list files: list the files in src\n"
         "- read files: read README.md\n"
         "- search: search for \"TODO\" in src\n"
         "- count lines, words and files: how many lines are in README.md?\n"
         "- collect headings: summarise the headings of README.md\n"
         "- do sums: what is (3 + 4) * 2^10?\n"
         "- pass a task to an agent of this run: ask reviewer to read README.md\n"
         "and several of these joined by \"and\" or \"then\". For anything else name a model with "
         "-m PROVIDER/NAME.";
}

std::optional<std::string> answer(const Wish& wish, Errands& errands, std::string_view attached) {
  switch (wish.kind) {
    case WishKind::list:
      return list_files(wish, errands);
    case WishKind::read:
      return read_files(wish, errands, attached);
    case WishKind::search:
      return search(wish, errands);
    case WishKind::count_lines:
    case WishKind::count_words:
      return count_text(wish, errands, attached);
    case WishKind::count_files:
    case WishKind::count_folders:
      return count_entries(wish, errands);
    case WishKind::headings:
      return headings(wish, errands, attached);
    case WishKind::sum:
      return sum_of(wish.text);
    case WishKind::delegate:
      return delegate(wish, errands);
    case WishKind::greeting:
      return "Hello! " + abilities();
    case WishKind::help:
      return abilities();
    case WishKind::unknown:
      return fmt::format("I do not understand \"{}\".", clip_utf8(wish.text, 200));
  }
  return "";
}

}  // namespace tug
