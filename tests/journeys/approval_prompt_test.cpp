// Approvals at a terminal: what is shown, what the keys do, and how the question goes away.
#include <signal.h>
#include <sys/stat.h>

#include "terminal.h"

namespace tug::journey {
namespace {

const std::string kKeys = "  [y] once  [a] this session  [n] no  [e] edit  [Esc] stop: ";

class ApprovalPrompt : public TerminalJourney {
 protected:
  ApprovalPrompt() {
    file("a.txt", "alpha\n");
    file("b.txt", "beta\n");
  }
  static std::string read_call(const std::string& id, const std::string& path) {
    return R"({"id":")" + id + R"(","name":"read","arguments":{"path":")" + path + R"("}})";
  }
  std::string reads(const std::vector<std::string>& paths) {
    std::string calls;
    for (const std::string& path : paths)
      calls += (calls.empty() ? "" : ",") + read_call("c" + std::to_string(calls.size()), path);
    return script("s.jsonl",
                  {R"({"text":"look","tool_calls":[)" + calls + "]}", R"({"text":"done"})"});
  }
  std::vector<std::string> asking(const std::string& model) {
    return {"run", "-m", model, "--ask", "read", "go"};
  }
  // The question about a file, with the keys behind it.
  static std::string question(const std::string& path) {
    return "\"path\": \"" + path + "\"\r\n    }\r\n" + kKeys;
  }
  // Types into a run that asks about these files, one answer each; its end.
  Ran answered(const std::vector<std::pair<std::string, std::string>>& answers) {
    std::vector<std::string> paths;
    for (const auto& [path, keys] : answers) paths.push_back(path);
    Running running(place(), asking(reads(paths)), Running::Face::terminal);
    for (const auto& [path, keys] : answers) {
      if (keys.empty()) continue;
      EXPECT_TRUE(running.wait_for(question(path)));
      running.type(keys);
    }
    return running.wait();
  }
  void cut_off_while_asking() {
    Running running(place(), asking(reads({"a.txt"})), Running::Face::terminal);
    ASSERT_TRUE(running.wait_for(question("a.txt")));
    while (!has(tug({"show", "last", "--events"}).out, "approval.requested")) {
    }
    running.send(SIGKILL);
    running.wait();
  }
  std::string transcript() { return tug({"show", "last"}).out; }
  // An editor that puts this into the file, and leaves a copy of it and of how it was kept.
  void editor(const std::string& text) {
    file("new.json", text);
    const std::string path = file("editor.sh",
                                  "#!/bin/sh\nstat -c %a \"$1\" > mode.txt\ncp \"$1\" before.json\n"
                                  "cat new.json > \"$1\"\n");
    chmod(path.c_str(), 0700);
    environment_ = {"VISUAL=" + path};
  }
};

TEST_F(ApprovalPrompt, ShowsTheCallWhyItAsksAndWhere) {
  const Ran ran = answered({{"a.txt", "y"}});
  EXPECT_EQ(ran.exit, 0) << ran.out;
  expect_harmless(ran.out);
  EXPECT_EQ(screen(ran.out), "look\n-- read needs your approval\n  folder  " + work_ +
                                 "\n  why     the rule ask \"read\" names it\n  arguments\n    {\n"
                                 "      \"path\": \"a.txt\"\n    }\n" +
                                 kKeys + "yes, once\ndone\n");
  EXPECT_TRUE(has(transcript(), "alpha"));
}

TEST_F(ApprovalPrompt, YesIsForOneCallAndThisSessionForAllOfTheTool) {
  EXPECT_EQ(answered({{"a.txt", "y"}, {"b.txt", "y"}}).exit, 0);
  EXPECT_TRUE(has(transcript(), "beta"));
  const Ran ran = answered({{"a.txt", "a"}, {"b.txt", ""}});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(has(ran.out, "yes, every call of read in this session"));
  EXPECT_TRUE(has(transcript(), "beta")) << "it waited already, and is covered";
}

TEST_F(ApprovalPrompt, NoTellsTheModelWhy) {
  Running running(place(), asking(reads({"a.txt", "b.txt"})), Running::Face::terminal);
  ASSERT_TRUE(running.wait_for(question("a.txt")));
  running.type("n");
  ASSERT_TRUE(running.wait_for("(Enter for no reason): "));
  running.type("too secret\n");
  ASSERT_TRUE(running.wait_for(question("b.txt")));
  running.type("y");
  const Ran ran = running.wait();
  EXPECT_EQ(ran.exit, 0) << ran.out;
  EXPECT_TRUE(has(transcript(), "too secret"));
  EXPECT_FALSE(has(transcript(), "alpha"));
  EXPECT_TRUE(has(transcript(), "beta"));
}

TEST_F(ApprovalPrompt, EscapeStopsTheRunAndAnArrowKeyDoesNot) {
  Running running(place(), asking(reads({"a.txt"})), Running::Face::terminal);
  ASSERT_TRUE(running.wait_for(question("a.txt")));
  running.type("\x1b[A\x1b[15~x?");
  running.type("\x1b");
  const Ran ran = running.wait();
  EXPECT_EQ(ran.exit, 130) << ran.out;
  EXPECT_TRUE(has(ran.out, "stop\r\n"));
  EXPECT_EQ(last_run()["status"].as_string(), "cancelled");
}

TEST_F(ApprovalPrompt, ASignalTakesTheQuestionAway) {
  for (const bool typed : {true, false}) {
    Running running(place(), asking(reads({"a.txt"})), Running::Face::terminal);
    ASSERT_TRUE(running.wait_for(question("a.txt")));
    if (typed) {
      running.type("\x03");
    } else {
      running.send(SIGINT);
    }
    EXPECT_EQ(running.wait().exit, 130);
    EXPECT_EQ(last_run()["status"].as_string(), "cancelled");
  }
  Running running(place(), asking(reads({"a.txt"})), Running::Face::terminal);
  ASSERT_TRUE(running.wait_for(question("a.txt")));
  running.send(SIGTERM);
  const Ran ran = running.wait();
  EXPECT_EQ(ran.exit, 8) << ran.out;
  EXPECT_TRUE(has(ran.out, "tug approve"))
      << "it is parked, and the question can be answered later";
  EXPECT_EQ(tug({"approve", "last"}).exit, 0);
}

TEST_F(ApprovalPrompt, WhatWasTypedBeforeIsNoAnswer) {
  const std::string model = script("s.jsonl", {R"({"text":"look","delay_ms":300,"tool_calls":[)" +
                                                   read_call("c1", "a.txt") + "]}",
                                               R"({"text":"done"})"});
  Running running(place(), asking(model), Running::Face::terminal);
  running.type("yyyy");
  ASSERT_TRUE(running.wait_for(question("a.txt")));
  running.type("n");
  ASSERT_TRUE(running.wait_for("(Enter for no reason): "));
  running.type("\n");
  EXPECT_EQ(running.wait().exit, 0);
  EXPECT_FALSE(has(transcript(), "alpha"));
}

TEST_F(ApprovalPrompt, EditOpensTheUsersEditorAndAsksAboutWhatCameOfIt) {
  editor(R"({"path": "b.txt"})");
  Running running(place(), asking(reads({"a.txt"})), Running::Face::terminal);
  ASSERT_TRUE(running.wait_for(question("a.txt")));
  running.type("e");
  ASSERT_TRUE(running.wait_for("arguments, edited by you\r\n    {\r\n      " + question("b.txt")));
  running.type("y");
  const Ran ran = running.wait();
  EXPECT_EQ(ran.exit, 0) << ran.out;
  EXPECT_EQ(read_file("mode.txt"), "600\n");
  EXPECT_EQ(read_file("before.json"), "{\n  \"path\": \"a.txt\"\n}\n");
  EXPECT_TRUE(has(transcript(), "beta"));
  EXPECT_FALSE(has(transcript(), "alpha"));
}

TEST_F(ApprovalPrompt, WhatWasEditedWronglyIsExplainedAndAskedAboutAgain) {
  const std::pair<std::string, std::string> table[] = {
      {"{\"path\": ", "the arguments: "},
      {"[]", "not an object"},
      {"{\"path\": \"a.txt\"}", "nothing was changed"},
  };
  for (const auto& [text, message] : table) {
    editor(text);
    Running running(place(), asking(reads({"a.txt"})), Running::Face::terminal);
    ASSERT_TRUE(running.wait_for(question("a.txt")));
    running.type("e");
    ASSERT_TRUE(running.wait_for(message)) << text;
    ASSERT_TRUE(running.wait_for(kKeys, 2));
    running.type("y");
    EXPECT_EQ(running.wait().exit, 0) << text;
  }
  editor(R"({"pth": "b.txt"})");
  Running wrong(place(), asking(reads({"a.txt"})), Running::Face::terminal);
  ASSERT_TRUE(wrong.wait_for(question("a.txt")));
  wrong.type("e");
  ASSERT_TRUE(wrong.wait_for("\"pth\": \"b.txt\"\r\n    }\r\n" + kKeys));
  wrong.type("y");
  ASSERT_TRUE(wrong.wait_for("call 2.0")) << "arguments that the tool does not take";
  ASSERT_TRUE(wrong.wait_for(kKeys, 3));
  wrong.type("\x1b");
  EXPECT_EQ(wrong.wait().exit, 130);
  environment_ = {"EDITOR=/nowhere/editor"};
  Running none(place(), asking(reads({"a.txt"})), Running::Face::terminal);
  ASSERT_TRUE(none.wait_for(question("a.txt")));
  none.type("e");
  ASSERT_TRUE(none.wait_for("set VISUAL or EDITOR"));
  ASSERT_TRUE(none.wait_for(kKeys, 2));
  none.type("y");
  EXPECT_EQ(none.wait().exit, 0);
}

TEST_F(ApprovalPrompt, NothingInTheArgumentsActsOnTheTerminalOrPosesAsTheQuestion) {
  const std::string path =
      R"(a\u001b[2J\u009b1A\u202e\u2066\u200b\ufeff\u00ad\udb40\udc41\r\n  [y] once: yes\n\u0430bc\ttab \\u0041)";
  const std::string model = script(
      "s.jsonl",
      {R"({"text":"look","tool_calls":[)" + read_call("c1", path) + "]}", R"({"text":"done"})"});
  Running running(place(), asking(model), Running::Face::terminal);
  ASSERT_TRUE(
      running.wait_for("    }\r\n  careful: a word mixes letters of two alphabets that look "
                       "alike\r\n" +
                       kKeys));
  running.type("y");
  const Ran ran = running.wait();
  EXPECT_EQ(ran.exit, 0) << ran.out;
  expect_harmless(ran.out);
  // Several strings, which together are the path.
  const std::string shown = screen(ran.out);
  const std::string start = "\"path\": ";
  const std::size_t from = shown.find(start) + start.size();
  const std::string text = shown.substr(from, shown.find("\n    }", from) - from);
  std::string joined;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('"', at);
    if (open == text.npos) break;
    std::size_t close = open + 1;
    while (text[close] != '"') close += text[close] == '\\' ? 2 : 1;
    joined += parse_json(text.substr(open, close + 1 - open)).value().as_string();
    at = close + 1;
  }
  EXPECT_EQ(joined, parse_json("\"" + path + "\"").value().as_string()) << text;
  EXPECT_TRUE(has(text, "\\u200b\\ufeff\\u00ad\\udb40\\udc41"))
      << "what is not seen is written out";
}

TEST_F(ApprovalPrompt, WhatCannotBeShownWholeCanOnlyBeRefused) {
  const std::string model = script("s.jsonl", {R"({"text":"look","tool_calls":[)" +
                                                   read_call("c1", std::string(80'000, 'x')) + "]}",
                                               R"({"text":"done"})"});
  Running running(place(), asking(model), Running::Face::terminal);
  ASSERT_TRUE(
      running.wait_for("too much to be shown whole, so it can only be refused\r\n"
                       "  [n] no  [Esc] stop: "));
  running.type("yae");
  running.type("n");
  ASSERT_TRUE(running.wait_for("(Enter for no reason): "));
  running.type("\n");
  const Ran ran = running.wait();
  EXPECT_EQ(ran.exit, 0) << ran.out;
  EXPECT_FALSE(has(ran.out, "xxxx"));
  EXPECT_TRUE(has(tug({"show", "last", "--events"}).out, "\"approved\":false"));
}

TEST_F(ApprovalPrompt, TheStatusLineStaysAwayWhileItAsks) {
  Running running(place(), asking(reads({"a.txt"})), Running::Face::terminal);
  ASSERT_TRUE(running.wait_for(question("a.txt")));
  // Several of its frames, by another process's clock.
  tug({"version"});
  for (int i = 0; i < 30; ++i) tug({"runs"});
  running.type("y");
  const Ran ran = running.wait();
  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(has(ran.out, question("a.txt") + "yes, once\r\n")) << "nothing came between";
}

TEST_F(ApprovalPrompt, AnotherProcessMayDecide) {
  Running running(place(), asking(reads({"a.txt", "b.txt"})), Running::Face::terminal);
  ASSERT_TRUE(running.wait_for(question("a.txt")));
  // The record is on disk a moment later.
  Ran sent;
  for (int tries = 0; tries < 200 && sent.exit != 0; ++tries)
    sent = tug({"approve", "last", "--call", "2.0"});
  EXPECT_EQ(sent.exit, 0) << sent.err;
  EXPECT_TRUE(has(sent.err, " goes on in another process"));
  ASSERT_TRUE(running.wait_for("decided elsewhere\r\n"));
  ASSERT_TRUE(running.wait_for(question("b.txt")));
  running.type("y");
  EXPECT_EQ(running.wait().exit, 0);
  EXPECT_TRUE(has(transcript(), "alpha"));
}

TEST_F(ApprovalPrompt, ARunThatWasCutOffWhileItAskedIsAskedAboutAgain) {
  cut_off_while_asking();
  Running again(place(), {"resume", "last"}, Running::Face::terminal);
  ASSERT_TRUE(again.wait_for(question("a.txt")));
  again.type("y");
  const Ran ran = again.wait();
  EXPECT_EQ(ran.exit, 0) << ran.out;
  EXPECT_TRUE(has(transcript(), "alpha"));
}

TEST_F(ApprovalPrompt, SaysWhichAgentAsks) {
  const std::string agents =
      file("agents.toml",
           "[[agents]]\nname = \"scout\"\ndescription = \"Looks.\"\ntools = [\"read\"]\n");
  const std::string model = script(
      "s.jsonl",
      {R"({"agent":"main","text":"go","tool_calls":[{"id":"c1","name":"scout","arguments":{"input":"look"}}]})",
       R"({"agent":"scout","text":"hm","tool_calls":[)" + read_call("c1", "a.txt") + "]}",
       R"({"agent":"scout","text":"seen"})", R"({"agent":"main","text":"done"})"});
  Running running(place(), {"run", "--config", agents, "-m", model, "--ask", "read", "go"},
                  Running::Face::terminal);
  ASSERT_TRUE(running.wait_for("  agent   scout (run "));
  ASSERT_TRUE(running.wait_for(question("a.txt")));
  running.type("a");
  const Ran ran = running.wait();
  EXPECT_EQ(ran.exit, 0) << ran.out;
  EXPECT_TRUE(has(tug({"show", "last", "--events"}).out, "alpha"));
}

TEST_F(ApprovalPrompt, ARunThatWasCutOffWhileItAskedCanBeDecidedAboutWithoutATerminal) {
  cut_off_while_asking();
  const Ran ran = tug({"approve", "last"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out, "done\n");
  cut_off_while_asking();
  EXPECT_EQ(tug({"resume", "last"}).exit, 8) << "nobody is there to be asked: it parks";
  EXPECT_EQ(tug({"approve", "last", "--deny"}).exit, 0);
}

TEST_F(ApprovalPrompt, ARunThatParkedElsewhereIsListedByResumeAndAskedAboutByNobody) {
  ASSERT_EQ(tug(asking(reads({"a.txt"}))).exit, 8);
  const Ran ran = on_terminal({"resume", "last"});
  EXPECT_EQ(ran.exit, 8) << ran.out;
  EXPECT_TRUE(has(ran.out, "a call waits for approval"));
  const Ran done = on_terminal({"approve", "last"});
  EXPECT_EQ(done.exit, 0) << done.out;
  EXPECT_EQ(screen(done.out), "done\n");
}

}  // namespace
}  // namespace tug::journey
