#include "tug/core/wait.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/manual_loop.h"

namespace tug {
namespace {

using namespace std::chrono_literals;
using Why = CancelReason::Why;

Task<void> wait_and_note(WaitList& list, Until until, std::string name,
                         std::vector<std::string>& notes) {
  Woken woken = co_await list.wait(until);
  const char* names[] = {"ready", "cancelled", "timed_out"};
  notes.push_back(name + " " + names[static_cast<int>(woken)]);
}

struct WaitTest : testing::Test {
  void wait(std::string name, Until until = {}) {
    loop.start(wait_and_note(list, until, name, notes));
    loop.settle();
  }
  Instant in(Duration time) { return loop.now() + time; }

  ManualLoop loop;
  WaitList list{"the test"};
  std::vector<std::string> notes;
  CancelToken token = CancelToken::root();
};
using Notes = std::vector<std::string>;

TEST_F(WaitTest, WakesInTheOrderOfArrival) {
  wait("a");
  wait("b");
  wait("c");
  EXPECT_TRUE(list.wake_one());
  EXPECT_TRUE(notes.empty()) << "resumed inside wake_one()";
  loop.settle();
  EXPECT_EQ(list.wake_all(), 2u);
  loop.settle();
  EXPECT_EQ(notes, (Notes{"a ready", "b ready", "c ready"}));
  EXPECT_FALSE(list.wake_one());
}

TEST_F(WaitTest, EndsInExactlyOneOfThreeWays) {
  wait("woken", {token, in(1s)});
  list.wake_one();
  loop.settle();
  wait("late", {token, in(1s)});
  loop.advance(1s);
  wait("stopped", {token, in(1s)});
  token.request({});
  loop.settle();
  loop.advance(10s);
  EXPECT_EQ(notes, (Notes{"woken ready", "late timed_out", "stopped cancelled"}));
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(loop.next_alarm(), kNever);
}

TEST_F(WaitTest, BeforeParkingCancellationWinsOverAPassedDeadline) {
  token.request({});
  wait("a", {token, in(-1s)});
  wait("b", {CancelToken(), in(0s)});
  EXPECT_EQ(notes, (Notes{"a cancelled", "b timed_out"}));
}

TEST_F(WaitTest, WhileParkedTheFirstToComeDecides) {
  wait("woken first", {token});
  list.wake_one();
  token.request({});
  loop.settle();
  EXPECT_EQ(notes, Notes{"woken first ready"});

  token = CancelToken::root();
  wait("cancelled first", {token});
  wait("next");
  token.request({});
  EXPECT_TRUE(list.wake_one()) << "a wake went to a waiter that was already cancelled";
  loop.settle();
  EXPECT_EQ(notes, (Notes{"woken first ready", "cancelled first cancelled", "next ready"}));
}

TEST_F(WaitTest, ALeaverInTheMiddleDoesNotDisturbTheOrder) {
  wait("a");
  wait("b", {token});
  wait("c");
  token.request({});
  list.wake_all();
  loop.settle();
  EXPECT_EQ(notes, (Notes{"b cancelled", "a ready", "c ready"}));
}

TEST_F(WaitTest, TheLoopKnowsWhoWaitsForWhat) {
  wait("a");
  wait("b", {token});
  EXPECT_EQ(loop.parked(), Notes{"2 for the test"});
  token.request({});
  EXPECT_EQ(loop.parked(), (Notes{"1 for their turn", "1 for the test"}));
  list.wake_all();
  loop.settle();
  EXPECT_EQ(loop.parked(), Notes{});
}

Task<Woken> nap(Duration wait, Until until) {
  Woken woken = co_await sleep_for(wait, until);
  co_return woken;
}

TEST_F(WaitTest, ASleepEndsReadyUnlessCancelOrDeadlineComeFirst) {
  const Instant begun = loop.now();
  EXPECT_EQ(loop.run(nap(3s, {})), Woken::ready);
  EXPECT_EQ(loop.now() - begun, 3s);
  EXPECT_EQ(loop.run(nap(3s, {token, in(3s)})), Woken::ready);
  EXPECT_EQ(loop.run(nap(3s, {token, in(2s)})), Woken::timed_out);
  EXPECT_EQ(loop.run(nap(0s, {token, in(2s)})), Woken::ready);
  EXPECT_EQ(loop.run(nap(-1s, {})), Woken::ready);
  token.request({});
  EXPECT_EQ(loop.run(nap(0s, {token})), Woken::cancelled);
  EXPECT_EQ(loop.next_alarm(), kNever);
}

TEST_F(WaitTest, ACancelEndsALongSleepAtOnce) {
  // A retry-after of two minutes must not hold up a cancel.
  std::optional<Woken> woken;
  auto sleep = [](Until until, std::optional<Woken>& out) -> Task<void> {
    Woken how = co_await sleep_for(120s, until);
    out = how;
  };
  loop.start(sleep({token}, woken));
  loop.advance(1s);
  EXPECT_FALSE(woken);
  token.request({});
  loop.settle();
  EXPECT_EQ(woken, Woken::cancelled);
}

TEST_F(WaitTest, ASleepOfForeverEndsOnlyByCancel) {
  std::optional<Woken> woken;
  auto sleep = [](Until until, std::optional<Woken>& out) -> Task<void> {
    Woken how = co_await sleep_for(Duration::max(), until);
    out = how;
  };
  loop.start(sleep({token}, woken));
  loop.settle();
  EXPECT_EQ(loop.next_alarm(), kNever);
  token.request({});
  loop.settle();
  EXPECT_EQ(woken, Woken::cancelled);
}

TEST_F(WaitTest, TheErrorOfAWaitNamesTheWaitAndTheReason) {
  token.request({Why::user, "enough"});
  Error stopped = wait_error(Woken::cancelled, {token}, "a free worker");
  EXPECT_EQ(stopped.kind(), ErrorKind::cancelled);
  EXPECT_EQ(stopped.message(), "waiting for a free worker: cancelled (user: enough)");
  Error late = wait_error(Woken::timed_out, {}, "a free worker");
  EXPECT_EQ(late.kind(), ErrorKind::exhausted);
  EXPECT_EQ(late.detail_if<Limit>()->kind, LimitKind::wall_clock);
}

TEST(WaitSize, AParkedWaitStaysSmall) {
  EXPECT_LE(sizeof(WaitList::Wait), 136u);
  EXPECT_LE(sizeof(Timer), 32u);
  EXPECT_LE(sizeof(CancelCallback), 24u);
}

}  // namespace
}  // namespace tug
