// runs, show, replay, resume, fork, tools.
#include <sqlite3.h>

#include "journey.h"

namespace tug::journey {
namespace {

class History : public Journey {
 protected:
  History() {
    file("notes.txt", "a\nb\n");
    model_ = script(
        "s.jsonl",
        {R"({"text":"let me look","tool_calls":[{"id":"c1","name":"read","arguments":{"path":"notes.txt"}}]})",
         R"({"text":"two lines","usage":{"input_tokens":7,"output_tokens":2}})"});
  }
  Json run() {
    const Ran ran = tug({"run", "--json", "-m", model_, "count the lines"});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    return parse_json(ran.out).value();
  }
  static std::string id(const Json& result) { return std::string(result["run_id"].as_string()); }

  std::string model_;
};

TEST_F(History, RunsListsTheNewestFirstWithTheFieldsOfTheContract) {
  EXPECT_EQ(tug({"runs"}).out, "");
  EXPECT_EQ(tug({"runs", "--json"}).out, "[]\n");
  const Json first = run();
  const Json second = run();
  const Json list = parse_json(tug({"runs", "--json"}).out).value();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["run_id"], second["run_id"]);
  for (const char* key : {"run_id", "thread_id", "status", "stop_reason", "prompt", "model",
                          "created", "updated", "model_calls", "tool_calls", "usage", "cost"}) {
    EXPECT_TRUE(list[1].contains(key)) << key;
  }
  EXPECT_EQ(list[1]["status"], Json("completed"));
  EXPECT_EQ(list[1]["stop_reason"], Json("end_turn"));
  EXPECT_EQ(list[1]["prompt"], Json("count the lines"));
  EXPECT_EQ(list[1]["model_calls"], Json(2));
  EXPECT_EQ(list[1]["usage"], first["usage"]);
  const std::string text = tug({"runs", "--limit", "1"}).out;
  EXPECT_TRUE(has(text, id(second).substr(id(second).size() - 6) + "  "));
  EXPECT_FALSE(has(text, id(first).substr(id(first).size() - 6)));
  EXPECT_EQ(tug({"runs", "--limit", "0"}).exit, 2);
  EXPECT_EQ(tug({"runs", "--limit", "x"}).exit, 2);
}

TEST_F(History, ShowIsAPageAnObjectEventsOrATree) {
  const Json result = run();
  const std::string page = tug({"show", "last"}).out;
  for (const char* part : {"count the lines", "let me look", "-> read {\"path\":\"notes.txt\"}",
                           "<- read", "two lines", "2 model calls, 1 tool call", "completed"}) {
    EXPECT_TRUE(has(page, part));
  }
  Json shown = parse_json(tug({"show", id(result), "--json"}).out).value();
  EXPECT_EQ(shown["messages"].size(), 4u);
  EXPECT_EQ(shown["tree"]["run_id"], result["run_id"]);
  EXPECT_EQ(shown["progress"]["phase"], Json("done"));
  shown.erase("messages");
  shown.erase("tree");
  shown.erase("progress");
  EXPECT_EQ(shown, result);
  const auto events = lines(tug({"show", "last", "--events"}).out);
  ASSERT_FALSE(events.empty());
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i]["seq"], Json(i + 1));
  EXPECT_EQ(events.back()["kind"], Json("run.completed"));
  EXPECT_EQ(events.back()["data"]["result"], result);
  EXPECT_TRUE(has(tug({"show", "last", "--tree"}).out, "+ main "));
}

TEST_F(History, ARunIsFoundByPartsOfItsId) {
  const std::string whole = id(run());
  run();
  for (const std::string& name : {whole, whole.substr(whole.size() - 6), whole.substr(0, 20)})
    EXPECT_EQ(tug({"replay", name}).exit, 0) << name;
  for (const char* name : {"zzzz", "abc", "", "nothing at all"}) {
    for (const char* command : {"show", "replay", "resume", "fork"}) {
      const Ran ran = tug({command, name});
      EXPECT_EQ(ran.exit, 2) << command << " " << name;
      EXPECT_EQ(ran.out, "");
    }
  }
  const Ran several = tug({"show", whole.substr(0, 4)});
  EXPECT_EQ(several.exit, 2) << "both runs begin like this";
}

