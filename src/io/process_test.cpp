// Real processes on the real engine.
#include "tug/io/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "core/testing.h"
#include "tug/core/scope.h"
#include "tug/io/engine.h"
#include "tug/io/sim_engine.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A child of ours that nobody reaped is left over by the test that ran before.
class Process : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child was left";
    EXPECT_EQ(errno, ECHILD);
  }

  Result<ProcessResult> run(ProcessSpec spec, Until until = {}) {
    return engine->run(engine->loop(0), run_process(*engine, std::move(spec), std::move(until)));
  }
  Result<ProcessResult> sh(std::string text, Until until = {}) {
    return run({.shell = std::move(text)}, std::move(until));
  }
  // At a deadline that left it time to speak, however slow the machine is.
  Result<ProcessResult> cut_short(ProcessSpec spec) {
    for (Duration time = milliseconds(100);; time *= 2) {
      auto result = run(spec, within(time));
      if (!result || !result->out.empty() || time > seconds(20)) return result;
    }
  }
  Until within(Duration time) { return {.deadline = later(engine->now(), time)}; }

  std::unique_ptr<Engine> engine = make_engine({.loops = 1, .workers = 2});
};

// 'Z' for one that is dead and waits for whoever adopted it, 0 when it is gone.
char state_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t name = text.rfind(')');
  return name == std::string::npos || name + 2 >= text.size() ? '\0' : text[name + 2];
}

bool dies(int pid) {
  const auto patience = std::chrono::steady_clock::now() + seconds(10);
  while (std::chrono::steady_clock::now() < patience) {
    const char state = state_of(pid);
    if (state == '\0' || state == 'Z' || state == 'X') return true;
    std::this_thread::yield();
  }
  return false;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

TEST_F(Process, SaysWhatItSaidAndHowItEnded) {
  const auto result = sh("echo out; echo err >&2; exit 3");
  ASSERT_TRUE(result) << to_string(result.error());
  EXPECT_EQ(result->out, "out\n");
  EXPECT_EQ(result->err, "err\n");
  EXPECT_EQ(result->exit, 3);
  EXPECT_EQ(result->signal, 0);
  EXPECT_FALSE(result->ok());
  EXPECT_TRUE(sh("true")->ok());
}

TEST_F(Process, OneThatASignalEndedNamesIt) {
  const auto result = sh("kill -9 $$");
  EXPECT_EQ(result->signal, SIGKILL);
  EXPECT_FALSE(result->timed_out);
}

TEST_F(Process, ArgumentsFolderAndEnvironmentArriveAsTheyAre) {
  const auto result =
      run({.argv = {"sh", "-c", "printf '%s|' \"$@\"; pwd; echo \"$GREETING $HOME\"", "sh", "a b",
                    "$c", ""},
           .cwd = "/",
           .env = {{"GREETING", "hello there"}, {"HOME", "/nowhere"}}});
  ASSERT_TRUE(result) << to_string(result.error());
  EXPECT_EQ(result->out, "a b|$c||/\nhello there /nowhere\n");
}

TEST_F(Process, TenMegabytesGoBothWaysAtOnce) {
  std::string input;
  while (input.size() < 10'000'000) input += "line " + std::to_string(input.size()) + "\n";
  const auto result = run({.argv = {"cat"}, .input = input, .max_output = 16u << 20});
  ASSERT_TRUE(result) << to_string(result.error());
  EXPECT_TRUE(result->out == input);
  EXPECT_FALSE(result->out_cut);
}

TEST_F(Process, InputThatNobodyReadsIsNoError) {
  const auto result = run({.shell = "exec 0<&-; echo done", .input = std::string(5'000'000, 'x')});
  ASSERT_TRUE(result) << to_string(result.error());
  EXPECT_EQ(result->out, "done\n");
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST_F(Process, AnEmptyInputIsTheEndOfInput) { EXPECT_EQ(sh("cat; echo end")->out, "end\n"); }

TEST_F(Process, TooMuchOutputIsCutAndTheCommandStillEnds) {
  const auto result =
      run({.shell = "head -c 3000000 /dev/zero; echo short >&2", .max_output = 1000});
  EXPECT_EQ(result->out, std::string(1000, '\0'));
  EXPECT_TRUE(result->out_cut);
  EXPECT_EQ(result->err, "short\n");
  EXPECT_FALSE(result->err_cut);
  EXPECT_EQ(result->exit, 0);
}

TEST_F(Process, WhatItLeavesRunningIsNotWaitedFor) {
  const auto began = std::chrono::steady_clock::now();
  const auto result = sh("sleep 60 & echo $!");
  ASSERT_TRUE(result) << to_string(result.error());
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(30));
  const int left = std::stoi(result->out);
  EXPECT_NE(state_of(left), '\0');
  kill(left, SIGKILL);
}

TEST_F(Process, ATalkativeOneThatIsLeftRunningIsNotWaitedForEither) {
  const auto result = sh("yes & echo $! >&2");
  ASSERT_TRUE(result) << to_string(result.error());
  kill(std::stoi(result->err), SIGKILL);
}

TEST_F(Process, TheDeadlineEndsTheWholeGroup) {
  const auto result = cut_short({.shell = "sleep 60 & echo $!; wait"});
  ASSERT_TRUE(result) << to_string(result.error());
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->signal, SIGTERM);
  EXPECT_TRUE(dies(std::stoi(result->out)));
}

