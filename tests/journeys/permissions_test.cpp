// Permissions: what is asked about, refused and allowed, from every layer.
#include "journey.h"

namespace tug::journey {
namespace {

class PermissionSettings : public Journey {
 protected:
  std::string user(const std::string& text) { return file("../config/tug/config.toml", text); }
  std::string explained(const std::string& key, const std::vector<std::string>& flags = {}) {
    std::vector<std::string> words = {"config", "explain", "--json"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ran ran = tug(words);
    EXPECT_EQ(ran.exit, 0) << ran.err;
    const Json list = parse_json(ran.out).value();
    for (const Json& row : list.items()) {
      if (row["key"].as_string() == key)
        return print_json(row["value"]) + " " + std::string(row["source"].as_string());
    }
    return "no such key";
  }
  Json recorded() {
    const std::vector<Json> events = lines(tug({"show", "last", "--events"}).out);
    return events.front()["data"]["options"]["permissions"];
  }
};

TEST_F(PermissionSettings, PatternsOfAllLayersAddUpAndTheNearestModeWins) {
  EXPECT_EQ(explained("permissions.mode"), "\"ask\" built in");
  EXPECT_EQ(explained("permissions.hold"), "\"batch\" built in");
  EXPECT_EQ(explained("permissions.on_ask"), "null built in");
  EXPECT_EQ(explained("permissions.deny"), "[] built in");
  const std::string path = home_ + "/config/tug/config.toml";
  user(
      "[permissions]\nmode = \"yolo\"\nallow = [\"list\"]\ndeny = [\"read(**/.env)\"]\n"
      "hold = \"call\"\non_ask = \"deny\"\n");
  const std::string named =
      file("more.toml", "[permissions]\nmode = \"accept-edits\"\ndeny = [\"search\"]\n");
  EXPECT_EQ(explained("permissions.mode"), "\"yolo\" " + path + ":2");
  EXPECT_EQ(explained("permissions.mode", {"--config", named}), "\"accept-edits\" " + named + ":2");
  EXPECT_EQ(explained("permissions.deny", {"--config", named}),
            R"j(["read(**/.env)","search"] )j" + path + ":4, " + named + ":3");
  environment_ = {"TUG_PERMISSIONS__DENY=glob, read({a,b}),list", "TUG_PERMISSIONS__MODE=ask"};
  EXPECT_EQ(explained("permissions.mode", {"--config", named}), "\"ask\" TUG_PERMISSIONS__MODE");
  EXPECT_EQ(explained("permissions.mode", {"--permission-mode", "read-only"}),
            "\"read-only\" --permission-mode");
  EXPECT_EQ(explained("permissions.deny", {"--deny", "read(x,y)", "--deny", "read(z)"}),
            R"j(["read(**/.env)","glob","read({a,b})","list","read(x,y)","read(z)"] )j" + path +
                ":4, TUG_PERMISSIONS__DENY, --deny");
  EXPECT_EQ(explained("permissions.on_ask", {"--on-ask", "park"}), "\"park\" --on-ask");
  EXPECT_EQ(explained("permissions.allow", {"--bare", "--allow", "read"}), "[\"read\"] --allow");
  EXPECT_EQ(explained("permissions.hold"), "\"call\" " + path + ":5");
}

TEST_F(PermissionSettings, WhatIsWrongIsNamedWithItsPlaceAndTheFix) {
  const std::tuple<const char*, const char*, const char*> table[] = {
      {"[permissions]\nmode = \"yol\"\n", "config.toml:2: permissions.mode", "\"yolo\"?"},
      {"[permissions]\nmode = \"declared\"\n", "config.toml:2: permissions.mode", "accept-edits"},
      {"[permissions]\ndeny = \"read\"\n", "config.toml:2: permissions.deny: expected a list",
       "change the value"},
      {"[permissions]\nask = [1]\n", "config.toml:2: permissions.ask: expected a list", "got [1]"},
      {"[permissions]\nallow = [\"read(\"]\n",
       "config.toml:2: permissions.allow: the pattern \"read(\"", "close it"},
      {"[permissions]\nalow = []\n", "config.toml:2: \"permissions.alow\" is not a key",
       "\"permissions.allow\"?"},
      {"[permissions]\nhold = \"all\"\n", "config.toml:2: permissions.hold", "\"call\"?"},
      {"[permissions]\non_ask = \"wait\"\n", "config.toml:2: permissions.on_ask", "park"},
  };
  for (const auto& [text, place, fix] : table) {
    user(text);
    const Ran ran = tug({"run", "hello"});
    EXPECT_EQ(ran.exit, 2) << text << ran.err;
    EXPECT_TRUE(has(ran.err, place)) << text;
    EXPECT_TRUE(has(ran.err, fix)) << text;
  }
  user("[permissions]\n");
  EXPECT_EQ(tug({"config", "explain"}).exit, 0) << "an empty section says nothing";
  const std::tuple<std::vector<std::string>, const char*, const char*> flags[] = {
      {{"--permission-mode", "none"}, "--permission-mode: expected", "take one of ask"},
      {{"--allow", "read("}, "--allow: the pattern \"read(\"", "close it"},
      {{"--deny", ""}, "--deny: the pattern \"\"", "write tool or tool(glob)"},
      {{"--deny", "raed"}, "--deny raed: there is no tool \"raed\"", "did you mean \"read\"?"},
      {{"--ask", "zzz(a)"}, "--ask zzz(a): there is no tool \"zzz\"", "`tug tools` lists"},
      {{"--on-ask", "wait"}, "--on-ask: expected", "take one of park, deny"},
  };
  for (const auto& [words, message, fix] : flags) {
    std::vector<std::string> all = {"run", "hello"};
    all.insert(all.end(), words.begin(), words.end());
    const Ran ran = tug(all);
    EXPECT_EQ(ran.exit, 2) << words[0] << ran.err;
    EXPECT_TRUE(has(ran.err, message));
    EXPECT_TRUE(has(ran.err, fix));
  }
}

TEST_F(PermissionSettings, ARunIsToldThemAndKeepsThemWhenItGoesOn) {
  const std::string model = script("s.jsonl", {R"({"repeat":true,"text":"hm"})"});
  tug({"run", "-m", model, "go"});
  EXPECT_EQ(print_json(recorded()), R"({"mode":"ask"})");
  tug({"run", "--no-session", "-m", model, "go"});
  tug({"run", "-m", model, "--permission-mode", "read-only", "--deny", "read(x)", "--on-ask",
       "deny", "go"});
  EXPECT_EQ(print_json(recorded()), R"j({"mode":"read-only","deny":["read(x)"],"on_ask":"deny"})j");
  // What was said for the first run holds for the next one; who is there to ask is found out anew.
  user("[permissions]\nmode = \"yolo\"\nallow = [\"read\"]\n");
  EXPECT_EQ(tug({"resume", "last", "and now"}).exit, 0);
  EXPECT_EQ(print_json(recorded()), R"j({"mode":"read-only","deny":["read(x)"]})j");
  EXPECT_EQ(tug({"resume", "last", "and now", "--permission-mode", "ask", "--deny", "list"}).exit,
            0);
  EXPECT_EQ(print_json(recorded()), R"j({"mode":"ask","deny":["read(x)","list"]})j");
  EXPECT_EQ(tug({"resume", "last", "and now"}).exit, 0);
  EXPECT_EQ(print_json(recorded()), R"j({"mode":"ask","deny":["read(x)","list"]})j");
  tug({"run", "-m", model, "go"});
  EXPECT_EQ(print_json(recorded()), R"j({"mode":"yolo","allow":["read"]})j");
}

TEST_F(PermissionSettings, HelpAndCompletionKnowTheFlags) {
  const std::string help = tug({"run", "--help"}).out;
  for (const char* flag :
       {"--permission-mode", "--allow", "--ask", "--deny", "--on-ask", "--fail-on-deny"})
    EXPECT_TRUE(has(help, flag));
  const std::string completion = tug({"completion", "bash"}).out;
  EXPECT_TRUE(has(completion, "--permission-mode) words=\"ask accept-edits read-only yolo\""));
  EXPECT_TRUE(has(completion, "--on-ask) words=\"park deny\""));
}

}  // namespace
}  // namespace tug::journey
