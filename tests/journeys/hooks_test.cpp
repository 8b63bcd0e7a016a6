// [[hooks]]: commands that watch a run, refuse calls, add to the prompt and rewrite results.
#include <signal.h>

#include <thread>

#include "journey.h"

namespace tug::journey {
namespace {

class Hooks : public Journey {
 protected:
  Hooks() {
    file("notes.txt", "a\nb\n");
    model_ = script(
        "s.jsonl",
        {R"({"tool_calls":[{"id":"c1","name":"read","arguments":{"path":"notes.txt"}},{"id":"c2","name":"list","arguments":{}}]})",
         R"({"text":"done"})"});
  }
  // A file with one row; `rest` are its other lines.
  std::string hook(const std::string& event, const std::string& command,
                   const std::string& rest = "") {
    return file("hooks.toml", "[[hooks]]\nevent = \"" + event + "\"\ncommand = '''" + command +
                                  "'''\n" + rest + "\n");
  }
  Told run(const std::string& config, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"run",  "-o",       "stream-json", "-m",
                                      model_, "--config", config,        "go"};
    words.insert(words.end(), more.begin(), more.end());
    return told_by(tug(words));
  }
  // What the model was told in the end.
  std::string conversation() { return tug({"show", "last"}).out; }

  std::string model_;
};

TEST_F(Hooks, ACommandGetsOneObjectAndMayRefuseATool) {
  const std::string config =
      hook("before_tool_call",
           "cat > seen.json; echo '{\"decision\":\"deny\",\"reason\":\"not today\"}'",
           "tools = [\"read\"]");
  const Told told = run(config);
  EXPECT_EQ(told.exit, 0) << told.err;
  EXPECT_EQ(told.result["text"], Json("done"));
  EXPECT_EQ(told.result["counts"]["cancelled_tool_calls"], Json(1));
  const auto failed = told.of("tool.failed");
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0]["tool"], Json("read"));
  EXPECT_EQ(failed[0]["error_type"], Json("ToolCallCancelled"));
  EXPECT_TRUE(has(std::string(failed[0]["output"].as_string()), "not today"));
  EXPECT_EQ(told.of("tool.completed").size(), 1u) << "list is not asked about";
  const Json seen = parse_json(*read_file("seen.json")).value();
  EXPECT_EQ(seen["event"], Json("before_tool_call"));
  EXPECT_EQ(seen["tool"], Json("read"));
  EXPECT_EQ(seen["arguments"], Json::object({{"path", "notes.txt"}}));
  EXPECT_EQ(seen["run_id"], told.result["run_id"]);
}

TEST_F(Hooks, ExitTwoRefusesWithWhatItSaysOnStderr) {
  const Told told = run(hook("before_tool_call", "echo too early >&2; exit 2"));
  EXPECT_EQ(told.exit, 0) << told.err;
  const auto failed = told.of("tool.failed");
  ASSERT_EQ(failed.size(), 2u);
  EXPECT_TRUE(has(std::string(failed[0]["output"].as_string()), "too early"));
}

TEST_F(Hooks, ARefusedPromptCancelsTheRunBeforeAnyRequest) {
  const Told told =
      run(hook("user_prompt_submit", "echo '{\"decision\":\"deny\",\"reason\":\"no secrets\"}'"));
  EXPECT_EQ(told.exit, 130);
  EXPECT_EQ(told.result["stop_reason"], Json("cancelled_by_hook"));
  EXPECT_EQ(told.result["status"], Json("cancelled"));
  EXPECT_TRUE(told.of("model.started").empty());
  EXPECT_TRUE(has(told.err, "no secrets")) << "a person learns why";
}

TEST_F(Hooks, ACommandAddsToWhatTheModelIsTold) {
  const Told told = run(hook("user_prompt_submit", "echo '{\"context\":\"The branch is main.\"}'"));
  EXPECT_EQ(told.exit, 0) << told.err;
  EXPECT_TRUE(has(conversation(), "<hook_context>"));
  EXPECT_TRUE(has(conversation(), "The branch is main."));
}

