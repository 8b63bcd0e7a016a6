#include "tug/core/scope.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/manual_loop.h"
#include "tug/core/sync.h"

namespace tug {
namespace {

using namespace std::chrono_literals;
using Why = CancelReason::Why;
using Notes = std::vector<std::string>;

Task<void> note_at(Duration wait, std::string note, Notes& notes, Until until = {}) {
  Woken woken = co_await sleep_for(wait, until);
  notes.push_back(woken == Woken::ready ? note : note + " cancelled");
}
Task<int> value_after(Duration wait, int value) {
  co_await sleep_for(wait);
  co_return value;
}
Task<int> throw_after(Duration wait, std::string what, Notes& notes) {
  co_await sleep_for(wait);
  notes.push_back(what);
  throw std::runtime_error(what);
}

TEST(Scope, RunsChildrenBesideEachOtherAndJoinsThemAll) {
  ManualLoop loop;
  Notes notes;
  auto body = [](Notes& out) -> Task<void> {
    Loop& here = co_await this_loop();
    Scope scope(here, {});
    scope.spawn(note_at(2s, "two", out));
    scope.spawn(note_at(1s, "one", out));
    EXPECT_EQ(scope.running(), 2u);
    auto joining = scope.join();
    co_await std::move(joining);
    EXPECT_EQ(scope.running(), 0u);
    out.push_back("joined");
  };
  EXPECT_TRUE(loop.run(body(notes)));
  EXPECT_EQ(notes, (Notes{"one", "two", "joined"}));
  EXPECT_EQ(loop.now().time_since_epoch(), 2s);
}

TEST(Scope, CollectsFailuresWithoutStoppingTheOthers) {
  ManualLoop loop;
  Notes notes;
  auto bug = []() -> Task<void> {
    throw std::logic_error("bug");
    co_return;
  };
  auto refused = []() -> Task<Result<void>> { co_return fail(ErrorKind::denied, "no"); };
  auto fine = []() -> Task<Result<void>> { co_return {}; };
  auto thrown = []() -> Task<Result<void>> {
    throw std::logic_error("worse");
    co_return {};
  };
  auto body = [](auto bug, auto refused, auto fine, auto thrown, Notes& out) -> Task<void> {
    Loop& here = co_await this_loop();
    Scope scope(here, {});
    scope.spawn(bug());
    scope.spawn("indexing", refused());
    scope.spawn("nothing", fine());
    scope.spawn("mailing", thrown());
    scope.spawn(note_at(1s, "still ran", out));
    auto joining = scope.join();
    co_await std::move(joining);
    for (const Error& error : scope.failures()) out.push_back(error.message());
  };
  EXPECT_TRUE(loop.run(body(bug, refused, fine, thrown, notes)));
  EXPECT_EQ(notes, (Notes{"still ran", "a child of a scope threw: bug", "indexing: no",
                          "mailing threw: worse"}));
}

TEST(Scope, ItsCancelReachesItsChildrenOnlyAndItsParentsReachesItToo) {
  ManualLoop loop;
  Notes notes;
  CancelToken parent = CancelToken::root();
  auto body = [](CancelToken above, Notes& out) -> Task<void> {
    Loop& here = co_await this_loop();
    Scope own(here, above);
    Scope other(here, above);
    own.spawn(note_at(60s, "own", out, {own.token()}));
    other.spawn(note_at(60s, "other", out, {other.token()}));
    own.cancel({Why::parent, "enough"});
    auto joining = own.join();
    co_await std::move(joining);
    out.push_back("joined own");
    auto joining_other = other.join();
    co_await std::move(joining_other);
  };
  loop.start(body(parent, notes));
  loop.settle();
  EXPECT_EQ(notes, (Notes{"own cancelled", "joined own"}));
  EXPECT_FALSE(parent.requested());
  parent.request({});
  loop.settle();
  EXPECT_EQ(notes.back(), "other cancelled");
  EXPECT_EQ(loop.roots(), 0u);
}

Task<void> spawn_more(Scope& scope, int depth, int& ran) {
  ++ran;
  co_await yield();
  if (depth > 0) scope.spawn(spawn_more(scope, depth - 1, ran));
}

TEST(Scope, JoinWaitsForChildrenThatChildrenSpawned) {
  ManualLoop loop;
  int ran = 0;
  auto body = [](int& count) -> Task<void> {
    Loop& here = co_await this_loop();
    Scope scope(here, {});
    scope.spawn(spawn_more(scope, 4, count));
    auto joining = scope.join();
    co_await std::move(joining);
    EXPECT_EQ(count, 5);
  };
  EXPECT_TRUE(loop.run(body(ran)));
  EXPECT_EQ(ran, 5);
}

TEST(Scope, JoinWaitsForAChildSpawnedBetweenTheLastEndAndItsResumption) {
  ManualLoop loop;
  Notes notes;
  Scope scope(loop, {});
  auto joiner = [](Scope& scope, Notes& out) -> Task<void> {
    scope.spawn(note_at(0s, "first", out));
    auto joining = scope.join();
    co_await std::move(joining);
    out.push_back("joined");
  };
  auto latecomer = [](Scope& scope, Notes& out) -> Task<void> {
    co_await yield();
    EXPECT_EQ(scope.running(), 0u);
    scope.spawn(note_at(1s, "late", out));
  };
  loop.start(joiner(scope, notes));
  loop.start(latecomer(scope, notes));
  loop.advance(1s);
  EXPECT_EQ(notes, (Notes{"first", "late", "joined"}));
}

#ifndef NDEBUG  // without assertions it would only be undefined
TEST(ScopeDeathTest, DyingBeforeItsChildrenAsserts) {
  auto die = [] {
    ManualLoop loop;
    Notes notes;
    auto body = [](Notes& out) -> Task<void> {
      Loop& here = co_await this_loop();
      Scope scope(here, {});
      scope.spawn(note_at(1s, "late", out));
    };
    loop.start(body(notes));
    loop.settle();
  };
  EXPECT_DEATH(die(), "join it first");
}
#endif

TEST(WhenAll, AnswersInTheOrderGiven) {
  ManualLoop loop;
  auto body = [](Notes& out) -> Task<std::string> {
    auto all = when_all(value_after(3s, 3), value_after(1s, 1), note_at(2s, "two", out));
    std::tuple<int, int, std::monostate> values = co_await std::move(all);
    co_return std::to_string(std::get<0>(values)) + std::to_string(std::get<1>(values));
  };
  Notes notes;
  EXPECT_EQ(loop.run(body(notes)), "31");
  EXPECT_EQ(notes, Notes{"two"});
  EXPECT_EQ(loop.now().time_since_epoch(), 3s);

  std::vector<Task<int>> tasks;
  for (int i = 0; i < 5; ++i) tasks.push_back(value_after((5 - i) * 1s, i));
  EXPECT_EQ(loop.run(when_all(std::move(tasks))), (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(loop.run(when_all(std::vector<Task<int>>())), std::vector<int>());
  EXPECT_TRUE(loop.run(when_all(std::vector<Task<void>>())));
}

TEST(WhenAll, JoinsAllBeforeItRethrowsTheFirstInOrder) {
  ManualLoop loop;
  Notes notes;
  auto body = [](Notes& out) -> Task<void> {
    try {
      auto all = when_all(throw_after(3s, "first", out), throw_after(1s, "second", out),
                          note_at(5s, "slow", out));
      co_await std::move(all);
    } catch (const std::runtime_error& error) {
      out.push_back(std::string("caught ") + error.what());
    }
  };
  EXPECT_TRUE(loop.run(body(notes)));
  EXPECT_EQ(notes, (Notes{"second", "first", "slow", "caught first"}));
}

// A branch that takes a while to end after it is cancelled.
Task<Result<std::string>> branch(std::string name, Duration work, Duration cleanup, Notes& notes,
                                 CancelToken token) {
  Until until{token};
  Woken woken = co_await sleep_for(work, until);
  if (woken == Woken::ready) co_return name;
  co_await sleep_for(cleanup);
  notes.push_back(name + " cleaned up after " + std::string(name_of(token.reason()->why)));
  co_return Failure(wait_error(woken, until, name));
}

TEST(Race, TheFirstToEndWinsAndTheOthersAreCancelledAndJoined) {
  ManualLoop loop;
  Notes notes;
  auto body = [](CancelToken token, Notes& out) -> Task<RaceResult<Result<std::string>>> {
    auto racing = race(
        token, [&](CancelToken stop) { return branch("slow", 60s, 2s, out, stop); },
        [&](CancelToken stop) { return branch("fast", 1s, 0s, out, stop); },
        [&](CancelToken stop) { return branch("other", 60s, 1s, out, stop); });
    auto result = co_await std::move(racing);
    co_return result;
  };
  CancelToken token = CancelToken::root();
  auto result = loop.run(body(token, notes));
  EXPECT_EQ(result->winner, 1u);
  EXPECT_EQ(result->value.value(), "fast");
  EXPECT_EQ(notes, (Notes{"other cleaned up after parent", "slow cleaned up after parent"}));
  EXPECT_EQ(loop.now().time_since_epoch(), 3s);
  EXPECT_FALSE(token.requested());
}

TEST(Race, AnOuterCancelStopsAllBranches) {
  ManualLoop loop;
  Notes notes;
  CancelToken token = CancelToken::root();
  std::optional<ErrorKind> kind;
  auto body = [](CancelToken token, Notes& out, std::optional<ErrorKind>& kind) -> Task<void> {
    auto racing = race(
        token, [&](CancelToken stop) { return branch("a", 60s, 1s, out, stop); },
        [&](CancelToken stop) { return branch("b", 60s, 2s, out, stop); });
    auto result = co_await std::move(racing);
    kind = result.value.error().kind();
  };
  loop.start(body(token, notes, kind));
  loop.advance(1s);
  token.request({Why::user, "stop"});
  loop.advance(5s);
  EXPECT_EQ(kind, ErrorKind::cancelled);
  EXPECT_EQ(notes, (Notes{"a cleaned up after user", "b cleaned up after user"}));
}

TEST(Race, AThrowingWinnerIsRethrownAfterTheOthersEnded) {
  ManualLoop loop;
  Notes notes;
  auto body = [](Notes& out) -> Task<void> {
    auto racing = race(
        CancelToken(), [&](CancelToken) { return throw_after(1s, "boom", out); },
        [&](CancelToken stop) -> Task<int> {
          co_await stop.cancelled();
          co_await sleep_for(1s);
          out.push_back("ended");
          co_return 1;
        });
    co_await std::move(racing);
  };
  EXPECT_THROW(loop.run(body(notes)), std::runtime_error);
  EXPECT_EQ(notes, (Notes{"boom", "ended"}));
}

Task<Result<std::string>> limited(CancelToken token, Instant deadline, Duration work, Notes& out) {
  auto task = with_deadline(token, deadline,
                            [&](CancelToken stop) { return branch("work", work, 1s, out, stop); });
  Result<std::string> answer = co_await std::move(task);
  co_return answer;
}

TEST(WithDeadline, LetsWhatEndsInTimePass) {
  ManualLoop loop;
  Notes notes;
  auto answer = loop.run(limited({}, loop.now() + 5s, 2s, notes));
  EXPECT_EQ(answer->value(), "work");
  EXPECT_EQ(loop.next_alarm(), kNever);
}

TEST(WithDeadline, CancelsWhatIsLateWaitsForItsEndAndTellsItFromACancel) {
  ManualLoop loop;
  Notes notes;
  auto late = loop.run(limited(CancelToken::root(), loop.now() + 2s, 60s, notes));
  EXPECT_EQ(late->error().kind(), ErrorKind::exhausted);
  const Limit* limit = late->error().detail_if<Limit>();
  ASSERT_NE(limit, nullptr);
  EXPECT_EQ(limit->kind, LimitKind::wall_clock);
  EXPECT_EQ(limit->limit, 2000);
  EXPECT_EQ(limit->used, 3000);
  EXPECT_EQ(notes, Notes{"work cleaned up after deadline"});

  CancelToken stopped = CancelToken::root();
  stopped.request({Why::user, "stop"});
  auto cancelled = loop.run(limited(stopped, loop.now() + 2s, 60s, notes));
  EXPECT_EQ(cancelled->error().kind(), ErrorKind::cancelled);
}

TEST(WithDeadline, OneThatHasPassedCancelsAtOnce) {
  ManualLoop loop;
  Notes notes;
  auto late = loop.run(limited({}, loop.now(), 60s, notes));
  EXPECT_EQ(late->error().kind(), ErrorKind::exhausted);
  EXPECT_EQ(loop.now().time_since_epoch(), 1s);
}

}  // namespace
}  // namespace tug
