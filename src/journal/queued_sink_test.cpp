// Slow and broken exporters behind their queues, in simulated time.
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/try.h"
#include "journal/flaky_store.h"
#include "tug/io/sim_engine.h"
#include "tug/journal/journal.h"
#include "tug/journal/queued_sink.h"

namespace tug {
namespace {

LineagePtr who() {
  return std::make_shared<const Lineage>(
      Lineage{.run_id = RunId("r1"), .thread_id = ThreadId("t"), .root_run_id = RunId("r1")});
}

Event note(std::int64_t n) { return {.kind = Kind::custom, .data = Json::object({{"n", n}})}; }
Event delta(std::string text) {
  return {.kind = Kind::model_delta, .data = Json::object({{"call", "1"}, {"text", text}})};
}

class Exporter final : public Sink {
 public:
  void on_event(const Event& event) override {
    if (throw_at && event.seq == throw_at) throw std::runtime_error("the pipe broke");
    if (!event.live) seqs.push_back(event.seq);
    if (event.live) text += event.data["text"].as_string();
  }
  Seq throw_at = 0;
  std::vector<Seq> seqs;
  std::string text;
};

struct Bench {
  std::unique_ptr<SimEngine> engine;
  std::shared_ptr<FlakyStore> store = std::make_shared<FlakyStore>();
  std::unique_ptr<Journal> journal;
  std::shared_ptr<Exporter> exporter = std::make_shared<Exporter>();

