// expect: register it with make_inline_tool
#include "tug/context/context.h"
#include "tug/tools/typed_tool.h"

auto tool() {
  return tug::make_tool("t", "d", [](tug::Context& ctx) { return ctx.id().agent; });
}
