// A run with runs below it: in the stream, in the journal, on the terminal.
#include <algorithm>
#include <map>
#include <set>

#include "journey.h"

namespace tug::journey {
namespace {

class Tree : public Journey {
 protected:
  Tree() {
    config_ = file("agents.toml",
                   "[[agents]]\nname = \"lead\"\ndescription = \"Splits work.\"\n"
                   "[[agents]]\nname = \"scout\"\ndescription = \"Looks.\"\n"
                   "[[models]]\nprovider = \"script\"\nprice = { in = 1, out = 10 }\n");
    file("notes.txt", "a\nb\n");
  }
  static std::string call(const std::string& tool, const std::string& input, const char* id = "c") {
    return R"({"id":")" + std::string(id) + R"(","name":")" + tool + R"(","arguments":{"input":")" +
           input + R"("}})";
  }
  static std::string turn(const std::string& agent, const std::string& rest) {
    return R"({"agent":")" + agent + R"(","usage":{"input_tokens":100,"output_tokens":10},)" +
           rest + "}";
  }
  // main asks lead, who asks two scouts, of whom each reads a file.
  std::string nested() {
    const std::string read = R"({"id":"r","name":"read","arguments":{"path":"notes.txt"}})";
    return script(
        "nested.jsonl",
        {turn("main", R"("tool_calls":[)" + call("lead", "find out") + "]"),
         turn("lead", R"("tool_calls":[)" + call("scout", "go left", "a") + "," +
                          call("scout", "go right", "b") + "]"),
         turn("scout", R"("tool_calls":[)" + read + "]"),
         turn("scout", R"("tool_calls":[)" + read + "]"), turn("scout", R"("text":"nothing here")"),
         turn("scout", R"("text":"nothing here")"), turn("lead", R"("text":"nothing at all")"),
         turn("main", R"("text":"done")")});
  }
  Ran run(const std::string& model, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"run", "-m", model, "--config", config_, "go"};
    words.insert(words.end(), more.begin(), more.end());
    return tug(words);
  }

  static auto lines_in(const std::string& text) { return std::ranges::count(text, '\n'); }

  std::string config_;
};

// What a terminal shows after these bytes: enough of one for what the command writes.
std::string screen_of(const std::string& bytes) {
  std::vector<std::string> rows(1);
  std::size_t row = 0, column = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (c == '\r') {
      column = 0;
    } else if (c == '\n') {
      if (++row == rows.size()) rows.emplace_back();
    } else if (c == '\x1b') {
      const std::size_t start = i + 2;
      const std::size_t end = bytes.find_first_of("AJKm", start);
      const std::string number = bytes.substr(start, end - start);
      i = end;
      if (bytes[end] == 'A') row -= std::min<std::size_t>(row, std::stoul(number));
      if (bytes[end] == 'K' || bytes[end] == 'J')
        rows[row].resize(std::min(rows[row].size(), column));
      if (bytes[end] == 'J') rows.resize(row + 1);
    } else {
      if (rows[row].size() <= column) rows[row].resize(column + 1, ' ');
      rows[row][column++] = c;
    }
  }
  std::string text;
  for (const std::string& line : rows) text += line + "\n";
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

TEST_F(Tree, TheStreamInterleavesTheWholeTreeWithItsLineage) {
  const Told told = told_by(run(nested(), {"-o", "stream-json"}));
  ASSERT_EQ(told.exit, 0) << told.err;
  const Json root = told.result["run_id"];
  std::map<std::string, Json> started;  // by run
  std::set<std::string> ended;
  std::int64_t seq = 0;
  for (std::size_t i = 1; i < told.events.size(); ++i) {
    const Json& event = told.events[i];
    const std::string run(event["run_id"].as_string());
    if (!event.contains("live")) {
      EXPECT_EQ(event["seq"].as_int(), ++seq) << "one gap-free count for the whole tree";
    }
    EXPECT_EQ(event["root_run_id"], root);
    EXPECT_EQ(event["thread_id"], told.result["thread_id"]);
    const std::string_view kind = event["kind"].as_string();
    if (kind == "run.started") started[run] = event;
    if (kind == "run.completed") ended.insert(run);
    ASSERT_TRUE(started.contains(run)) << "nothing comes before the start of its run";
    for (const char* same : {"parent_run_id", "parent_call_id", "depth", "agent"})
      EXPECT_EQ(event[same], started[run][same]) << same;
  }
  EXPECT_EQ(started.size(), 4u);
  EXPECT_EQ(ended.size(), 4u);
  std::map<std::string, int> agents;
  for (const auto& [run, event] : started) {
    ++agents[std::string(event["agent"].as_string())];
    const std::int64_t depth = event["depth"].as_int().value();
    if (depth == 0) {
      EXPECT_EQ(event["parent_run_id"], Json());
      EXPECT_EQ(event["parent_call_id"], Json());
      continue;
    }
    const std::string parent(event["parent_run_id"].as_string());
    ASSERT_TRUE(started.contains(parent));
    EXPECT_EQ(started[parent]["depth"].as_int(), depth - 1);
    // The call that it answers is a call of its parent, for an agent of that name.
    bool found = false;
    for (const Json& other : told.events) {
      if (other["kind"].as_string() != "tool.started") continue;
      if (other["data"]["call_id"] != event["parent_call_id"]) continue;
      EXPECT_EQ(other["run_id"].as_string(), parent);
      EXPECT_EQ(other["data"]["tool"], event["agent"]);
      found = true;
    }
    EXPECT_TRUE(found) << run;
  }
  EXPECT_EQ(agents, (std::map<std::string, int>{{"main", 1}, {"lead", 1}, {"scout", 2}}));
  EXPECT_EQ(told.result["usage"]["total_tokens"], Json(8 * 110));
  EXPECT_EQ(told.result["own"]["usage"]["total_tokens"], Json(2 * 110));
  EXPECT_EQ(told.events.back()["run_id"], root) << "the root's end is the last line";
}

