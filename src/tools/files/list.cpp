#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/try.h"
#include "tools/files/answer.h"
#include "tools/files/files.h"
#include "tools/files/glob_pattern.h"

namespace tug {
namespace {

// The first of each kind, as many as can be shown, and how many there were.
struct Listing {
  std::vector<Entry> folders;
  std::vector<Entry> files;
  std::size_t folder_count = 0;
  std::size_t file_count = 0;
  bool complete = true;
};

bool is_hidden(std::string_view path) { return path[path.rfind('/') + 1] == '.'; }

std::string line_of(const Entry& entry) {
  const std::string path = shown_path(entry.path);
  switch (entry.info.kind) {
    case EntryKind::folder:
      return path + "/";
    case EntryKind::file:
      return path + "\t" + shown_size(entry.info.size);
    case EntryKind::link:
      return path + "\tlink";
    case EntryKind::other:
      break;
  }
  return path + "\tnot a file";
}

}  // namespace

Result<ToolResult> list_folder(const ListArgs& args, const Workspace& workspace,
                               const FileToolLimits& limits, const std::stop_token& stop) {
  std::optional<GlobPattern> filter;
  if (args.glob) {
    auto compiled = GlobPattern::compile_filter(*args.glob);
    if (!compiled) return refused(compiled.error(), "InvalidPattern");
    filter = *std::move(compiled);
  }
  auto place = find_place(workspace, args.path);
  if (!place) return std::move(place).error();
  if (place->info.kind != EntryKind::folder) return not_a_folder(*place);

  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(limits.max_results, 1));
  const auto max_entries = static_cast<std::size_t>(std::max<std::int64_t>(limits.max_entries, 1));
  Listing listing;
  std::size_t looked_at = 0;
  const auto visit = [&](const Entry& entry) {
    if (looked_at == max_entries) {
      listing.complete = false;
      return Workspace::Walk::stop;
    }
    ++looked_at;
    const bool folder = entry.info.kind == EntryKind::folder;
    const std::string_view path = path_below(place->path, entry.path);
    if (!filter || (filter->matches(path) && (folder || !filter->folders_only()))) {
      std::vector<Entry>& kept = folder ? listing.folders : listing.files;
      ++(folder ? listing.folder_count : listing.file_count);
      if (kept.size() < most) kept.push_back(entry);
    }
    if (!folder || !args.recursive) return Workspace::Walk::skip;
    const bool enter = filter ? filter->may_match_below(path) : !is_hidden(path);
    return enter ? Workspace::Walk::on : Workspace::Walk::skip;
  };
  const auto walked = workspace.walk(place->path, visit, stop);
  if (!walked) return refused(walked.error());

  CappedLines lines(limits.max_chars);
  std::size_t shown = 0;
  for (const std::vector<Entry>* kept : {&listing.folders, &listing.files}) {
    for (const Entry& entry : *kept) {
      if (shown < most && lines.add(line_of(entry))) ++shown;
    }
  }
  const std::size_t total = listing.folder_count + listing.file_count;
  std::string text = fmt::format("[{}: {}, {}", short_path(place->path),
                                 counted(listing.folder_count, "folder", "folders"),
                                 counted(listing.file_count, "file", "files"));
  if (shown < total) {
    text += fmt::format("; showing {}, {} left out: list a folder below or give a glob", shown,
                        total - shown);
  }
  if (!listing.complete) text += fmt::format("; looked at the first {} entries only", max_entries);
  if (walked->not_read > 0) {
    text += fmt::format("; {} not read: {}", counted(walked->not_read, "folder", "folders"),
                        short_path(walked->first));
  }
  ToolResult result = ToolResult::text(text + "]\n" + lines.text());
  result.metadata = Json::object({{"path", Json(place->path)},
                                  {"total", total},
                                  {"shown", shown},
                                  {"folders", listing.folder_count},
                                  {"files", listing.file_count}});
  return result;
}

}  // namespace tug