TEST_F(History, ReplayPrintsTheSameResultAndCallsNothing) {
  const Json result = run();
  std::filesystem::remove(work_ + "/s.jsonl");
  std::filesystem::remove(work_ + "/notes.txt");
  EXPECT_EQ(tug({"replay", "last"}).out, "two lines\n");
  EXPECT_EQ(parse_json(tug({"replay", "last", "--json"}).out).value(), result);
  const auto stream = lines(tug({"replay", "last", "-o", "stream-json"}).out);
  EXPECT_EQ(stream.front()["kind"], Json("stream"));
  EXPECT_EQ(stream.back()["data"]["result"], result);
}

TEST_F(History, ReplayOfABrokenChainIsExitOneAndNamesTheRecord) {
  run();
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((home_ + "/state/tug/journal.db").c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db,
                         "update record set body = replace(body, 'two lines', 'ten lines')"
                         " where seq = 7",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  ASSERT_EQ(sqlite3_changes(db), 1);
  sqlite3_close(db);
  const Ran ran = tug({"replay", "last"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(has(ran.err, "7"));
  EXPECT_EQ(tug({"replay", "last", "--json"}).exit, 1);
}

TEST_F(History, AFinishedRunGoesOnAsANewOneOnTheSameThread) {
  const Json first = run();
  const Ran nothing = tug({"resume", "last"});
  EXPECT_EQ(nothing.exit, 2);
  EXPECT_TRUE(has(nothing.err, "is finished"));
  const std::string more = script("more.jsonl", {R"({"text":"went on"})"});
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"resume", "last", "and now", "--json", "-m", more},
           {"resume", "--last", "and now", "--json", "-m", more}}) {
    const Ran ran = tug(words);
    EXPECT_EQ(ran.exit, 0) << ran.err;
    const Json next = parse_json(ran.out).value();
    EXPECT_NE(next["run_id"], first["run_id"]);
    EXPECT_EQ(next["thread_id"], first["thread_id"]);
    EXPECT_EQ(next["text"], Json("went on"));
  }
  EXPECT_EQ(parse_json(tug({"show", "last", "--json"}).out).value()["messages"].size(), 8u);
  EXPECT_EQ(tug({"replay", "last"}).exit, 0);
  EXPECT_EQ(tug({"resume", "--last", "a", "b"}).exit, 2);
}

TEST_F(History, WhatGoesOnKeepsTheFolderAndTheSystemPromptThatItBeganWith) {
  file("below/inner.txt", "inside\n");
  const std::string first = script("first.jsonl", {R"({"text":"hello"})"});
  EXPECT_EQ(tug({"run", "-C", "below", "--system-prompt", "be brief", "-m", first, "go"}).exit, 0);
  const std::string more =
      script("more.jsonl",
             {R"({"tool_calls":[{"id":"c1","name":"read","arguments":{"path":"inner.txt"}}]})",
              R"({"text":"went on"})"});
  for (const char* how : {"resume", "fork"}) {
    const Ran ran = tug({how, "last", "and now", "-o", "stream-json", "-m", more});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    const auto events = lines(ran.out);
    EXPECT_EQ(events[1]["data"]["options"]["system_prompt"], Json("be brief"));
    EXPECT_TRUE(events[1]["data"]["root"].as_string().ends_with("/below"));
    EXPECT_TRUE(has(ran.out, "\"tool.completed\"")) << ran.out;
  }
  const Ran elsewhere = tug({"resume", "last", "x", "-o", "stream-json", "-m", first, "-C", ".",
                             "--system-prompt", "be loud"});
  const Json started = lines(elsewhere.out)[1]["data"];
  EXPECT_EQ(started["options"]["system_prompt"], Json("be loud"));
  EXPECT_FALSE(started["root"].as_string().ends_with("/below"));
}