TEST_F(Tree, AParentSaysWhichRunsItBeganAndHowTheyEnded) {
  const Told told = told_by(run(nested(), {"-o", "stream-json", "--no-subagents"}));
  ASSERT_EQ(told.exit, 0) << told.err;
  for (const Json& event : told.events) {
    if (event["kind"].as_string() != "stream") {
      EXPECT_EQ(event["depth"], Json(0));
    }
  }
  const auto began = told.of("subagent.started");
  const auto ended = told.of("subagent.completed");
  ASSERT_EQ(began.size(), 1u);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(began[0]["name"], Json("lead"));
  for (const char* same : {"name", "child_run_id", "call_id"})
    EXPECT_EQ(began[0][same], ended[0][same]);
  const std::string child(began[0]["child_run_id"].as_string());
  const Json shown = parse_json(tug({"show", child, "--json"}).out).value();
  EXPECT_EQ(shown["run_id"].as_string(), child);
  EXPECT_EQ(shown["text"], Json("nothing at all"));
  EXPECT_EQ(shown["tree"]["children"].size(), 2u) << "a child is shown with what is below it";
}

TEST_F(Tree, TheFinishedTreeIsATableAndJson) {
  ASSERT_EQ(run(nested()).exit, 0);
  const Json tree = parse_json(tug({"show", "last", "--json"}).out).value()["tree"];
  const Json alone = parse_json(tug({"show", "last", "--tree", "--json"}).out).value();
  EXPECT_EQ(tree, alone);
  EXPECT_EQ(tree["agent"], Json("main"));
  EXPECT_EQ(tree["parent_call_id"], Json());
  const Json& lead = tree["children"][0];
  EXPECT_EQ(lead["agent"], Json("lead"));
  EXPECT_EQ(lead["status"], Json("completed"));
  EXPECT_EQ(lead["stop_reason"], Json("end_turn"));
  EXPECT_EQ(lead["prompt"], Json("find out"));
  EXPECT_EQ(lead["model_calls"], Json(2));
  EXPECT_EQ(lead["tool_calls"], Json(2));
  EXPECT_EQ(lead["usage"]["total_tokens"], Json(6 * 110));
  EXPECT_EQ(lead["own"]["usage"]["total_tokens"], Json(2 * 110));
  EXPECT_DOUBLE_EQ(lead["cost"]["usd"].as_double().value(), 0.0012);
  ASSERT_EQ(lead["children"].size(), 2u);
  EXPECT_EQ(lead["children"][1]["agent"], Json("scout"));
  EXPECT_EQ(lead["children"][1]["prompt"], Json("go right"));
  EXPECT_EQ(lead["children"][1]["children"], Json::array());
  const std::string table = tug({"show", "last", "--tree"}).out;
  EXPECT_TRUE(has(table, "  RUN"));
  EXPECT_TRUE(has(table, "+ main "));
  EXPECT_TRUE(has(table, "+   lead "));
  EXPECT_TRUE(has(table, "+     scout "));
  EXPECT_TRUE(has(table, "220 $0.0004"));
  EXPECT_TRUE(has(table, "880 $0.0016"));
  EXPECT_TRUE(has(table, "go right\n"));
}

