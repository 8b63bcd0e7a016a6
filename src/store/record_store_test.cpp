// One suite for every backend of the journal.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "store/testing.h"
#include "tug/store/record_stores.h"

namespace tug {
namespace {

class RecordStoreSuite : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { open(); }
  void open() {
    store_.reset();
    if (GetParam()) {
      auto opened = open_sqlite_record_store(folder_.path());
      ASSERT_TRUE(opened) << to_string(opened.error());
      store_ = *std::move(opened);
    } else {
      store_ = make_memory_record_store();
    }
  }
  void open_again_if_on_disk() {
    if (GetParam()) open();
  }
  Result<void> commit(const Batch& batch) { return store_->commit({&batch, 1}).front(); }

  TempFolder folder_;
  std::unique_ptr<RecordStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Backends, RecordStoreSuite, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "Sqlite" : "Memory"; });

TEST_P(RecordStoreSuite, WhatIsCommittedIsReadBackAsItWas) {
  RootWriter root("r1");
  Batch batch = root.batch(3);
  ASSERT_TRUE(commit(batch));
  auto read = store_->read(RunId("r1"), 0, 100);
  ASSERT_TRUE(read) << to_string(read.error());
  ASSERT_EQ(read->size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*read)[i].seq, batch.records[i].seq);
    EXPECT_EQ((*read)[i].ts, batch.records[i].ts);
    EXPECT_EQ((*read)[i].body, batch.records[i].body);
    EXPECT_EQ((*read)[i].hash, batch.records[i].hash);
    EXPECT_EQ(*(*read)[i].who, *batch.records[i].who);
  }
  EXPECT_TRUE(verify_root(*store_, RunId("r1")));
}

TEST_P(RecordStoreSuite, ReadingGoesOnAfterASeqAndStopsAtTheLimit) {
  RootWriter root("r1");
  ASSERT_TRUE(commit(root.batch(10)));
  auto middle = store_->read(RunId("r1"), 4, 3).value();
  ASSERT_EQ(middle.size(), 3u);
  EXPECT_EQ(middle.front().seq, 5u);
  EXPECT_EQ(middle.back().seq, 7u);
  EXPECT_TRUE(store_->read(RunId("r1"), 10, 3).value().empty());
  EXPECT_TRUE(store_->read(RunId("r1"), 99, 3).value().empty());
}

TEST_P(RecordStoreSuite, AnUnknownRootIsAnErrorThatNamesIt) {
  auto read = store_->read(RunId("nobody"), 0, 1);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind(), ErrorKind::invalid);
  EXPECT_NE(read.error().message().find("nobody"), std::string::npos);
  EXPECT_FALSE(store_->info(RunId("nobody")));
  EXPECT_FALSE(store_->send(RunId("nobody"), {.command = "{}"}));
}

TEST_P(RecordStoreSuite, ARunIdThatExistsIsDeniedAndLeavesNoTrace) {
  RootWriter first("r1");
  ASSERT_TRUE(commit(first.batch(1)));
  RootWriter second("r1");
  Batch batch = second.batch(2);
  batch.blobs.push_back({sha256("stray"), "stray"});
  auto verdict = commit(batch);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind(), ErrorKind::denied);
  EXPECT_EQ(store_->read(RunId("r1"), 0, 9).value().size(), 1u);
  EXPECT_FALSE(store_->blob(sha256("stray")));
}

TEST_P(RecordStoreSuite, ARefusedBatchDoesNotHurtItsNeighbours) {
  RootWriter a("a"), b("b");
  ASSERT_TRUE(commit(a.batch(1)));
  RootWriter twin("a");
  std::vector<Batch> batches;
  batches.push_back(b.batch(2));
  batches.push_back(twin.batch(1));
  batches.push_back(a.batch(2));
  auto verdicts = store_->commit(batches);
  EXPECT_TRUE(verdicts[0]);
  EXPECT_FALSE(verdicts[1]);
  EXPECT_TRUE(verdicts[2]);
  EXPECT_EQ(store_->info(RunId("a"))->last_seq, 3u);
  EXPECT_EQ(store_->info(RunId("b"))->last_seq, 2u);
  EXPECT_TRUE(verify_root(*store_, RunId("a")));
}

