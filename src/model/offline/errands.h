// What the planner has found out since the newest request, and what it still has to ask.
//
// The transcript is its only memory: a call is known by its tool and its arguments, so asking again
// for what was answered finds the answer, and asking for the rest makes the next turn.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tug/model/model.h"

namespace tug {

class Errands {
 public:
  // Reads the messages behind `request_at`.
  Errands(const ModelRequest& request, std::size_t request_at);

  bool can(std::string_view tool) const noexcept;
  // The answer; or null, and the call is among those to be made.
  const ToolResult* ask(std::string_view tool, const Json& arguments);

  const std::vector<ToolCall>& open() const noexcept { return open_; }
  // Turns that called tools since the request.
  std::size_t turns() const noexcept { return turns_; }

 private:
  struct Done {
    const ToolCall* call;
    const ToolResult* result;
  };
  std::shared_ptr<const ToolSpecs> tools_;
  Messages messages_;  // keeps what `done_` points to
  std::vector<Done> done_;
  std::vector<ToolCall> open_;
  std::size_t turns_ = 0;
  std::size_t calls_before_ = 0;  // in the whole transcript: provider ids count on from there
};

// A file as the tool `read` tells it.
struct FileText {
  std::vector<std::string> lines;
  std::int64_t total = 0;  // lines
  bool total_known = true;
  bool complete = true;
  bool too_large = false;
  std::string error;  // what `read` said instead
};
// All of it, page by page (or as much as 50 pages hold); nothing while calls are open.
std::optional<FileText> read_whole(Errands& errands, const std::string& path);
// The first page only: enough for the number of lines.
std::optional<FileText> read_first(Errands& errands, const std::string& path);
// The first page, or the first `lines` lines of a file that is too large for one.
std::optional<FileText> read_start(Errands& errands, const std::string& path, std::size_t lines);

// The paths that a pattern stands for, at most `most`; `total` says how many there were.
struct FileNames {
  std::vector<std::string> paths;
  std::size_t total = 0;
  std::string error;
};
std::optional<FileNames> find_files(Errands& errands, const std::string& pattern, std::size_t most);

}  // namespace tug