TEST_F(Tree, ARunThatFailedOrReachedALimitHasItsMark) {
  const std::string model =
      script("s.jsonl", {turn("main", R"("tool_calls":[)" + call("scout", "x") + "]"),
                         turn("scout", R"("error":{"status":400,"body":"no"})"),
                         turn("main", R"("text":"it failed")")});
  const Ran ran = run(model);
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(has(tug({"show", "last", "--tree"}).out, "x   scout "));
  EXPECT_TRUE(has(tug({"show", "last", "--tree"}).out, "provider_error"));
}

TEST_F(Tree, WithVerboseLinesAChildSaysThatItBeginsAndWhatItCameTo) {
  const Ran ran = run(nested(), {"-v"});
  EXPECT_EQ(ran.out, "done\n");
  EXPECT_TRUE(has(ran.err, "  > lead "));
  EXPECT_TRUE(has(ran.err, ": find out\n"));
  EXPECT_TRUE(has(ran.err, "    > scout "));
  EXPECT_TRUE(has(ran.err, "    * read notes.txt ("));
  EXPECT_TRUE(has(ran.err, " end_turn (2 turns, 220 tokens, $0.0004, "));
  EXPECT_TRUE(has(ran.err, " end_turn (2 turns, 660 tokens, $0.0012, "));
  EXPECT_FALSE(has(ran.err, "* scout")) << "its own lines say it";
  const Ran without = run(nested(), {"-v", "--no-subagents"});
  EXPECT_TRUE(without.err.starts_with("* lead find out (1 line, ")) << without.err;
  EXPECT_EQ(lines_in(without.err), 1);
}

TEST_F(Tree, TheLiveTreeStandsAboveTheStatusLineAndLeavesNothing) {
  const std::string model =
      script("s.jsonl", {turn("main", R"("text":"I ask","tool_calls":[)" + call("lead", "x") + "]"),
                         turn("lead", R"("tool_calls":[)" + call("scout", "y") + "]"),
                         turn("scout", R"("text":"z","delay_ms":400)"),
                         turn("lead", R"("text":"zz","delay_ms":300)"),
                         turn("main", R"("text":"done","chunks":2)")});
  Running running(place(), {"run", "-m", model, "--config", config_, "go"},
                  Running::Face::terminal);
  const Ran ran = running.wait();
  EXPECT_EQ(ran.exit, 0) << ran.out;
  EXPECT_EQ(screen_of(ran.out), "I ask\ndone\n") << testing::PrintToString(ran.out);
  EXPECT_TRUE(has(ran.out, "\x1b[2mlead "));
  EXPECT_TRUE(has(ran.out, "  scout 0s  turn 1  110 tokens  $0.0002")) << "what lead waits for";
  EXPECT_TRUE(has(ran.out, "\x1b[2m  scout ")) << "one level further in";
  EXPECT_TRUE(has(ran.out, "  model 0s  turn 2  220 tokens  $0.0004"))
      << "scout's is counted there";
  EXPECT_TRUE(has(ran.out, "  lead 0s")) << "the status line is the root's";
}

TEST_F(Tree, MoreRunsThanTheScreenHasRowsAreCounted) {
  std::string calls;
  for (int i = 0; i < 50; ++i) {
    calls += (i ? "," : "") + call("scout", "x", ("c" + std::to_string(i)).c_str());
  }
  const std::string model =
      script("s.jsonl", {turn("main", R"("tool_calls":[)" + calls + "]"),
                         turn("scout", R"("text":"y","delay_ms":400,"repeat":true)"),
                         turn("main", R"("text":"done")")});
  Running running(place(), {"run", "-m", model, "--config", config_, "go"},
                  Running::Face::terminal);
  const Ran ran = running.wait();
  EXPECT_EQ(ran.exit, 0) << ran.out;
  EXPECT_EQ(screen_of(ran.out), "done\n");
  EXPECT_TRUE(has(ran.out, "+ 15 more")) << "the screen has 40 rows, 4 stay free";
}

TEST_F(Tree, ARunThatGoesOnHasTheAgentsThatAreNamedNow) {
  const std::string model =
      script("s.jsonl", {turn("main", R"("tool_calls":[)" + call("scout", "x") + "]"),
                         turn("main", R"("text":"well")"), turn("scout", R"("text":"here I am")")});
  const Told before = told_by(tug({"run", "-o", "stream-json", "-m", model, "go"}));
  EXPECT_EQ(before.of("tool.unknown").size(), 1u);
  const Told after =
      told_by(tug({"resume", "last", "again", "-o", "stream-json", "--config", config_}));
  EXPECT_EQ(after.exit, 0) << after.err;
  const auto answers = after.of("tool.completed");
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0]["output"], Json("here I am"));
  EXPECT_EQ(after.result["text"], Json("well"));
}

}  // namespace
}  // namespace tug::journey