TEST_F(Hooks, ACommandRewritesAResult) {
  const Told told =
      run(hook("after_tool_call", "echo '{\"output\":\"[redacted]\"}'", "tools = [\"read\"]"));
  EXPECT_EQ(told.exit, 0) << told.err;
  EXPECT_TRUE(has(conversation(), "[redacted]"));
}

TEST_F(Hooks, ACommandThatFailsIsRecordedAndTheRunGoesOnUnlessItIsStrict) {
  for (const char* command : {"exit 3", "echo no json", "echo '{\"decision\":\"perhaps\"}'",
                              "/nowhere/at/all", "kill -9 $$"}) {
    const Told told = run(hook("before_tool_call", command, "tools = [\"read\"]"));
    EXPECT_EQ(told.exit, 0) << command << told.err;
    EXPECT_EQ(told.of("hook.failed").size(), 1u) << command;
    EXPECT_EQ(told.of("tool.completed").size(), 2u) << command;
    const Told strict = run(hook("before_tool_call", command, "tools = [\"read\"]\nstrict = true"));
    EXPECT_EQ(strict.exit, 1) << command;
    EXPECT_EQ(strict.result["stop_reason"], Json("error")) << command;
  }
}

TEST_F(Hooks, APersonIsToldOfACommandThatFailed) {
  const std::string config =
      hook("before_tool_call", "printf 'no \\033[31m luck' >&2; exit 3", "tools = [\"read\"]");
  const Ran told = tug({"run", "-m", model_, "--config", config, "go"});
  EXPECT_EQ(told.out, "done\n");
  EXPECT_TRUE(has(told.err, "* hook printf"));
  EXPECT_TRUE(has(told.err, "failed: it exited with 3: no \\u001b[31m luck")) << "and is harmless";
  EXPECT_EQ(tug({"run", "-q", "-m", model_, "--config", config, "go"}).err, "");
}

TEST_F(Hooks, StepsAreSeenWhenAllEventsAreAskedFor) {
  const std::string config = hook("before_tool_call", "true");
  EXPECT_TRUE(run(config).of("middleware.started").empty());
  const Told all = run(config, {"--stream", "events"});
  EXPECT_FALSE(all.of("middleware.started").empty());
  EXPECT_EQ(all.of("middleware.started").size(), all.of("middleware.completed").size());
}

TEST_F(Hooks, InterruptingARunEndsItsCommands) {
  const std::string config =
      hook("before_tool_call", "echo $$ > pid; exec sleep 600", "tools = [\"read\"]");
  Running running(place(), {"run", "-o", "stream-json", "-m", model_, "--config", config, "go"});
  ASSERT_TRUE(running.wait_for("tool.started"));
  while (read_file("pid").value_or("").empty()) std::this_thread::yield();
  const pid_t command = std::stoi(*read_file("pid"));
  running.send(SIGINT);
  const Ran ran = running.wait();
  EXPECT_EQ(ran.exit, 130) << ran.err;
  EXPECT_EQ(kill(command, 0), -1) << "it is still there";
}

TEST_F(Hooks, ACommandThatTakesTooLongIsEnded) {
  const Told told =
      run(hook("before_tool_call", "sleep 600 & sleep 600", "tools = [\"read\"]\ntimeout = 0.2"));
  EXPECT_EQ(told.exit, 0) << told.err;
  const auto failed = told.of("hook.failed");
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0]["event"], Json("before_tool_call"));
}

TEST_F(Hooks, HooksOfAllLayersAreCalledInTheirOrder) {
  file("../config/tug/config.toml",
       "[[hooks]]\nevent = \"run_start\"\ncommand = \"echo user >> order\"\n"
       "[[hooks]]\nevent = \"run_end\"\ncommand = \"echo end >> order\"\n");
  const Told told = run(hook("run_start", "echo named >> order"));
  EXPECT_EQ(told.exit, 0) << told.err;
  EXPECT_EQ(*read_file("order"), "user\nnamed\nend\n");
}

