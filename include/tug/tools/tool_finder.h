// Definitions of tools that are found on search paths, and found again when those change.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tug/core/error.h"
#include "tug/tools/tool.h"

namespace tug {

class Context;

// A service: put there by whoever knows where definitions live. Loop thread; returns soon.
class ToolFinder {
 public:
  virtual ~ToolFinder() = default;
  // The definition of that name on the first path that has one; `invalid` when none has.
  virtual Result<ToolPtr> find(std::string_view name, const std::vector<std::string>& paths) = 0;
};

// Looks the tool under invocation up again on the paths that stand in `locals.config.paths` now.
// For the rest of this invocation `ctx.tool()` is what was found, and `locals.prompt` what its
// metadata says under `prompt`. A run that is under way keeps the tools it started with; the next
// run, or a child, sees the change. `invalid` when no tool is being invoked, when nobody finds
// definitions here, or when the paths have none of that name any more; then everything stays as it
// was.
Result<void> refresh(const Context& ctx);

}  // namespace tug
