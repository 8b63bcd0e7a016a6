// expect: a lambda with spelled-out parameter types
#include "tug/tools/typed_tool.h"

auto tool() {
  return tug::make_tool("t", "d", [](const auto& where) { return where; });
}
