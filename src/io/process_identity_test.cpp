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
  int told[2];
  int released[2];
  ASSERT_EQ(pipe(told), 0);
  ASSERT_EQ(pipe(released), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(released[1]);
    const std::uint64_t started = this_process().started;
    char byte;
    const bool done = write(told[1], &started, sizeof started) == sizeof started &&
                      read(released[0], &byte, 1) == 0;
    _exit(done ? 0 : 1);
  }
  close(released[0]);
  ProcessIdentity identity = this_process();
  identity.pid = child;
  ASSERT_EQ(read(told[0], &identity.started, sizeof identity.started),
            static_cast<ssize_t>(sizeof identity.started));
  EXPECT_TRUE(is_alive(identity));
  close(released[1]);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(is_alive(identity)) << "dead, though its pid is still taken";
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace tug
