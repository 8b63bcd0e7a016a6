// Agents of the configuration: rows of [[agents]], Markdown files, and what is wrong with them.
#include <algorithm>
#include <filesystem>
#include <map>

#include "journey.h"

namespace tug::journey {
namespace {

class Agents : public Journey {
 protected:
  std::string markdown(const std::string& name, const std::string& front,
                       const std::string& body = "") {
    return file("agents/" + name, "---\n" + front + "---\n" + body);
  }
  std::string config(const std::string& text) { return file("agents.toml", text); }
  // What `tug tools` lists, by name.
  std::vector<std::string> tools(std::vector<std::string> words) {
    words.insert(words.begin(), {"tools", "--json"});
    const Ran ran = tug(words);
    EXPECT_EQ(ran.exit, 0) << ran.err;
    std::vector<std::string> names;
    if (ran.exit != 0) return names;
    for (const Json& tool : parse_json(ran.out).value().items())
      names.emplace_back(tool["name"].as_string());
    return names;
  }
  Json explained(const std::string& key, std::vector<std::string> words) {
    words.insert(words.begin(), {"config", "explain", "--json"});
    const Ran ran = tug(words);
    EXPECT_EQ(ran.exit, 0) << ran.err;
    for (const Json& row : parse_json(ran.out).value().items()) {
      if (row["key"].as_string() == key) return row["value"];
    }
    return {};
  }
  // Both commands refuse it before anything runs, with these words.
  void expect_refused(const std::vector<std::string>& flags, const std::string& place,
                      const std::string& fix) {
    for (const char* command : {"run", "tools"}) {
      std::vector<std::string> words = {command};
      if (words[0] == "run") words.push_back("hello");
      words.insert(words.end(), flags.begin(), flags.end());
      const Ran ran = tug(words);
      EXPECT_EQ(ran.exit, 2) << place << ran.err;
      EXPECT_EQ(ran.out, "");
      EXPECT_TRUE(has(ran.err, place));
      EXPECT_TRUE(has(ran.err, fix));
    }
    EXPECT_EQ(tug({"runs", "--json"}).out, "[]\n");
  }
};

TEST_F(Agents, RowsAndFilesAreToolsBesideTheOthers) {
  const std::string rows = config(
      "[[agents]]\nname = \"critic\"\ndescription = \"Finds faults.\"\n"
      "[[agents]]\nname = \"poet\"\ndescription = \"Writes.\"\ntools = []\n");
  markdown("reviewer.md", "description: Reads what others wrote.\n", "Look twice.\n");
  markdown("two.md", "name: scout\ndescription: Looks around.\n");
  file("agents/notes.txt", "not an agent\n");
  file("agents/.hidden.md", "not an agent either\n");
  const std::vector<std::string> expected = {"critic",   "glob",  "list",   "poet",    "read",
                                             "reviewer", "scout", "search", "subagent"};
  EXPECT_EQ(tools({"--config", rows, "--agents", work_ + "/agents"}), expected);
  EXPECT_EQ(tools({"--config", rows, "--agents", "agents/two.md", "--tools", "read,scout"}),
            (std::vector<std::string>{"read", "scout"}));
  const std::string off = file("off.toml", "[subagents]\nenabled = false\n");
  EXPECT_EQ(tools({"--config", off}), (std::vector<std::string>{"glob", "list", "read", "search"}));
  const Ran listed = tug({"tools", "--agents", "agents/two.md"});
  EXPECT_TRUE(has(listed.out, "scout     agent   Looks around."));
}

TEST_F(Agents, AFileHasTheKeysOfARowAndItsTextIsTheSystemPrompt) {
  file("agents/shape.json", R"({"type":"object"})");
  const std::string path = markdown("deep.md",
                                    "description: >\n  Over two\n  lines.\n"
                                    "tools: read, search\nsubagents: []\n"
                                    "limits: {max_turns: 3, max_cost: 0.5}\n"
                                    "output_schema: shape.json\noutput_mode: tool\n"
                                    "steering:\n  - cancel\n  - inject\nfork: true\nmodel:\n"
                                    "hooks:\n  - event: run_start\n    command: \"true\"\n",
                                    "\n  indented\n\nlast\n\n");
  const std::vector<std::pair<const char*, Json>> values = {
      {"name", "deep"},
      {"description", "Over two lines.\n"},
      {"tools", Json::array({"read", "search"})},
      {"subagents", Json::array()},
      {"limits.max_turns", 3},
      {"limits.max_cost", 0.5},
      {"output_schema", Json::object({{"type", "object"}})},
      {"output_mode", "tool"},
      {"steering", Json::array({"cancel", "inject"})},
      {"fork", true},
      {"model", Json()},
      {"hooks[0].event", "run_start"},
      {"system_prompt", "  indented\n\nlast"},
  };
  for (const auto& [key, value] : values)
    EXPECT_EQ(explained("agents[0]." + std::string(key), {"--agents", path}), value) << key;
  const std::string row = config(
      "[[agents]]\nname = \"a\"\ndescription = \"A.\"\ntools = \"inherit\"\nhooks = []\n"
      "output_schema = { type = \"object\", properties = { ok = { type = \"boolean\" } } }\n"
      "[[agents.hooks]]\nevent = \"run_end\"\ncommand = \"true\"\n");
  EXPECT_EQ(tug({"tools", "--config", row}).exit, 2) << "hooks are given twice";
  const std::string fine = config(
      "[[agents]]\nname = \"a\"\ndescription = \"A.\"\ntools = \"inherit\"\n"
      "output_schema = { type = \"object\", properties = { ok = { type = \"boolean\" } } }\n"
      "[[agents.hooks]]\nevent = \"run_end\"\ncommand = \"true\"\n");
  EXPECT_EQ(explained("agents[0].output_schema", {"--config", fine}),
            parse_json(R"({"type":"object","properties":{"ok":{"type":"boolean"}}})").value());
  EXPECT_EQ(explained("agents[0].hooks[0].event", {"--config", fine}), Json("run_end"));
}

TEST_F(Agents, WhatIsWrongWithARowIsNamedWithItsPlaceAndItsFix) {
  const std::string start = "[[agents]]\nname = \"a\"\ndescription = \"A.\"\n";
  const std::tuple<std::string, const char*, const char*> table[] = {
      {"[[agents]]\ndescription = \"A.\"\n", "agents.toml:2: the agent has no name", "add name"},
      {"[[agents]]\nname = \"a\"\n", "agents.toml:2: the agent \"a\" has no description",
       "what it is for"},
      {"[[agents]]\nname = \"a b\"\ndescription = \"A.\"\n",
       "agents.toml:2: \"a b\" is no name for an agent", "letters"},
      {"[[agents]]\nname = \"read\"\ndescription = \"A.\"\n",
       "agents.toml:2: \"read\" is the name of a tool", "another one"},
      {"[[agents]]\nname = \"subagent\"\ndescription = \"A.\"\n",
       "agents.toml:2: \"subagent\" is the name of a tool", "another one"},
      {start + "\n" + start, "agents.toml:6: there is another agent called \"a\"", "agents.toml:2"},
      {start + "tols = []\n", "agents.toml:4: \"agents[0].tols\" is not a key",
       "\"agents[].tools\""},
      {start + "tools = \"all\"\n", "agents.toml:4: agents[0].tools: expected \"inherit\" or",
       "got \"all\""},
      {start + "tools = [\"raed\"]\n", "agents.toml:4: tools: no tool is called \"raed\"",
       "\"read\""},
      {start + "tools = [\"a\"]\n", "agents.toml:4: tools: \"a\" is an agent", "subagents"},
      {start + "tools = [\"read\", \"read\"]\n", "agents.toml:4: tools: the tool \"read\"", "once"},
      {start + "subagents = [\"b\"]\n", "agents.toml:4: subagents: no agent is called \"b\"",
       "there are a, subagent"},
      {start + "model = \"nobody/x\"\n", "agents.toml:4: model: ", "nobody"},
      {start + "limits = { max_turnz = 1 }\n", "agents.toml:4: \"agents[0].limits.max_turnz\"",
       "\"agents[].limits.max_turns\""},
      {start + "limits = { max_turns = -1 }\n", "agents.toml:4: agents[0].limits.max_turns", "-1"},
      {start + "steering = [\"stop\"]\n", "agents.toml:4: steering: \"stop\" is no command",
       "pause, resume"},
      {start + "output_mode = \"xml\"\n", "agents.toml:4: agents[0].output_mode", "prompted"},
      {start + "output_schema = \"nowhere.json\"\n", "agents.toml:4: agents[0].output_schema",
       "nowhere.json"},
      {start + "output_schema = { type = \"thing\" }\n", "agents.toml:4: agents[0].output_schema",
       "type"},
      {start + "inherit_mcp_servers = true\n",
       "agents.toml:4: inherit_mcp_servers: MCP servers are not available in this version",
       "leave it out"},
      {start + "mcp_servers = [\"github\"]\n",
       "agents.toml:4: mcp_servers: MCP servers are not available in this version", "leave it out"},
      {start + "[[agents.hooks]]\ncommand = \"true\"\n", "agents.toml:5", "event"},
      {start + "[[agents.hooks]]\nevnt = \"run_end\"\n",
       "agents.toml:5: \"agents[0].hooks[0].evnt\"", "\"agents[].hooks[].event\""},
      {"[subagents]\nenabled = \"yes\"\n", "agents.toml:2: subagents.enabled", "true or false"},
  };
  for (const auto& [text, place, fix] : table)
    expect_refused({"--config", config(text)}, place, fix);
  const Ran ran = tug({"run", "hello", "--config", config("[steering]\nallow = [\"stop\"]\n")});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_TRUE(has(ran.err, "agents.toml:2: \"stop\" is no command for a run"));
  const std::string fine = config(
      start + "inherit_mcp_servers = false\nmcp_servers = []\nsubagents = [\"a\", \"subagent\"]\n");
  EXPECT_EQ(tug({"tools", "--config", fine}).exit, 0);
}

TEST_F(Agents, WhatIsWrongWithAFileIsNamedWithItsLine) {
  const std::string good = "description: D.\n";
  const std::tuple<std::string, std::string, const char*> table[] = {
      {"name: a\n", "bad.md:1: there is no front matter", "---"},
      {"---\nname: a\n", "bad.md:1: the front matter does not end", "---"},
      {"", "bad.md:1: there is no front matter", "---"},
      {"---\n---\n", "the agent \"bad\" has no description", "what it is for"},
      {"---\n" + good + "modle: x\n---\n", "bad.md:3: \"modle\" is not a key", "\"model\""},
      {"---\n" + good + "zzz: x\n---\n", "bad.md:3: \"zzz\" is not a key", "the keys are name"},
      {"---\nname: [a]\n---\n", "bad.md:2: name: expected a string", "[\"a\"]"},
      {"---\n" + good + "limits: {max_turns: many}\n---\n", "bad.md:3: limits.max_turns", "many"},
      {"---\n" + good + "system_prompt: x\n---\nbody\n", "bad.md:3: system_prompt is given",
       "leave one"},
      {"---\na: &a [1]\nb: [*a, *a]\n---\n", "bad.md:2: it has an anchor", "plain YAML"},
      {"---\nname: a\nname: b\n---\n", "bad.md:3: it has the key \"name\" twice", "plain YAML"},
      {"---\na: !!binary x\n---\n", "bad.md:2: it has the tag", "plain YAML"},
      {"---\n- a\n---\n", "bad.md:2: expected keys and values", "plain YAML"},
      {"---\nname: a\n  b: c\n---\n", "bad.md:3: ", "plain YAML"},
      {"---\noutput_schema: " + std::string(40, '[') + std::string(40, ']') + "\n---\n",
       "bad.md:2: it has more than 32 levels", "plain YAML"},
      {"---\nname: " + std::string(900'000, '[') + "\n---\n", "bad.md:2: it has ", "plain YAML"},
      {"---\nname: \xff\xfe\n---\n", "bad.md: it is not UTF-8", "UTF-8"},
      {"---\n" + good + "---\n" + std::string(2 << 20, 'x'), "bad.md: more than 1 MB", "smaller"},
      {"---\nname: \"a\\e[2J\"\n" + good + "---\n", "is no name for an agent", "letters"},
  };
  for (const auto& [text, place, fix] : table)
    expect_refused({"--agents", file("bad.md", text)}, place, fix);
  const std::string folder = work_ + "/none";
  std::filesystem::create_directory(folder);
  expect_refused({"--agents", folder}, "none: there is no .md file in it", "a folder of agents");
  expect_refused({"--agents", "nowhere"}, "--agents nowhere: there is no such file",
                 "front matter");
  const std::string one = markdown("one.md", "name: same\n" + good);
  const std::string two = markdown("two.md", "name: same\n" + good);
  expect_refused({"--agents", one, "--agents", two}, "two.md:2: there is another agent",
                 one + ":2");
  expect_refused({"--agents", one, "--agents", one}, "there is another agent", "another name");
}

TEST_F(Agents, ARunOfAnAgentIsWhatItsKeysSay) {
  file("notes.txt", "a\n");
  const std::string model = script(
      "s.jsonl",
      {R"({"agent":"main","tool_calls":[{"id":"c1","name":"list","arguments":{}},)"
       R"({"id":"c2","name":"clerk","arguments":{"input":"how many?"}},)"
       R"({"id":"c3","name":"idler","arguments":{"input":"try"}}]})",
       R"({"agent":"clerk","tool_calls":[{"id":"r","name":"read","arguments":{"path":"notes.txt"}},)"
       R"({"id":"l","name":"list","arguments":{}}]})",
       R"({"agent":"clerk","text":"{\"lines\": 1}"})",
       R"({"agent":"idler","repeat":true,"tool_calls":[{"id":"l","name":"list","arguments":{}}]})",
       R"({"agent":"main","text":"done"})"});
  const std::string clerk = markdown("clerk.md",
                                     "description: Counts.\ntools: [read]\nsubagents: []\n"
                                     "output_schema:\n  type: object\n"
                                     "  properties: {lines: {type: integer}}\n"
                                     "  required: [lines]\noutput_mode: prompted\n"
                                     "hooks:\n  - event: before_tool_call\n"
                                     "    command: cat >> seen.jsonl\n",
                                     "You count.\n");
  const std::string idler = markdown("idler.md", "description: Idles.\nlimits: {max_turns: 2}\n");
  const Told told = told_by(
      tug({"run", "-o", "stream-json", "-m", model, "--agents", clerk, "--agents", idler, "go"}));
  ASSERT_EQ(told.exit, 0) << told.err;
  std::map<std::string, Json> ended;  // calls of main, by tool
  for (const Json& event : told.events) {
    const std::string_view kind = event["kind"].as_string();
    if (event["depth"] == Json(0) && (kind == "tool.completed" || kind == "tool.failed"))
      ended[std::string(event["data"]["tool"].as_string())] = event["data"];
    if (kind == "run.started" && event["agent"].as_string() == "clerk") {
      EXPECT_EQ(event["data"]["prompt"], Json("how many?"));
    }
  }
  EXPECT_EQ(ended["clerk"]["output"], Json(R"({"lines":1})"));
  EXPECT_EQ(ended["clerk"]["metadata"]["structured"], Json(true));
  EXPECT_EQ(ended["idler"]["error_type"], Json("SubAgentLimit"));
  EXPECT_TRUE(has(std::string(ended["idler"]["output"].as_string()), "not an answer"));
  const auto unknown = told.of("tool.unknown");
  ASSERT_EQ(unknown.size(), 1u) << "clerk may read and nothing else";
  EXPECT_EQ(unknown[0]["tool"], Json("list"));
  const auto seen = lines(read_file("seen.jsonl").value_or(""));
  ASSERT_EQ(seen.size(), 1u) << "the hook is around the runs of clerk alone";
  EXPECT_EQ(seen[0]["tool"], Json("read"));
}

TEST_F(Agents, TheTextOfAFileIsWhatItsRunsAreTold) {
  const std::string model = script(
      "s.jsonl", {R"({"agent":"main","tool_calls":[{"name":"a","arguments":{"input":"x"}}]})",
                  R"({"agent":"a","text":"y"})", R"({"agent":"main","text":"done"})"});
  // The digest of everything that a run is told before its prompt.
  const auto constants = [&](const std::string& body) {
    const std::string path = markdown("a.md", "description: A.\n", body);
    const Told told =
        told_by(tug({"run", "-o", "stream-json", "-m", model, "--agents", path, "go"}));
    EXPECT_EQ(told.exit, 0) << told.err;
    const auto started = told.of("run.started");
    return started.size() == 2 ? started[1]["constants"] : Json();
  };
  const Json one = constants("You count.\n");
  EXPECT_TRUE(one.is_string());
  EXPECT_EQ(constants("\n\nYou count.\n\n"), one);
  EXPECT_FALSE(constants("You sum up.\n") == one);
}

TEST_F(Agents, TheToolSubagentCallsAnyOfThemByName) {
  const std::string scout = markdown("scout.md", "description: Looks.\n", "You look.\n");
  const std::string model = script(
      "s.jsonl",
      {R"({"agent":"main","tool_calls":[{"id":"a","name":"subagent","arguments":{"task":"x","agent":"scout"}},)"
       R"({"id":"b","name":"subagent","arguments":{"task":"y"}},)"
       R"({"id":"c","name":"subagent","arguments":{"task":"z","agent":"scuot"}}]})",
       R"({"agent":"scout","text":"seen"})", R"({"agent":"default","text":"done by myself"})",
       R"({"agent":"main","text":"done"})"});
  const Told told =
      told_by(tug({"run", "-o", "stream-json", "-m", model, "--agents", scout, "go"}));
  ASSERT_EQ(told.exit, 0) << told.err;
  std::vector<std::string> outputs;
  for (const Json& data : told.of("tool.completed"))
    outputs.emplace_back(data["output"].as_string());
  std::ranges::sort(outputs);
  EXPECT_EQ(outputs, (std::vector<std::string>{"done by myself", "seen"}));
  const auto failed = told.of("tool.failed");
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0]["error_type"], Json("UnknownSubAgent"));
  EXPECT_TRUE(has(std::string(failed[0]["output"].as_string()), "scout"));
}

TEST_F(Agents, TheFolderOfExamplesIsOneThatCanBeUsed) {
  const auto names = tools({"--agents", TUG_SOURCE_DIR "/examples/agents"});
  EXPECT_EQ(names, (std::vector<std::string>{"glob", "list", "read", "reviewer", "scout", "search",
                                             "subagent"}));
}

TEST_F(Agents, AFoldersOwnAgentsAreReadOnlyWhenItIsTrusted) {
  file(".tug/config.toml", "[[agents]]\nname = \"mine\"\ndescription = \"M.\"\n");
  EXPECT_EQ(tools({}).size(), 5u);
  file("../state/tug/trusted", std::filesystem::canonical(work_).string() + "\n");
  EXPECT_EQ(tools({}).size(), 6u);
  EXPECT_EQ(tools({"--bare"}).size(), 5u);
}

}  // namespace
}  // namespace tug::journey
