#include <fmt/format.h>

#include <algorithm>

#include "core/try.h"
#include "tools/files/answer.h"
#include "tools/files/files.h"
#include "tools/files/glob_pattern.h"
#include "tools/files/line_search.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

constexpr std::uint64_t kMaxFileBytes = 16u << 20;
constexpr std::uint64_t kMaxTotalBytes = 2ull << 30;
constexpr std::int64_t kMaxShown = 1'000;
constexpr std::int64_t kMaxLineChars = 2'000;

struct Skipped {
  std::size_t binary = 0;
  std::size_t large = 0;
  std::size_t unreadable = 0;
  std::size_t all() const { return binary + large + unreadable; }
};

// A query on its way through files.
class Search {
 public:
  Search(const SearchArgs& args, LineSearch query, const Workspace& workspace,
         const FileToolLimits& limits, const std::stop_token& stop)
      : args_(args),
        query_(std::move(query)),
        workspace_(workspace),
        stop_(stop),
        lines_(limits.max_chars) {}

  void look_into(const Entry& entry) {
    if (entry.info.size > kMaxFileBytes) {
      ++skipped_.large;
      return;
    }
    if (!load(entry.path)) return;
    std::size_t most = 0;
    if (files_ < static_cast<std::size_t>(args_.max_files) && !lines_.full()) {
      most = static_cast<std::size_t>(args_.max_matches_per_file);
    }
    const FoundLines found =
        query_.find(text_, most, static_cast<std::size_t>(args_.max_line_chars), stop_);
    if (found.total == 0) return;
    ++files_;
    matches_ += found.total;
    if (most > 0) show(entry.path, found);
  }

  bool spent() const { return bytes_ > kMaxTotalBytes; }
  std::size_t matches() const { return matches_; }
  std::size_t files() const { return files_; }
  std::size_t shown_files() const { return shown_files_; }
  std::size_t shown_lines() const { return shown_lines_; }
  const Skipped& skipped() const { return skipped_; }
  const std::string& text() const { return lines_.text(); }

 private:
  // False for what cannot be searched, which is counted.
  bool load(const std::string& path) {
    auto file = workspace_.open(path);
    if (!file) {
      ++skipped_.unreadable;
      return false;
    }
    text_.clear();
    for (bool first = true;; first = false) {
      const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(
          kMaxFileBytes + 1 - text_.size(), first ? 64 * 1024 : (*file)->info().size + 4096));
      const Result<bool> more = (*file)->read(text_, most);
      if (!more) {
        ++skipped_.unreadable;
        return false;
      }
      if (first && looks_binary(text_)) {
        ++skipped_.binary;
        return false;
      }
      if (text_.size() > kMaxFileBytes) {
        ++skipped_.large;
        return false;
      }
      if (!*more || stop_.stop_requested()) break;
    }
    bytes_ += text_.size();
    if (text_.find('\r') != text_.npos) drop_carriage_returns();
    if (!is_utf8(text_)) text_ = repair_utf8(text_);
    return true;
  }

  // So that `$` is the end of a line, whatever ends it.
  void drop_carriage_returns() {
    std::size_t to = 0;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '\r' && i + 1 < text_.size() && text_[i + 1] == '\n') continue;
      text_[to++] = text_[i];
    }
    text_.resize(to);
  }

  void show(const std::string& path, const FoundLines& found) {
    if (!lines_.add(shown_path(path))) return;
    ++shown_files_;
    std::size_t shown = 0;
    for (const FoundLine& line : found.shown) {
      if (!lines_.add(fmt::format("  {}: {}", line.number, line.text))) break;
      ++shown;
    }
    shown_lines_ += shown;
    if (shown < found.total) {
      lines_.add(fmt::format("  [{} in this file]",
                             counted(found.total - shown, "more line", "more lines")));
    }
  }

  const SearchArgs& args_;
  LineSearch query_;
  const Workspace& workspace_;
  const std::stop_token& stop_;
  CappedLines lines_;
  std::string text_;
  Skipped skipped_;
  std::uint64_t bytes_ = 0;
  std::size_t matches_ = 0;
  std::size_t files_ = 0;
  std::size_t shown_files_ = 0;
  std::size_t shown_lines_ = 0;
};

std::string notes_of(const Skipped& skipped) {
  std::string text;
  const auto add = [&text](std::size_t count, std::string_view what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  add(skipped.binary, "binary");
  add(skipped.large, "larger than 16 MB");
  add(skipped.unreadable, "unreadable");
  return text.empty() ? text : "; files skipped: " + text;
}

}  // namespace

