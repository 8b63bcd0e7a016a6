#include "tug/tools/tool_finder.h"

#include <filesystem>
#include <fstream>

#include "core/testing.h"
#include "tools/testing.h"

namespace tug {
namespace {

// Definitions as JSON files, NAME.json: {description, prompt}.
class FileFinder final : public ToolFinder {
 public:
  Result<ToolPtr> find(std::string_view name, const std::vector<std::string>& paths) override {
    for (const std::string& folder : paths) {
      std::ifstream file(folder + "/" + std::string(name) + ".json");
      if (!file) continue;
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      const Json json = *parse_json(text);
      ToolSpec spec{.name = std::string(name),
                    .description = std::string(json["description"].as_string()),
                    .metadata = Json::object({{"prompt", json["prompt"]}})};
      spec.origin.uri = "file://" + folder + "/" + std::string(name) + ".json";
      return make_tool(std::move(spec), JsonPoolHandler([](const Json&, Invocation&) {
                         return Result<ToolResult>(ToolResult::text("ran"));
                       }));
    }
    return fail(ErrorKind::invalid, "no definition of " + std::string(name));
  }
};

class Refresh : public ToolTest {
 protected:
  Refresh() {
    std::filesystem::create_directories(folder / "old");
    std::filesystem::create_directories(folder / "new");
    world.services = Services::Builder(1)
                         .put(world.engine)
                         .put(std::shared_ptr<ToolFinder>(std::make_shared<FileFinder>()))
                         .build();
    write("old", "first");
  }
  void write(const std::string& where, const std::string& description) {
    std::ofstream(folder / where / "greet.json")
        << R"({"description":")" << description << R"(","prompt":"say )" << description << "\"}";
  }
  Json paths(const std::string& where) { return Json::array({(folder / where).string()}); }

  const TempFolder temporary;
  const std::filesystem::path folder = temporary.path();
};

TEST_F(Refresh, ADefinitionIsFoundAgainOnThePathsAsTheyAreNow) {
  FileFinder finder;
  const ToolPtr tool = *finder.find("greet", {(folder / "old").string()});
  write("new", "second");
  world.run([&](Context root) -> Task<void> {
    const Context call = ToolWorld::child(root, tool, Json::object());
    EXPECT_TRUE(call.set("locals.config.paths", paths("old")));
    EXPECT_TRUE(refresh(call));
    EXPECT_EQ(call.tool()->description, "first");
    EXPECT_TRUE(call.set("locals.config.paths", paths("new")));
    EXPECT_TRUE(refresh(call));
    EXPECT_EQ(call.tool()->description, "second");
    EXPECT_EQ(call.get("locals.prompt"), Json("say second"));
    EXPECT_EQ(tool->spec().description, "first") << "who has the old one keeps it";

    EXPECT_TRUE(call.set("locals.config.paths", Json::array({"/nowhere"})));
    EXPECT_FALSE(refresh(call));
    EXPECT_EQ(call.tool()->description, "second") << "and nothing changed";
    EXPECT_FALSE(refresh(root)) << "no tool is being invoked";
    co_return;
  });
}

}  // namespace
}  // namespace tug
