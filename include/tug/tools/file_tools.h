// The built-in file tools: read, list, glob, search. All of them are pure, share the lane
// `workspace`, see one root folder and cannot leave it. Every answer begins with a line in brackets
// that says what is shown, what is left out and how to see it. Names that begin with a dot are
// found by glob and search only when the pattern or the path has that dot.
#pragma once

#include <memory>
#include <vector>

#include "tug/io/workspace.h"
#include "tug/tools/tool.h"

namespace tug {

struct FileToolLimits {
  std::int64_t max_read_bytes = 1 << 20;            // a larger file needs `limit`
  std::int64_t max_chars = 40'000;                  // of one result
  std::int64_t max_results = 200;                   // of list and glob
  std::int64_t max_entries = 200'000;               // looked at by one call
  Duration search_time = std::chrono::seconds(30);  // of one call; a search shows what it has then
};

std::vector<ToolPtr> make_file_tools(std::shared_ptr<const Workspace> workspace,
                                     FileToolLimits limits = {});

}  // namespace tug