TEST_F(Hooks, AFolderThatIsNotTrustedRunsNoCommands) {
  file(".tug/config.toml", "[[hooks]]\nevent = \"run_start\"\ncommand = \"touch owned\"\n");
  const std::vector<std::string> words = {"run", "-m", model_, "go"};
  EXPECT_EQ(tug(words).exit, 0);
  EXPECT_FALSE(std::filesystem::exists(work_ + "/owned"));
  file("../state/tug/trusted", std::filesystem::canonical(work_).string() + "\n");
  EXPECT_EQ(tug(words).exit, 0);
  EXPECT_TRUE(std::filesystem::exists(work_ + "/owned"));
}

TEST_F(Hooks, CommandsRunInTheRootFolder) {
  file("inner/notes.txt", "a\n");
  file("inner/where.sh", "pwd > where");
  file("where.sh", "touch elsewhere");
  const Told told = run(hook("run_start", "sh ./where.sh"), {"-C", "inner"});
  EXPECT_EQ(told.exit, 0) << told.err;
  EXPECT_EQ(read_file("inner/where"), std::filesystem::canonical(work_ + "/inner").string() + "\n");
  EXPECT_FALSE(read_file("elsewhere"));
}

TEST_F(Hooks, ARunThatGoesOnHasThemToo) {
  const std::string config = hook("run_start", "echo again >> order");
  EXPECT_EQ(run(config).exit, 0);
  EXPECT_EQ(tug({"resume", "last", "more", "--config", config}).exit, 0);
  EXPECT_EQ(*read_file("order"), "again\nagain\n");
}

TEST_F(Hooks, ARefusalIsHeardWhereTheSignalOfChildrenWasIgnored) {
  const std::string config = hook("user_prompt_submit", "exit 2", "timeout = 20");
  const auto before = signal(SIGCHLD, SIG_IGN);
  Running running(place(), {"run", "-m", model_, "--config", config, "go"});
  signal(SIGCHLD, before);
  EXPECT_EQ(running.wait().exit, 130);
}

TEST_F(Hooks, WhatIsWrongWithARowIsNamedWithItsPlace) {
  const std::tuple<const char*, const char*, const char*> table[] = {
      {"[[hooks]]\nevent = \"before_tol_call\"\ncommand = \"x\"\n", "hooks.toml:2: hooks[0].event",
       "did you mean \"before_tool_call\"?"},
      {"[[hooks]]\nevent = \"run_end\"\ncomand = \"x\"\n", "hooks.toml:3: \"hooks[0].comand\"",
       "\"hooks[].command\""},
      {"[[hooks]]\nevent = \"run_end\"\n", "hooks.toml:2", "has no command"},
      {"[[hooks]]\ncommand = \"x\"\n", "hooks.toml:2", "has no event"},
      {"[[hooks]]\nevent = \"run_end\"\ncommand = \"\"\n", "hooks.toml:", "has no command"},
      {"[[hooks]]\nevent = \"run_end\"\ncommand = \"x\"\ntools = [\"read\"]\n",
       "hooks.toml:", "tool"},
      {"[[hooks]]\nevent = \"before_tool_call\"\ncommand = \"x\"\ntools = []\n",
       "hooks.toml:", "tool"},
      {"[[hooks]]\nevent = \"run_end\"\ncommand = \"x\"\nagents = [\"a\"]\n",
       "hooks.toml:", "agent"},
      {"[[hooks]]\nevent = \"run_end\"\ncommand = \"x\"\nstrict = 1\n",
       "hooks.toml:4: hooks[0].strict", "true or false"},
      {"[[hooks]]\nevent = \"run_end\"\ncommand = \"x\"\ntimeout = -1\n",
       "hooks.toml:4: hooks[0].timeout", "seconds"},
      {"[[hooks]]\nevent = \"run_end\"\ncommand = \"x\"\ntimeout = 0\n",
       "hooks.toml:", "0 seconds"},
  };
  for (const auto& [text, place, more] : table) {
    const Ran ran = tug({"run", "-m", model_, "--config", file("hooks.toml", text), "go"});
    EXPECT_EQ(ran.exit, 2) << text;
    EXPECT_TRUE(has(ran.err, place)) << text;
    EXPECT_TRUE(has(ran.err, more)) << text;
  }
  EXPECT_FALSE(std::filesystem::exists(home_ + "/state")) << "nothing has run";
}

}  // namespace
}  // namespace tug::journey
