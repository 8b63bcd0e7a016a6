// Approvals without a terminal: a run parks, and is decided about from another process.
#include "journey.h"

namespace tug::journey {
namespace {

class Approvals : public Journey {
 protected:
  Approvals() {
    file("a.txt", "alpha\n");
    file("b.txt", "beta\n");
  }
  static std::string read_call(const std::string& id, const std::string& path) {
    return R"({"id":")" + id + R"(","name":"read","arguments":{"path":")" + path + R"("}})";
  }
  // A model that reads both files, side by side with a list, and is done.
  std::string two_reads() {
    return script("two.jsonl", {R"({"text":"look","tool_calls":[)" + read_call("c1", "a.txt") +
                                    R"(,{"id":"c2","name":"list","arguments":{}},)" +
                                    read_call("c3", "b.txt") + "]}",
                                R"({"text":"done"})"});
  }
  Json result_of(const Ran& ran) { return parse_json(ran.out).value(); }
  static std::string ids(const Json& result) {
    std::string all;
    for (const Json& call : result["pending_approvals"].items())
      all += std::string(call["call_id"].as_string()) + " ";
    return all;
  }
  // How the calls of the newest run ended, in the order of their records.
  std::string calls() {
    std::string all;
    for (const Json& event : lines(tug({"show", "last", "--events"}).out)) {
      const std::string kind(event["kind"].as_string());
      if (kind.starts_with("tool.") || kind.starts_with("approval."))
        all += kind + " " + std::string(event["data"]["call_id"].as_string()) + "\n";
    }
    return all;
  }
};

TEST_F(Approvals, ARunThatMustAskParksListsTheCallsAndGoesOnWhenTheyAreApproved) {
  const Ran parked = tug({"run", "-m", two_reads(), "--ask", "read", "go"});
  EXPECT_EQ(parked.exit, 8);
  const std::string id(last_run()["run_id"].as_string());
  const std::string end = id.substr(id.size() - 6);
  EXPECT_EQ(parked.err,
            "tug: 2 calls wait for approval\n"
            "  2.0  read {\"path\":\"a.txt\"}\n"
            "      the rule ask \"read\" names it\n"
            "  2.2  read {\"path\":\"b.txt\"}\n"
            "      the rule ask \"read\" names it\n"
            "  `tug approve " +
                end + "` lets them run, `tug approve " + end +
                " --deny` refuses them; --call ID decides about one\n");
  EXPECT_EQ(calls(), "approval.requested 2.0\napproval.requested 2.2\n") << "nothing ran";
  EXPECT_EQ(last_run()["status"].as_string(), "parked");

  const Ran done = tug({"approve", end});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_EQ(done.out, "done\n");
  EXPECT_EQ(last_run()["run_id"].as_string(), id) << "the same run";
  EXPECT_EQ(last_run()["tool_calls"], Json(3)) << "counted once";
  EXPECT_TRUE(has(calls(), "tool.completed 2.0")) << calls();
  EXPECT_TRUE(has(calls(), "tool.completed 2.1"));
  EXPECT_TRUE(has(calls(), "tool.completed 2.2"));

  const Ran again = tug({"approve", end});
  EXPECT_EQ(again.exit, 2);
  EXPECT_TRUE(has(again.err, "no call of run " + end + " waits for approval"));
}

TEST_F(Approvals, DecidingOnlySomeParksAgain) {
  tug({"run", "-m", two_reads(), "--ask", "read", "go"});
  const Ran some = tug({"approve", "last", "--call", "2.2", "-o", "json"});
  EXPECT_EQ(some.exit, 8) << some.err;
  EXPECT_EQ(ids(result_of(some)), "2.0 ");
  EXPECT_EQ(calls(), "approval.requested 2.0\napproval.requested 2.2\napproval.decided 2.2\n")
      << "the whole batch is held";
  const Ran rest = tug({"approve", "last", "--call", "2.0", "--deny", "--reason", "not that one",
                        "-o", "json", "--fail-on-deny"});
  EXPECT_EQ(rest.exit, 6) << rest.err;
  const Json result = result_of(rest);
  EXPECT_EQ(result["text"].as_string(), "done");
  EXPECT_EQ(print_json(result["permission_denials"]),
            R"([{"call_id":"2.0","tool":"read","reason":"not that one"}])");
  EXPECT_TRUE(has(tug({"show", "last"}).out, "not that one")) << "the model is told";
}

TEST_F(Approvals, WithHoldCallTheOthersRunMeanwhile) {
  const std::string config = file("c.toml", "[permissions]\nhold = \"call\"\n");
  const Ran parked = tug({"run", "--config", config, "-m", two_reads(), "--ask", "read(a*)", "go"});
  EXPECT_EQ(parked.exit, 8);
  EXPECT_TRUE(has(parked.err, "a call waits for approval"));
  EXPECT_TRUE(has(calls(), "tool.completed 2.2"));
  EXPECT_EQ(tug({"approve", "last"}).exit, 0);
  EXPECT_TRUE(has(calls(), "tool.completed 2.0"));
}

TEST_F(Approvals, WhatIsAllowedForTheRunIsNotAskedAboutAgain) {
  const auto model = [&](const std::string& name) {
    return script(name, {R"({"text":"1","tool_calls":[)" + read_call("c1", "a.txt") + "]}",
                         R"({"text":"2","tool_calls":[)" + read_call("c2", "b.txt") + "]}",
                         R"({"text":"done"})"});
  };
  tug({"run", "-m", model("once.jsonl"), "--ask", "read", "go"});
  EXPECT_EQ(tug({"approve", "last"}).exit, 8) << "once is once";
  EXPECT_EQ(tug({"approve", "last", "--always"}).exit, 0);
  tug({"run", "-m", model("always.jsonl"), "--ask", "read", "go"});
  EXPECT_EQ(tug({"approve", "last", "--always"}).exit, 0);
  tug({"run", "-m", model("narrow.jsonl"), "--ask", "read", "go"});
  EXPECT_EQ(tug({"approve", "last", "--pattern", "read(a*)"}).exit, 8) << "b.txt is another one";
  tug({"run", "-m", model("wide.jsonl"), "--ask", "read", "go"});
  EXPECT_EQ(tug({"approve", "last", "--pattern", "read(*.txt)"}).exit, 0);
  tug({"run", "-m", model("wrong.jsonl"), "--ask", "read", "go"});
  const Ran wrong = tug({"approve", "last", "--pattern", "read(src/**)"});
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_TRUE(has(wrong.err, "does not match the call"));
  EXPECT_EQ(last_run()["status"].as_string(), "parked") << "nothing was decided";
}

TEST_F(Approvals, ArgumentsCanBeReplaced) {
  tug({"run", "-m", two_reads(), "--ask", "read(a.txt)", "go"});
  for (const char* bad : {"{", "[]", R"({"pth":"b.txt"})", R"({"path":7})"}) {
    const Ran ran = tug({"approve", "last", "--edit", bad});
    EXPECT_EQ(ran.exit, 2) << bad << ran.err;
  }
  EXPECT_EQ(tug({"approve", "last", "--edit", R"({"path":"b.txt"})"}).exit, 0);
  EXPECT_FALSE(has(tug({"show", "last"}).out, "alpha")) << "a.txt was not read";
}

TEST_F(Approvals, ResumeIsTheWrongDoorAndKeepsWhatItIsTold) {
  const std::string model =
      script("s.jsonl", {R"({"text":"look","tool_calls":[)" + read_call("c1", "a.txt") + "]}",
                         R"({"text":"done"})", R"({"text":"followed"})"});
  tug({"run", "-m", model, "--ask", "read", "go"});
  const std::string before = tug({"show", "last", "--events"}).out;
  const Ran resumed = tug({"resume", "last"});
  EXPECT_EQ(resumed.exit, 8);
  EXPECT_TRUE(has(resumed.err, "2.0  read {\"path\":\"a.txt\"}"));
  const Told streamed = told_by(tug({"resume", "last", "-o", "stream-json"}));
  EXPECT_EQ(streamed.exit, 8);
  EXPECT_EQ(streamed.events.size(), 2u) << "the opening, and how it ended";
  EXPECT_EQ(ids(streamed.result), "2.0 ");
  EXPECT_EQ(tug({"show", "last", "--events"}).out, before) << "nothing has changed";
  EXPECT_EQ(tug({"resume", "last", "and then?"}).exit, 8);
  const Ran done = tug({"approve", "last"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_EQ(done.out, "followed\n") << "what was said meanwhile came after the answer";
}

TEST_F(Approvals, WhereNobodyCanBeAskedTheCallIsRefusedAndTheRunGoesOn) {
  for (const std::vector<std::string>& how :
       std::vector<std::vector<std::string>>{{"--no-session"}, {"--on-ask", "deny"}}) {
    std::vector<std::string> words = {"run",         "-m", two_reads(), "--ask",
                                      "read(a.txt)", "-o", "json",      "go"};
    words.insert(words.end(), how.begin(), how.end());
    const Ran ran = tug(words);
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_EQ(result_of(ran)["permission_denials"].size(), 1u);
    words.push_back("--fail-on-deny");
    EXPECT_EQ(tug(words).exit, 6);
  }
  const Ran parked =
      tug({"run", "--no-session", "--on-ask", "park", "-m", two_reads(), "--ask", "read", "go"});
  EXPECT_EQ(parked.exit, 8);
  EXPECT_TRUE(has(parked.err, "it cannot be resumed"));
}

TEST_F(Approvals, ARuleThatDeniesNeedsNobodyAndIsNotLiftedByAnApproval) {
  std::filesystem::create_symlink("a.txt", work_ + "/link.txt");
  const std::string model =
      script("s.jsonl", {R"({"text":"look","tool_calls":[)" + read_call("c1", "link.txt") + "," +
                             read_call("c2", "b.txt") + "]}",
                         R"({"text":"done"})"});
  const Ran ran = tug(
      {"run", "-m", model, "--deny", "read(a.txt)", "--ask", "read(b.txt)", "-o", "json", "go"});
  EXPECT_EQ(ran.exit, 8);
  EXPECT_EQ(ids(result_of(ran)), "2.1 ") << "a link leads to what is denied";
  const Ran done = tug({"approve", "last", "--always", "-o", "json"});
  EXPECT_EQ(done.exit, 0);
  EXPECT_EQ(print_json(result_of(done)["permission_denials"]),
            R"j([{"call_id":"2.0","tool":"read",)j"
            R"j("reason":"the rule deny \"read(a.txt)\" forbids it"}])j");
}

TEST_F(Approvals, ATreeParksWithTheCallsOfAllItsRunsAndGoesOnWhereItStood) {
  const std::string agents = file("agents.toml",
                                  "[[agents]]\nname = \"scout\"\ndescription = \"Looks.\"\n"
                                  "tools = [\"read\"]\n");
  const auto model = [&](const std::string& name) {
    return script(
        name, {R"({"agent":"main","text":"go","tool_calls":[)"
               R"({"id":"c1","name":"scout","arguments":{"input":"look at a"}},)" +
                   read_call("c2", "b.txt") + "]}",
               R"({"agent":"scout","text":"hm","tool_calls":[)" + read_call("c1", "a.txt") + "]}",
               R"({"agent":"scout","text":"seen"})", R"({"agent":"main","text":"done"})"});
  };
  const Ran parked =
      tug({"run", "--config", agents, "-m", model("yes.jsonl"), "--ask", "read(a.txt)", "go"});
  EXPECT_EQ(parked.exit, 8) << parked.err;
  EXPECT_TRUE(has(parked.err, "read {\"path\":\"a.txt\"}  (asked by scout)"));
  const Ran done = tug({"approve", "last", "--config", agents, "-o", "json"});
  EXPECT_EQ(done.exit, 0) << done.err;
  EXPECT_EQ(result_of(done)["text"].as_string(), "done");
  EXPECT_EQ(result_of(done)["tool_calls"], Json(2));
  EXPECT_EQ(lines(tug({"show", "last", "--events"}).out).back()["kind"].as_string(),
            "run.completed");

  tug({"run", "--config", agents, "-m", model("no.jsonl"), "--ask", "read(a.txt)", "go"});
  EXPECT_EQ(tug({"approve", "last", "--config", agents, "--deny", "--fail-on-deny"}).exit, 6)
      << "a refusal below counts";
}

TEST_F(Approvals, WhatDoesNotFitIsNamedAndNothingIsDecided) {
  EXPECT_EQ(tug({"approve"}).exit, 2);
  EXPECT_EQ(tug({"approve", "nowhere"}).exit, 2);
  tug({"run", "-m", two_reads(), "--ask", "read", "go"});
  const std::tuple<std::vector<std::string>, const char*> table[] = {
      {{"--call", "9.9"}, "these wait: 2.0, 2.2"},
      {{"--call", "2.0", "--call", "2.0"}, "decided twice"},
      {{"--deny", "--always"}, "leave one of them out"},
      {{"--deny", "--edit", "{}"}, "leave one of them out"},
      {{"--edit", "{\"path\":\"x\"}"}, "name it with --call"},
      {{"--pattern", "list"}, "for another tool"},
      {{"--pattern", "read("}, "close it"},
      {{"--denny"}, "did you mean --deny?"},
  };
  for (const auto& [flags, message] : table) {
    std::vector<std::string> words = {"approve", "last"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ran ran = tug(words);
    EXPECT_EQ(ran.exit, 2) << flags[0] << ran.err;
    EXPECT_TRUE(has(ran.err, message)) << flags[0];
    EXPECT_EQ(calls(), "approval.requested 2.0\napproval.requested 2.2\n") << flags[0];
  }
}

TEST_F(Approvals, TheListIsHarmlessAndSaysWhatIsHidden) {
  const std::string model = script(
      "s.jsonl",
      {R"({"text":"x","tool_calls":[)" + read_call("c1", R"(a\u001b[2J\u202e\u200bb\ny)") + "]}"});
  const Ran ran = tug({"run", "-m", model, "--ask", "read", "go"});
  EXPECT_EQ(ran.exit, 8);
  EXPECT_TRUE(has(ran.err, R"({"path":"a\u001b[2J\u202e\u200bb\ny"})"));
}

}  // namespace
}  // namespace tug::journey
