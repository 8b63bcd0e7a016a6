// expect: at most one argument struct
#include "tug/tools/typed_tool.h"

auto tool() {
  return tug::make_tool("t", "d", [](int days) { return days; });
}
