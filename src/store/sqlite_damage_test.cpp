// State folders that are unreadable, foreign, damaged, too new or full.
#include <gtest/gtest.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>
#include <random>
#include <sstream>

#include "store/testing.h"
#include "tug/store/record_stores.h"

namespace tug {
namespace {

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void spill(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<long>(bytes.size()));
}

void fill(const std::string& folder, int roots, std::size_t records) {
  auto store = open_sqlite_record_store(folder).value();
  for (int i = 0; i < roots; ++i) {
    RootWriter root("root-" + std::to_string(i));
    Batch batch = root.batch(records);
    root.add_event(
        batch, {.kind = Kind::custom, .data = Json::object({{"big", std::string(17'000, 'b')}})});
    ASSERT_TRUE(store->commit({&batch, 1}).front());
  }
}

void expect_refused(const std::string& folder, ErrorKind kind, const std::string& named) {
  auto opened = open_sqlite_record_store(folder);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind(), kind) << to_string(opened.error());
  EXPECT_NE(opened.error().message().find(named), std::string::npos) << opened.error().message();
  EXPECT_FALSE(opened.error().fix().empty()) << opened.error().message();
}

void set_pragma(const std::string& path, const char* sql) {
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(raw);
  sqlite3_close(raw);
}

TEST(StateFolder, IsMadeForItsOwnerAlone) {
  TempFolder temp;
  const std::string folder = temp.path() + "/a/b/state";
  ASSERT_TRUE(open_sqlite_record_store(folder));
  struct stat status = {};
  ASSERT_EQ(stat(folder.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  for (const char* file : {"/journal.db", "/journal.lock"}) {
    ASSERT_EQ(stat((folder + file).c_str(), &status), 0) << file;
    EXPECT_EQ(status.st_mode & 0777, 0600u) << file;
  }
}

TEST(StateFolder, AFileInItsPlaceIsRefusedByName) {
  TempFolder temp;
  const std::string folder = temp.path() + "/state";
  spill(folder, "not a folder");
  expect_refused(folder, ErrorKind::denied, folder);
  EXPECT_EQ(slurp(folder), "not a folder");
  expect_refused(folder + "/below", ErrorKind::denied, folder + "/below");
}

// Root may write anywhere, so the check runs as another user in a child process.
TEST(StateFolder, OneThatCannotBeWrittenIsRefusedByName) {
  TempFolder temp;
  ASSERT_EQ(chmod(temp.path().c_str(), 0555), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (getuid() == 0 && setuid(65534) != 0) _exit(9);
    auto opened = open_sqlite_record_store(temp.path());
    const bool right = !opened && opened.error().kind() == ErrorKind::denied &&
                       opened.error().message().find(temp.path()) != std::string::npos;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(StateFolder, ReadOnlyFilesInAWritableFolderAreRefusedByName) {
  TempFolder temp;
  fill(temp.path(), 1, 1);
  const std::string path = temp.path() + "/journal.db";
  ASSERT_EQ(chmod(path.c_str(), 0444), 0);
  ASSERT_EQ(chmod(temp.path().c_str(), 0777), 0);
  ASSERT_EQ(chmod((temp.path() + "/journal.lock").c_str(), 0666), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (getuid() == 0 && setuid(65534) != 0) _exit(9);
    auto opened = open_sqlite_record_store(temp.path());
    const bool right = !opened && opened.error().kind() == ErrorKind::denied &&
                       opened.error().message().find(path) != std::string::npos;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(StateFolder, DamagedFilesAreNeitherOpenedNorRecreated) {
  const std::string whole(8192, 'x');
  for (const std::string& bytes : {std::string(), std::string("SQLite form"), whole}) {
    TempFolder temp;
    const std::string path = temp.path() + "/journal.db";
    spill(path, bytes);
    expect_refused(temp.path(), ErrorKind::invalid, path);
    auto opened = open_sqlite_record_store(temp.path());
    ASSERT_NE(opened.error().detail_if<Damage>(), nullptr);
    EXPECT_EQ(opened.error().detail_if<Damage>()->file, path);
    EXPECT_EQ(slurp(path), bytes) << "it was changed";
  }
}

TEST(StateFolder, ALogWithoutItsDatabaseIsNotTakenForANewOne) {
  TempFolder temp;
  spill(temp.path() + "/journal.db-wal", "left over");
  expect_refused(temp.path(), ErrorKind::invalid, "journal.db-wal");
  EXPECT_FALSE(std::filesystem::exists(temp.path() + "/journal.db"));
}

TEST(StateFolder, ADatabaseOfAnotherProgramIsRefused) {
  TempFolder temp;
  set_pragma(temp.path() + "/journal.db", "create table notes(text)");
  expect_refused(temp.path(), ErrorKind::invalid, "not a journal of tug");
}

TEST(StateFolder, ANewerVersionIsRefusedAndNamesBothFormats) {
  TempFolder temp;
  fill(temp.path(), 1, 1);
  set_pragma(temp.path() + "/journal.db", "pragma user_version=2");
  expect_refused(temp.path(), ErrorKind::unsupported, "format 2; this tug reads format 1");
}

TEST(StateFolder, AHalfMadeJournalOfACrashIsNotMistakenForOne) {
  TempFolder temp;
  spill(temp.path() + "/journal.db.new", "half");
  ASSERT_TRUE(open_sqlite_record_store(temp.path()));
}

// Either SQLite's own structure, the chain or a digest shows the flip, or what is read is what was
// written.
TEST(StateFolder, OneFlippedByteAnywhereIsFoundOrHarmless) {
  TempFolder temp;
  fill(temp.path(), 3, 400);
  const std::string path = temp.path() + "/journal.db";
  const std::string good = slurp(path);
  ASSERT_FALSE(std::filesystem::exists(path + "-wal") &&
               std::filesystem::file_size(path + "-wal") > 0);
  std::vector<std::string> written;
  {
    auto store = open_sqlite_record_store(temp.path()).value();
    for (int i = 0; i < 3; ++i) {
      for (const Record& record : store->read(RunId("root-" + std::to_string(i)), 0, 999).value()) {
        written.push_back(record.body);
      }
    }
  }
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 rng(seed);
  int found = 0;
  for (int round = 0; round < 400; ++round) {
    const std::size_t place = rng() % good.size();
    std::string bad = good;
    bad[place] = static_cast<char>(bad[place] ^ (1 << (rng() % 8)));
    for (const char* tail : {"-wal", "-shm"}) std::filesystem::remove(path + tail);
    spill(path, bad);
    auto store = open_sqlite_record_store(temp.path());
    if (!store) {
      EXPECT_FALSE(store.error().message().empty());
      ++found;
      continue;
    }
    bool noticed = !(*store)->check_integrity();
    std::vector<std::string> read;
    for (int i = 0; i < 3; ++i) {
      const RunId root("root-" + std::to_string(i));
      noticed |= !verify_root(**store, root);
      auto records = (*store)->read(root, 0, 999);
      if (!records) continue;
      for (const Record& record : *records) read.push_back(record.body);
    }
    found += noticed;
    EXPECT_TRUE(noticed || read == written) << "byte " << place << " was changed and nobody saw it";
    store->reset();
  }
  EXPECT_GT(found, 200) << "most of the file holds records";
}

TEST(StateFolder, ADamagedRecordIsNamedBySeq) {
  TempFolder temp;
  fill(temp.path(), 1, 5);
  const std::string path = temp.path() + "/journal.db";
  std::string bytes = slurp(path);
  const std::size_t place = bytes.find("{\"n\":4}");
  ASSERT_NE(place, std::string::npos);
  bytes[place + 5] = '7';
  spill(path, bytes);
  auto store = open_sqlite_record_store(temp.path()).value();
  auto verdict = verify_root(*store, RunId("root-0"));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().detail_if<Damage>()->seq, 4u);
  EXPECT_EQ(verdict.error().detail_if<Damage>()->root, "root-0");
}

// What was durable before stays, and the journal works again when there is room.
void expect_survives_a_full_disk(const std::string& folder, SqliteOptions options) {
  auto store = open_sqlite_record_store(folder, options).value();
  RootWriter root("r1");
  Batch first = root.batch(3);
  ASSERT_TRUE(store->commit({&first, 1}).front());
  RootWriter hog("hog");
  Error error(ErrorKind::internal, "it never filled up");
  for (int i = 0; i < 1000; ++i) {
    Batch batch = hog.batch(0);
    hog.add_event(batch, {.kind = Kind::custom,
                          .data = Json::object({{"n", i}, {"fill", std::string(60'000, 'f')}})});
    Result<void> verdict = store->commit({&batch, 1}).front();
    if (verdict) continue;
    error = verdict.error();
    break;
  }
  EXPECT_EQ(error.kind(), ErrorKind::exhausted) << to_string(error);
  EXPECT_NE(error.message().find(folder), std::string::npos) << error.message();
  EXPECT_NE(error.fix().find("free space"), std::string::npos) << error.fix();
  EXPECT_TRUE(verify_root(*store, RunId("r1")));
  EXPECT_TRUE(verify_root(*store, RunId("hog")));
  EXPECT_TRUE(store->check_integrity());
}

TEST(StateFolder, AFullDatabaseLosesNothingDurable) {
  TempFolder temp;
  expect_survives_a_full_disk(temp.path(), {.max_pages = 300});
  // With room again the same roots go on.
  auto store = open_sqlite_record_store(temp.path()).value();
  RootWriter other("other");
  Batch batch = other.batch(2);
  EXPECT_TRUE(store->commit({&batch, 1}).front());
}

// The real thing: a file system of 2 MB in a mount namespace of its own. Where a user may not
// mount, the test above has to do.
TEST(StateFolder, AFullDiskLosesNothingDurable) {
  TempFolder temp;
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", temp.path().c_str(), "tmpfs", 0, "size=2m") != 0) {
      _exit(0);
    }
    expect_survives_a_full_disk(temp.path(), {});
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace tug
