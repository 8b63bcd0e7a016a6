#include "store/sqlite_db.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace tug {
namespace {

TEST(SqliteStatement, AValueThatDoesNotFitIsAnErrorAndNotARowThatIsMissing) {
  constexpr std::size_t kSize = 1'100'000'000;
  void* memory =
      mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const std::string_view large(static_cast<const char*>(memory), kSize);
  auto database = Database::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, 0);
  ASSERT_TRUE(database);
  ASSERT_TRUE(database->exec("CREATE TABLE t (a BLOB NOT NULL, b INTEGER)"));
  auto insert = database->prepare("INSERT OR IGNORE INTO t VALUES (?, ?)");
  ASSERT_TRUE(insert);
  for (int i = 0; i < 2; ++i) {
    i == 0 ? insert->bind_blob(large) : insert->bind_text(large);
    EXPECT_EQ(insert->bind(1).run(), SQLITE_TOOBIG);
    const Error error = database->error("writing");
    EXPECT_EQ(error.kind(), ErrorKind::exhausted);
    EXPECT_EQ(error.message(), ":memory:: writing: string or blob too big");
  }
  EXPECT_EQ(insert->bind_blob("x").bind(1).run(), SQLITE_DONE);
  munmap(memory, kSize);
}

}  // namespace
}  // namespace tug
