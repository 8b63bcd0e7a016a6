// expect: put the arguments into one struct
#include "tug/tools/typed_tool.h"

struct Where {
  std::string city;
};

auto tool() {
  return tug::make_tool("t", "d", [](const Where&, const Where&) {});
}
