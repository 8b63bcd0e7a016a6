#include "store/file_lock.h"

#include <gtest/gtest.h>

#include "store/testing.h"

namespace tug {
namespace {

class FileLockTest : public ::testing::Test {
 protected:
  FileLock open() { return FileLock::open(folder_.path() + "/lock").value(); }
  TempFolder folder_;
};

TEST_F(FileLockTest, CommitsHoldItTogetherAndACheckpointAlone) {
  FileLock a = open(), b = open(), c = open();
  ASSERT_TRUE(a.lock_shared(0));
  EXPECT_TRUE(b.lock_shared(0));
  auto alone = c.lock_alone(0);
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().kind(), ErrorKind::overloaded);
  a.unlock();
  b.unlock();
  EXPECT_TRUE(c.lock_alone(0));
  EXPECT_FALSE(a.lock_shared(0));
  c.unlock();
  EXPECT_TRUE(a.lock_shared(0));
}

TEST_F(FileLockTest, ACheckpointThatGaveUpLetsCommitsInAgain) {
  FileLock writer = open(), checkpoint = open(), next = open();
  ASSERT_TRUE(writer.lock_shared(0));
  ASSERT_FALSE(checkpoint.lock_alone(5));
  EXPECT_TRUE(next.lock_shared(0)) << "the turnstile is open again";
}

TEST_F(FileLockTest, AFileThatCannotBeMadeIsDeniedByName) {
  const std::string path = folder_.path() + "/missing/lock";
  auto opened = FileLock::open(path);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind(), ErrorKind::denied);
  EXPECT_NE(opened.error().message().find(path), std::string::npos);
}

}  // namespace
}  // namespace tug
