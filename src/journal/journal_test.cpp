// The journal on both engines; the backends have a suite of their own.
#include "tug/journal/journal.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "core/try.h"
#include "journal/flaky_store.h"
#include "tug/core/scope.h"
#include "tug/io/engine.h"
#include "tug/io/sim_engine.h"

namespace tug {
namespace {

LineagePtr lineage(const std::string& id) {
  return std::make_shared<const Lineage>(
      Lineage{.run_id = RunId(id), .thread_id = ThreadId("t"), .root_run_id = RunId(id)});
}

Event note(std::int64_t n) { return {.kind = Kind::custom, .data = Json::object({{"n", n}})}; }

class Recorder final : public Sink {
 public:
  void on_event(const Event& event) override { lines.push_back({event.seq, event.live}); }
  void on_durable(Seq seq) override { durable = seq; }
  std::vector<std::pair<Seq, std::uint32_t>> lines;
  Seq durable = 0;
};

// Each test runs on the simulated engine and on the real one.
class JournalSuite : public ::testing::TestWithParam<bool> {
 protected:
  JournalSuite() {
    if (GetParam()) {
      engine_ = make_engine({.loops = 2, .workers = 2});
    } else {
      engine_ = make_sim_engine({.seed = 7, .loops = 2});
    }
    store_ = std::make_shared<FlakyStore>();
    journal_ = make_journal(*engine_, store_);
  }
  ~JournalSuite() override {
    journal_.reset();
    engine_->shutdown();
  }
  template <class T>
  auto run(Task<T> task) {
    return engine_->run(engine_->loop(0), std::move(task));
  }

  std::unique_ptr<Engine> engine_;
  std::shared_ptr<FlakyStore> store_;
  std::unique_ptr<Journal> journal_;
};

INSTANTIATE_TEST_SUITE_P(Engines, JournalSuite, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "Real" : "Simulated"; });

// What waits for time to pass runs where time is virtual.
class JournalInVirtualTime : public JournalSuite {};
INSTANTIATE_TEST_SUITE_P(Engines, JournalInVirtualTime, ::testing::Values(false));

Task<Result<void>> write_three(Journal& journal, std::string id) {
  auto creating = journal.create({lineage(id)});
  TUG_CO_TRY(log, co_await std::move(creating));
  for (int i = 1; i <= 3; ++i) log->emit(note(i));
  EXPECT_EQ(log->last_seq(), 3u);
  auto waiting = log->durable(3);
  TUG_CO_TRY(durable, co_await std::move(waiting));
  EXPECT_EQ(log->durable_seq(), 3u);
  auto closing = log->close();
  co_return co_await std::move(closing);
}

TEST_P(JournalSuite, WhatWasEmittedIsDurableInOrderAndItsChainHolds) {
  auto done = run(write_three(*journal_, "r1"));
  ASSERT_TRUE(done) << to_string(done.error());
  auto records = store_->read(RunId("r1"), 0, 9).value();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[2].body, R"({"v":1,"kind":"custom","turn":0,"data":{"n":3}})");
  EXPECT_TRUE(verify_root(*store_, RunId("r1")));
  EXPECT_FALSE(store_->info(RunId("r1"))->owner) << "close gives the root up";
}

Task<Result<void>> nothing_said(Journal& journal) {
  auto creating = journal.create({lineage("silent")});
  TUG_CO_TRY(log, co_await std::move(creating));
  auto closing = log->close();
  co_return co_await std::move(closing);
}

TEST_P(JournalSuite, ARootThatNeverSaidAnythingLeavesNoTrace) {
  EXPECT_TRUE(run(nothing_said(*journal_)));
  EXPECT_FALSE(store_->info(RunId("silent")));
}

Task<Result<void>> open_twice(Journal& journal) {
  auto creating = journal.create({lineage("r1")});
  TUG_CO_TRY(log, co_await std::move(creating));
  log->emit(note(1));
  auto again = journal.create({lineage("r1")});
  auto second = co_await std::move(again);
  EXPECT_FALSE(second);
  EXPECT_EQ(second.error().kind(), ErrorKind::denied);
  auto claiming = journal.claim(RunId("r1"));
  auto third = co_await std::move(claiming);
  EXPECT_EQ(third.error().kind(), ErrorKind::denied);
  auto closing = log->close();
  TUG_CO_TRY(closed, co_await std::move(closing));
  log.reset();
  auto reclaiming = journal.claim(RunId("r1"));
  TUG_CO_TRY(resumed, co_await std::move(reclaiming));
  EXPECT_EQ(resumed->epoch(), 2u);
  EXPECT_EQ(resumed->emit(note(2)), 2u);
  auto waiting = resumed->durable(2);
  co_return co_await std::move(waiting);
}

