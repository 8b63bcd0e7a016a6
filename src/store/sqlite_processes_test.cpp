// Many processes on one state folder.
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>

#include "store/testing.h"
#include "tug/store/record_stores.h"

namespace tug {
namespace {

constexpr int kProcesses = 4;
constexpr auto kFor = std::chrono::seconds(10);

// Commits to one root per round and checkpoints every few rounds; answers with how many records it
// was told are durable.
std::uint64_t hammer(const std::string& folder, int number) {
  auto opened = open_sqlite_record_store(folder, {.checkpoint_pages = 64});
  if (!opened) return 0;
  auto& store = **opened;
  RootWriter root("process-" + std::to_string(number));
  std::uint64_t durable = 0;
  const auto end = std::chrono::steady_clock::now() + kFor;
  for (int round = 0; std::chrono::steady_clock::now() < end; ++round) {
    Batch batch = root.batch(8);
    if (!store.commit({&batch, 1}).front()) return 0;
    durable += 8;
    if (round % 16 == 0) (void)store.checkpoint();  // others may be writing; it comes round again
  }
  return durable;
}

TEST(Processes, FourCommittingAndCheckpointingLoseNothingAndDamageNothing) {
  TempFolder temp;
  int results[2];
  ASSERT_EQ(pipe(results), 0);
  std::vector<pid_t> children;
  for (int number = 0; number < kProcesses; ++number) {
    const pid_t child = fork();
    if (child == 0) {
      const std::uint64_t answer[2] = {static_cast<std::uint64_t>(number),
                                       hammer(temp.path(), number)};
      const bool told = write(results[1], answer, sizeof answer) == sizeof answer;
      _exit(told ? 0 : 1);
    }
    children.push_back(child);
  }
  close(results[1]);
  std::uint64_t durable[kProcesses] = {};
  std::uint64_t answer[2];
  while (read(results[0], answer, sizeof answer) == sizeof answer) durable[answer[0]] = answer[1];
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  // Without checkpoints the log would hold every page ever written.
  EXPECT_LT(std::filesystem::file_size(temp.path() + "/journal.db-wal"),
            std::filesystem::file_size(temp.path() + "/journal.db"));
  auto store = open_sqlite_record_store(temp.path()).value();
  auto whole = store->check_integrity();
  EXPECT_TRUE(whole) << to_string(whole.error());
  for (int number = 0; number < kProcesses; ++number) {
    const RunId root("process-" + std::to_string(number));
    EXPECT_GT(durable[number], 0u);
    EXPECT_EQ(store->info(root)->last_seq, durable[number]);
    auto verdict = verify_root(*store, root);
    EXPECT_TRUE(verdict) << to_string(verdict.error());
    RecordProperty("records-" + std::to_string(number), static_cast<int>(durable[number]));
  }
}

// kill -9 in the middle of commits: what was acknowledged is there, and the root can be taken over.
TEST(Processes, AKilledWriterLeavesEveryAcknowledgedRecordAndAnOwnerThatIsDead) {
  TempFolder temp;
  for (int round = 0; round < 10; ++round) {
    const std::string name = "victim-" + std::to_string(round);
    int acknowledged[2];
    ASSERT_EQ(pipe(acknowledged), 0);
    const pid_t child = fork();
    if (child == 0) {
      auto store = open_sqlite_record_store(temp.path()).value();
      RootWriter root(name);
      for (;;) {
        Batch batch = root.batch(1);
        if (!store->commit({&batch, 1}).front()) _exit(1);
        const Seq seq = root.last_seq();
        if (write(acknowledged[1], &seq, sizeof seq) != sizeof seq) _exit(1);
      }
    }
    close(acknowledged[1]);
    Seq seen = 0;
    for (int i = 0; i < 5 + 7 * round; ++i) {
      ASSERT_EQ(read(acknowledged[0], &seen, sizeof seen), static_cast<ssize_t>(sizeof seen));
    }
    kill(child, SIGKILL);
    Seq more = 0;
    while (read(acknowledged[0], &more, sizeof more) == sizeof more) seen = more;
    close(acknowledged[0]);
    waitpid(child, nullptr, 0);

    auto store = open_sqlite_record_store(temp.path()).value();
    auto claimed = store->claim(RunId(name), {this_process(), 7}, at_second(1));
    ASSERT_TRUE(claimed) << to_string(claimed.error());
    EXPECT_GE(claimed->last_seq, seen);
    EXPECT_LE(claimed->last_seq, seen + 1);
    EXPECT_EQ(claimed->epoch, 2u);
    EXPECT_TRUE(verify_root(*store, RunId(name)));
  }
}

// A visitor that opens and closes the file while we have it open twice must not take the log away
// from us.
TEST(Processes, ASecondOpenInTheSameProcessKeepsTheLocksOfTheFirst) {
  TempFolder temp;
  auto store = open_sqlite_record_store(temp.path()).value();
  RootWriter root("r1");
  Batch first = root.batch(3);
  ASSERT_TRUE(store->commit({&first, 1}).front());
  ASSERT_TRUE(open_sqlite_record_store(temp.path()));
  auto in_a_child = [&](auto work) {
    const pid_t child = fork();
    if (child == 0) _exit(work());
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(in_a_child([&] {
              sqlite3* raw = nullptr;
              if (sqlite3_open((temp.path() + "/journal.db").c_str(), &raw) != SQLITE_OK) return 1;
              sqlite3_exec(raw, "select count(*) from record", nullptr, nullptr, nullptr);
              return sqlite3_close(raw) == SQLITE_OK ? 0 : 2;
            }),
            0);
  Batch second = root.batch(3);
  ASSERT_TRUE(store->commit({&second, 1}).front());
  EXPECT_EQ(in_a_child([&] {
              auto other = open_sqlite_record_store(temp.path());
              return other ? static_cast<int>((*other)->read(RunId("r1"), 0, 99)->size()) : 99;
            }),
            6);
}

TEST(Processes, TwoMayOpenAFreshFolderAtOnce) {
  for (int round = 0; round < 10; ++round) {
    TempFolder temp;
    std::vector<pid_t> children;
    for (int number = 0; number < kProcesses; ++number) {
      const pid_t child = fork();
      if (child == 0) {
        auto store = open_sqlite_record_store(temp.path());
        RootWriter root("p" + std::to_string(number));
        Batch batch = root.batch(1);
        _exit(store && (*store)->commit({&batch, 1}).front() ? 0 : 1);
      }
      children.push_back(child);
    }
    for (pid_t child : children) {
      int status = 0;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(open_sqlite_record_store(temp.path()).value()->list(9)->size(), 4u);
  }
}

}  // namespace
}  // namespace tug
