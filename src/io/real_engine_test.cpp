// What only threads can show: abandonment, races, the order of an end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tug/core/cancel.h"
#include "tug/core/scope.h"
#include "tug/core/stop_link.h"
#include "tug/core/sync.h"
#include "tug/io/engine.h"

namespace tug {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;
using Why = CancelReason::Why;

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr int kRounds = 50;
#else
constexpr int kRounds = 500;
#endif

// A door that threads can be made to wait at.
class Gate {
 public:
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

void wait_until_none_is_abandoned(const Engine& engine) {
  while (!engine.abandoned().empty()) std::this_thread::yield();
}

struct Door {
  Gate began;    // opened by the function when it runs
  Gate release;  // opened by the test
};

// Blocks, whatever its stop says.
Task<Result<int>> stubborn(Engine& engine, std::shared_ptr<Door> door, Until until) {
  auto task = engine.offload(
      "stubborn",
      [door](std::stop_token) {
        door->began.open();
        door->release.pass();
        return 1;
      },
      until);
  Result<int> answer = co_await std::move(task);
  co_return answer;
}

Task<Result<int>> cancelled_while_it_runs(Engine& engine, std::shared_ptr<Door> door) {
  Loop& loop = co_await this_loop();
  CancelToken token = CancelToken::root();
  CancelHandle handle = token.remote(loop);
  std::jthread canceller([door, handle] {
    door->began.pass();
    handle.request({Why::user, "enough"});
  });
  auto task = stubborn(engine, door, {token});
  Result<int> answer = co_await std::move(task);
  co_return answer;
}

Task<Result<int>> seven(Engine& engine) {
  auto task = engine.offload([](std::stop_token) { return 7; }, {});
  Result<int> answer = co_await std::move(task);
  co_return answer;
}

TEST(RealEngine, AFunctionThatIgnoresItsStopIsAbandonedAndItsThreadReplaced) {
  auto engine = make_engine({.loops = 1, .workers = 1, .grace = 1ms});
  auto door = std::make_shared<Door>();
  auto answer = engine->run(engine->loop(0), cancelled_while_it_runs(*engine, door));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), ErrorKind::cancelled);
  ASSERT_NE(answer.error().detail_if<OutcomeUnknown>(), nullptr);
  EXPECT_EQ(answer.error().detail_if<OutcomeUnknown>()->what, "stubborn");
  EXPECT_THAT(answer.error().message(), HasSubstr("enough"));
  EXPECT_THAT(engine->abandoned(), ElementsAre("stubborn"));
  // The pool had one thread, and it is still blocked.
  EXPECT_EQ(engine->run(engine->loop(0), seven(*engine)).value(), 7);
  door->release.open();
  wait_until_none_is_abandoned(*engine);
  EXPECT_EQ(engine->abandoned_total(), 1u);
}

TEST(RealEngine, ADeadlineAbandonsTooAndIsToldFromACancel) {
  auto engine = make_engine({.loops = 1, .workers = 1, .grace = 1ms});
  auto door = std::make_shared<Door>();
  const Until until{{}, engine->now() + 1ms};
  // The worker may not get to it in time; then it never begins, and nothing is unknown.
  auto answer = engine->run(engine->loop(0), stubborn(*engine, door, until));
  EXPECT_EQ(answer.error().kind(), ErrorKind::exhausted);
  EXPECT_EQ(answer.error().detail_if<OutcomeUnknown>() != nullptr, engine->abandoned_total() == 1);
  door->release.open();
}

TEST(RealEngine, AnAbandonedThreadMayOutliveItsEngine) {
  auto door = std::make_shared<Door>();
  std::weak_ptr<Door> watched = door;
  {
    auto engine = make_engine({.loops = 1, .workers = 1, .grace = 1ms});
    auto answer = engine->run(engine->loop(0), cancelled_while_it_runs(*engine, door));
    EXPECT_FALSE(answer);
    Leftovers left = engine->shutdown();
    EXPECT_THAT(left.abandoned, ElementsAre("stubborn"));
    EXPECT_THAT(left.stranded, IsEmpty());
  }
  door->release.open();
  door.reset();
  while (!watched.expired()) std::this_thread::yield();
}

TEST(RealEngine, AFunctionThatHonoursItsStopAnswersForItself) {
  auto engine = make_engine({.loops = 1, .workers = 1, .grace = 60s});
  auto body = [](Engine& engine) -> Task<Result<std::string>> {
    Loop& loop = co_await this_loop();
    CancelToken token = CancelToken::root();
    auto task = engine.offload("polite",
                               [handle = token.remote(loop)](std::stop_token stop) {
                                 handle.request({Why::user, "enough"});
                                 while (!stop.stop_requested()) std::this_thread::yield();
                                 return std::string("tidied up");
                               },
                               {token});
    Result<std::string> answer = co_await std::move(task);
    co_return answer;
  };
  EXPECT_EQ(engine->run(engine->loop(0), body(*engine)).value(), "tidied up");
  EXPECT_EQ(engine->abandoned_total(), 0u);
}