TEST_P(JournalSuite, ASecondOwnerIsDeniedWhileTheFirstIsThereAndGoesOnAfterIt) {
  auto done = run(open_twice(*journal_));
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_TRUE(verify_root(*store_, RunId("r1")));
  EXPECT_EQ(store_->info(RunId("r1"))->last_seq, 2u);
}

Task<Result<void>> exists_on_disk(Journal& journal) {
  auto creating = journal.create({lineage("old")});
  TUG_CO_TRY(log, co_await std::move(creating));
  log->emit(note(1));
  auto waiting = log->durable(1);
  co_return co_await std::move(waiting);
}

TEST_P(JournalSuite, ARunIdThatIsOnDiskAlreadyIsDeniedAtTheFirstDurable) {
  ASSERT_TRUE(run(write_three(*journal_, "old")));
  auto done = run(exists_on_disk(*journal_));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind(), ErrorKind::denied);
  EXPECT_EQ(store_->info(RunId("old"))->last_seq, 3u);
}

struct AfterFailure {
  Error first{ErrorKind::internal, ""};
  Error second{ErrorKind::internal, ""};
  Seq shown = 0;
};

Task<Result<AfterFailure>> fail_in_the_middle(Journal& journal, FlakyStore& store) {
  auto creating = journal.create({lineage("r1")});
  TUG_CO_TRY(log, co_await std::move(creating));
  auto recorder = std::make_shared<Recorder>();
  log->observe(recorder);
  log->emit(note(1));
  auto first_wait = log->durable(1);
  TUG_CO_TRY(durable, co_await std::move(first_wait));
  store.fail_commits(fail(ErrorKind::exhausted, "no space left"));
  AfterFailure seen;
  log->emit(note(2));
  auto failing = log->durable(2);
  auto failed = co_await std::move(failing);
  if (!failed) seen.first = failed.error();
  store.fail_commits({});
  log->emit(note(3));
  auto again = log->durable(3);
  auto still = co_await std::move(again);
  if (!still) seen.second = still.error();
  seen.shown = recorder->lines.back().first;
  EXPECT_EQ(recorder->durable, 1u);
  auto before = log->durable(1);
  TUG_CO_TRY(kept, co_await std::move(before));
  co_return seen;
}

TEST_P(JournalSuite, AFailedCommitClosesTheRootForGoodAndKeepsWhatWasDurable) {
  auto seen = run(fail_in_the_middle(*journal_, *store_));
  ASSERT_TRUE(seen) << to_string(seen.error());
  EXPECT_EQ(seen->first.kind(), ErrorKind::exhausted);
  EXPECT_EQ(seen->second.kind(), ErrorKind::exhausted);
  EXPECT_EQ(seen->shown, 3u) << "observers still see how it ends";
  EXPECT_EQ(store_->info(RunId("r1"))->last_seq, 1u);
  EXPECT_TRUE(verify_root(*store_, RunId("r1")));
}

Task<Result<Seq>> resume_after_failure(Journal& journal) {
  auto claiming = journal.claim(RunId("r1"));
  TUG_CO_TRY(log, co_await std::move(claiming));
  EXPECT_EQ(log->last_seq(), 1u);
  const Seq seq =
      log->emit({.kind = Kind::run_resumed, .data = Json::object({{"epoch", log->epoch()}})});
  auto waiting = log->durable(seq);
  TUG_CO_TRY(durable, co_await std::move(waiting));
  co_return seq;
}

TEST_P(JournalSuite, AfterAFailureTheRootResumesFromItsLastDurableRecord) {
  ASSERT_TRUE(run(fail_in_the_middle(*journal_, *store_)));
  auto seq = run(resume_after_failure(*journal_));
  ASSERT_TRUE(seq) << to_string(seq.error());
  EXPECT_EQ(*seq, 2u);
  EXPECT_TRUE(verify_root(*store_, RunId("r1")));
}

TEST_P(JournalSuite, AfterAFailureTheRootIsFreeForAnotherOwner) {
  ASSERT_TRUE(run(fail_in_the_middle(*journal_, *store_)));
  journal_.reset();
  EXPECT_FALSE(store_->info(RunId("r1"))->owner);
}

