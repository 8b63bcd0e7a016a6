#include "tug/core/job.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <utility>

namespace tug {
namespace {

TEST(Job, CallsAndDropsSmallAndLargeFunctions) {
  auto alive = std::make_shared<int>(0);
  {
    Job small([alive] { ++*alive; });
    Job large([alive, ballast = std::array<char, 100>{}] { *alive += 10 + ballast[0]; });
    small();
    large();
    large();
    EXPECT_EQ(*alive, 21);
    EXPECT_EQ(alive.use_count(), 3);
  }
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(Job, MovingLeavesNothingBehind) {
  auto alive = std::make_shared<int>(0);
  Job first([alive] { ++*alive; });
  Job second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_TRUE(second);
  second();
  Job third([alive, ballast = std::array<char, 100>{}] { *alive += 10 + ballast[0]; });
  second = std::move(third);
  EXPECT_EQ(alive.use_count(), 2);
  second();
  EXPECT_EQ(*alive, 11);
  second = Job();
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(Job, HoldsWhatCannotBeCopied) {
  int seen = 0;
  Job job([owned = std::make_unique<int>(5), &seen] { seen = *owned; });
  Job moved = std::move(job);
  moved();
  EXPECT_EQ(seen, 5);
}

}  // namespace
}  // namespace tug
