// Settings: files, environment, flags, and what is said when they are wrong.
#include "journey.h"

namespace tug::journey {
namespace {

class Config : public Journey {
 protected:
  std::string user(const std::string& text) { return file("../config/tug/config.toml", text); }
  // The value of a key and where it comes from.
  std::pair<Json, std::string> explained(const std::string& key,
                                         const std::vector<std::string>& flags = {}) {
    std::vector<std::string> words = {"config", "explain", "--json"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ran ran = tug(words);
    EXPECT_EQ(ran.exit, 0) << ran.err;
    const Json list = parse_json(ran.out).value();
    for (const Json& row : list.items()) {
      if (row["key"].as_string() == key)
        return {row["value"], std::string(row["source"].as_string())};
    }
    return {};
  }
  using Explained = std::pair<Json, std::string>;
};

TEST_F(Config, AFlagBeatsTheEnvironmentWhichBeatsTheUsersFile) {
  EXPECT_EQ(explained("limits.max_turns"), Explained(64, "built in"));
  user("model = \"script/x\"\n\n[limits]\nmax_turns = 3\n");
  EXPECT_EQ(explained("limits.max_turns"), Explained(3, home_ + "/config/tug/config.toml:4"));
  environment_ = {"TUG_LIMITS__MAX_TURNS=5"};
  EXPECT_EQ(explained("limits.max_turns"), Explained(5, "TUG_LIMITS__MAX_TURNS"));
  EXPECT_EQ(explained("limits.max_turns", {"--max-turns", "7"}), Explained(7, "--max-turns"));
  EXPECT_EQ(explained("model"), Explained("script/x", home_ + "/config/tug/config.toml:1"));
  EXPECT_EQ(explained("model", {"--bare"}), Explained("offline/demo", "built in"));
}

TEST_F(Config, ANamedFileStandsAboveTheOtherFiles) {
  user("tools = [\"read\"]\n");
  const std::string named = file("other.toml", "tools = []\n");
  EXPECT_EQ(explained("tools", {"--config", named}), Explained(Json::array(), named + ":1"));
  EXPECT_EQ(explained("tools", {"--bare", "--config", named}),
            Explained(Json::array(), named + ":1"));
  const Ran ran = tug({"config", "explain", "--config", "nowhere.toml"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_TRUE(has(ran.err, "nowhere.toml"));
}

TEST_F(Config, AFoldersOwnFilesAreReadOnlyWhenItIsTrusted) {
  file(".tug/config.toml", "model = \"script/project\"\n");
  file(".tug/config.local.toml", "model = \"script/local\"\n");
  EXPECT_EQ(explained("model").second, "built in");
  EXPECT_TRUE(has(tug({"config", "path"}).out, "not read: the folder is not trusted"));
  const Ran told = tug({"run", "hello"});
  EXPECT_TRUE(has(told.err, ".tug/config.toml not read: the folder is not trusted"));
  EXPECT_EQ(tug({"run", "-q", "hello"}).err, "");
  file("../state/tug/trusted", "/elsewhere\n" + std::filesystem::canonical(work_).string() + "\n");
  EXPECT_EQ(explained("model"), Explained("script/local", "./.tug/config.local.toml:1"));
  std::filesystem::remove(work_ + "/.tug/config.local.toml");
  EXPECT_EQ(explained("model"), Explained("script/project", "./.tug/config.toml:1"));
}

TEST_F(Config, RowsOfAllLayersCountAndTheHigherLayerComesLater) {
  user("[[models]]\nprovider = \"script\"\ncontext = 100\n");
  const std::string named =
      file("more.toml", "[[models]]\nprovider = \"script\"\nprice = { in = 1.5, out = 2 }\n");
  EXPECT_EQ(explained("models[0].context", {"--config", named}).first, Json(100));
  EXPECT_EQ(explained("models[1].price.in", {"--config", named}).first, Json(1.5));
}

TEST_F(Config, WhatIsWrongIsNamedWithItsPlaceAndItsNeighbour) {
  const std::tuple<const char*, const char*, const char*> table[] = {
      {"model = \"a/b\"\nmodle = 1\n", "config.toml:2: \"modle\" is not a key", "\"model\""},
      {"[limits]\nmax_turnz = 1\n", "config.toml:2: \"limits.max_turnz\"", "\"limits.max_turns\""},
      {"max_turns = 1\n", "config.toml:1: \"max_turns\"", "\"limits.max_turns\""},
      {"[[models]]\nprovidr = \"x\"\n", "config.toml:2: \"models[0].providr\"",
       "\"models[].provider\""},
      {"[limits]\nmax_turns = \"many\"\n", "config.toml:2: limits.max_turns: expected a whole",
       "got \"many\""},
      {"[limits]\nmax_turns = -1\n", "config.toml:2", "got -1"},
      {"[limits]\nmax_cost = inf\n", "config.toml:2", "dollars"},
      {"tools = \"read\"\n", "config.toml:1: tools: expected a list", "got \"read\""},
      {"tools = [1]\n", "config.toml:1", "a list of tool names"},
      {"tool_execution = \"fast\"\n", "config.toml:1", "\"sequential\""},
      {"model = 2026-01-01\nx", "config.toml:2", "TOML"},
      {"[permissions]\n", "config.toml:1: \"permissions\"", "config explain"},
      {"a = [\n", "config.toml:1", "TOML"},
      {"\"models[4000000000].id\" = \"x\"\n", "config.toml:1", "is not a key"},
      {"model = \"a/b\"\nmodel = \"a/c\"\n", "config.toml:2", "TOML"},
      {"\xff\xfe", "config.toml:1", "TOML"},
  };
  for (const auto& [text, place, neighbour] : table) {
    user(text);
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"run", "hello"}, {"config", "explain"}}) {
      const Ran ran = tug(words);
      EXPECT_EQ(ran.exit, 2) << text << ran.err;
      EXPECT_EQ(ran.out, "");
      EXPECT_TRUE(has(ran.err, place)) << text;
      EXPECT_TRUE(has(ran.err, neighbour)) << text;
    }
  }
  user(std::string(2 << 20, '#'));
  EXPECT_EQ(tug({"config", "path"}).exit, 2);
  user("x = " + std::string(100'000, '['));
  EXPECT_EQ(tug({"config", "path"}).exit, 2);
}

TEST_F(Config, AKeyOfVeryManyNamesIsAnErrorAndNoCrash) {
  std::string names = "a";
  for (int i = 0; i < 100'000; ++i) names += ".a";
  for (const std::string& text : {names + " = 1\n", "[" + names + "]\n", "x = {" + names + "=1}"}) {
    user("\n" + text);
    const Ran ran = tug({"config", "explain"});
    EXPECT_EQ(ran.exit, 2);
    EXPECT_TRUE(has(ran.err, "config.toml:2: more than 1000 dots"));
  }
}

TEST_F(Config, VariablesThatAreNoSettingAreNamed) {
  environment_ = {"TUG_MODLE=x"};
  EXPECT_TRUE(has(tug({"run", "hello"}).err, "did you mean TUG_MODEL?"));
  environment_ = {"TUG_LIMITS__MAX_TURNS=soon"};
  EXPECT_TRUE(has(tug({"run", "hello"}).err, "TUG_LIMITS__MAX_TURNS: expected a whole number"));
  environment_ = {"TUG_STATE_DIR=" + home_ + "/elsewhere", "TUG_SKIP_SETUP=1", "TUG_MODEL="};
  EXPECT_EQ(tug({"config", "explain"}).exit, 0);
  EXPECT_EQ(explained("model").second, "built in");
}

}  // namespace
}  // namespace tug::journey