class Thrower final : public Sink {
 public:
  void on_event(const Event&) override {
    ++calls;
    throw std::runtime_error("observer broke");
  }
  int calls = 0;
};

// Emits while it is told, as a bridge to another system might.
class Echo final : public Sink {
 public:
  explicit Echo(RootLog& log) : log_(log) {}
  void on_event(const Event& event) override {
    if (event.seq == 1) log_.emit(note(100));
  }

 private:
  RootLog& log_;
};

Task<Result<void>> watch(Journal& journal) {
  auto creating = journal.create({lineage("r1")});
  TUG_CO_TRY(log, co_await std::move(creating));
  EXPECT_FALSE(log->wants_live());
  auto before = std::make_shared<Recorder>();
  auto thrower = std::make_shared<Thrower>();
  auto after = std::make_shared<Recorder>();
  log->observe(before);
  log->observe(thrower);
  log->observe(std::make_shared<Echo>(*log));
  log->observe(after);
  EXPECT_TRUE(log->wants_live());
  log->emit(note(1));
  log->emit_live({.kind = Kind::model_delta});
  log->emit_live({.kind = Kind::model_delta});
  log->emit(note(3));
  EXPECT_EQ(thrower->calls, 1);
  EXPECT_EQ(log->removed_sinks(), 1u);
  const std::vector<std::pair<Seq, std::uint32_t>> expected = {
      {1, 0}, {2, 0}, {2, 1}, {2, 2}, {3, 0}};
  EXPECT_EQ(before->lines, expected);
  EXPECT_EQ(after->lines, expected)
      << "the order is the same for everybody, re-entrant emits included";
  log->forget(*before);
  auto waiting = log->durable(log->emit(note(4)));
  TUG_CO_TRY(durable, co_await std::move(waiting));
  EXPECT_EQ(before->lines.size(), 5u);
  EXPECT_EQ(after->durable, 4u);
  co_return Result<void>();
}

TEST_P(JournalSuite, AThrowingObserverIsRemovedAndCountedAndTheOthersSeeOneOrder) {
  auto done = run(watch(*journal_));
  EXPECT_TRUE(done) << to_string(done.error());
}