Result<ToolResult> search_files(const SearchArgs& args, const Workspace& workspace,
                                const FileToolLimits& limits, const std::stop_token& stop) {
  if (args.max_files < 1 || args.max_files > kMaxShown) {
    return out_of_range("max_files", args.max_files, 1, kMaxShown);
  }
  if (args.max_matches_per_file < 1 || args.max_matches_per_file > kMaxShown) {
    return out_of_range("max_matches_per_file", args.max_matches_per_file, 1, kMaxShown);
  }
  if (args.max_line_chars < 20 || args.max_line_chars > kMaxLineChars) {
    return out_of_range("max_line_chars", args.max_line_chars, 20, kMaxLineChars);
  }
  const bool case_sensitive =
      args.case_sensitive ? bool(*args.case_sensitive) : has_capital(args.query);
  auto query =
      LineSearch::compile(args.query, {.regex = args.regex, .case_sensitive = case_sensitive});
  if (!query) return refused(query.error(), "InvalidPattern");
  const auto filter = GlobPattern::compile_filter(args.glob ? std::string(*args.glob) : "**");
  if (!filter) return refused(filter.error(), "InvalidPattern");
  auto place = find_place(workspace, args.path);
  if (!place) return std::move(place).error();

  Search search(args, *std::move(query), workspace, limits, stop);
  const auto max_entries = static_cast<std::size_t>(std::max<std::int64_t>(limits.max_entries, 1));
  std::size_t looked_at = 0;
  std::string cut_short;
  std::string not_read;
  if (place->info.kind == EntryKind::file) {
    search.look_into({place->path, place->info});
  } else if (place->info.kind != EntryKind::folder) {
    return not_a_file(*place);
  } else {
    const auto visit = [&](const Entry& entry) {
      if (looked_at == max_entries) {
        cut_short = "it ended after " + counted(max_entries, "entry", "entries");
      } else if (search.spent()) {
        cut_short = "it ended after " + shown_size(kMaxTotalBytes);
      }
      if (!cut_short.empty()) return Workspace::Walk::stop;
      ++looked_at;
      const std::string_view path = path_below(place->path, entry.path);
      if (entry.info.kind == EntryKind::folder) {
        return filter->may_match_below(path) ? Workspace::Walk::on : Workspace::Walk::skip;
      }
      if (entry.info.kind == EntryKind::file && filter->matches(path)) search.look_into(entry);
      return Workspace::Walk::on;
    };
    const auto walked = workspace.walk(place->path, visit, stop);
    if (!walked && walked.error().kind() != ErrorKind::cancelled) return refused(walked.error());
    if (walked && walked->not_read > 0) {
      not_read = fmt::format("; {} not read: {}", counted(walked->not_read, "folder", "folders"),
                             short_path(walked->first));
    }
  }
  if (stop.stop_requested()) {
    if (search.matches() == 0) return fail(ErrorKind::cancelled, "the search was stopped");
    cut_short = "its time was over";
  }

  std::string text = fmt::format(
      "[search {} \"{}\" in {}{}: ", args.regex ? "for the regular expression" : "for",
      short_path(args.query), short_path(place->path), case_sensitive ? "" : ", any case");
  if (search.matches() == 0) {
    text +=
        "no match; try a shorter query, another path or glob; hidden files need a glob with "
        "their dot";
  } else {
    text += fmt::format("{} in {}", counted(search.matches(), "line", "lines"),
                        counted(search.files(), "file", "files"));
    if (search.shown_lines() < search.matches()) {
      text += fmt::format("; showing {} in {}: narrow it by path, glob or query to see the rest",
                          counted(search.shown_lines(), "line", "lines"),
                          counted(search.shown_files(), "file", "files"));
    }
  }
  if (!cut_short.empty()) text += "; the search is not complete, " + cut_short;
  text += notes_of(search.skipped()) + not_read + "]\n";
  ToolResult result = ToolResult::text(text + search.text());
  result.metadata = Json::object({{"query", Json(args.query)},
                                  {"path", Json(place->path)},
                                  {"matches", search.matches()},
                                  {"files", search.files()},
                                  {"shown_files", search.shown_files()},
                                  {"skipped", search.skipped().all()},
                                  {"complete", cut_short.empty()}});
  return result;
}

}  // namespace tug