TEST(RealEngine, ACancelledFunctionThatWaitsForAWorkerNeverBegins) {
  auto engine = make_engine({.loops = 1, .workers = 1, .grace = 60s});
  auto body = [](Engine& engine) -> Task<std::vector<std::string>> {
    Loop& loop = co_await this_loop();
    auto door = std::make_shared<Door>();
    CancelToken token = CancelToken::root();
    bool began = false;
    Scope scope(loop, {});
    auto first = [](Engine& engine, std::shared_ptr<Door> door) -> Task<void> {
      auto task = stubborn(engine, door, {});
      Result<int> answer = co_await std::move(task);
      EXPECT_EQ(answer.value(), 1);
    };
    scope.spawn(first(engine, door));
    co_await yield();  // it goes first, and takes the only worker
    std::jthread canceller([door, handle = token.remote(loop)] {
      door->began.pass();
      handle.request({Why::user, "enough"});
    });
    auto task = engine.offload("queued", [&](std::stop_token) { began = true; }, {token});
    Result<void> answer = co_await std::move(task);
    door->release.open();
    auto joining = scope.join();
    co_await std::move(joining);
    co_return std::vector<std::string>{std::string(name_of(answer.error().kind())),
                                       began ? "began" : "never began"};
  };
  EXPECT_THAT(engine->run(engine->loop(0), body(*engine)).value(),
              ElementsAre("cancelled", "never began"));
}

TEST(RealEngine, AFullQueueIsOverloadedNotAWait) {
  auto engine = make_engine({.loops = 1, .workers = 1, .queue_cap = 0});
  auto answer = engine->run(engine->loop(0), seven(*engine));
  EXPECT_EQ(answer.error().kind(), ErrorKind::overloaded);
  EXPECT_THAT(to_string(answer.error()), HasSubstr("more workers"));
}

TEST(RealEngine, WhatFunctionsHoldDiesOnTheLoopThread) {
  auto engine = make_engine({.loops = 1, .workers = 2});
  struct Held {
    explicit Held(Loop* on) : loop(on) {}
    ~Held() { EXPECT_TRUE(loop->is_current()); }
    Loop* loop;
  };
  auto body = [](Engine& engine) -> Task<void> {
    Loop& loop = co_await this_loop();
    for (int i = 0; i < 50; ++i) {
      auto held = std::make_shared<Held>(&loop);
      auto task = engine.offload([held = std::move(held)](std::stop_token) { return 1; }, {});
      Result<int> answer = co_await std::move(task);
      EXPECT_TRUE(answer);
    }
  };
  EXPECT_TRUE(engine->run(engine->loop(0), body(*engine)));
}

Task<void> wait_forever(WaitList& list, std::latch& began) {
  began.count_down();
  co_await list.wait();
}

TEST(RealEngine, ARootThatIgnoresItsCancellationIsStrandedAndNamed) {
  // Its frame is never freed: nobody may resume it, and destroying it would be worse. It is kept
  // reachable here, so that the leak checker does not mind.
  static WaitList* const bus = new WaitList("a bus that never comes");
  auto engine = make_engine({.loops = 1, .drain = 1ms});
  std::latch began(1);
  engine->start(engine->loop(0), wait_forever(*bus, began));
  began.wait();
  Leftovers left = engine->shutdown();
  EXPECT_THAT(left.stranded, ElementsAre("1 for a bus that never comes"));
}

TEST(RealEngine, RunEndsWithAnErrorWhenItsTaskIsStranded) {
  static WaitList* const bus = new WaitList("nobody");
  auto engine = make_engine({.loops = 1, .drain = 1ms});
  std::latch began(1);
  std::jthread stopper([&] {
    began.wait();
    engine->shutdown();
  });
  auto answer = engine->run(engine->loop(0), wait_forever(*bus, began));
  EXPECT_EQ(answer.error().kind(), ErrorKind::cancelled);
}

TEST(RealEngine, AStepThatComputesLongIsCountedAndAQuickOneIsNot) {
  auto engine = make_engine({.loops = 1, .slow_step = 5s});
  auto quick = []() -> Task<void> { co_return; };
  ASSERT_TRUE(engine->run(engine->loop(0), quick()));
  EXPECT_EQ(engine->slow_steps(), 0u);
  auto strict = make_engine({.loops = 1, .slow_step = 1us});
  auto busy = []() -> Task<void> {
    volatile std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < 1'000'000; ++i) sum = sum + i;
    co_return;
  };
  ASSERT_TRUE(strict->run(strict->loop(0), busy()));
  strict->shutdown();
  EXPECT_GT(strict->slow_steps(), 0u);
}

