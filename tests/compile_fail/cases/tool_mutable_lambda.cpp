// expect: is called through a const reference
#include "tug/tools/typed_tool.h"

auto tool() {
  return tug::make_tool("t", "d", [calls = 0]() mutable { return ++calls; });
}
