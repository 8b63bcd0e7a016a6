// Completion, by the shell it is for.
#include <cstdio>

#include "journey.h"

namespace tug::journey {
namespace {

class Completion : public Journey {
 protected:
  // What bash would offer after these words; the last one is being typed.
  std::string offered(const std::vector<std::string>& words) {
    const std::string sourced = file("completion.bash", tug({"completion", "bash"}).out);
    std::string line = "bash --norc -c 'source " + sourced + "; COMP_WORDS=(";
    for (const std::string& word : words) line += "\"" + word + "\" ";
    line +=
        "); COMP_CWORD=" + std::to_string(words.size() - 1) + "; _tug; echo ${COMPREPLY[@]}' 2>&1";
    FILE* pipe = popen(line.c_str(), "r");
    std::string text;
    char piece[4096];
    while (std::size_t got = std::fread(piece, 1, sizeof piece, pipe)) text.append(piece, got);
    pclose(pipe);
    return text;
  }
};

TEST_F(Completion, BashOffersCommandsFlagsPartsAndValues) {
  EXPECT_EQ(offered({"tug", "re"}), "resume replay\n");
  EXPECT_EQ(offered({"tug", "run", "--max-t"}),
            "--max-turns --max-tool-calls --max-tokens --max-time\n");
  EXPECT_EQ(offered({"tug", "schema", "c"}), "check\n");
  EXPECT_EQ(offered({"tug", "schema", "check", "--as"}), "--assert-format\n");
  EXPECT_EQ(offered({"tug", "run", "-o", "s"}), "stream-json\n");
  EXPECT_EQ(offered({"tug", "completion", "z"}), "zsh\n");
  EXPECT_EQ(offered({"tug", "show", "--e"}), "--events\n");
  EXPECT_EQ(offered({"tug", "models", "u"}), "update\n");
  EXPECT_EQ(offered({"tug", "models", "update", "--f"}), "--from\n");
}

TEST_F(Completion, EveryCommandIsInEveryShellsScript) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Ran ran = tug({"completion", shell});
    EXPECT_EQ(ran.exit, 0);
    for (const char* command :
         {"run", "resume", "approve", "fork", "runs", "show", "replay", "tools", "models", "schema",
          "config", "doctor", "version", "completion"}) {
      EXPECT_TRUE(has(ran.out, command)) << shell;
    }
  }
  EXPECT_EQ(tug({"completion", "tcsh"}).exit, 2);
  EXPECT_EQ(tug({"completion"}).exit, 2);
}

}  // namespace
}  // namespace tug::journey
