#include "tug/tools/typed_tool.h"

#include <gtest/gtest.h>

#include "tug/tools/invoke.h"

namespace tug {
namespace {

TEST(TypedTool, Smoke) {
  struct Where {
    std::string city;
  };
  auto tool = make_tool("forecast", "d", [](const Where& where) { return where.city; });
  ASSERT_TRUE(tool);
}

}  // namespace
}  // namespace tug
