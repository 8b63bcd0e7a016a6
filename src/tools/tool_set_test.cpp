#include "tug/tools/tool_set.h"

#include <gtest/gtest.h>

#include "tug/tools/typed_tool.h"

namespace tug {
namespace {

ToolPtr named(std::string name, std::string description = "d") {
  return *make_tool(std::move(name), std::move(description), [] {});
}

std::vector<std::string> names_of(const ToolSet& set) {
  std::vector<std::string> names;
  for (const ToolPtr& tool : set.all()) names.push_back(tool->name());
  return names;
}

TEST(Tool, NamesAreCheckedWhenItIsMade) {
  for (const std::string name : {"a", "read_file", "a.b-C9", std::string(64, 'x').c_str()})
    EXPECT_TRUE(make_tool(name, "d", [] {})) << name;
  const std::string bad[] = {"", "a b", "\xc3\xa4", "a/b", "a\n", std::string(65, 'x')};
  for (const std::string& name : bad) {
    auto tool = make_tool(name, "d", [] {});
    ASSERT_FALSE(tool) << name;
    EXPECT_EQ(tool.error().kind(), ErrorKind::invalid);
    EXPECT_EQ(tool.error().fix(), "use 1 to 64 letters, digits, '_', '.' and '-'");
  }
  EXPECT_EQ(make_tool("final_result", "d", [] {}).error().message(),
            "the name \"final_result\" is reserved for structured output");
}

TEST(Tool, ASchemaThatIsNoneIsRefusedWithThePlace) {
  const JsonPoolHandler handler = [](const Json&, Invocation&) { return ToolResult{}; };
  ToolSpec spec;
  spec.name = "t";
  spec.parameters = Json::object({{"type", "object"}, {"required", 3}});
  auto bad = make_tool(spec, handler);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind(), ErrorKind::invalid);
  EXPECT_TRUE(bad.error().message().starts_with("the parameters of the tool \"t\": "))
      << bad.error().message();
  spec.parameters = Json::object({{"type", "array"}});
  EXPECT_FALSE(make_tool(spec, handler));
  spec.parameters = Json();
  EXPECT_EQ((*make_tool(spec, handler))->spec().parameters["type"], Json("object"));
  spec.returns = Json::object({{"type", "no such type"}});
  bad = make_tool(spec, handler);
  ASSERT_FALSE(bad);
  EXPECT_TRUE(bad.error().message().starts_with("the returns of the tool \"t\": "))
      << bad.error().message();
}

TEST(Tool, WhatCannotWorkIsRefused) {
  ToolSpec spec;
  spec.name = "t";
  EXPECT_FALSE(Tool::make(spec, nullptr));
  EXPECT_FALSE(make_tool(spec, JsonPoolHandler()));
  EXPECT_FALSE(make_tool(spec, JsonLoopHandler()));
  EXPECT_FALSE(make_tool("t", "d", [] {}, {.max_retries = -1}));
  EXPECT_TRUE(make_tool("t", "d", [] {}, {.max_retries = 0}));
  EXPECT_FALSE(make_tool("t", "d", [] {}, {.timeout = Duration::zero()}));
}

TEST(ToolSet, IsSortedAndHasOneToolPerName) {
  ToolSet set;
  for (const char* name : {"search", "list", "read"}) set.add(named(name));
  EXPECT_EQ(names_of(set), (std::vector<std::string>{"list", "read", "search"}));
  const ToolSet before = set;
  set.add(named("read", "another"));
  EXPECT_EQ(set.size(), 3u);
  EXPECT_EQ(set.find("read")->spec().description, "another");
  EXPECT_EQ(before.find("read")->spec().description, "d");
  EXPECT_EQ(set.find("rea"), nullptr);
  EXPECT_EQ(set.find("zzz"), nullptr);
}

TEST(ToolSet, NearestIsWhatWasProbablyMeant) {
  ToolSet set;
  set.add(named("read_file"));
  set.add(named("search"));
  EXPECT_EQ(set.nearest("readFile"), "read_file");
  EXPECT_EQ(set.nearest("serach"), "search");
  EXPECT_EQ(set.nearest("quux"), "");
}

TEST(ToolSet, OnlyKeepsThoseNamed) {
  ToolSet set;
  for (const char* name : {"search", "list", "read"}) set.add(named(name));
  auto two = set.only({"search", "list"});
  ASSERT_TRUE(two);
  EXPECT_EQ(names_of(*two), (std::vector<std::string>{"list", "search"}));
  EXPECT_EQ(set.only({})->size(), 0u);
  EXPECT_EQ(to_string(set.only({"serach"}).error()),
            "no tool is called \"serach\" (did you mean \"search\"?)");
  EXPECT_EQ(to_string(set.only({"list", "list"}).error()),
            "the tool \"list\" is named twice (name it once)");
}

}  // namespace
}  // namespace tug
