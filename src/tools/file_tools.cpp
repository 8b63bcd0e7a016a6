#include "tug/tools/file_tools.h"

#include <utility>

#include "tools/files/files.h"
#include "tug/tools/typed_tool.h"

namespace tug {
namespace {

template <class Args>
using FileFunction = Result<ToolResult> (*)(const Args&, const Workspace&, const FileToolLimits&,
                                            const std::stop_token&);

}  // namespace

std::vector<ToolPtr> make_file_tools(std::shared_ptr<const Workspace> workspace,
                                     FileToolLimits limits) {
  std::vector<ToolPtr> tools;
  const auto resolve = [workspace](const std::string& path) {
    return workspace->real_path(path).value_or(path);
  };
  const auto add = [&]<class Args>(std::string name, std::string description,
                                   FileFunction<Args> function) {
    auto handler = [workspace, limits, function](Invocation& call, const Args& args) {
      return function(args, *workspace, limits, call.stop());
    };
    tools.push_back(make_tool(std::move(name), std::move(description), std::move(handler),
                              {.effect = Effect::pure,
                               .lane = "workspace",
                               .checks = {.resolve_path = resolve},
                               .subject = {.kind = Subject::Kind::path, .field = "path"},
                               .tags = {"files"},
                               .timeout = limits.search_time})
                        .value());
  };
  add("read", "Read a text file: numbered lines, and how to go on when there are more.",
      FileFunction<ReadArgs>(read_file));
  add("list", "List a folder: its folders first, then its files with their sizes.",
      FileFunction<ListArgs>(list_folder));
  add("glob", "Find files by name, the newest first.", FileFunction<GlobArgs>(glob_files));
  add("search", "Find lines in files by text or regular expression, grouped by file.",
      FileFunction<SearchArgs>(search_files));
  return tools;
}

}  // namespace tug
