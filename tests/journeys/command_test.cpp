#include <sys/wait.h>

#include <algorithm>

#include "journey.h"
#include "tug/version.h"

namespace tug::journey {
namespace {

using Command = Journey;

TEST_F(Command, VersionIsOneLineOrOneObject) {
  Ran text = tug({"version"});
  EXPECT_EQ(text.exit, 0);
  EXPECT_EQ(text.out, "tug " + std::string(kVersion) + "\n");
  EXPECT_EQ(text.err, "");
  Ran json = tug({"version", "--json"});
  EXPECT_EQ(parse_json(json.out).value()["version"].as_string(), kVersion);
}

TEST_F(Command, SchemaCheckSaysValidOrNamesThePlace) {
  const std::string schema =
      file("schema.json", R"({"properties":{"days":{"type":"array","items":{"type":"integer"}}}})");
  Ran good = tug({"schema", "check", schema, file("good.json", R"({"days":[1,2]})")});
  EXPECT_EQ(good.exit, 0);
  EXPECT_EQ(good.out, "valid\n");
  Ran bad = tug({"schema", "check", schema, "-"}, R"({"days":[1,"x"]})");
  EXPECT_EQ(bad.exit, 7);
  EXPECT_EQ(bad.out, "invalid /days/1: expected integer, got string \"x\"\n");
  Ran json = tug({"schema", "check", schema, "-", "-o", "json"}, R"({"days":[1,"x"]})");
  EXPECT_EQ(json.exit, 7);
  EXPECT_EQ(parse_json(json.out).value()["violations"][0]["path"].as_string(), "/days/1");
}

TEST_F(Command, SchemaCheckAllGivesOneVerdictALine) {
  const std::string schema = file("schema.json", R"({"type":"integer"})");
  Ran ran = tug({"schema", "check", "--all", schema, "-"}, "1\n\"x\"\n2.0\n");
  EXPECT_EQ(ran.exit, 7);
  EXPECT_EQ(ran.out, "valid\ninvalid (root): expected integer, got string \"x\"\nvalid\n");
  EXPECT_EQ(tug({"schema", "check", "--all", schema, "-"}, "1\n2\n").exit, 0);
}

TEST_F(Command, UnusableSchemasAndDataAreExitTwoAndSayWhatIsWrong) {
  const std::string fine = file("fine.json", "{}");
  const std::tuple<std::string, std::string, const char*> table[] = {
      {file("a.json", R"({"type":5})"), "1", "type"},
      {file("b.json", R"({"$ref":"https://example.org/other"})"), "1",
       "remote references are not fetched"},
      {file("c.json", "{"), "1", "line 1"},
      {file("d.json", "{\"pattern\":\"(?=x)\"}"), "1", "(?=x)"},
      {work_ + "/missing.json", "1", "missing.json"},
      {fine, "{\"a\":", "stdin"},
      {fine, "", "stdin"},
  };
  for (const auto& [schema, data, named] : table) {
    Ran ran = tug({"schema", "check", schema, "-"}, data);
    EXPECT_EQ(ran.exit, 2) << schema;
    EXPECT_NE(ran.err.find(named), std::string::npos) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
  Ran json = tug({"schema", "check", work_ + "/missing.json", "-", "--json"});
  EXPECT_EQ(parse_json(json.out).value()["error"]["kind"].as_string(), "invalid");
}

TEST_F(Command, ThePublishedMetaschemasAreBuiltIn) {
  const std::string meta = R"({"$ref":"https://json-schema.org/draft/2020-12/schema"})";
  EXPECT_EQ(tug({"schema", "check", meta, "-"}, R"({"type":"object"})").exit, 0);
  EXPECT_EQ(tug({"schema", "check", meta, "-"}, R"({"type":"objekt"})").exit, 7);
}

TEST_F(Command, HostileInputEndsInAnErrorNotInACrash) {
  const std::string schema =
      file("schema.json", R"({"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"})");
  EXPECT_EQ(tug({"schema", "check", schema, "-"}, "1").exit, 2);
  EXPECT_EQ(tug({"schema", "check", "{}", "-"}, std::string(1'000'000, '[')).exit, 2);
  EXPECT_EQ(tug({"schema", "check", "{}", "-"}, std::string("\0\xff\xfe", 3)).exit, 2);
  EXPECT_EQ(tug({"schema", "check", "{}", "/dev/zero"}).exit, 2);
}

TEST_F(Command, ATypingErrorIsAnsweredWithTheNearestCommand) {
  Ran ran = tug({"docter"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("did you mean \"doctor\"?"), std::string::npos) << ran.err;
  EXPECT_TRUE(has(ran.err, "tug run docter"));
  EXPECT_EQ(tug({"rum", "-q"}).exit, 2);
  EXPECT_EQ(tug({"version", "--bogus"}).exit, 2);
  EXPECT_EQ(tug({"version", "--bogus"}).out, "")
      << "nothing is done before all words are understood";
  EXPECT_EQ(tug({}).exit, 2);
  EXPECT_EQ(tug({"--help"}).exit, 0);
  EXPECT_EQ(tug({"--help"}).err, "");
}

TEST_F(Command, NothingTypedReachesTheTerminalWithControlBytes) {
  Ran ran = tug({"\x1b[31mred"});
  EXPECT_EQ(ran.err.find('\x1b'), std::string::npos);
}

TEST_F(Command, DoctorLooksAndChangesNothing) {
  Ran ran = tug({"doctor"});
  EXPECT_EQ(ran.exit, 0) << ran.out;
  EXPECT_NE(ran.out.find("not there yet"), std::string::npos) << ran.out;
  EXPECT_FALSE(std::filesystem::exists(home_ + "/state"));
}

TEST_F(Command, DoctorNamesADamagedStateFolderAndTheWayOut) {
  const std::string state = home_ + "/state/tug";
  std::filesystem::create_directories(state);
  std::ofstream(state + "/journal.db") << "this is not a journal, it is a letter";
  Ran ran = tug({"doctor", "--json"});
  EXPECT_EQ(ran.exit, 2);
  auto json = parse_json(ran.out).value();
  EXPECT_FALSE(json["ok"].as_bool(true));
  bool found = false;
  for (const Json& check : json["checks"].items()) {
    if (check["state"].as_string() != "bad") continue;
    found = true;
    EXPECT_NE(check["text"].as_string().find(state + "/journal.db"), std::string::npos);
    EXPECT_FALSE(check["fix"].is_null());
  }
  EXPECT_TRUE(found);
  Ran other = tug({"doctor", "--state-dir", home_ + "/fresh"});
  EXPECT_EQ(other.exit, 0) << other.out;
}

TEST_F(Command, AVerdictIsOneLineWhateverTheKeysSay) {
  Ran ran = tug({"schema", "check", "--all", R"({"additionalProperties":false})", "-"},
                "{\"a\\nvalid\\u001b[2J\":1}\n");
  EXPECT_EQ(ran.exit, 7);
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran.out;
  EXPECT_EQ(ran.out.find('\x1b'), std::string::npos);
}

TEST_F(Command, UsageErrorsAreJsonToo) {
  Ran ran = tug({"version", "--json", "--bogus"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(parse_json(ran.out).value()["error"]["kind"].as_string(), "invalid");
  EXPECT_EQ(tug({"schema", "chek", "a", "b"}).exit, 2);
  EXPECT_NE(tug({"schema", "chek", "a", "b"}).err.find("did you mean \"check\"?"),
            std::string::npos);
  EXPECT_EQ(tug({"schema", "check", "-", "-"}, "{}").exit, 2);
}

TEST_F(Command, DoctorRefusesAStateThatCannotBeOne) {
  std::ofstream(home_ + "/letter") << "dear journal";
  std::filesystem::create_symlink(home_ + "/nowhere", home_ + "/dangling");
  std::filesystem::create_symlink(home_ + "/loop", home_ + "/loop");
  for (const char* bad : {"/letter", "/letter/below", "/dangling", "/loop"}) {
    Ran ran = tug({"doctor", "--state-dir", home_ + bad});
    EXPECT_EQ(ran.exit, 2) << bad << "\n" << ran.out;
  }
  EXPECT_EQ(tug({"doctor", "--state-dir", home_ + "/fresh/deep"}).exit, 0);
}

TEST_F(Command, OutputThatCannotBeWrittenIsNotASuccess) {
  const std::string to_full = std::string(TUG_BINARY) + " version >/dev/full 2>" + home_ + "/err";
  EXPECT_EQ(WEXITSTATUS(std::system(to_full.c_str())), 1);
  const std::string closed = std::string(TUG_BINARY) + " version >&- 2>" + home_ + "/err";
  EXPECT_EQ(WEXITSTATUS(std::system(closed.c_str())), 1);
}

}  // namespace
}  // namespace tug::journey
