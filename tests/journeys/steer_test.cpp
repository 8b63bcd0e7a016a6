// `tug steer`: one process runs, another tells it something.
#include <signal.h>

#include "journey.h"

namespace tug::journey {
namespace {

class Steering : public Journey {
 protected:
  Steering() {
    config_ = file("agents.toml",
                   "[[agents]]\nname = \"scout\"\ndescription = \"Looks.\"\n"
                   "limits = { max_turns = 100000, max_tool_calls = 100000 }\n");
    file("notes.txt", "a\n");
  }
  static std::string looks(const std::string& agent) {
    return R"({"agent":")" + agent +
           R"(","repeat":true,"delay_ms":10,"tool_calls":[{"id":"c","name":"list","arguments":{}}]})";
  }
  // Looks around until it is told "enough".
  std::string restless() {
    return script("s.jsonl", {R"({"when":"enough","text":"I stop"})", looks("main")});
  }
  // main asks a scout, who looks around until it is told "enough".
  std::string delegating() {
    return script(
        "s.jsonl",
        {R"({"agent":"main","tool_calls":[{"id":"c","name":"scout","arguments":{"input":"x"}}]})",
         R"({"agent":"scout","when":"enough","text":"found nothing"})", looks("scout"),
         R"({"agent":"main","text":"it is done"})"});
  }
  std::vector<std::string> words(const std::string& model, const std::string& config) {
    return {"run",         "-o",     "stream-json",      "-m",     model,        "--config", config,
            "--max-turns", "100000", "--max-tool-calls", "100000", "--max-time", "60",       "go"};
  }
  // The lines so far are read until a run of that agent looks around: it is under way.
  void wait_until_it_looks(Running& running) {
    ASSERT_TRUE(running.wait_for(R"("kind":"tool.completed")"));
  }
  // The newest run of an agent.
  std::string run_of(const std::string& agent) {
    const Json tree = parse_json(tug({"show", "last", "--tree", "--json"}).out).value();
    if (tree["agent"].as_string() == agent) return std::string(tree["run_id"].as_string());
    return std::string(tree["children"][0]["run_id"].as_string());
  }

  std::string config_;
};

TEST_F(Steering, InjectedWordsReachTheModelOfARunInAnotherProcess) {
  Running running(place(), words(restless(), config_));
  wait_until_it_looks(running);
  const Ran steered = tug({"steer", "last", "inject", "that is enough"});
  EXPECT_EQ(steered.exit, 0) << steered.err;
  EXPECT_TRUE(has(steered.out, "took it: inject"));
  const Told told = told_by(running.wait());
  EXPECT_EQ(told.exit, 0) << told.err;
  EXPECT_EQ(told.result["text"], Json("I stop"));
  const auto applied = told.of("steering.applied");
  ASSERT_EQ(applied.size(), 1u);
  EXPECT_EQ(applied[0]["command"],
            Json::object({{"command", "inject"}, {"text", "that is enough"}}));
  EXPECT_EQ(applied[0]["sender"], Json("owner"));
  EXPECT_TRUE(has(tug({"show", "last"}).out, "that is enough"));
}

TEST_F(Steering, AnInstructionIsMarkedAsOne) {
  Running running(place(), words(restless(), config_));
  wait_until_it_looks(running);
  const Ran steered = tug({"steer", "last", "redirect", "enough", "--json"});
  EXPECT_EQ(steered.exit, 0) << steered.err;
  const Json said = parse_json(steered.out).value();
  EXPECT_EQ(said["status"], Json("applied"));
  EXPECT_EQ(said["command"], Json::object({{"command", "redirect"}, {"text", "enough"}}));
  const Told told = told_by(running.wait());
  EXPECT_EQ(told.result["text"], Json("I stop"));
  EXPECT_TRUE(has(tug({"show", "last"}).out, "[steering:redirect] enough"));
}

TEST_F(Steering, APausedRunIsParkedAndGoesOnWhenItIsResumed) {
  Running running(place(), words(restless(), config_));
  wait_until_it_looks(running);
  const Ran steered = tug({"steer", "last", "pause", "lunch"});
  EXPECT_EQ(steered.exit, 0) << steered.err;
  const Told told = told_by(running.wait());
  EXPECT_EQ(told.exit, 8) << told.err;
  EXPECT_EQ(told.result["status"], Json("parked"));
  EXPECT_EQ(told.result["stop_reason"], Json("paused"));
  const Ran late = tug({"steer", "last", "resume"});
  EXPECT_EQ(late.exit, 2);
  EXPECT_TRUE(has(late.err, "is not under way: it is parked"));
  EXPECT_TRUE(has(late.err, "tug resume"));
  const Ran resumed = tug({"resume", "last", "now it is enough", "--json"});
  EXPECT_EQ(resumed.exit, 0) << resumed.err;
  const Json result = parse_json(resumed.out).value();
  EXPECT_EQ(result["run_id"], told.result["run_id"]);
  EXPECT_EQ(result["text"], Json("I stop"));
}

TEST_F(Steering, ACancelledRunEndsAsIfItWereInterrupted) {
  Running running(place(), words(restless(), config_));
  wait_until_it_looks(running);
  const Ran steered = tug({"steer", "last", "cancel", "changed my mind"});
  EXPECT_EQ(steered.exit, 0) << steered.err;
  const Told told = told_by(running.wait());
  EXPECT_EQ(told.exit, 130) << told.err;
  EXPECT_EQ(told.result["status"], Json("cancelled"));
}

