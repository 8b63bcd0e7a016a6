#include "tug/tools/file_tools.h"

#include <gtest/gtest.h>

#include "tools/files/testing.h"
#include "tools/testing.h"
#include "tug/tools/permissions.h"

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

TEST(FileTools, ShowRulesThePathThatIsOpened) {
  const TestRoot root;
  root.write("secrets/key", "x");
  root.write("src/a.txt", "x");
  std::filesystem::create_symlink("secrets/key", root.path("innocent"));
  std::filesystem::create_symlink("secrets", root.path("src/in"));
  std::filesystem::create_symlink("../secrets", root.path("src/up"));
  std::filesystem::create_symlink("/etc", root.path("etc"));
  const auto tools = make_file_tools(root.shared());
  const auto subject = [&](std::size_t tool, const Json& args) {
    return subject_of(*tools[tool], args);
  };
  const auto read = [&](std::string_view path) {
    return subject(0, Json::object({{"path", Json(path)}}));
  };
  EXPECT_EQ(read("src/../src/./a.txt"), "src/a.txt");
  EXPECT_EQ(read(root.path("src/a.txt")), "src/a.txt");
  EXPECT_EQ(read("innocent"), "secrets/key");
  EXPECT_EQ(read("src/up/key"), "secrets/key");
  EXPECT_EQ(read("src/up/new"), "secrets/new");
  EXPECT_EQ(read("src/in/key"), "src/secrets/key");
  EXPECT_EQ(read("../x"), "../x");
  EXPECT_EQ(read("etc/passwd"), "etc/passwd");
  for (const std::size_t tool : {1u, 2u, 3u}) {
    EXPECT_EQ(subject(tool, Json::object()), ".");
    EXPECT_EQ(subject(tool, Json::object({{"path", "src/up"}})), "secrets");
  }
  const Permissions rules{.deny = {"read(secrets/**)"}};
  EXPECT_EQ(judge(rules, {}, *tools[0], Json::object({{"path", "innocent"}})).verdict,
            Judgement::Verdict::deny);
}

class FileToolCalls : public ToolTest {
 protected:
  ToolResult call(std::size_t tool, const std::string& arguments) {
    return world.call(make_file_tools(root_.shared())[tool], arguments);
  }

  TestRoot root_;
};

TEST_F(FileToolCalls, AnswerWhatAModelAsks) {
  root_.write("src/a.txt", "one\ntwo\n");
  EXPECT_EQ(shown(call(0, R"({"path": "src/a.txt", "offset": 2})")),
            "ok [src/a.txt: lines 2-2 of 2]\n2\ttwo\n "
            R"({"path":"src/a.txt","total_lines":2,"returned_lines":1,"size_bytes":8,)"
            R"("truncated":false})");
  EXPECT_EQ(shown(call(1, "{}")),
            "ok [.: 1 folder, 0 files]\nsrc/\n "
            R"({"path":".","total":1,"shown":1,"folders":1,"files":0})");
  EXPECT_EQ(shown(call(2, R"({"pattern": "**/*.txt"})")),
            "ok [**/*.txt in .: 1 file]\nsrc/a.txt\n "
            R"({"pattern":"**/*.txt","path":".","total":1,"shown":1})");
  EXPECT_EQ(shown(call(3, R"({"query": "TW", "case_sensitive": false})")),
            "ok [search for \"TW\" in ., any case: 1 line in 1 file]\nsrc/a.txt\n  2: two\n "
            R"({"query":"TW","path":".","matches":1,"files":1,"shown_files":1,"skipped":0,)"
            R"("complete":true})");
}

TEST_F(FileToolCalls, RefuseWithTheirOwnWords) {
  EXPECT_EQ(shown(call(0, R"({"path": "../x"})")),
            "error '../x' leads out of the root folder '" + root_.workspace().root() +
                "' (name a path below the root, relative to it) "
                R"({"error_type":"PathValidationError"})");
  EXPECT_EQ(call(0, R"({"path": 7})").metadata["error_type"], Json("ValidationError"));
  EXPECT_EQ(call(0, R"({"path": "a", "limt": 7})").metadata["error_type"], Json("ValidationError"));
}

}  // namespace
}  // namespace tug
