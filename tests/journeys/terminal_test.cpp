// What a person sees: streamed text, the status line, and nothing that acts on the terminal.
#include "terminal.h"

namespace tug::journey {
namespace {

class Terminal : public TerminalJourney {
 protected:
  const std::string hostile =
      R"(a\u001b[31mred\u001b]0;owned\u0007b\u009b2Jc\u0085d\u202ee\u2066f\u007fg\bh\ri\tj\nk)";
};

TEST_F(Terminal, NothingFromAModelActsOnTheTerminalHoweverItIsCut) {
  for (const char* chunks : {"1", "2", "7", "100"}) {
    const std::string model = script(
        "s.jsonl", {R"({"chunks":)" + std::string(chunks) + R"(,"text":")" + hostile + R"("})"});
    const Ran ran = on_terminal({"run", "-m", model, "go"});
    EXPECT_EQ(ran.exit, 0) << ran.out;
    expect_harmless(ran.out);
    EXPECT_TRUE(has(screen(ran.out), "a\\u001b[31mred\\u001b]0;owned\\u0007b\\u009b2Jc"));
    EXPECT_TRUE(has(screen(ran.out), "i\tj\nk\n")) << "tabs and line feeds pass";
  }
}

TEST_F(Terminal, NothingFromAToolItsArgumentsOrAnErrorActsOnTheTerminal) {
  file("n\x1b[2Jotes.txt", "x\x1b]0;owned\x07y\xc2\x9bz\n");
  const std::string model = script(
      "s.jsonl",
      {R"({"text":"hm","tool_calls":[{"id":"c1","name":"read","arguments":{"path":"n\u001b[2Jotes.txt"}},)"
       R"({"id":"c2","name":"re\u001b[2Jad","arguments":"\u001b[2J"}]})",
       R"({"error":{"status":400,"body":"no\u001b[2J"}})"});
  const Ran ran = on_terminal({"run", "-v", "-m", model, "g\x1b[2Jo"});
  EXPECT_EQ(ran.exit, 1) << ran.out;
  expect_harmless(ran.out);
  EXPECT_TRUE(has(ran.out, "* read n\\u001b[2Jotes.txt ("));
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"runs"}, {"show", "last"}, {"show", "last", "--tree"}, {"replay", "last"}}) {
    const Ran shown = on_terminal(words);
    EXPECT_EQ(shown.exit, 0) << shown.out;
    expect_harmless(shown.out);
  }
}

TEST_F(Terminal, NothingThatIsPrintedAgainOrAsJsonActsOnTheTerminal) {
  const std::string turn = R"({"repeat":true,"text":")" + hostile + R"("})";
  const std::string model = script("s.jsonl", {turn});
  const std::string text(parse_json(turn).value()["text"].as_string());
  ASSERT_EQ(tug({"run", "-m", model, "go"}).out, text + "\n") << "a pipe has every byte";
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"replay", "last"},
                                             {"replay", "last", "-o", "json"},
                                             {"replay", "last", "-o", "stream-json"},
                                             {"show", "last", "--json"},
                                             {"show", "last", "--events"},
                                             {"runs", "--json"},
                                             {"run", "-m", model, "-o", "json", "go"},
                                             {"run", "-m", model, "-o", "stream-json", "go"}}) {
    const Ran shown = on_terminal(words);
    EXPECT_EQ(shown.exit, 0) << shown.out;
    expect_harmless(shown.out);
    if (words.back() != "go" || words[4] != "json") continue;
    EXPECT_EQ(parse_json(screen(shown.out)).value()["text"].as_string(), text);
  }
}

TEST_F(Terminal, EveryTurnIsShownAndStartsOnALineOfItsOwn) {
  file("notes.txt", "a\n");
  const std::string model = script(
      "s.jsonl",
      {R"({"text":"let me look","chunks":4,"tool_calls":[{"id":"c1","name":"read","arguments":{"path":"notes.txt"}}]})",
       R"({"text":"one line\n","chunks":3})"});
  const Ran ran = on_terminal({"run", "-q", "-m", model, "go"});
  EXPECT_EQ(ran.out, "let me look\r\none line\r\n");
}

TEST_F(Terminal, TheStatusLineComesWhileItWaitsAndLeavesNothing) {
  const std::string model = script("s.jsonl", {R"({"text":"there","delay_ms":400})"});
  const Ran ran = on_terminal({"run", "-m", model, "go"});
  EXPECT_TRUE(has(ran.out, "turn 1"));
  EXPECT_EQ(screen(ran.out), "there\n") << testing::PrintToString(ran.out);
  for (const char* quiet : {"NO_COLOR=1", "CI=true", "TERM=dumb"}) {
    environment_ = {quiet};
    EXPECT_EQ(on_terminal({"run", "-m", model, "go"}).out, "there\r\n") << quiet;
  }
}

TEST_F(Terminal, WithoutAPromptThereIsHelp) {
  const Ran ran = on_terminal({});
  EXPECT_TRUE(has(ran.out, "Usage: tug"));
  EXPECT_EQ(on_terminal({"run"}).exit, 2) << "it does not wait for a terminal to say something";
}

}  // namespace
}  // namespace tug::journey