TEST_F(Process, OneThatWillNotEndIsKilled) {
  ProcessSpec stubborn{.shell = "trap '' TERM; echo ready; while :; do sleep 1; done"};
  stubborn.grace = milliseconds(50);
  const auto result = cut_short(stubborn);
  ASSERT_TRUE(result) << to_string(result.error());
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->signal, SIGKILL);
  EXPECT_EQ(result->out, "ready\n");
}

TEST_F(Process, OneThatCleansUpOnTermIsLetTo) {
  const auto result = cut_short({.shell = "trap 'echo bye; exit 4' TERM; sleep 60 & wait"});
  ASSERT_TRUE(result) << to_string(result.error());
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->out, "bye\n");
  EXPECT_EQ(result->exit, 4);
}

Task<void> cancel_when_there_is(std::string mark, CancelToken cancel) {
  while (!std::filesystem::exists(mark) || std::filesystem::file_size(mark) == 0) {
    co_await sleep_for(milliseconds(1));
  }
  cancel.request({.text = "enough"});
}

Task<Result<ProcessResult>> cancelled_when_it_runs(Engine& engine, std::string mark) {
  const CancelToken cancel = CancelToken::root();
  ProcessSpec spec{.shell = "echo $$ > " + mark + "; sleep 60"};
  auto running = run_process(engine, std::move(spec), Until{.cancel = cancel});
  auto cancelling = cancel_when_there_is(std::move(mark), cancel);
  auto both = when_all(std::move(running), std::move(cancelling));
  auto ended = co_await std::move(both);
  co_return std::get<0>(std::move(ended));
}

TEST_F(Process, CancellingEndsItWithTheReason) {
  const TempFolder folder;
  const std::string mark = folder.path() + "/pid";
  const auto result = engine->run(engine->loop(0), cancelled_when_it_runs(*engine, mark));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::cancelled);
  EXPECT_NE(result.error().message().find("enough"), std::string::npos) << result.error().message();
  int pid = 0;
  std::ifstream(mark) >> pid;
  EXPECT_TRUE(dies(pid));
}

TEST_F(Process, WhatCannotBeRunSaysWhy) {
  const auto shown = [&](ProcessSpec spec) {
    const auto result = run(std::move(spec));
    return result ? "it ran"
                  : std::string(name_of(result.error().kind())) + ": " + result.error().message();
  };
  EXPECT_EQ(shown({.argv = {"no-such-program"}}),
            "invalid: cannot run \"no-such-program\": No such file or directory");
  EXPECT_EQ(shown({.shell = "true", .cwd = "/no/such/folder"}),
            "invalid: cannot run \"true\" in '/no/such/folder': No such file or directory");
  EXPECT_EQ(shown({.argv = {"/"}}), "invalid: cannot run \"/\": Permission denied");
  EXPECT_NE(shown({}).find("either a program with arguments or a text"), std::string::npos);
  EXPECT_NE(shown({.argv = {"true"}, .shell = "true"}).find("either a program"), std::string::npos);
  EXPECT_NE(shown({.argv = {"echo", std::string("a\0b", 3)}}).find("zero byte"), std::string::npos);
  EXPECT_NE(shown({.shell = "true", .env = {{"A=B", "c"}}}).find("\"A=B\" is no name"),
            std::string::npos);
}

TEST_F(Process, NoDescriptorStaysOpenAndNoneIsInherited) {
  ASSERT_TRUE(sh("true"));
  const std::size_t before = open_descriptors();
  for (int time = 0; time < 20; ++time) {
    ASSERT_TRUE(sh("cat", {}));
    ASSERT_FALSE(run({.argv = {"no-such-program"}}));
  }
  EXPECT_EQ(open_descriptors(), before);
  // The listing holds one of its own.
  const auto seen = sh("ls /proc/self/fd | sort -n | tr '\\n' ' '");
  EXPECT_EQ(seen->out, "0 1 2 3 ");
}

TEST_F(Process, SignalsAreTheirDefaultsAndNothingIsBlocked) {
  const auto result = sh("sed -n 's/^Sig\\(Blk\\|Ign\\):\\t/0x/p' /proc/self/status");
  std::istringstream lines(result->out);
  const std::uint64_t standard = (std::uint64_t{1} << 31) - 1;  // libc has two of its own above
  std::vector<std::uint64_t> masks;
  for (std::string line; lines >> line;) masks.push_back(std::stoull(line, nullptr, 16) & standard);
  EXPECT_EQ(masks, (std::vector<std::uint64_t>{0, 0}));
}

TEST_F(Process, AnExitThatSomeoneElseTookIsAnErrorAndNotASuccess) {
  const auto before = signal(SIGCHLD, SIG_IGN);
  const auto result = sh("exit 2", within(seconds(20)));
  signal(SIGCHLD, before);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::internal);
  EXPECT_EQ(result.error().message(),
            "\"exit 2\": nobody knows how it ended: the process was taken from us by whoever waits "
            "for all children, or by SIGCHLD being ignored");
}

TEST(ProcessInSimulatedTime, RunsAllTheSame) {
  auto sim = make_sim_engine({.seed = 3});
  const auto result = sim->run(sim->loop(0), run_process(*sim, {.shell = "echo hi"}, {}));
  ASSERT_TRUE(result) << to_string(result.error());
  EXPECT_EQ(result->out, "hi\n");
}

}  // namespace
}  // namespace tug