TEST_P(RecordStoreSuite, AGapInTheSequenceIsRefused) {
  RootWriter root("r1");
  ASSERT_TRUE(commit(root.batch(2)));
  root.batch(1);  // lost
  auto verdict = commit(root.batch(1));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind(), ErrorKind::internal);
  EXPECT_EQ(store_->info(RunId("r1"))->last_seq, 2u);
}

TEST_P(RecordStoreSuite, ABatchWithoutRecordsDoesNotOutliveTheRecordsItFollows) {
  RootWriter root("r1");
  ASSERT_TRUE(commit(root.batch(2)));
  root.batch(1);  // refused somewhere
  Batch status = root.batch(0);
  status.status = RootStatus::completed;
  EXPECT_FALSE(commit(status));
  EXPECT_EQ(store_->info(RunId("r1"))->status, RootStatus::running);
}

TEST_P(RecordStoreSuite, ReadsMayComeFromOtherThreadsWhileOneCommits) {
  RootWriter root("r1");
  ASSERT_TRUE(commit(root.batch(1)));
  std::atomic<bool> done = false;
  std::jthread reader([&] {
    while (!done) {
      auto records = store_->read(RunId("r1"), 0, 10'000);
      ASSERT_TRUE(records) << to_string(records.error());
      ASSERT_TRUE(store_->info(RunId("r1")));
      ASSERT_TRUE(store_->send(RunId("r1"), {.command = "{}"}));
    }
  });
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(commit(root.batch(5)));
  done = true;
  reader.join();
  EXPECT_TRUE(verify_root(*store_, RunId("r1")));
}

TEST_P(RecordStoreSuite, ARunHasOneLineageForLife) {
  RootWriter root("r1");
  ASSERT_TRUE(commit(root.batch(1)));
  open_again_if_on_disk();
  Lineage other = *root.who();
  other.agent = "somebody else";
  Batch batch = root.batch(0);
  root.add(batch, std::make_shared<const Lineage>(other));
  if (GetParam()) {
    auto verdict = commit(batch);
    ASSERT_FALSE(verdict);
    EXPECT_NE(verdict.error().message().find("another lineage"), std::string::npos);
  }
  EXPECT_TRUE(verify_root(*store_, RunId("r1")));
}

TEST_P(RecordStoreSuite, OnlyTheNewestEpochWrites) {
  RootWriter root("r1");
  ASSERT_TRUE(commit(root.batch(2)));
  auto claimed = store_->claim(RunId("r1"), dead_owner(), at_second(9));
  ASSERT_FALSE(claimed) << "this process lives and owns it";
  EXPECT_EQ(claimed.error().kind(), ErrorKind::denied);
  EXPECT_NE(claimed.error().message().find(std::to_string(getpid())), std::string::npos);

  Batch release = root.batch(0);
  release.release = true;
  ASSERT_TRUE(commit(release));
  claimed = store_->claim(RunId("r1"), dead_owner(), at_second(9));
  ASSERT_TRUE(claimed) << to_string(claimed.error());
  EXPECT_EQ(claimed->epoch, 2u);
  EXPECT_EQ(claimed->last_seq, 2u);

  auto late = commit(root.batch(1));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind(), ErrorKind::denied);
  EXPECT_EQ(store_->info(RunId("r1"))->last_seq, 2u);
}

TEST_P(RecordStoreSuite, ADeadOwnerIsFollowedByTheNext) {
  RootWriter root("r1");
  Batch batch = root.batch(1);
  batch.owner = dead_owner();
  ASSERT_TRUE(commit(batch));
  auto claimed = store_->claim(RunId("r1"), {this_process(), 1}, at_second(9));
  ASSERT_TRUE(claimed) << to_string(claimed.error());
  EXPECT_EQ(claimed->owner->process, this_process());
}

