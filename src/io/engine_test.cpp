// What both engines promise, told once and run on both.
#include "tug/io/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "tug/core/cancel.h"
#include "tug/core/scope.h"
#include "tug/core/sync.h"
#include "tug/io/sim_engine.h"

namespace tug {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

struct Real {
  static std::unique_ptr<Engine> make(unsigned loops) {
    return make_engine({.loops = loops, .workers = 2, .grace = 50ms});
  }
};
struct Simulated {
  static std::unique_ptr<Engine> make(unsigned loops) {
    return make_sim_engine({.seed = 42, .loops = loops, .workers = 2, .grace = 50ms});
  }
};

template <class T>
class Engines : public testing::Test {
 protected:
  std::unique_ptr<Engine> engine = T::make(2);
};
using Both = testing::Types<Real, Simulated>;
TYPED_TEST_SUITE(Engines, Both);

Task<int> twice(int value) { co_return 2 * value; }
Task<Result<int>> refused() { co_return fail(ErrorKind::denied, "no"); }
Task<int> thrown() {
  throw std::runtime_error("boom");
  co_return 0;
}

TYPED_TEST(Engines, RunAnswersWithTheValueTheErrorOrTheException) {
  Engine& engine = *this->engine;
  EXPECT_EQ(engine.run(engine.loop(0), twice(21)).value(), 42);
  EXPECT_EQ(engine.run(engine.loop(1), refused()).error().kind(), ErrorKind::denied);
  auto failed = engine.run(engine.loop(0), thrown());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind(), ErrorKind::internal);
  EXPECT_EQ(failed.error().message(), "the task threw: boom");
}

TYPED_TEST(Engines, ARootRunsOnTheLoopItWasGivenTo) {
  Engine& engine = *this->engine;
  auto where = []() -> Task<Loop*> {
    Loop& loop = co_await this_loop();
    co_return loop.is_current() ? &loop : nullptr;
  };
  for (std::size_t i = 0; i < engine.loops(); ++i)
    EXPECT_EQ(engine.run(engine.loop(i), where()).value(), &engine.loop(i));
  EXPECT_FALSE(engine.loop(0).is_current());
}

Task<std::string> nested_run(Engine& engine) {
  auto answer = engine.run(engine.loop(1), twice(1));
  co_return answer ? "ran" : to_string(answer.error());
}

TYPED_TEST(Engines, RunOnALoopThreadAnswersWithAnErrorThatNamesTheWayOut) {
  Engine& engine = *this->engine;
  auto answer = engine.run(engine.loop(0), nested_run(engine));
  EXPECT_THAT(answer.value(), HasSubstr("run_async"));
  EXPECT_THAT(answer.value(), HasSubstr("co_await"));
}

Task<std::string> run_on_the_pool(Engine& engine) {
  auto task = engine.offload(
      [&engine](std::stop_token) {
        auto answer = engine.run(engine.loop(1), twice(1));
        return answer ? std::string("ran") : to_string(answer.error());
      },
      {});
  Result<std::string> answer = co_await std::move(task);
  co_return answer.value();
}

TYPED_TEST(Engines, RunOnAPoolThreadAnswersWithAnErrorThatNamesTheWayOut) {
  Engine& engine = *this->engine;
  EXPECT_THAT(engine.run(engine.loop(0), run_on_the_pool(engine)).value(), HasSubstr("run_async"));
}

Task<void> hold(Signal& released, CancelToken stop) { co_await released.wait({stop}); }

TYPED_TEST(Engines, PlaceGivesTheLoopWithTheFewestRoots) {
  Engine& engine = *this->engine;
  EXPECT_EQ(&engine.place(), &engine.loop(0));
  Signal released;
  engine.start(engine.loop(0), hold(released, engine.loop(0).stopping()));
  EXPECT_EQ(&engine.place(), &engine.loop(1));
  engine.shutdown();
}