TEST_F(History, ARunThatFailedOrReachedALimitGoesOnWithoutAPrompt) {
  const std::string good = script("good.jsonl", {R"({"text":"went on"})"});
  const std::string bad = script("bad.jsonl", {R"({"error":{"status":500,"body":"down"}})"});
  EXPECT_EQ(tug({"run", "-m", bad, "--retries", "0", "go"}).exit, 3);
  const Ran failed = tug({"resume", "last", "-m", good});
  EXPECT_EQ(failed.exit, 0) << failed.err;
  EXPECT_EQ(failed.out, "went on\n");
  EXPECT_EQ(tug({"run", "-m", good, "--max-turns", "0", "go"}).exit, 5);
  const Ran limited = tug({"resume", "last", "--max-turns", "1"});
  EXPECT_EQ(limited.exit, 0) << limited.err;
  EXPECT_EQ(limited.out, "went on\n");
}

TEST_F(History, AForkSharesHistoryUpToARecord) {
  const Json first = run();
  const std::string other = script("other.jsonl", {R"({"text":"the other way"})"});
  const Ran ran = tug({"fork", "last", "--at", "5", "--json", "-m", other});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const Json forked = parse_json(ran.out).value();
  EXPECT_EQ(forked["text"], Json("the other way"));
  EXPECT_NE(forked["run_id"], first["run_id"]);
  const Json shown = parse_json(tug({"show", id(forked), "--json"}).out).value();
  EXPECT_EQ(shown["messages"].size(), 4u) << "prompt, calls, results, and the new answer";
  EXPECT_EQ(tug({"fork", id(first), "try again", "-m", other}).out, "the other way\n");
  for (const char* bad : {"0", "999", "x", "-1"}) {
    EXPECT_EQ(tug({"fork", id(first), std::string("--at=") + bad, "go"}).exit, 2) << bad;
  }
}

TEST_F(History, ARunThatGoesOnKeepsItsToolsAndLimitsWhateverTheConfigurationSays) {
  file("../config/tug/config.toml", "tools = [\"read\"]\n[limits]\nmax_turns = 1\n");
  const std::string talk = script("talk.jsonl", {R"({"text":"hello"})"});
  ASSERT_EQ(tug({"run", "-m", talk, "--tools", "none", "--max-turns", "5", "hi"}).exit, 0);
  const Ran on = tug({"resume", "last", "count", "-m", model_, "-o", "stream-json"});
  EXPECT_EQ(on.exit, 0) << on.err;
  EXPECT_TRUE(has(on.out, "tool.unknown")) << "the run was started without tools";
  EXPECT_TRUE(has(on.out, "two lines")) << "and with five turns";
}

TEST_F(History, RawIsWhatTheProviderAnsweredOneALine) {
  file("a.txt", "a\n");
  const std::string model = script(
      "raw.jsonl", {R"({"tool_calls":[{"id":"c1","name":"read","arguments":{"path":"a.txt"}}]})",
                    R"({"text":"done","reasoning":"hm"})"});
  ASSERT_EQ(tug({"run", "-m", model, "go"}).exit, 0);
  const Ran raw = tug({"show", "last", "--raw"});
  EXPECT_EQ(raw.exit, 0) << raw.err;
  const auto replies = lines(raw.out);
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[0]["tool_calls"][0]["id"], Json("c1")) << "as the provider called it";
  EXPECT_EQ(replies[1]["text"], Json("done"));
  EXPECT_EQ(tug({"show", "last", "--raw", "--json"}).out, raw.out);
}

TEST_F(History, ToolsSaysWhatThereIs) {
  const Json list = parse_json(tug({"tools", "--json"}).out).value();
  std::vector<std::string> names;
  for (const Json& tool : list.items()) {
    names.emplace_back(tool["name"].as_string());
    for (const char* key :
         {"description", "parameters", "returns", "effect", "lane", "sequential",
          "requires_approval", "visibility", "allowed_tools", "role", "tags", "origin"}) {
      EXPECT_TRUE(tool.contains(key)) << key;
    }
    EXPECT_EQ(tool["effect"], Json("pure"));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"glob", "list", "read", "search", "subagent"}));
  EXPECT_TRUE(has(tug({"tools"}).out, "search    pure"));
  EXPECT_EQ(tug({"tools", "--tools", "raed"}).exit, 2);
}

}  // namespace
}  // namespace tug::journey
