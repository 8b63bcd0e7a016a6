#include "tug/io/process_identity.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tug {
namespace {

TEST(ProcessIdentity, ThisProcessIsAliveAndItsPidAloneIsNotEnough) {
  ProcessIdentity self = this_process();
  EXPECT_TRUE(is_alive(self));
  EXPECT_EQ(self, this_process());

  ProcessIdentity reused = self;
  reused.started += 1;
  EXPECT_FALSE(is_alive(reused));
  ProcessIdentity rebooted = self;
  rebooted.boot = "another boot";
  EXPECT_FALSE(is_alive(rebooted));
}

TEST(ProcessIdentity, AnotherHostCountsAsAlive) {
  ProcessIdentity far = this_process();
  far.host = "elsewhere";
  far.pid = 1;
  EXPECT_TRUE(is_alive(far));
}

TEST(ProcessIdentity, AChildThatEndedIsDeadEvenBeforeItIsReaped) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    close(pipe_ends[1]);
    if (read(pipe_ends[0], &byte, 1) < 0) _exit(1);
    _exit(0);
  }
  close(pipe_ends[0]);
  ProcessIdentity identity = this_process();
  identity.pid = child;
  EXPECT_FALSE(is_alive(identity)) << "it was started later than we were";
  close(pipe_ends[1]);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(is_alive(identity));
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace tug