TYPED_TEST(Engines, SleepersWakeInTheOrderOfTheirDeadlines) {
  Engine& engine = *this->engine;
  auto nap = [](Instant at, int id, std::vector<int>& order) -> Task<void> {
    co_await sleep_until(at);
    order.push_back(id);
  };
  auto all = [](auto one, std::vector<int>& order) -> Task<void> {
    Loop& loop = co_await this_loop();
    const Instant now = loop.now();
    std::vector<Task<void>> naps;
    naps.push_back(one(now + 9ms, 9, order));
    naps.push_back(one(now + 3ms, 3, order));
    naps.push_back(one(now + 6ms, 6, order));
    naps.push_back(one(now + 3ms, 4, order));
    auto task = when_all(std::move(naps));
    co_await std::move(task);
  };
  std::vector<int> order;
  ASSERT_TRUE(engine.run(engine.loop(0), all(nap, order)));
  EXPECT_THAT(order, ElementsAre(3, 4, 6, 9));
}

TYPED_TEST(Engines, WhatIsPostedArrivesInOrderPerSender) {
  Engine& engine = *this->engine;
  auto receive = [](Engine& engine, std::vector<int>& order) -> Task<void> {
    Loop& loop = co_await this_loop();
    auto sending = engine.offload(
        [&loop, &order](std::stop_token) {
          for (int i = 0; i < 100; ++i) loop.post([&order, i] { order.push_back(i); });
        },
        {});
    Result<void> sent = co_await std::move(sending);
    EXPECT_TRUE(sent);
  };
  std::vector<int> order;
  ASSERT_TRUE(engine.run(engine.loop(0), receive(engine, order)));
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
}

Task<void> expect_offloads(Engine& engine) {
  auto adding = engine.offload([](std::stop_token) { return 40 + 2; }, {});
  Result<int> sum = co_await std::move(adding);
  EXPECT_EQ(sum.value(), 42);
  auto refusing = engine.offload(
      [](std::stop_token) -> Result<int> { return fail(ErrorKind::denied, "no"); }, {});
  Result<int> refused = co_await std::move(refusing);
  EXPECT_EQ(refused.error().kind(), ErrorKind::denied);
  auto throwing =
      engine.offload("count", [](std::stop_token) -> int { throw std::runtime_error("boom"); }, {});
  Result<int> failed = co_await std::move(throwing);
  EXPECT_EQ(failed.error().kind(), ErrorKind::internal);
  EXPECT_EQ(failed.error().message(), "count threw: boom");
}

TYPED_TEST(Engines, OffloadAnswersWithTheValueTheErrorOrTheException) {
  Engine& engine = *this->engine;
  ASSERT_TRUE(engine.run(engine.loop(0), expect_offloads(engine)));
}

TYPED_TEST(Engines, OffloadUnderACancelledTokenNeverBegins) {
  Engine& engine = *this->engine;
  std::atomic<bool> began = false;
  auto attempt = [](Engine& engine, std::atomic<bool>& began) -> Task<Result<void>> {
    CancelToken token = CancelToken::root();
    token.request({CancelReason::Why::user, "enough"});
    auto task = engine.offload("work", [&](std::stop_token) { began = true; }, {token});
    Result<void> answer = co_await std::move(task);
    co_return answer;
  };
  auto answer = engine.run(engine.loop(0), attempt(engine, began));
  EXPECT_EQ(answer.error().kind(), ErrorKind::cancelled);
  EXPECT_THAT(answer.error().message(), HasSubstr("enough"));
  EXPECT_FALSE(began);
}

TYPED_TEST(Engines, ABackgroundRunsAtLeastOnceAfterEachWakeAndOnceMoreAtItsEnd) {
  Engine& engine = *this->engine;
  std::atomic<int> wanted = 0;
  std::atomic<int> seen = 0;
  std::atomic<int> steps = 0;
  auto background = engine.background("counter", [&] {
    seen = wanted.load();
    ++steps;
  });
  for (int i = 0; i < 100; ++i) {
    ++wanted;
    background->wake();
  }
  background.reset();
  EXPECT_EQ(seen, 100);
  EXPECT_GE(steps, 1);
  EXPECT_LE(steps, 100);
}

TYPED_TEST(Engines, ABackgroundNeverWokenNeverSteps) {
  int steps = 0;
  this->engine->background("idle", [&] { ++steps; });
  EXPECT_EQ(steps, 0);
}

// The shape of the committer: a run waits for what a background posts back.
TYPED_TEST(Engines, ARunCanWaitForWhatABackgroundPostsBack) {
  Engine& engine = *this->engine;
  auto commit = [](Engine& engine) -> Task<int> {
    Loop& loop = co_await this_loop();
    Signal durable;
    int committed = 0;
    auto committer = engine.background("committer", [&] {
      loop.post([&] {
        ++committed;
        durable.set();
      });
    });
    for (int i = 0; i < 3; ++i) {
      durable.reset();
      committer->wake();
      co_await durable.wait();
    }
    co_return committed;
  };
  EXPECT_EQ(engine.run(engine.loop(0), commit(engine)).value(), 3);
}