  explicit Bench(std::uint64_t seed) : engine(make_sim_engine({.seed = seed})) {
    journal = make_journal(*engine, store);
  }
  std::shared_ptr<QueuedSink> queue(QueueOverflow overflow, std::size_t capacity) {
    return make_queued_sink(*engine, store, exporter, {.overflow = overflow, .capacity = capacity});
  }
};

// A run that never waits for its observers: bursts of records and deltas, then the end.
Task<Result<void>> burst(Journal& journal, std::shared_ptr<Sink> sink, int records, int deltas) {
  auto creating = journal.create({who()});
  TUG_CO_TRY(log, co_await std::move(creating));
  log->observe(sink);
  for (int i = 1; i <= records; ++i) {
    log->emit(note(i));
    for (int j = 0; j < deltas; ++j) log->emit_live(delta("x"));
  }
  auto waiting = log->durable(log->last_seq());
  TUG_CO_TRY(durable, co_await std::move(waiting));
  auto closing = log->close();
  co_return co_await std::move(closing);
}

std::vector<Seq> up_to(Seq last) {
  std::vector<Seq> seqs;
  for (Seq seq = 1; seq <= last; ++seq) seqs.push_back(seq);
  return seqs;
}

class Queues : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Seeds, Queues, ::testing::Range(1, 9));

TEST_P(Queues, CatchUpDeliversEveryRecordOnceInOrderHoweverSmallTheQueue) {
  Bench bench(static_cast<std::uint64_t>(GetParam()));
  auto queue = bench.queue(QueueOverflow::catch_up, 4);
  auto done = bench.engine->run(bench.engine->loop(0), burst(*bench.journal, queue, 100, 1));
  ASSERT_TRUE(done) << to_string(done.error());
  bench.engine->run_until_idle();
  queue->finish();
  EXPECT_EQ(bench.exporter->seqs, up_to(100));
  const QueueCounts counts = queue->counts();
  EXPECT_EQ(counts.dropped_records, 0u);
  EXPECT_GT(counts.caught_up, 50u);
  EXPECT_GT(counts.dropped_live, 50u);
  EXPECT_EQ(counts.delivered, 100u + bench.exporter->text.size());
}

TEST_P(Queues, CoalescingLosesNoTextWhileRecordsFit) {
  Bench bench(static_cast<std::uint64_t>(GetParam()));
  auto queue = bench.queue(QueueOverflow::coalesce_deltas, 8);
  auto done = bench.engine->run(bench.engine->loop(0), burst(*bench.journal, queue, 3, 200));
  ASSERT_TRUE(done) << to_string(done.error());
  bench.engine->run_until_idle();
  queue->finish();
  EXPECT_EQ(bench.exporter->seqs, up_to(3));
  EXPECT_EQ(bench.exporter->text, std::string(600, 'x'));
  EXPECT_GT(queue->counts().coalesced, 0u);
  EXPECT_EQ(queue->counts().dropped_live, 0u);
}

TEST_P(Queues, DropAndCountCountsWhatItDrops) {
  Bench bench(static_cast<std::uint64_t>(GetParam()));
  auto queue = bench.queue(QueueOverflow::drop_and_count, 10);
  auto done = bench.engine->run(bench.engine->loop(0), burst(*bench.journal, queue, 50, 1));
  ASSERT_TRUE(done) << to_string(done.error());
  bench.engine->run_until_idle();
  queue->finish();
  const QueueCounts counts = queue->counts();
  EXPECT_GT(counts.dropped_records, 0u);
  EXPECT_EQ(counts.delivered + counts.dropped_records + counts.dropped_live, 100u);
}

TEST_P(Queues, ABrokenExporterIsToldNothingMoreAndTheRunEndsWell) {
  Bench bench(static_cast<std::uint64_t>(GetParam()));
  bench.exporter->throw_at = 3;
  auto queue = bench.queue(QueueOverflow::catch_up, 4);
  auto done = bench.engine->run(bench.engine->loop(0), burst(*bench.journal, queue, 20, 0));
  ASSERT_TRUE(done) << to_string(done.error());
  bench.engine->run_until_idle();
  queue->finish();
  EXPECT_TRUE(queue->counts().failed);
  EXPECT_EQ(bench.exporter->seqs, up_to(2));
  EXPECT_EQ(bench.store->info(RunId("r1"))->last_seq, 20u);
}

Task<Result<void>> emit_then_fail(Journal& journal, FlakyStore& store, std::shared_ptr<Sink> sink) {
  auto creating = journal.create({who()});
  TUG_CO_TRY(log, co_await std::move(creating));
  log->observe(sink);
  auto first = log->durable(log->emit(note(1)));
  TUG_CO_TRY(durable, co_await std::move(first));
  store.fail_commits(fail(ErrorKind::exhausted, "full"));
  auto second = log->durable(log->emit(note(2)));
  Result<void> failed = co_await std::move(second);
  EXPECT_FALSE(failed);
  co_return Result<void>();
}

Task<Result<void>> attach_late(Journal& journal, std::shared_ptr<Sink> sink) {
  auto creating = journal.create({who()});
  TUG_CO_TRY(log, co_await std::move(creating));
  for (int i = 1; i <= 5; ++i) log->emit(note(i));
  auto waiting = log->durable(5);
  TUG_CO_TRY(durable, co_await std::move(waiting));
  log->observe(sink);
  log->emit_live(delta("live at once"));
  co_await sleep_for(std::chrono::seconds(1));
  for (int i = 6; i <= 20; ++i) log->emit(note(i));
  auto closing = log->close();
  co_return co_await std::move(closing);
}

TEST(Queue, ASinkThatComesLateSeesWhatComesAfterItAndNothingBefore) {
  Bench bench(1);
  auto queue = bench.queue(QueueOverflow::catch_up, 3);
  auto done = bench.engine->run(bench.engine->loop(0), attach_late(*bench.journal, queue));
  ASSERT_TRUE(done) << to_string(done.error());
  bench.engine->run_until_idle();
  queue->finish();
  EXPECT_EQ(bench.exporter->text, "live at once");
  ASSERT_EQ(bench.exporter->seqs.size(), 15u);
  EXPECT_EQ(bench.exporter->seqs.front(), 6u);
}

TEST(Queue, ItMayBeDroppedOnALoopWithoutHoldingItUp) {
  Bench bench(1);
  auto queue = bench.queue(QueueOverflow::catch_up, 100);
  auto done =
      bench.engine->run(bench.engine->loop(0), burst(*bench.journal, std::move(queue), 10, 0));
  ASSERT_TRUE(done) << to_string(done.error());
  bench.engine->run_until_idle();
  EXPECT_EQ(bench.exporter->seqs, up_to(10));
}

TEST(Queue, WhatIsNotOnDiskNeverLeavesTheProcess) {
  Bench bench(1);
  auto queue = bench.queue(QueueOverflow::catch_up, 100);
  auto done =
      bench.engine->run(bench.engine->loop(0), emit_then_fail(*bench.journal, *bench.store, queue));
  ASSERT_TRUE(done) << to_string(done.error());
  bench.engine->run_until_idle();
  queue->finish();
  EXPECT_EQ(bench.exporter->seqs, up_to(1));
}

}  // namespace
}  // namespace tug