TEST(RealEngine, HandlesCancelFromManyThreadsWhileTreesComeAndGo) {
  auto engine = make_engine({.loops = 2, .workers = 1});
  std::mutex mutex;
  std::vector<CancelHandle> handles;
  std::atomic<int> rounds = 0;
  std::atomic<bool> over = false;
  auto cancel_some = [&] {
    std::uint32_t pick = 1;
    int seen = 0;
    while (!over) {
      // One request per round and thread: the mailboxes must not fill faster than they drain.
      if (rounds == seen) {
        std::this_thread::yield();
        continue;
      }
      seen = rounds;
      CancelHandle handle;
      {
        std::lock_guard lock(mutex);
        if (!handles.empty())
          handle = handles[(pick = pick * 1664525 + 1013904223) % handles.size()];
      }
      handle.request({Why::user, "stress"});
    }
  };
  auto root = [](std::mutex& mutex, std::vector<CancelHandle>& handles,
                 std::atomic<int>& rounds) -> Task<int> {
    Loop& loop = co_await this_loop();
    int stopped = 0;
    for (int round = 0; round < kRounds; ++round) {
      CancelToken token = loop.stopping().child();
      CancelToken below = token.child();
      {
        std::lock_guard lock(mutex);
        if (handles.size() > 16) handles.erase(handles.begin());
        handles.push_back(token.remote(loop));
      }
      ++rounds;
      WaitList list;
      Woken woken = co_await list.wait({below, loop.now() + 100us});
      if (woken == Woken::cancelled) ++stopped;
    }
    co_return stopped;
  };
  {
    std::vector<std::jthread> cancellers;
    for (int i = 0; i < 3; ++i) cancellers.emplace_back(cancel_some);
    std::jthread second(
        [&] { EXPECT_TRUE(engine->run(engine->loop(1), root(mutex, handles, rounds))); });
    EXPECT_TRUE(engine->run(engine->loop(0), root(mutex, handles, rounds)));
    second.join();
    over = true;
  }
}

TEST(RealEngine, StopTokensOfOtherThreadsReachTheTree) {
  auto engine = make_engine({.loops = 1, .workers = 1});
  for (int round = 0; round < kRounds; ++round) {
    std::stop_source source;
    auto root = [](std::stop_token stop) -> Task<std::string> {
      Loop& loop = co_await this_loop();
      CancelToken token = CancelToken::root();
      link(token, stop, loop);
      co_await token.cancelled();
      co_return std::string(name_of(token.reason()->why));
    };
    std::jthread stopper([&] { source.request_stop(); });
    EXPECT_EQ(engine->run(engine->loop(0), root(source.get_token())).value(), "caller");
  }
}

TEST(RealEngine, ShutsDownCleanlyInTheMiddleOfEverything) {
  for (int round = 0; round < kRounds / 10; ++round) {
    auto engine = make_engine({.loops = 2, .workers = 2, .grace = 1s});
    std::atomic<int> steps = 0;
    auto background = engine->background("busy", [&] { ++steps; });
    auto worker = [](Engine& engine, Background& background) -> Task<void> {
      Loop& loop = co_await this_loop();
      CancelToken token = loop.stopping().child();
      while (!token.requested()) {
        auto task = engine.offload([](std::stop_token) { return 1; }, {token});
        Result<int> answer = co_await std::move(task);
        background.wake();
        co_await sleep_for(10us, {token});
      }
    };
    for (int i = 0; i < 20; ++i) engine->start(engine->place(), worker(*engine, *background));
    Leftovers left = engine->shutdown();
    EXPECT_THAT(left.abandoned, IsEmpty());
    EXPECT_THAT(left.stranded, IsEmpty());
  }
}

TEST(RealEngine, ManyThreadsStartRootsWhileItShutsDown) {
  for (int round = 0; round < kRounds / 10; ++round) {
    auto engine = make_engine({.loops = 2, .workers = 1});
    std::atomic<int> started = 0, ran = 0;
    auto root = [](std::atomic<int>& ran) -> Task<void> {
      ++ran;
      co_return;
    };
    {
      std::vector<std::jthread> starters;
      for (int i = 0; i < 3; ++i)
        starters.emplace_back([&] {
          for (int left = 2000; left > 0 && engine->start(engine->place(), root(ran)); --left)
            ++started;
        });
      while (ran == 0) std::this_thread::yield();
      engine->shutdown();
    }
    EXPECT_EQ(started, ran);
  }
}

}  // namespace
}  // namespace tug
