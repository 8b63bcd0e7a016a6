// What the file tools' answers have in common: capped text, and refusals that name the way out.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "tug/core/error.h"
#include "tug/core/tool.h"
#include "tug/io/workspace.h"

namespace tug {

// Lines up to a number of characters, the first ones kept. Room is left for a header and notes.
class CappedLines {
 public:
  explicit CappedLines(std::int64_t max_chars);
  // False, and nothing is added, when the line no longer fits; then no later one is taken either.
  bool add(std::string_view line);
  bool full() const noexcept { return full_; }
  std::size_t room() const noexcept { return room_; }
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
  std::size_t room_;
  bool full_ = false;
};

// An answer that is not the tool's result; the function that got it returns it.
using Refused = Result<ToolResult>;

struct Place {
  std::string path;  // as the tools name it
  FileInfo info;
};
// What a path leads to, or the answer that says why it leads nowhere, with the nearest name.
std::expected<Place, Refused> find_place(const Workspace& workspace, std::string_view path);

// The answer to an error of the workspace: a result where the model can do something about it.
Refused refused(const Error& error);
Refused refused(const Error& error, std::string_view error_type);
// The place is not what the tool works on.
Refused not_a_file(const Place& place);
Refused not_a_folder(const Place& place);
Refused out_of_range(std::string_view argument, std::int64_t value, std::int64_t low,
                     std::int64_t high);

// A path for a list of them: whole, but nothing in it breaks the line.
std::string shown_path(std::string_view path);
// The same for a sentence: clipped.
std::string short_path(std::string_view path);
// "3 files", "1 file".
std::string counted(std::size_t count, std::string_view one, std::string_view many);
// "512 bytes", "5.2 MB"
std::string shown_size(std::uint64_t bytes);

// `path` as seen from the folder it lies below.
std::string_view path_below(std::string_view folder, std::string_view path);
// A NUL among the first 8 KB.
bool looks_binary(std::string_view start);

}  // namespace tug
