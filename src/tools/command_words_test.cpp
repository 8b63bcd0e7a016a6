#include "tools/command_words.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/testing.h"
#include "tools/command_wrappers.h"
#include "tug/core/rng.h"

namespace tug {
namespace {

// The parts of a text, " | " between them, and the reason why it is unclear.
std::string shown(std::string_view text) {
  const CommandWords read = read_command(text);
  std::string out;
  const auto add = [&out](const std::string& part) {
    if (part.empty()) return;
    if (!out.empty()) out += " | ";
    out += part;
  };
  for (const SimpleCommand& command : read.commands) {
    add(command_text(command));
    for (const Redirection& redirection : command.redirections) add(redirection_text(redirection));
  }
  if (!read.unclear.empty()) out += " !" + read.unclear;
  return out;
}

struct Case {
  std::string_view text;
  std::string_view parts;
};

TEST(CommandWords, AreReadAsAShellReadsThem) {
  const Case cases[] = {
      {"ls", "ls"},
      {"  ls   -l\t-a  ", "ls -l -a"},
      {"git commit -m 'a b'", "git commit -m 'a b'"},
      {R"(git commit -m "a b")", "git commit -m 'a b'"},
      {R"(echo a\ b)", "echo 'a b'"},
      {R"("r"m -'r'f x)", "rm -rf x"},
      {R"(\rm x)", "rm x"},
      {R"(echo "a\"b\\c\d")", R"(echo 'a"b\c\d')"},
      {R"(echo 'it'\''s')", R"(echo 'it'\''s')"},
      {"echo ''", "echo ''"},
      {"'git status'", "'git status'"},
      {"a; b && c || d | e & f", "a | b | c | d | e | f"},
      {"a\nb\n\nc", "a | b | c"},
      {"a \\\n b", "a b"},
      {"l\\\ns", "ls"},
      {"(a; (b))", "a | b"},
      {"{ a; b; }", "a | b"},
      {"{ (a) }", "a"},
      {"(a) >x", "a | > x"},
      {"! a | b", "a | b"},
      {"a # b; c", "a"},
      {"a#b", "'a#b'"},
      {"A=1 B='x y' c d", "A=1 B='x y' c d"},
      {"A=1", "A=1"},
      {"c A=1", "c A=1"},
      {"a > out 2>&1", "a | > out"},
      {"a >out <in >>more", "a | > out | < in | > more"},
      {"a 2>/dev/null", "a"},
      {"echo 2 >f", "echo 2 | > f"},
      {"echo 2>f", "echo | > f"},
      {"a >| b <> c", "a | > b | > c"},
      {"a > x/../../y", "a | > ../y"},
      {"> f", "> f"},
      {"cat <<EOF\nrm x\nEOF\nls", "cat | ls"},
      {"cat <<-EOF\n\trm x\n\tEOF\nls", "cat | ls"},
      {"cat <<'EOF'\n$(rm x)\nEOF", "cat"},
      {"cat <<A <<B\nx\nA\ny\nB\nls", "cat | ls"},
      {"cat <<EOF | grep x\nrm\nEOF", "cat | grep x"},
      {"[ -f x ] && ls", "[ -f x ] | ls"},
      {"find . -name {}", "find . -name '{}'"},
      {"echo \"gr\xc3\xbc\xc3\x9f\"", "echo 'gr\xc3\xbc\xc3\x9f'"},
      {"echo \"100$\"", "echo '100$'"},
  };
  for (const Case& one : cases) EXPECT_EQ(shown(one.text), one.parts) << one.text;
}

TEST(CommandWords, WhatOnlyTheShellKnowsIsUnclearAndStillLookedInto) {
  const Case cases[] = {
      {"rm $X", "rm '$X' !has a parameter"},
      {"rm ${X:-a b} c", "rm '${X:-a b}' c !has a parameter"},
      {"echo ${X:-$(rm y)}", "rm y | echo '${X:-$(rm y)}' !has a parameter"},
      {"echo \"$X\"", "echo '$X' !has a parameter"},
      {"$X y", "'$X' y !has a parameter"},
      {"echo $(rm x)", "rm x | echo '$(rm x)' !has a command substitution"},
      {"echo \"a $(rm x) b\"", "rm x | echo 'a $(rm x) b' !has a command substitution"},
      {"echo `rm x`", "rm x | echo '`rm x`' !has a command substitution"},
      {R"(echo `echo \`rm x\``)",
       R"(rm x | echo '`rm x`' | echo '`echo \`rm x\``' !has a command substitution)"},
      {"echo $((1+1))", "1+1 | echo '$((1+1))' !has a command substitution"},
      {"diff <(rm a) >(rm b)", "rm a | rm b | diff !has a process substitution"},
      {"cat <<EOF\n$(rm x)\nEOF", "cat | rm x !has a command substitution"},
      {"cat <<EOF\n\\$(rm x)\nEOF", "cat"},
      {"rm *.txt", "rm '*.txt' !has a pattern for file names"},
      {"rm a?", "rm 'a?' !has a pattern for file names"},
      {"rm [ab]", "rm '[ab]' !has a pattern for file names"},
      {"rm ~/x", "rm '~/x' !has a ~ that stands for a folder"},
      {"rm {a,b}", "rm '{a,b}' !has braces that may stand for several words"},
      {"if a; then rm x; fi", "a | rm x !has a control structure"},
      {"for i in a; do rm x; done", "'for' i in a | rm x !has a control structure"},
      {"ls() { rm x; }", "ls | rm x !defines a function or a list"},
      {"a=(b c)", "a= | b c !defines a function or a list"},
      {"a &> f", "a | > f !has &>, which shells read differently"},
      {"a |& b", "a | b !has |&, which shells read differently"},
      {"a >& f", "a | > f !joins a descriptor to a file"},
      {"a <<< b", "a !has <<<, which shells read differently"},
      {"echo $'a'", "echo '$'\\''a'\\''' !has $'..', which shells read differently"},
      {"[[ -f x ]]", "'[[' -f x ]] !has a control structure"},
      {"((a))", "a !calculates"},
      {"=ls", "'=ls' !begins a word with ="},
      {"ls \xc3\xa4", "ls '\xc3\xa4' !has letters beyond ASCII unquoted"},
      {"a[0]=b", "'a[0]=b' !has a pattern for file names"},
      {"case x in a) rm;; esac", "'case' x in a | rm !has a control structure"},
  };
  for (const Case& one : cases) EXPECT_EQ(shown(one.text), one.parts) << one.text;
}

TEST(CommandWords, WhatIsMalformedIsUnclear) {
  const std::string_view cases[] = {
      "",
      "   ",
      "# nothing",
      "echo 'a",
      "echo \"a",
      "echo a\\",
      "(a",
      "a)",
      "{ a;",
      "}",
      "a >",
      "a > ;",
      "a <<EOF",
      "a <<EOF\nx",
      "a <<\nx\n",
      "a <<'E\nF'\nx\nE\nF\n",
      "a <<E \"b\nE\nc\"\nE\n",
      "echo $(a",
      "echo `a",
      "echo ${a",
      "echo \x01",
      "a\rb",
      "(a) b",
      "a <<E\nx\\\nE\n",
  };
  for (const std::string_view text : cases) EXPECT_NE(read_command(text).unclear, "") << text;
  EXPECT_NE(read_command(std::string_view("a\0b", 3)).unclear, "");
}

TEST(CommandWords, OfHostileTextAreBounded) {
  EXPECT_NE(read_command(std::string(kMaxCommandBytes + 1, 'a')).unclear, "");
  std::string many;
  for (int i = 0; i < 300; ++i) many += "a;";
  EXPECT_EQ(read_command(many).unclear, "has too many commands");
  EXPECT_EQ(read_command(many).commands.size(), kMaxSimpleCommands);
  for (const std::string_view opening :
       {"(", "{ ", "$(", "\"$(", "${a:-", "`", "<(", "$((", "a <<E\n$("}) {
    std::string deep;
    while (deep.size() < 20'000) deep += opening;
    EXPECT_NE(read_command(deep).unclear, "") << opening;
  }
}

// Any bytes: no crash, and what is clear reads back to itself.
TEST(CommandWords, OfRandomTextReadBackToThemselves) {
  constexpr std::uint64_t kSeed = 20;
  RecordProperty("seed", std::to_string(kSeed));
  Rng rng(kSeed);
  constexpr std::string_view kPieces[] = {
      "a", "rm", " ", "\n", "'", "\"", "\\", "$", "(", ")",  "{",  "}",  ";", "&", "|",  "<",
      ">", "<<", "`", "E",  "=", "1",  "#",  "~", "*", "-x", "if", "fi", "!", "/", "$(", "\t"};
  int clear = 0;
  for (int round = 0; round < 40'000; ++round) {
    std::string text;
    const std::uint64_t length = 1 + rng.below(12);
    for (std::uint64_t i = 0; i < length; ++i) text += kPieces[rng.below(std::size(kPieces))];
    const CommandWords read = read_command(text);
    if (!read.unclear.empty()) continue;
    ++clear;
    for (const SimpleCommand& command : read.commands) {
      if (command.words.empty()) continue;
      SimpleCommand alone = command;
      alone.redirections.clear();
      EXPECT_EQ(read_command(command_text(command)), (CommandWords{{alone}, ""})) << text;
    }
  }
  EXPECT_GT(clear, 1000);
}

// Every word that a real shell would run stands in the list, if the text is clear. Programs are not
// found, so the shell hands over their words instead.
TEST(CommandWords, AreThoseThatBashRuns) {
  ASSERT_TRUE(std::filesystem::exists("/bin/bash"));
  constexpr std::uint64_t kSeed = 21;
  RecordProperty("seed", std::to_string(kSeed));
  Rng rng(kSeed);
  constexpr std::string_view kPieces[] = {"a",  "rm",  " ",  " ",     " ",  "\n",  "'", "\"",
                                          "\\", "$",   "(",  ")",     "{ ", "; }", ";", "&&",
                                          "|",  "< x", ">f", "2>&1 ", "<<", "E",   "=", "1",
                                          "#",  "~",   "*",  "!",     "if", "$(",  "`", "\nE\n"};
  const TempFolder folder;
  std::ofstream texts(folder.path() + "/texts", std::ios::binary);
  std::vector<std::pair<std::string, CommandWords>> clear;
  while (clear.size() < 300) {
    std::string text;
    const std::uint64_t length = 3 + rng.below(12);
    for (std::uint64_t i = 0; i < length; ++i) text += kPieces[rng.below(std::size(kPieces))];
    CommandWords read = read_command(text);
    if (!read.unclear.empty()) continue;
    texts << text << '\0';
    clear.emplace_back(std::move(text), std::move(read));
  }
  texts.close();
  std::ofstream(folder.path() + "/script") << R"(
PATH=/nowhere
command_not_found_handle() {
  local line
  printf -v line '%s\037' "$@"
  printf '%s\036' "$line" >&9
}
while IFS= read -r -d '' text; do
  printf '\035' >&9
  (eval "$text"; wait)
done <texts 9>ran
)";
  const std::string command =
      "cd '" + folder.path() + "' && /bin/bash --norc script </dev/null >/dev/null 2>&1";
  ASSERT_NE(std::system(command.c_str()), -1);
  std::ifstream file(folder.path() + "/ran", std::ios::binary);
  const std::string ran(std::istreambuf_iterator<char>(file), {});
  std::size_t index = 0;
  std::size_t commands = 0;
  std::vector<std::string> words;
  std::string word;
  for (const char c : ran) {
    if (c == '\035') {
      ++index;
    } else if (c == '\037') {
      words.push_back(std::exchange(word, {}));
    } else if (c == '\036') {
      ASSERT_GE(index, 1u);
      ASSERT_LE(index, clear.size());
      const auto& [text, read] = clear[index - 1];
      EXPECT_TRUE(std::ranges::any_of(read.commands,
                                      [&](const SimpleCommand& one) { return one.words == words; }))
          << text << " ran " << testing::PrintToString(words);
      words.clear();
      ++commands;
    } else {
      word += c;
    }
  }
  EXPECT_EQ(index, clear.size());
  EXPECT_GT(commands, 200u);
}

TEST(CommandWrappers, AreSeenHoweverTheyAreWritten) {
  const std::string_view cases[] = {
      "sh -c 'rm x'",
      "bash -lc 'rm x'",
      "bash script.sh",
      "dash -c x",
      "zsh -c x",
      "ksh -c x",
      "busybox rm x",
      "busybox sh",
      "env rm x",
      "/usr/bin/env rm x",
      "\"e\"nv rm x",
      "\\env rm x",
      "e'n'v rm x",
      "./env rm x",
      "env",
      "xargs rm",
      "ls | xargs rm",
      "sudo rm x",
      "doas rm x",
      "su -c 'rm x'",
      "nice rm x",
      "nice -n 5 rm x",
      "nohup rm x",
      "timeout 5 rm x",
      "time rm x",
      "command rm x",
      "builtin eval x",
      "exec rm x",
      "eval 'rm x'",
      "source x",
      ". ./x",
      "find . -exec rm x ';'",
      "find . -execdir rm x +",
      "find . -ok rm x ';'",
      "find . -okdir rm x ';'",
      "watch rm x",
      "ssh host rm x",
      "docker run x rm",
      "docker exec x rm",
      "podman run x rm",
      "docker container exec x rm",
      "python -c 'import os'",
      "python3 -c x",
      "python3.12 -c x",
      "python -Bc x",
      "python -W ignore -c x",
      "python",
      "python -",
      "echo x | python3",
      "python <<E\nx\nE",
      "python -m timeit x",
      "perl -e x",
      "perl -ne x",
      "perl -Mstrict x",
      "perl",
      "ruby -e x",
      "ruby -rsocket x.rb",
      "node -e x",
      "node --eval=x",
      "node -p x",
      "nodejs --print x",
      "php -r x",
      "php",
      "awk 'BEGIN { system(\"rm x\") }'",
      "gawk '{ print | \"sh\" }'",
      "awk -f x",
      "sed 's/a/b/e'",
      "sed '1e rm x'",
      "sed -f x",
      "setsid rm x",
      "stdbuf -o0 rm x",
      "flock f rm x",
      "unshare rm x",
      "nsenter -t 1 rm x",
      "chroot d rm x",
      "strace rm x",
      "script -c 'rm x'",
      "parallel rm ::: x",
      "make SHELL=/tmp/x",
      "make -f x",
      "make --eval=x",
      "make --ev=x",
      "git -c alias.x='!rm x' x",
      "git --config-env=a=b x",
      "git rebase -x 'rm x' main",
      "git rebase --exec 'rm x' main",
      "git submodule foreach rm x",
      "git bisect run rm x",
      "git clone 'ext::sh -c rm' x",
      "git grep -Orm x",
      "git config alias.x '!rm'",
      "tar --checkpoint-action=exec=rm -cf x y",
      "tar --checkpoint-a=exec=rm -cf x y",
      "tar xIf rm x",
      "tar -I rm -xf x",
      "rsync -e 'rm x' a b",
      "sort --compress-program=x f",
      "split --filter='rm x' f",
      "fd x -x rm",
      "PATH=/tmp:/bin ls",
      "LD_PRELOAD=x ls",
      "GIT_SSH_COMMAND=x git fetch",
      "PAGER=x git log",
      "PATH=/tmp; ls",
      "export PATH=/tmp",
      "export LD_PRELOAD=x; ls",
      "alias ls=rm",
      "trap 'rm x' EXIT",
      "test -v 'a[$(rm x)]'",
      "printf -v 'a[$(rm x)]' y",
      "/lib64/ld-linux-x86-64.so.2 /bin/rm x",
      "vim -c '!rm x' f",
      "less f",
      "npx x",
      "npm exec x",
      "ip netns exec a rm x",
      "ls && sh",
      "(ls; env rm x)",
      "{ env; }",
      "ls > f; env",
  };
  EXPECT_GE(std::size(cases), 50u);
  for (const std::string_view text : cases) {
    const CommandWords read = read_command(text);
    EXPECT_EQ(read.unclear, "") << text;
    bool hidden = false;
    for (const SimpleCommand& command : read.commands) hidden |= hides_command(command).has_value();
    EXPECT_TRUE(hidden) << text;
  }
}

TEST(CommandWrappers, EverydayCommandsAreWhatTheySay) {
  const std::string_view cases[] = {
      "ls -l",
      "cat a.txt",
      "git status",
      "git log --oneline -n 5",
      "git -C sub diff --stat",
      "git add -A",
      "git commit -m 'sh -c is text here'",
      "git push origin main",
      "git --no-pager log",
      "make test",
      "make -j4 all",
      "make -C build",
      "cmake -S . -B build -DEXAMPLE=1",
      "cmake --build build",
      "ctest -R Name",
      "cargo test --color never",
      "go test ./...",
      "npm test",
      "npm run build",
      "python x.py -c y",
      "python3 -m pytest -q",
      "python -V",
      "python -W ignore x.py",
      "perl -w x.pl",
      "ruby x.rb",
      "node x.js --eval",
      "node --version",
      "php -f x.php",
      "grep -r 'env' src",
      "rg -n foo",
      "find . -name 'a' -type f",
      "find . -delete",
      "tar -xzf a.tgz",
      "tar czf a.tgz d",
      "sed -n '1,5p' f",
      "sed 's/a/b/g' f",
      "sed -i 's|a|b|' f",
      "awk '{print $1}' f",
      "awk -F: '{print $2}' f",
      "sort f",
      "echo sh -c x",
      "echo env",
      "FOO=1 make",
      "export FOO=1",
      "test -f x",
      "[ -n x ]",
      "printf '%s[x]' y",
      "gcc -DNDEBUG -O2 a.c",
      "docker ps",
      "docker build .",
      "./run.sh",
      "rm -rf build",
      "envsubst",
      "shasum x",
      "timeouts",
      "sudoku",
      "curl http://x",
      "fd name",
  };
  for (const std::string_view text : cases) {
    const CommandWords read = read_command(text);
    EXPECT_EQ(read.unclear, "") << text;
    for (const SimpleCommand& command : read.commands)
      EXPECT_EQ(hides_command(command).value_or(""), "") << text;
  }
}

}  // namespace
}  // namespace tug