TYPED_TEST(Engines, ShutdownCancelsRootsAndWaitsForThem) {
  Engine& engine = *this->engine;
  std::string why;
  bool cleaned = false;
  auto root = [](std::string& why, bool& cleaned) -> Task<void> {
    Loop& loop = co_await this_loop();
    CancelToken token = loop.stopping().child();
    co_await token.cancelled();
    why = name_of(token.reason()->why);
    co_await sleep_for(5ms);
    cleaned = true;
  };
  ASSERT_TRUE(engine.start(engine.loop(1), root(why, cleaned)));
  Leftovers left = engine.shutdown();
  EXPECT_EQ(why, "shutdown");
  EXPECT_TRUE(cleaned);
  EXPECT_THAT(left.abandoned, IsEmpty());
  EXPECT_THAT(left.stranded, IsEmpty());
}

TYPED_TEST(Engines, NothingStartsAfterShutdown) {
  Engine& engine = *this->engine;
  engine.shutdown();
  auto never = []() -> Task<void> {
    ADD_FAILURE() << "ran";
    co_return;
  };
  EXPECT_FALSE(engine.start(engine.loop(0), never()));
  EXPECT_EQ(engine.run(engine.loop(0), twice(1)).error().kind(), ErrorKind::cancelled);
}

TYPED_TEST(Engines, ShutdownEndsRootsThenThePoolThenBackgrounds) {
  Engine& engine = *this->engine;
  std::mutex mutex;
  std::vector<std::string> order;
  auto note = [&](std::string what) {
    std::lock_guard lock(mutex);
    order.push_back(std::move(what));
  };
  auto background = engine.background("committer", [&] { note("background"); });
  auto root = [](Engine& engine, auto& note, Background& background) -> Task<void> {
    Loop& loop = co_await this_loop();
    co_await loop.stopping().cancelled();
    auto task = engine.offload([&](std::stop_token) { note("offload"); }, {});
    Result<void> ran = co_await std::move(task);
    EXPECT_TRUE(ran) << to_string(ran.error());
    note("root");
    loop.post([&] { background.wake(); });
  };
  engine.start(engine.loop(0), root(engine, note, *background));
  engine.shutdown();
  EXPECT_THAT(order, ElementsAre("offload", "root", "background"));
  background->wake();
  background.reset();
  EXPECT_EQ(order.size(), 3u);
}

TYPED_TEST(Engines, WhatEscapesARootIsKeptAsAFault) {
  Engine& engine = *this->engine;
  auto bug = []() -> Task<void> {
    throw std::runtime_error("bug");
    co_return;
  };
  engine.start(engine.loop(0), bug());
  engine.shutdown();
  ASSERT_EQ(engine.faults().size(), 1u);
  EXPECT_EQ(engine.faults()[0].message(), "a root task threw: bug");
}

TYPED_TEST(Engines, AHandleCancelsFromAnotherThreadAlsoWhenTheRunIsGone) {
  Engine& engine = *this->engine;
  auto root = [](Engine& engine, CancelHandle& out) -> Task<std::string> {
    Loop& loop = co_await this_loop();
    CancelToken token = CancelToken::root();
    out = token.remote(loop);
    auto task = engine.offload(
        [handle = out](std::stop_token) { handle.request({CancelReason::Why::user, "stop"}); }, {});
    Result<void> sent = co_await std::move(task);
    EXPECT_TRUE(sent);
    co_await token.cancelled();
    co_return token.reason()->text;
  };
  CancelHandle handle;
  EXPECT_EQ(engine.run(engine.loop(0), root(engine, handle)).value(), "stop");
  handle.request({CancelReason::Why::user, "again"});
  this->engine.reset();
  handle.request({CancelReason::Why::user, "and again"});
}

TYPED_TEST(Engines, EntropyDiffersFromCallToCall) {
  const std::uint64_t first = this->engine->entropy();
  EXPECT_NE(first, this->engine->entropy());
}

}  // namespace
}  // namespace tug