TEST_P(RecordStoreSuite, BlobsPartialsAndCommandsComeAndGoWithTheBatch) {
  RootWriter root("r1");
  Batch batch = root.batch(1);
  batch.blobs.push_back({sha256("big"), "big"});
  batch.partials = {{CallId("1.0"), 0, "he"}, {CallId("1.0"), 1, "llo"}, {CallId("1.1"), 0, "x"}};
  ASSERT_TRUE(commit(batch));
  EXPECT_EQ(store_->blob(sha256("big")).value(), "big");
  EXPECT_EQ(store_->partials(RunId("r1"))->size(), 3u);
  ASSERT_TRUE(store_->send(
      RunId("r1"), {.command = R"({"cancel":true})", .sender = "me", .created = at_second(3)}));
  ASSERT_TRUE(store_->send(RunId("r1"), {.command = R"({"pause":true})", .sender = "you"}));
  auto inbox = store_->inbox(RunId("r1")).value();
  ASSERT_EQ(inbox.size(), 2u);
  EXPECT_EQ(inbox[0].command, R"({"cancel":true})");
  EXPECT_EQ(inbox[0].sender, "me");
  EXPECT_EQ(inbox[0].created, at_second(3));

  Batch next = root.batch(1);
  next.finished_partials = {CallId("1.0")};
  next.taken_commands = {inbox[0].id};
  next.status = RootStatus::parked;
  next.summary = Json::object({{"prompt", "hi"}});
  ASSERT_TRUE(commit(next));
  ASSERT_EQ(store_->partials(RunId("r1"))->size(), 1u);
  EXPECT_EQ(store_->partials(RunId("r1"))->front().call, CallId("1.1"));
  ASSERT_EQ(store_->inbox(RunId("r1"))->size(), 1u);
  EXPECT_EQ(store_->inbox(RunId("r1"))->front().sender, "you");
  EXPECT_EQ(store_->info(RunId("r1"))->status, RootStatus::parked);
  EXPECT_EQ(store_->info(RunId("r1"))->summary["prompt"].as_string(), "hi");
}

TEST_P(RecordStoreSuite, ACommandThatWasTakenDoesNotLeaveItsIdToTheNext) {
  RootWriter root("r1");
  ASSERT_TRUE(commit(root.batch(1)));
  std::int64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store_->send(RunId("r1"), {.command = "{}", .created = at_second(3 + i)}));
    const auto inbox = store_->inbox(RunId("r1")).value();
    ASSERT_EQ(inbox.size(), 1u);
    EXPECT_GT(inbox[0].id, last);
    last = inbox[0].id;
    Batch next = root.batch(1);
    next.taken_commands = {last};
    ASSERT_TRUE(commit(next));
  }
}

TEST_P(RecordStoreSuite, AForkStartsAtItsBasesHashAndIsVerifiedThroughIt) {
  RootWriter origin("origin");
  Batch first = origin.batch(5);
  ASSERT_TRUE(commit(first));
  RootWriter fork("fork", Base{RunId("origin"), 3, first.records[2].hash});
  ASSERT_TRUE(commit(fork.batch(2)));
  auto info = store_->info(RunId("fork")).value();
  ASSERT_TRUE(info.base);
  EXPECT_EQ(*info.base, (Base{RunId("origin"), 3, first.records[2].hash}));
  EXPECT_EQ(store_->read(RunId("fork"), 0, 9)->front().seq, 1u);
  EXPECT_TRUE(verify_root(*store_, RunId("fork")));
}

TEST_P(RecordStoreSuite, ABaseThatDoesNotExistIsRefused) {
  RootWriter origin("origin");
  Batch first = origin.batch(2);
  ASSERT_TRUE(commit(first));
  const Base bad[] = {{RunId("nobody"), 1, first.records[0].hash},
                      {RunId("origin"), 3, first.records[0].hash},
                      {RunId("origin"), 0, first.records[0].hash},
                      {RunId("origin"), 2, first.records[0].hash}};
  for (const Base& base : bad) {
    RootWriter fork("fork", base);
    auto verdict = commit(fork.batch(1));
    ASSERT_FALSE(verdict);
    EXPECT_EQ(verdict.error().kind(), ErrorKind::invalid);
  }
  EXPECT_FALSE(store_->info(RunId("fork")));
}

