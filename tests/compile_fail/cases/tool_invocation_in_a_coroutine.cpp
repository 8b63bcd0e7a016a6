// expect: take Context& instead of Invocation&
#include "tug/tools/typed_tool.h"

tug::Task<int> later(tug::Invocation&) { co_return 1; }

auto tool() { return tug::make_tool("t", "d", later); }
