#include "tug/tools/file_tools.h"

#include <gtest/gtest.h>

#include "tools/files/testing.h"

namespace tug {
namespace {

TEST(FileTools, AreFourPureToolsOfTheWorkspace) {
  const TestRoot root;
  std::vector<std::string> names;
  for (const ToolPtr& tool : make_file_tools(root.shared())) {
    names.push_back(tool->name());
    EXPECT_EQ(tool->spec().effect, Effect::pure);
    EXPECT_EQ(tool->spec().lane, "workspace");
    EXPECT_EQ(tool->spec().timeout, FileToolLimits{}.search_time);
    EXPECT_FALSE(tool->spec().description.empty());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"read", "list", "glob", "search"}));
}

TEST(FileTools, AskOnlyForWhatTheyNeed) {
  const TestRoot root;
  const auto tools = make_file_tools(root.shared());
  EXPECT_EQ(tools[0]->spec().parameters["required"], Json::array({"path"}));
  EXPECT_TRUE(tools[1]->spec().parameters["required"].empty());
  EXPECT_EQ(tools[2]->spec().parameters["required"], Json::array({"pattern"}));
  EXPECT_EQ(tools[3]->spec().parameters["required"], Json::array({"query"}));
  EXPECT_EQ(tools[3]->spec().parameters["properties"]["max_files"]["default"], Json(50));
}

}  // namespace
}  // namespace tug
