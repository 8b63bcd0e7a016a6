// expect: take Invocation& instead
#include "tug/context/context.h"
#include "tug/tools/typed_tool.h"

struct Where {
  std::string city;
};

std::string forecast(tug::Context, const Where& where) { return where.city; }

auto tool() { return tug::make_tool("t", "d", forecast); }
