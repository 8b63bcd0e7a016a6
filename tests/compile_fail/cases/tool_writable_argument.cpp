// expect: by value or by const reference
#include "tug/tools/typed_tool.h"

struct Where {
  std::string city;
};

auto tool() {
  return tug::make_tool("t", "d", [](Where&) {});
}
