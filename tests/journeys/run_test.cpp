// tug run: prompts, formats, tools, limits, and what is said when it cannot run.
#include <fcntl.h>
#include <unistd.h>

#include "journey.h"

namespace tug::journey {
namespace {

class RunCommand : public Journey {
 protected:
  const std::string hello =
      R"({"text":"hello there","usage":{"input_tokens":7,"output_tokens":2}})";
  const std::string reads =
      R"({"text":"let me look","tool_calls":[{"id":"c1","name":"read","arguments":{"path":"notes.txt"}}]})";
  // The prompt of the newest run, as the journal has it.
  std::string prompt() { return std::string(last_run()["prompt"].as_string()); }
};

TEST_F(RunCommand, ThePromptIsAWordAPipeOrBoth) {
  const std::string model = script("s.jsonl", {hello});
  EXPECT_EQ(tug({"run", "-m", model, "one"}).out, "hello there\n");
  EXPECT_EQ(prompt(), "one");
  EXPECT_EQ(tug({"-m", model, "two words"}).exit, 0);
  EXPECT_EQ(prompt(), "two words");
  EXPECT_EQ(tug({"-m", model, "what is this?"}, "a poem\n").exit, 0);
  EXPECT_EQ(prompt(), "what is this?\n\na poem");
  EXPECT_EQ(tug({"-m", model}, "from a pipe\n").exit, 0);
  EXPECT_EQ(prompt(), "from a pipe");
  EXPECT_EQ(tug({"run", "-", "-m", model}, "dash").exit, 0);
  EXPECT_EQ(prompt(), "dash");
  EXPECT_EQ(tug({"run", "version", "-m", model}).out, "hello there\n");
  EXPECT_EQ(prompt(), "version");
  EXPECT_EQ(tug({"-m", model, "--", "--help"}).exit, 0);
  EXPECT_EQ(prompt(), "--help");
}

TEST_F(RunCommand, APromptThatIsMissingTooLongOrInPiecesIsRefused) {
  const std::string model = script("s.jsonl", {hello});
  EXPECT_TRUE(has(tug({"run", "-m", model}).err, "there is no prompt"));
  EXPECT_EQ(tug({"run", "-m", model}).exit, 2);
  EXPECT_EQ(tug({"run", "-m", model, " \n "}).exit, 2);
  const Ran large = tug({"run", "-m", model, "hm"}, std::string((1 << 20) + 1, 'x'));
  EXPECT_EQ(large.exit, 2);
  EXPECT_TRUE(has(large.err, "stdin: more than 1 MB"));
  EXPECT_EQ(tug({"run", "-m", model, "hm"}, std::string(1 << 20, 'x')).exit, 0);
  const Ran pieces = tug({"run", "-m", model, "list", "the", "files"});
  EXPECT_EQ(pieces.exit, 2);
  EXPECT_TRUE(has(pieces.err, "put the prompt into quotes"));
}

TEST_F(RunCommand, JsonIsOneObjectWithTheFieldsOfTheContract) {
  file("notes.txt", "a\nb\n");
  const std::string model = script("s.jsonl", {reads, hello});
  const Ran ran = tug({"run", "-o", "json", "-m", model, "go"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_EQ(ran.err, "");
  const Json result = parse_json(ran.out).value();
  for (const char* key :
       {"run_id", "root_run_id", "thread_id", "status", "stop_reason", "text", "output", "model",
        "model_calls", "tool_calls", "usage", "cost", "own", "counts", "context", "duration_ms",
        "pending_approvals", "permission_denials", "error"}) {
    EXPECT_TRUE(result.contains(key)) << key;
  }
  EXPECT_EQ(result["status"], Json("completed"));
  EXPECT_EQ(result["text"], Json("hello there"));
  EXPECT_EQ(result["tool_calls"], Json(1));
  EXPECT_EQ(result["usage"]["total_tokens"], Json(9));
  EXPECT_EQ(parse_json(tug({"run", "--json", "-m", model, "go"}).out).value()["status"],
            Json("completed"));
}

TEST_F(RunCommand, ToolsAreThoseThatWereNamed) {
  file("notes.txt", "a\n");
  const std::string model = script("s.jsonl", {reads, hello});
  const Ran with = tug({"run", "-v", "-m", model, "--tools", "read,list", "go"});
  EXPECT_TRUE(has(with.err, "* read notes.txt ("));
  const Ran without = tug({"run", "-v", "-m", model, "--tools", "none", "go"});
  EXPECT_EQ(without.exit, 0) << without.err;
  EXPECT_TRUE(has(without.err, "* read: there is no such tool"));
  const Ran wrong = tug({"run", "-m", model, "--tools", "raed", "go"});
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_TRUE(has(wrong.err, "read")) << "the nearest is named";
}

TEST_F(RunCommand, TheRootIsAFolderAndTheToolsStayInIt) {
  file("inner/notes.txt", "inside\n");
  const std::string model = script("s.jsonl", {reads, hello});
  EXPECT_TRUE(has(tug({"run", "-v", "-m", model, "-C", "inner", "go"}).err, "* read notes.txt ("));
  const Ran missing = tug({"run", "-m", model, "-C", "nowhere", "go"});
  EXPECT_EQ(missing.exit, 2);
  EXPECT_TRUE(has(missing.err, "nowhere"));
}

TEST_F(RunCommand, LimitsEndARunWithFive) {
  const std::string model = script("s.jsonl", {hello});
  EXPECT_EQ(tug({"run", "-m", model, "--max-turns", "0", "go"}).exit, 5);
  environment_ = {"TUG_LIMITS__MAX_TURNS=0"};
  EXPECT_EQ(tug({"run", "-m", model, "go"}).exit, 5);
  EXPECT_EQ(tug({"run", "-m", model, "--max-turns", "1", "go"}).exit, 0);
  environment_ = {};
  for (const char* bad : {"-1", "many", "1.5", "99999999999999999999", ""}) {
    const Ran ran = tug({"run", "-m", model, std::string("--max-turns=") + bad, "go"});
    EXPECT_EQ(ran.exit, 2) << bad;
  }
  const Ran cost = tug({"run", "-m", model, "--max-cost", "1", "go"});
  EXPECT_EQ(cost.exit, 2) << "nobody knows what this model costs";
  const std::string priced =
      file("priced.toml", "[[models]]\nprovider = \"script\"\nprice = { in = 1, out = 2 }\n");
  const Ran known =
      tug({"run", "-m", model, "--max-cost", "1", "--config", priced, "--json", "go"});
  EXPECT_EQ(known.exit, 0) << known.err;
  EXPECT_EQ(parse_json(known.out).value()["cost"],
            Json::object({{"usd", 0.000011}, {"source", "catalogue"}}));
}

TEST_F(RunCommand, WhatTheProviderSaysDecidesTheExitCode) {
  const std::tuple<const char*, int> table[] = {
      {R"({"error":{"status":401,"body":"who are you"}})", 4},
      {R"({"error":{"status":400,"body":"what is this"}})", 1},
      {R"({"text":"no","finish":"refusal"})", 1},
  };
  for (const auto& [turn, code] : table) {
    const Ran ran = tug({"run", "-m", script("e.jsonl", {turn}), "go"});
    EXPECT_EQ(ran.exit, code) << turn << ran.err;
    EXPECT_NE(ran.err, "") << turn;
    const Ran json = tug({"run", "--json", "-m", script("e.jsonl", {turn}), "go"});
    EXPECT_EQ(json.exit, code);
    EXPECT_FALSE(parse_json(json.out).value()["error"].is_null()) << turn;
  }
}

TEST_F(RunCommand, AnExhaustedScriptIsAProviderErrorWithEverythingSoFar) {
  file("notes.txt", "a\n");
  const Ran ran = tug({"run", "--json", "-m", script("s.jsonl", {reads}), "go"});
  EXPECT_EQ(ran.exit, 1);
  const Json result = parse_json(ran.out).value();
  EXPECT_EQ(result["stop_reason"], Json("provider_error"));
  EXPECT_EQ(result["tool_calls"], Json(1));
  EXPECT_TRUE(has(ran.err, "s.jsonl"));
}

TEST_F(RunCommand, AModelThatCannotBeHadIsExitTwoAndNamesThePlace) {
  const std::tuple<std::string, const char*> table[] = {
      {script("bad.jsonl", {hello, R"({"txt":"x"})"}), "bad.jsonl:2"},
      {script("worse.jsonl", {"{"}), "worse.jsonl:1"},
      {"script/nowhere.jsonl", "nowhere.jsonl"},
      {"scrpt/a", "script"},
      {"offline/demi", "demo"},
      {"nothing", "nothing"},
  };
  for (const auto& [model, named] : table) {
    const Ran ran = tug({"run", "-m", model, "go"});
    EXPECT_EQ(ran.exit, 2) << model;
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(has(ran.err, named)) << model;
  }
  EXPECT_FALSE(std::filesystem::exists(home_ + "/state")) << "nothing has run";
}

TEST_F(RunCommand, WithoutAModelTheDemoAnswersAndSaysSo) {
  file("README.md", "# one\n\ntwo\n");
  const Ran ran = tug({"list the files here and count the lines of README.md"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(has(ran.err, "offline/demo"));
  EXPECT_TRUE(has(ran.out, "README.md has 3 lines"));
  EXPECT_EQ(tug({"-q", "hello"}).err, "");
}

TEST_F(RunCommand, LabelsAndPromptsReachTheRun) {
  const std::string model = script("s.jsonl", {hello});
  const std::string system = file("system.txt", "be brief\n");
  const Ran ran = tug({"run",
                       "-o",
                       "stream-json",
                       "-m",
                       model,
                       "--system-prompt-file",
                       system,
                       "--append-system-prompt",
                       "and kind",
                       "--tag",
                       "nightly",
                       "--tag",
                       "b",
                       "--local-tag",
                       "mine",
                       "--metadata",
                       "team=blue=1",
                       "--local-metadata",
                       "x=y",
                       "--set",
                       "depth={\"n\":3}",
                       "--thread",
                       "t-1",
                       "go"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const Json started = lines(ran.out)[1];
  EXPECT_EQ(started["thread_id"], Json("t-1"));
  const Json& options = started["data"]["options"];
  EXPECT_EQ(options["inherited_tags"], Json::array({"nightly", "b"}));
  EXPECT_EQ(options["tags"], Json::array({"mine"}));
  EXPECT_EQ(options["inherited_metadata"], Json::object({{"team", "blue=1"}}));
  EXPECT_EQ(options["metadata"], Json::object({{"x", "y"}}));
  EXPECT_EQ(options["configurable"], Json::object({{"depth", Json::object({{"n", 3}})}}));
  EXPECT_EQ(tug({"run", "-m", model, "--metadata", "team", "go"}).exit, 2);
  EXPECT_EQ(tug({"run", "-m", model, "--set", "a=b", "go"}).exit, 2);
  EXPECT_EQ(tug({"run", "-m", model, "--seed", "x", "go"}).exit, 2);
  EXPECT_EQ(tug({"run", "-m", model, "--color", "red", "go"}).exit, 2);
  EXPECT_EQ(tug({"run", "-m", model, "--system-prompt-file", "nowhere", "go"}).exit, 2);
  EXPECT_EQ(
      tug({"run", "-m", model, "--system-prompt-file", system, "--system-prompt", "x", "go"}).exit,
      2);
}

TEST_F(RunCommand, TheBuiltInPromptIsNotToldToModelsThatReadNone) {
  const std::string model = script("s.jsonl", {hello});
  const auto options = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"run", "-o", "stream-json"});
    return lines(tug(words).out)[1]["data"]["options"];
  };
  EXPECT_FALSE(options({"-m", model, "go"}).contains("system_prompt"));
  EXPECT_FALSE(options({"-m", "offline/demo", "hello"}).contains("system_prompt"));
  EXPECT_EQ(options({"-m", model, "--append-system-prompt", "Be kind.", "go"})["system_prompt"],
            Json("Be kind."));
}

TEST_F(RunCommand, ASchemaThatCannotBeUsedIsExitTwoAndSaysWhy) {
  const std::string model = script("s.jsonl", {hello});
  file("list.json", "[1]");
  file("broken.json", "{\"type\":");
  file("wrong.json", R"({"type":"object","properties":{"n":{"type":"nummer"}}})");
  file("large.json", "{\"title\":\"" + std::string(1 << 20, 'x') + "\"}");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"not\":";
  file("deep.json", deep);
  const std::tuple<std::string, const char*, const char*> table[] = {
      {"nowhere.json", "--json-schema: nowhere.json: No such file", "starts with {"},
      {"", "--json-schema", "starts with {"},
      {"true", "--json-schema: true: No such file", "starts with {"},
      {"[1]", "--json-schema: [1]: No such file", "starts with {"},
      {".", "--json-schema: .: Is a directory", "name a file"},
      {"-", "--json-schema -: stdin is where the prompt", "name a file"},
      {"list.json", "--json-schema list.json: a schema is a JSON object", "name a file"},
      {"broken.json", "--json-schema: broken.json:", "name a file"},
      {"wrong.json", "--json-schema wrong.json: ", "schema at /properties/n: \"type\""},
      {"large.json", "--json-schema: large.json: more than 1 MB", "name a file"},
      {"deep.json", "--json-schema: deep.json:", "name a file"},
      {"{\"type\":", "--json-schema: the schema on the command line:", "name a file"},
      {R"( {"type":"nummer"})", "--json-schema: ", "schema at (root): \"type\""},
      {R"({"$ref":"https://example.com/x"})", "--json-schema: ", "example.com"},
  };
  for (const auto& [given, said, more] : table) {
    const Ran ran = tug({"run", "-m", model, "--json-schema", given, "go"});
    EXPECT_EQ(ran.exit, 2) << given;
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(has(ran.err, said));
    EXPECT_TRUE(has(ran.err, more));
  }
  EXPECT_FALSE(std::filesystem::exists(home_ + "/state")) << "nothing has run";
}

TEST_F(RunCommand, BadSettingsOfTheLoopAreExitTwo) {
  const std::string model = script("s.jsonl", {hello});
  const std::tuple<const char*, const char*, const char*> table[] = {
      {"--retries", "-1", "--retries: expected a whole number from 0"},
      {"--output-retries", "x", "--output-retries: expected"},
      {"--tool-retries", "4294967296", "--tool-retries: expected"},
      {"--output-mode", "xml", "--output-mode: expected"},
      {"--fallback-model", "scrpt/a", "--fallback-model"},
      {"--fallback-model", "script/nowhere.jsonl", "nowhere.jsonl"},
      {"--fallback-model", "", "--fallback-model"},
  };
  for (const auto& [flag, value, said] : table) {
    const Ran ran = tug({"run", "-m", model, flag, value, "go"});
    EXPECT_EQ(ran.exit, 2) << flag;
    EXPECT_TRUE(has(ran.err, said));
  }
  environment_ = {"TUG_FALLBACK_MODELS=offline/demi"};
  EXPECT_TRUE(has(tug({"run", "-m", model, "go"}).err, "TUG_FALLBACK_MODELS"));
}

TEST_F(RunCommand, NoSessionLeavesNothingOnDisk) {
  const std::string model = script("s.jsonl", {hello});
  EXPECT_EQ(tug({"run", "--no-session", "-m", model, "go"}).out, "hello there\n");
  EXPECT_FALSE(std::filesystem::exists(home_ + "/state"));
  EXPECT_EQ(tug({"resume", "--last", "--no-session"}).exit, 2);
}

TEST_F(RunCommand, AStateThatCannotBeWrittenOrReadIsExitTwo) {
  const std::string model = script("s.jsonl", {hello});
  const std::string letter = file("letter", "dear journal");
  for (const char* command : {"run", "runs", "show", "replay", "resume"}) {
    std::vector<std::string> words = {command, "--state-dir", letter};
    if (std::string(command) == "run") words.insert(words.end(), {"-m", model, "go"});
    if (std::string(command) != "run" && std::string(command) != "runs") words.push_back("last");
    const Ran ran = tug(words);
    EXPECT_EQ(ran.exit, 2) << command << ran.err;
    EXPECT_TRUE(has(ran.err, "letter")) << command;
  }
  file("state/journal.db", "this is not a journal");
  EXPECT_EQ(tug({"run", "--state-dir", "state", "-m", model, "go"}).exit, 2);
}

TEST_F(RunCommand, TextIsRawForAProgramAndEndsWithOneLineFeed) {
  const std::string model = script("s.jsonl", {R"({"text":"\u001b[31mred\n"})"});
  EXPECT_EQ(tug({"run", "-m", model, "go"}).out, "\x1b[31mred\n");
  EXPECT_EQ(tug({"run", "-m", script("e.jsonl", {R"({"text":"a"})"}), "go"}).out, "a\n");
}

TEST_F(RunCommand, AnUnknownFlagIsNamedWithTheNearest) {
  const Ran ran = tug({"run", "--modle", "x", "go"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_TRUE(has(ran.err, "--modle"));
  EXPECT_TRUE(has(ran.err, "did you mean --model?"));
  EXPECT_TRUE(has(tug({"--max-turn=3", "go on"}).err, "did you mean --max-turns?"));
  for (const char* later : {"--base-url", "--mcp-config"})
    EXPECT_EQ(tug({"run", later, "x", "go"}).exit, 2) << later;
}

}  // namespace
}  // namespace tug::journey
