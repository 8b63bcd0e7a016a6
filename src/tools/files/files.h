// The built-in file tools as plain functions: arguments, the folder they see, their limits.
//
// They block and run on any thread. What a model can put right is a result with ok false and
// `metadata.error_type`:
//   PathValidationError  leads out, or is no path      NotFound         nothing there
//   NotAFile, NotAFolder there, but something else     NotText          a binary file
//   TooLarge             needs a limit                 InvalidPattern   glob or regular expression
//   InvalidArguments     a number out of range
// Anything else is an Error: `cancelled` once `stop` is requested, and what the file system says.
//
// Names with a dot in front: `list` shows them; a recursive `list`, `glob` and `search` go into
// folders of that kind, and `glob` and `search` take files of that kind, only when `path` leads
// there or the pattern has the dot.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "tug/core/error.h"
#include "tug/core/reflect.h"
#include "tug/core/tool.h"
#include "tug/io/workspace.h"
#include "tug/tools/file_tools.h"

namespace tug {

struct ReadArgs {
  Described<std::string, "The file, relative to the root folder"> path;
  Described<std::int64_t, "First line to show, counted from 1"> offset = 1;
  Described<std::optional<std::int64_t>, "Number of lines; a file over 1 MB needs one"> limit;
};
// Numbered lines ("12<TAB>text") below a line that says what is shown and how to go on. Metadata:
// path, total_lines (null when the end was not reached), returned_lines, size_bytes, truncated (a
// cap of characters cut the result or a line of it).
Result<ToolResult> read_file(const ReadArgs& args, const Workspace& workspace,
                             const FileToolLimits& limits, const std::stop_token& stop);

struct ListArgs {
  Described<std::string, "The folder, relative to the root folder"> path = ".";
  Described<std::optional<std::string>, "Only names that match, such as *.cpp or src/**/*.h"> glob;
  Described<bool, "Also what is in the folders below"> recursive = false;
};
// Folders first, with a slash, then files with their size; paths are relative to the root.
// Metadata: path, total, shown, folders, files.
Result<ToolResult> list_folder(const ListArgs& args, const Workspace& workspace,
                               const FileToolLimits& limits, const std::stop_token& stop);

struct GlobArgs {
  Described<std::string, "Such as **/*.cpp or src/{a,b}*.h; with a slash at the end: folders">
      pattern;
  Described<std::string, "The folder to start from"> path = ".";
};
// Paths relative to the root, the newest first. Metadata: pattern, path, total, shown.
Result<ToolResult> glob_files(const GlobArgs& args, const Workspace& workspace,
                              const FileToolLimits& limits, const std::stop_token& stop);

struct SearchArgs {
  Described<std::string, "The text to find, within one line"> query;
  Described<std::string, "A folder to search below, or one file"> path = ".";
  Described<std::optional<std::string>, "Only files that match, such as *.cpp or src/**/*.h"> glob;
  Described<bool, "The query is a regular expression (RE2)"> regex = false;
  Described<std::optional<bool>, "Default: only when the query has a capital letter">
      case_sensitive;
  Described<std::int64_t, "Files to show"> max_files = 50;
  Described<std::int64_t, "Lines to show of each file"> max_matches_per_file = 10;
  Described<std::int64_t, "Longer lines are cut around the match"> max_line_chars = 180;
};
// Matching lines by file, in the order of paths and lines. Binary files and files over 16 MB are
// skipped and counted. Metadata: query, path, matches (lines), files, shown_files, skipped,
// complete.
Result<ToolResult> search_files(const SearchArgs& args, const Workspace& workspace,
                                const FileToolLimits& limits, const std::stop_token& stop);

}  // namespace tug