Task<Result<void>> partial_stream(Journal& journal, FlakyStore& store) {
  Loop& loop = co_await this_loop();
  auto creating = journal.create({lineage("r1")});
  TUG_CO_TRY(log, co_await std::move(creating));
  log->emit(note(1));
  auto first = log->durable(1);
  TUG_CO_TRY(durable, co_await std::move(first));
  log->keep_partial(CallId("1.0"), "hel");
  log->keep_partial(CallId("1.0"), "lo");
  EXPECT_TRUE(store.partials(RunId("r1"))->empty()) << "it waits for more";
  const Instant start = loop.now();
  while (store.partials(RunId("r1"))->empty() && loop.now() < start + std::chrono::seconds(5)) {
    co_await sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_GE(loop.now() - start, std::chrono::milliseconds(200));
  EXPECT_EQ(store.partials(RunId("r1"))->front().bytes, "hello");
  log->keep_partial(CallId("1.0"), std::string(70'000, 'x'));
  auto second = log->durable(log->emit(note(2)));
  TUG_CO_TRY(durable_too, co_await std::move(second));
  EXPECT_EQ(store.partials(RunId("r1"))->size(), 2u);
  log->drop_partial(CallId("1.0"));
  auto third = log->durable(log->emit(note(3)));
  TUG_CO_TRY(dropped, co_await std::move(third));
  EXPECT_TRUE(store.partials(RunId("r1"))->empty());
  co_return Result<void>();
}

TEST_P(JournalInVirtualTime, BytesOfAnUnfinishedStreamAreKeptInPiecesAndGoWithItsPartner) {
  auto done = run(partial_stream(*journal_, *store_));
  EXPECT_TRUE(done) << to_string(done.error());
}

Task<void> keep_writing(std::unique_ptr<RootLog> log) {
  for (int i = 0; i < 5; ++i) {
    co_await sleep_for(std::chrono::milliseconds(10));
    log->emit(note(i));
  }
  auto closing = log->close();
  Result<void> closed = co_await std::move(closing);
  EXPECT_TRUE(closed);
}

Task<Result<std::vector<Seq>>> follow_to_five(Journal& journal, Until until) {
  std::vector<Seq> seen;
  while (seen.empty() || seen.back() < 5) {
    auto following = journal.follow(RunId("r1"), seen.empty() ? 0 : seen.back(), until);
    TUG_CO_TRY(records, co_await std::move(following));
    for (const Record& record : records) seen.push_back(record.seq);
  }
  co_return seen;
}

Task<Result<std::vector<Seq>>> write_and_follow(Journal& journal) {
  auto creating = journal.create({lineage("r1")});
  TUG_CO_TRY(log, co_await std::move(creating));
  log->emit(note(0));
  auto waiting = log->durable(1);
  TUG_CO_TRY(durable, co_await std::move(waiting));
  Loop& here = co_await this_loop();
  Scope scope(here, {});
  scope.spawn(keep_writing(std::move(log)));
  auto following = follow_to_five(journal, {});
  auto seen = co_await std::move(following);
  co_await scope.join();
  co_return seen;
}

TEST_P(JournalInVirtualTime, FollowSeesEveryRecordOnceItIsOnDisk) {
  auto seen = run(write_and_follow(*journal_));
  ASSERT_TRUE(seen) << to_string(seen.error());
  EXPECT_EQ(*seen, (std::vector<Seq>{1, 2, 3, 4, 5}));
}

Task<Result<std::vector<Record>>> follow_in_vain(Journal& journal) {
  Loop& loop = co_await this_loop();
  Until until{.deadline = loop.now() + std::chrono::milliseconds(300)};
  auto following = journal.follow(RunId("r1"), 3, until);
  co_return co_await std::move(following);
}

TEST_P(JournalInVirtualTime, FollowObeysItsDeadline) {
  ASSERT_TRUE(run(write_three(*journal_, "r1")));
  auto none = run(follow_in_vain(*journal_));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind(), ErrorKind::exhausted);
}

Task<Result<Base>> fork_at(Journal& journal, Seq seq) {
  auto finding = journal.base_at(RunId("r1"), seq);
  TUG_CO_TRY(base, co_await std::move(finding));
  auto creating = journal.create({lineage("fork"), base});
  TUG_CO_TRY(log, co_await std::move(creating));
  auto waiting = log->durable(log->emit(note(1)));
  TUG_CO_TRY(durable, co_await std::move(waiting));
  co_return base;
}

TEST_P(JournalSuite, AForkGoesOnFromItsBase) {
  ASSERT_TRUE(run(write_three(*journal_, "r1")));
  auto base = run(fork_at(*journal_, 2));
  ASSERT_TRUE(base) << to_string(base.error());
  EXPECT_EQ(store_->info(RunId("fork"))->base, *base);
  EXPECT_TRUE(verify_root(*store_, RunId("fork")));
  auto beyond = run(fork_at(*journal_, 4));
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().kind(), ErrorKind::invalid);
}

Task<Result<void>> one_of_many(Journal& journal, int number) {
  auto creating = journal.create({lineage("root-" + std::to_string(number))});
  TUG_CO_TRY(log, co_await std::move(creating));
  for (int i = 0; i < 4; ++i) {
    log->emit(note(i));
    auto waiting = log->durable(log->emit(note(i)));
    TUG_CO_TRY(durable, co_await std::move(waiting));
  }
  auto closing = log->close();
  co_return co_await std::move(closing);
}

Task<void> many_roots(Journal& journal, int first, int count) {
  Loop& here = co_await this_loop();
  Scope scope(here, {});
  for (int i = 0; i < count; ++i) {
    scope.spawn([](Journal& j, int number) -> Task<void> {
      auto writing = one_of_many(j, number);
      Result<void> done = co_await std::move(writing);
      EXPECT_TRUE(done) << to_string(done.error());
    }(journal, first + i));
  }
  co_await scope.join();
}

TEST_P(JournalSuite, ManyRootsShareFewCommits) {
  ASSERT_TRUE(run(many_roots(*journal_, 0, 200)));
  for (int i : {0, 57, 199}) {
    const RunId root("root-" + std::to_string(i));
    EXPECT_EQ(store_->info(root)->last_seq, 8u);
    EXPECT_TRUE(verify_root(*store_, root));
  }
  EXPECT_LT(store_->commits(), 200 * 4 * 3 / 4) << "grouped";
}

TEST_P(JournalSuite, AClosedJournalAnswersInsteadOfHanging) {
  journal_->close();
  auto done = run(write_three(*journal_, "late"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind(), ErrorKind::cancelled);
  auto claimed = run(resume_after_failure(*journal_));
  EXPECT_EQ(claimed.error().kind(), ErrorKind::cancelled);
}

}  // namespace
}  // namespace tug
