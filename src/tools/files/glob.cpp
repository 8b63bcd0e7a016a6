#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tools/files/answer.h"
#include "tools/files/files.h"
#include "tools/files/glob_pattern.h"

namespace tug {
namespace {

// The newest first, then by name.
bool comes_before(const Entry& a, const Entry& b) {
  if (a.info.modified != b.info.modified) return a.info.modified > b.info.modified;
  return a.path < b.path;
}

}  // namespace

Result<ToolResult> glob_files(const GlobArgs& args, const Workspace& workspace,
                              const FileToolLimits& limits, const std::stop_token& stop) {
  const auto pattern = GlobPattern::compile(args.pattern);
  if (!pattern) return refused(pattern.error(), "InvalidPattern");
  auto place = find_place(workspace, args.path);
  if (!place) return std::move(place).error();
  if (place->info.kind != EntryKind::folder) return not_a_folder(*place);

  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(limits.max_results, 1));
  const auto max_entries = static_cast<std::size_t>(std::max<std::int64_t>(limits.max_entries, 1));
  std::vector<Entry> best;  // a heap, the last to be shown on top
  std::size_t total = 0;
  std::size_t looked_at = 0;
  bool complete = true;
  const auto visit = [&](const Entry& entry) {
    if (looked_at == max_entries) {
      complete = false;
      return Workspace::Walk::stop;
    }
    ++looked_at;
    const bool folder = entry.info.kind == EntryKind::folder;
    const std::string_view path = path_below(place->path, entry.path);
    if (folder == pattern->folders_only() && pattern->matches(path)) {
      ++total;
      if (best.size() < most || comes_before(entry, best.front())) {
        best.push_back(entry);
        std::ranges::push_heap(best, comes_before);
      }
      if (best.size() > most) {
        std::ranges::pop_heap(best, comes_before);
        best.pop_back();
      }
    }
    if (!folder) return Workspace::Walk::on;
    return pattern->may_match_below(path) ? Workspace::Walk::on : Workspace::Walk::skip;
  };
  const auto walked = workspace.walk(place->path, visit, stop);
  if (!walked) return refused(walked.error());

  std::ranges::sort_heap(best, comes_before);
  CappedLines lines(limits.max_chars);
  std::size_t shown = 0;
  for (const Entry& entry : best) {
    if (lines.add(shown_path(entry.path) + (pattern->folders_only() ? "/" : ""))) ++shown;
  }
  std::string text = fmt::format("[{} in {}: {}", short_path(args.pattern), short_path(place->path),
                                 pattern->folders_only() ? counted(total, "folder", "folders")
                                                         : counted(total, "file", "files"));
  if (total > 1) text += ", newest first";
  if (shown < total) {
    text += fmt::format("; showing {}, {} left out: use a narrower pattern", shown, total - shown);
  }
  if (total == 0) {
    text += "; \"**/\" in front looks in all folders below, hidden names need their dot";
  }
  if (!complete) text += fmt::format("; looked at the first {} entries only", max_entries);
  if (walked->not_read > 0) {
    text += fmt::format("; {} not read: {}", counted(walked->not_read, "folder", "folders"),
                        short_path(walked->first));
  }
  ToolResult result = ToolResult::text(text + "]\n" + lines.text());
  result.metadata = Json::object({{"pattern", Json(args.pattern)},
                                  {"path", Json(place->path)},
                                  {"total", total},
                                  {"shown", shown}});
  return result;
}

}  // namespace tug
