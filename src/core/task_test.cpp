#include "tug/core/task.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/manual_loop.h"
#include "tug/core/wait.h"

namespace tug {
namespace {

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr int kManyAwaits = 300'000;
#else
constexpr int kManyAwaits = 10'000'000;
#endif

Task<int> number(int value) { co_return value; }
Task<int> thrown(std::string what) {
  throw std::runtime_error(what);
  co_return 0;
}
Task<void> thrown_nothing() {
  throw std::logic_error("nothing");
  co_return;
}

TEST(Task, DoesNotStartBeforeItIsAwaited) {
  ManualLoop loop;
  bool started = false;
  auto mark = [](bool& flag) -> Task<void> {
    flag = true;
    co_return;
  };
  Task<void> task = mark(started);
  EXPECT_FALSE(started);
  EXPECT_TRUE(loop.run(std::move(task)));
  EXPECT_TRUE(started);
}

TEST(Task, DroppingOneThatNeverStartedFreesItsArguments) {
  auto token = std::make_shared<int>(1);
  auto hold = [](std::shared_ptr<int> kept) -> Task<int> { co_return *kept; };
  {
    Task<int> task = hold(token);
    EXPECT_EQ(token.use_count(), 2);
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(Task, MovesMoveOnlyValuesOut) {
  ManualLoop loop;
  auto make = []() -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(7); };
  auto use = [](Task<std::unique_ptr<int>> made) -> Task<int> {
    std::unique_ptr<int> value = co_await std::move(made);
    co_return *value;
  };
  EXPECT_EQ(loop.run(use(make())), 7);
}

TEST(Task, ReturnsAFailureOrAValueAsAResult) {
  ManualLoop loop;
  auto half = [](int n) -> Task<Result<int>> {
    if (n % 2) co_return fail(ErrorKind::invalid, "odd");
    co_return n / 2;
  };
  EXPECT_EQ(loop.run(half(8))->value(), 4);
  EXPECT_EQ(loop.run(half(7))->error().message(), "odd");
}

TEST(Task, RethrowsInTheAwaiterWhatTheChildThrew) {
  ManualLoop loop;
  auto outer = []() -> Task<std::string> {
    std::string caught;
    try {
      auto task = thrown("boom");
      co_await std::move(task);
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    co_return caught;
  };
  EXPECT_EQ(loop.run(outer()), "boom");
  EXPECT_THROW(loop.run(thrown("out")), std::runtime_error);
  EXPECT_THROW(loop.run(thrown_nothing()), std::logic_error);
}

TEST(Task, InheritsTheLoopFromItsAwaiter) {
  ManualLoop loop;
  auto inner = []() -> Task<Loop*> {
    Loop& here = co_await this_loop();
    co_return &here;
  };
  auto outer = [](Task<Loop*> child) -> Task<Loop*> {
    Loop* there = co_await std::move(child);
    co_return there;
  };
  EXPECT_EQ(loop.run(outer(inner())), &loop);
}

TEST(Task, MillionsOfSynchronousAwaitsUseNoStack) {
  ManualLoop loop;
  auto sum = [](int times) -> Task<long> {
    long total = 0;
    for (int i = 0; i < times; ++i) {
      auto task = number(1);
      total += co_await std::move(task);
    }
    co_return total;
  };
  EXPECT_EQ(loop.run(sum(kManyAwaits)), kManyAwaits);
}

Task<int> nested(int depth) {
  if (depth == 0) co_return 0;
  auto task = nested(depth - 1);
  int below = co_await std::move(task);
  co_return below + 1;
}

TEST(Task, AHundredThousandNestedAwaitsUseNoStack) {
  ManualLoop loop;
  EXPECT_EQ(loop.run(nested(100'000)), 100'000);
}

TEST(Task, ResumesScheduledCoroutinesInTheOrderTheyWereScheduled) {
  ManualLoop loop;
  std::vector<int> order;
  auto twice = [](int id, std::vector<int>& seen) -> Task<void> {
    seen.push_back(id);
    co_await yield();
    seen.push_back(id + 10);
  };
  for (int id = 0; id < 3; ++id) loop.start(twice(id, order));
  loop.settle();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 10, 11, 12}));
  EXPECT_EQ(loop.roots(), 0u);
}

#ifndef NDEBUG  // without assertions it would only be undefined
TEST(TaskDeathTest, DestroyingASuspendedTaskAsserts) {
  auto destroy = [] {
    ManualLoop loop;
    WaitList list;
    auto park = [](WaitList& in) -> Task<void> { co_await in.wait(); };
    auto forget = [](WaitList& in, auto make) -> Task<void> {
      Task<void> child = make(in);
      child.frame().promise().start_under(std::noop_coroutine(), co_await this_loop());
      child.frame().resume();
    };
    loop.start(forget(list, park));
    loop.settle();
  };
  EXPECT_DEATH(destroy(), "a suspended task was destroyed");
}
#endif

}  // namespace
}  // namespace tug
