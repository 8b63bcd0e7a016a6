#include "tug/tools/tool_finder.h"

#include "core/try.h"
#include "tug/context/context.h"

namespace tug {

Result<void> refresh(const Context& ctx) {
  const ToolSpec* tool = ctx.tool();
  if (!tool) return fail(ErrorKind::invalid, "refresh: no tool is being invoked here");
  ToolFinder* finder = ctx.services().get<ToolFinder>();
  if (!finder) {
    return fail(ErrorKind::invalid, "refresh: nobody finds definitions here",
                "put a ToolFinder into the services");
  }
  std::vector<std::string> paths;
  for (const Json& path : ctx.get("locals.config.paths").items()) {
    paths.emplace_back(path.as_string());
  }
  TUG_TRY(found, finder->find(tool->name, paths));
  if (!found) return fail(ErrorKind::invalid, "refresh: no definition of " + tool->name);
  ctx.set_tool(found->shared_spec());
  return ctx.set("locals.prompt", found->spec().metadata["prompt"]);
}

}  // namespace tug
