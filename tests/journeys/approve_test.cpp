// `tug approve`: a run waits with calls, and another process decides about them.
#include "journey.h"

namespace tug::journey {
namespace {

class Approving : public Journey {
 protected:
  Approving() {
    config_ = file("agents.toml",
                   "[[agents]]\nname = \"scout\"\ndescription = \"Looks.\"\n"
                   "limits = { max_turns = 100000, max_tool_calls = 100000 }\n");
    file("notes.txt", "secret words\n");
  }
  // One scout wants to read, the other walks until it is told "enough".
  std::string two_scouts() {
    return script(
        "s.jsonl",
        {R"({"agent":"main","tool_calls":[{"id":"a","name":"scout","arguments":{"input":"ask"}},{"id":"b","name":"scout","arguments":{"input":"walk"}}]})",
         R"({"agent":"scout","when":"ask","tool_calls":[{"id":"r","name":"read","arguments":{"path":"notes.txt"}}]})",
         R"({"agent":"scout","when":"secret words","text":"I read it"})",
         R"({"agent":"scout","when":"enough","text":"I walked"})",
         R"({"agent":"scout","repeat":true,"delay_ms":10,"tool_calls":[{"id":"l","name":"list","arguments":{}}]})",
         R"({"agent":"main","text":"over"})"});
  }
  std::vector<std::string> words(const std::string& model) {
    return {"run",    "-o",   "stream-json", "-m",     model,        "--config", config_,
            "--ask",  "read", "--max-turns", "100000", "--max-time", "60",       "--max-tool-calls",
            "100000", "go"};
  }

  std::string config_;
};

TEST_F(Approving, ARunThatAnotherProcessDrivesIsSentWhatWasDecided) {
  Running running(place(), words(two_scouts()));
  ASSERT_TRUE(running.wait_for(R"("kind":"approval.requested")"));
  const Ran approved = tug({"approve", "last"});
  EXPECT_EQ(approved.exit, 0) << approved.err;
  EXPECT_TRUE(has(approved.err, "goes on in another process")) << approved.err;
  EXPECT_TRUE(running.wait_for("I read it")) << "what it frees runs at once";
  const Ran nothing = tug({"approve", "last"});
  EXPECT_EQ(nothing.exit, 2) << nothing.err;
  const Json tree = parse_json(tug({"show", "last", "--tree", "--json"}).out).value();
  const std::string walker(tree["children"][1]["run_id"].as_string());
  EXPECT_EQ(tug({"steer", walker, "inject", "enough"}).exit, 0);
  const Told told = told_by(running.wait());
  EXPECT_EQ(told.exit, 0) << told.err;
  EXPECT_EQ(told.result["text"], Json("over"));
  ASSERT_EQ(told.of("approval.decided").size(), 1u);
  EXPECT_EQ(told.of("run.paused").size(), 0u);
}

TEST_F(Approving, APageOfAParkedRunSaysWhatItWaitsFor) {
  const std::string model = script(
      "p.jsonl", {R"({"tool_calls":[{"id":"r","name":"read","arguments":{"path":"notes.txt"}}]})",
                  R"({"text":"over"})", R"({"when":"and then","text":"more"})"});
  EXPECT_EQ(tug({"run", "-m", model, "--ask", "read", "go"}).exit, 8);
  const Ran shown = tug({"show", "last"});
  EXPECT_TRUE(has(shown.out, "waits for approval\n")) << shown.out;
  EXPECT_TRUE(has(shown.out, R"(read {"path":"notes.txt"})")) << shown.out;
  const Ran resumed = tug({"resume", "last", "and then"});
  EXPECT_EQ(resumed.exit, 8);
  EXPECT_TRUE(has(resumed.err, "the prompt is kept")) << resumed.err;
  const Ran approved = tug({"approve", "last"});
  EXPECT_EQ(approved.exit, 0);
  EXPECT_EQ(approved.out, "more\n") << "it is told what was kept";
  EXPECT_FALSE(has(tug({"show", "last"}).out, "waits for approval"));
}

TEST_F(Approving, WhatAChildWasRefusedCountsWhereRefusalsFail) {
  const std::string model = script(
      "d.jsonl",
      {R"({"agent":"main","tool_calls":[{"id":"a","name":"scout","arguments":{"input":"ask"}}]})",
       R"({"agent":"scout","tool_calls":[{"id":"r","name":"read","arguments":{"path":"notes.txt"}}]})",
       R"({"agent":"scout","text":"no"})", R"({"agent":"main","text":"over"})"});
  const Ran ran = tug({"run", "-m", model, "--config", config_, "--ask", "read", "--on-ask", "deny",
                       "--fail-on-deny", "-o", "json", "go"});
  EXPECT_EQ(ran.exit, 6) << ran.err;
  const Json result = parse_json(ran.out).value();
  EXPECT_EQ(result["permission_denials"][0]["tool"], Json("read"));
}

}  // namespace
}  // namespace tug::journey