TEST_P(RecordStoreSuite, ChildRunsKeepTheirLineage) {
  RootWriter root("r1");
  Batch batch = root.batch(1);
  auto child = std::make_shared<const Lineage>(
      Lineage{RunId("c1"), ThreadId("t2"), RunId("r1"), RunId("r1"), CallId("1.0"), 1, "helper"});
  root.add(batch, child);
  auto grandchild = std::make_shared<const Lineage>(
      Lineage{RunId("g1"), ThreadId("t2"), RunId("r1"), RunId("c1"), CallId("2.0"), 2, ""});
  root.add(batch, grandchild);
  root.add(batch, child);
  ASSERT_TRUE(commit(batch));
  open_again_if_on_disk();
  auto read = store_->read(RunId("r1"), 0, 9).value();
  ASSERT_EQ(read.size(), 4u);
  EXPECT_EQ(*read[1].who, *child);
  EXPECT_EQ(*read[2].who, *grandchild);
  EXPECT_EQ(read[1].who, read[3].who) << "records of one run share one lineage";
  EXPECT_TRUE(verify_root(*store_, RunId("r1")));
}

TEST_P(RecordStoreSuite, ListGivesTheNewestFirst) {
  for (const char* id : {"a", "b", "c"}) {
    RootWriter root(id);
    ASSERT_TRUE(commit(root.batch(1)));
  }
  auto infos = store_->list(2).value();
  ASSERT_EQ(infos.size(), 2u);
  EXPECT_EQ(infos[0].who->run_id, RunId("c"));
  EXPECT_EQ(infos[1].who->run_id, RunId("b"));
}

TEST_P(RecordStoreSuite, RunsAreFoundByEitherEndOfTheirIdChildrenIncluded) {
  RootWriter older("01AAAA-older");
  ASSERT_TRUE(commit(older.batch(1)));
  RootWriter root("01AAAA-newer");
  Batch batch = root.batch(1);
  auto child = std::make_shared<const Lineage>(Lineage{RunId("01AAAA-child"), ThreadId("t"),
                                                       RunId("01AAAA-newer"), RunId("01AAAA-newer"),
                                                       CallId("1.0"), 1, ""});
  root.add(batch, child);
  ASSERT_TRUE(commit(batch));
  const RunName of_child{RunId("01AAAA-child"), RunId("01AAAA-newer")};
  EXPECT_EQ(store_->find_runs("child", 9).value(), (std::vector<RunName>{of_child}));
  EXPECT_EQ(store_->find_runs("01AAAA", 9)->size(), 3u);
  EXPECT_EQ(store_->find_runs("01AAAA", 9)->back().run, RunId("01AAAA-older")) << "newest first";
  EXPECT_EQ(store_->find_runs("01AAAA", 2)->size(), 2u);
  EXPECT_TRUE(store_->find_runs("AAA-", 9)->empty());
  EXPECT_TRUE(store_->find_runs("%", 9)->empty());
}

TEST_P(RecordStoreSuite, VerifyNamesTheRecordThatWasChanged) {
  // A store that lies about one record stands for damage that its own structure does not show.
  RootWriter root("r1");
  ASSERT_TRUE(commit(root.batch(5)));
  for (Seq seq = 1; seq <= 5; ++seq) {
    for (int what = 0; what < 4; ++what) {
      LyingStore liar(*store_, seq, what);
      auto verdict = verify_root(liar, RunId("r1"));
      ASSERT_FALSE(verdict) << seq << " " << what;
      ASSERT_NE(verdict.error().detail_if<Damage>(), nullptr);
      EXPECT_EQ(verdict.error().detail_if<Damage>()->seq, seq) << verdict.error().message();
    }
  }
}

TEST_P(RecordStoreSuite, VerifyFindsABlobWithOtherBytesAndOneThatIsGone) {
  Event big{.kind = Kind::custom, .data = Json::object({{"text", std::string(20'000, 'x')}})};
  RootWriter root("r1");
  Batch batch = root.batch(0);
  root.add_event(batch, big);
  ASSERT_EQ(batch.blobs.size(), 1u);
  Batch other = batch;
  ASSERT_TRUE(commit(batch));
  EXPECT_TRUE(verify_root(*store_, RunId("r1")));
  Event back = decode(store_->read(RunId("r1"), 0, 1)->front(), *store_).value();
  EXPECT_EQ(back.data, big.data);
  LyingStore liar(*store_, 1, LyingStore::kBlob);
  auto verdict = verify_root(liar, RunId("r1"));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().detail_if<Damage>()->seq, 1u);
  EXPECT_FALSE(decode(store_->read(RunId("r1"), 0, 1)->front(), liar));
}

}  // namespace
}  // namespace tug