TEST_F(Steering, OneRunOfTheTreeIsToldWithoutTheOthers) {
  Running running(place(), words(delegating(), config_));
  wait_until_it_looks(running);
  const std::string scout = run_of("scout");
  const Ran steered = tug({"steer", scout, "inject", "enough"});
  EXPECT_EQ(steered.exit, 0) << steered.err;
  const Told told = told_by(running.wait());
  EXPECT_EQ(told.exit, 0) << told.err;
  EXPECT_EQ(told.result["text"], Json("it is done"));
  bool found = false;
  for (const Json& event : told.events) {
    if (event["kind"].as_string() != "steering.applied") continue;
    EXPECT_EQ(event["run_id"].as_string(), scout);
    found = true;
  }
  EXPECT_TRUE(found);
  const Ran late = tug({"steer", scout, "inject", "more"});
  EXPECT_EQ(late.exit, 2);
  EXPECT_TRUE(has(late.err, "is not under way: it has ended"));
}

TEST_F(Steering, AChildThatIsCancelledLeavesItsParentUnderWay) {
  Running running(place(), words(delegating(), config_));
  wait_until_it_looks(running);
  const std::string scout = run_of("scout");
  EXPECT_EQ(tug({"steer", scout, "cancel"}).exit, 0);
  const Told told = told_by(running.wait());
  EXPECT_EQ(told.exit, 0) << told.err;
  EXPECT_EQ(told.result["text"], Json("it is done"));
  const auto failed = told.of("tool.failed");
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0]["error_type"], Json("SubAgentCancelled"));
}

TEST_F(Steering, AChildThatIsPausedParksTheTreeWhenNothingElseCanMove) {
  Running running(place(), words(delegating(), config_));
  wait_until_it_looks(running);
  const std::string scout = run_of("scout");
  EXPECT_EQ(tug({"steer", scout, "pause"}).exit, 0);
  const Told told = told_by(running.wait());
  EXPECT_EQ(told.exit, 8) << told.err;
  EXPECT_EQ(told.result["stop_reason"], Json("paused"));
  EXPECT_EQ(told.of("run.paused").size(), 2u) << "the child, then the root";
  EXPECT_TRUE(has(tug({"show", "last", "--tree"}).out, "=   scout "));
  // Both go on under their own ids; the child is still looking around.
  Running again(place(), {"resume", "last", "-o", "stream-json", "--config", config_});
  ASSERT_TRUE(again.wait_for(R"("kind":"tool.completed")"));
  EXPECT_EQ(run_of("scout"), scout);
  EXPECT_EQ(tug({"steer", scout, "inject", "enough"}).exit, 0);
  const Told after = told_by(again.wait());
  EXPECT_EQ(after.exit, 0) << after.err;
  EXPECT_EQ(after.result["text"], Json("it is done"));
}

TEST_F(Steering, WhatIsNotAllowedIsRefusedAndTheRunGoesOn) {
  const std::string config = file("strict.toml", "[steering]\nallow = [\"cancel\"]\n");
  Running running(place(), words(restless(), config));
  wait_until_it_looks(running);
  const Ran steered = tug({"steer", "last", "inject", "enough", "--json"});
  EXPECT_EQ(steered.exit, 1) << steered.err;
  EXPECT_EQ(parse_json(steered.out).value()["status"], Json("rejected"));
  EXPECT_TRUE(has(steered.err, "refused it"));
  EXPECT_EQ(tug({"steer", "last", "cancel"}).exit, 0);
  const Told told = told_by(running.wait());
  EXPECT_EQ(told.exit, 130) << told.err;
  EXPECT_EQ(told.of("steering.rejected").size(), 1u);
  EXPECT_EQ(told.of("steering.applied").size(), 1u);
}

TEST_F(Steering, ARunThatNobodyRunsIsNotSteered) {
  EXPECT_EQ(tug({"steer", "last", "pause"}).exit, 2);
  ASSERT_EQ(tug({"run", "-m", script("t.jsonl", {R"({"text":"hi"})"}), "go"}).exit, 0);
  const Ran ended = tug({"steer", "last", "pause"});
  EXPECT_EQ(ended.exit, 2);
  EXPECT_TRUE(has(ended.err, "it has ended"));
  EXPECT_TRUE(has(ended.err, "tug resume"));
  {
    Running running(place(), words(restless(), config_));
    wait_until_it_looks(running);
    running.send(SIGKILL);
    running.wait();
  }
  const Ran cut_off = tug({"steer", "last", "pause"});
  EXPECT_EQ(cut_off.exit, 2);
  EXPECT_TRUE(has(cut_off.err, "it was cut off"));
  EXPECT_TRUE(has(cut_off.err, "tug resume"));
}

TEST_F(Steering, WordsThatCannotBeMeantAreNamed) {
  const std::tuple<std::vector<std::string>, const char*, const char*> table[] = {
      {{"steer"}, "required", "--help"},
      {{"steer", "last"}, "required", "--help"},
      {{"steer", "last", "paus"}, "\"paus\" is not one of pause, resume", "\"pause\""},
      {{"steer", "last", "inject"}, "inject needs words", "--help"},
      {{"steer", "last", "inject", " "}, "inject needs words", "--help"},
      {{"steer", "last", "resume", "now"}, "resume takes no words", "--help"},
      {{"steer", "last", "set_metadata", "x"}, "set_metadata", "JSON object"},
      {{"steer", "last", "set_metadata", "[1]"}, "expected an object", "--help"},
      {{"steer", "last", "inject", "a", "b"}, "one word too many", "--help"},
      {{"steer", "nowhere", "pause"}, "no run \"nowhere\"", "tug runs"},
  };
  for (const auto& [words, message, fix] : table) {
    const Ran ran = tug(words);
    EXPECT_EQ(ran.exit, 2) << message;
    EXPECT_TRUE(has(ran.err, message));
    EXPECT_TRUE(has(ran.err, fix));
  }
}

}  // namespace
}  // namespace tug::journey
