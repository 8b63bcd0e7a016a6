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
      {"fallback_models = \"a/b\"\n", "config.toml:1: fallback_models: expected a list", "a/b"},
      {"[output]\nmode = \"xml\"\n", "config.toml:2: output.mode", "\"prompted\""},
      {"[retry]\nattempts = 0\n", "config.toml:2: retry.attempts", "from 1"},
      {"[retry]\njitter = 1.5\n", "config.toml:2: retry.jitter", "from 0 to 1"},
      {"[retry]\nmultiplier = 0.5\n", "config.toml:2: retry.multiplier", "from 1"},
      {"[retry]\ninitial_ms = 100000000\n", "config.toml:2: retry.initial_ms", "a day"},
      {"[retry]\natempts = 1\n", "config.toml:2: \"retry.atempts\"", "\"retry.attempts\""},
      {"[permision]\n", "config.toml:1: \"permision\"", "config explain"},
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

TEST_F(Config, TheSettingsOfTheLoopComeFromEveryLayer) {
  EXPECT_EQ(explained("fallback_models"), Explained(Json::array(), "built in"));
  EXPECT_EQ(explained("limits.retries"), Explained(3, "built in"));
  EXPECT_EQ(explained("limits.output_retries"), Explained(1, "built in"));
  EXPECT_EQ(explained("limits.tool_retries"), Explained(1, "built in"));
  EXPECT_EQ(explained("output.mode"), Explained("auto", "built in"));
  EXPECT_EQ(explained("retry.attempts"), Explained(4, "built in"));
  EXPECT_EQ(explained("retry.initial_ms"), Explained(200, "built in"));
  EXPECT_EQ(explained("retry.multiplier"), Explained(2, "built in"));
  EXPECT_EQ(explained("retry.max_ms"), Explained(30'000, "built in"));
  EXPECT_EQ(explained("retry.max_wait_ms"), Explained(120'000, "built in"));
  EXPECT_EQ(explained("retry.jitter"), Explained(0.25, "built in"));
  const std::string path = user(
      "fallback_models = [\"script/b\"]\nappend_system_prompt = \"x\"\n[limits]\n"
      "tool_retries = 4\n[output]\nmode = \"tool\"\n[retry]\njitter = 0\n");
  EXPECT_EQ(explained("fallback_models"),
            Explained(Json::array({"script/b"}), home_ + "/config/tug/config.toml:1"));
  EXPECT_EQ(explained("output.mode"), Explained("tool", home_ + "/config/tug/config.toml:6"));
  EXPECT_EQ(explained("retry.jitter"), Explained(0, home_ + "/config/tug/config.toml:8"));
  environment_ = {"TUG_LIMITS__TOOL_RETRIES=5", "TUG_FALLBACK_MODELS=script/c,script/d"};
  EXPECT_EQ(explained("limits.tool_retries"), Explained(5, "TUG_LIMITS__TOOL_RETRIES"));
  EXPECT_EQ(explained("fallback_models"),
            Explained(Json::array({"script/c", "script/d"}), "TUG_FALLBACK_MODELS"));
  EXPECT_EQ(
      explained("fallback_models", {"--fallback-model", "script/e,f", "--fallback-model", "a/b"}),
      Explained(Json::array({"script/e,f", "a/b"}), "--fallback-model"));
  EXPECT_EQ(explained("fallback_models", {"--fallback-model", "none"}),
            Explained(Json::array(), "--fallback-model"));
  EXPECT_EQ(explained("output.mode", {"--output-mode", "prompted"}),
            Explained("prompted", "--output-mode"));
}

TEST_F(Config, ASettingWithTwoNamesIsOneSetting) {
  user("[limits]\nretries = 7\noutput_retries = 2\n");
  EXPECT_EQ(explained("retry.attempts"), Explained(8, home_ + "/config/tug/config.toml:2"));
  EXPECT_EQ(explained("output.retries"), Explained(2, home_ + "/config/tug/config.toml:3"));
  environment_ = {"TUG_RETRY__ATTEMPTS=1"};
  EXPECT_EQ(explained("limits.retries"), Explained(0, "TUG_RETRY__ATTEMPTS"));
  EXPECT_EQ(explained("retry.attempts", {"--retries", "2"}), Explained(3, "--retries"));
  environment_ = {};
  user("[limits]\nretries = 2\n[retry]\nattempts = 3\n");
  EXPECT_EQ(explained("retry.attempts").first, Json(3)) << "they agree";
  user("[limits]\nretries = 2\n[retry]\nattempts = 2\n");
  const Ran ran = tug({"config", "explain"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_TRUE(has(ran.err, "config.toml:4: retry.attempts and limits.retries"));
  EXPECT_TRUE(has(ran.err, "config.toml:2) set the same"));
}

TEST_F(Config, TheSystemPromptIsTheBuiltInOneReplacedOrExtended) {
  const std::string root = std::filesystem::canonical(work_).string();
  const Ran built_in = tug({"config", "explain", "--system"});
  EXPECT_EQ(built_in.exit, 0);
  EXPECT_TRUE(has(built_in.out, "works for one person in one folder: " + root + "\n"));
  EXPECT_TRUE(has(built_in.err, "offline/demo is not told the built-in part"));
  EXPECT_TRUE(has(tug({"config", "explain", "--system", "-C", ".."}).out,
                  std::filesystem::canonical(home_).string() + "\n"));
  const std::vector<std::string> more = {"config", "explain", "--system", "--append-system-prompt",
                                         "Be kind."};
  EXPECT_EQ(tug(more).out, built_in.out + "\nBe kind.\n");
  EXPECT_EQ(tug({"config", "explain", "--system", "--system-prompt", "Be brief."}).out,
            "Be brief.\n");
  EXPECT_EQ(tug({"config", "explain", "--system", "--system-prompt", ""}).out, "");
  user("system_prompt = \"Be.\"\nappend_system_prompt = \"Do.\"\n");
  const Ran ran = tug({"config", "explain", "--system", "--json"});
  EXPECT_EQ(parse_json(ran.out).value(),
            Json::object({{"version", nullptr},
                          {"source", home_ + "/config/tug/config.toml:1, " + home_ +
                                         "/config/tug/config.toml:2"},
                          {"text", "Be.\n\nDo."}}));
  const Ran bare = tug({"config", "explain", "--system", "--json", "--bare"});
  EXPECT_EQ(parse_json(bare.out).value()["version"], Json(1));
  EXPECT_EQ(tug({"config", "explain", "--system", "-C", "nowhere"}).exit, 2);
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
