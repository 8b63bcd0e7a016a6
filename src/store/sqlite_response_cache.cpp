#include <fcntl.h>
#include <unistd.h>

#include <mutex>

#include "core/try.h"
#include "store/sqlite_db.h"
#include "tug/store/response_cache.h"

namespace tug {
namespace {

constexpr std::uint32_t kBusyMs = 250;
constexpr std::int64_t kApplication = 0x54756743;  // "TugC"
constexpr const char* kSchema =
    "create table if not exists entry (key blob primary key, bytes blob not null, sum blob not "
    "null, until integer not null, used integer not null) without rowid;"
    "create index if not exists entry_used on entry(used);";

// No WAL: the file is small, its writers are rare, and what a crash tears is only a cache.
constexpr const char* kPragmas = "pragma journal_mode=truncate; pragma synchronous=off;";

struct Statements {
  Statement get;
  Statement touch;
  Statement put;
  Statement size;
  Statement oldest;
};

class SqliteCache final : public ResponseCache {
 public:
  SqliteCache(Database database, Statements statements, CacheBounds bounds)
      : database_(std::move(database)), use_(std::move(statements)), bounds_(bounds) {}

  std::optional<std::string> get(const Digest& key, Time now) override {
    const std::scoped_lock hold(lock_);
    std::optional<std::string> bytes = read(key, now);
    ++(bytes ? stats_.hits : stats_.misses);
    return bytes;
  }

  void put(const Digest& key, std::string bytes, Duration ttl, Time now) override {
    const std::scoped_lock hold(lock_);
    const Digest sum = sha256(bytes);
    const std::int64_t at = now.time_since_epoch().count();
    const std::int64_t until =
        ttl > Duration::zero() ? (now + ttl).time_since_epoch().count() : std::int64_t{0};
    {
      const Using put(use_.put);
      put->bind_blob(key.view()).bind_blob(bytes).bind_blob(sum.view()).bind(until).bind(at);
      if (put->run() != SQLITE_DONE) {
        ++stats_.failed;
        return;
      }
    }
    make_room();
  }

  void clear() override {
    const std::scoped_lock hold(lock_);
    if (!database_.exec("delete from entry")) ++stats_.failed;
  }

  CacheStats stats() const override {
    const std::scoped_lock hold(lock_);
    CacheStats stats = stats_;
    const Using size(use_.size);
    if (size->step() == SQLITE_ROW) {
      stats.entries = static_cast<std::size_t>(size->integer(0));
      stats.bytes = static_cast<std::size_t>(size->integer(1));
    }
    return stats;
  }

 private:
  std::optional<std::string> read(const Digest& key, Time now) {
    std::string bytes;
    {
      const Using get(use_.get);
      get->bind_blob(key.view());
      const int step = get->step();
      if (step != SQLITE_ROW) {
        if (step != SQLITE_DONE) ++stats_.failed;
        return std::nullopt;
      }
      bytes = get->blob(0);
      const std::int64_t until = get->integer(2);
      if (until != 0 && now.time_since_epoch().count() >= until) return std::nullopt;
      if (sha256(bytes).view() != get->blob(1)) {
        ++stats_.failed;
        return std::nullopt;
      }
    }
    const Using touch(use_.touch);
    touch->bind(now.time_since_epoch().count()).bind_blob(key.view());
    touch->run();
    return bytes;
  }

  void make_room() {
    while (true) {
      {
        const Using size(use_.size);
        if (size->step() != SQLITE_ROW) return;
        const auto entries = static_cast<std::size_t>(size->integer(0));
        const auto bytes = static_cast<std::size_t>(size->integer(1));
        if (entries <= 1 || (entries <= bounds_.entries && bytes <= bounds_.bytes)) return;
      }
      const Using oldest(use_.oldest);
      if (oldest->run() != SQLITE_DONE) {
        ++stats_.failed;
        return;
      }
      ++stats_.evicted;
    }
  }

  mutable std::mutex lock_;
  Database database_;
  mutable Statements use_;
  const CacheBounds bounds_;
  CacheStats stats_;
};

Result<void> check_owner(Database& database) {
  TUG_TRY(version, database.prepare("pragma application_id"));
  if (version.step() != SQLITE_ROW) return Failure(database.error("opening a response cache"));
  const std::int64_t owner = version.integer(0);
  version.reset();
  TUG_TRY(tables, database.prepare("select count(*) from sqlite_master"));
  if (tables.step() != SQLITE_ROW) return Failure(database.error("opening a response cache"));
  const bool empty = tables.integer(0) == 0;
  if (owner == kApplication || (owner == 0 && empty)) return {};
  return fail(ErrorKind::invalid, database.path() + " is not a response cache",
              "name another file");
}

}  // namespace

Result<std::shared_ptr<ResponseCache>> open_response_cache(const std::filesystem::path& file,
                                                           CacheBounds bounds) {
  // Answers are nobody else's business; SQLite would make it for all to read.
  const int made_file = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (made_file >= 0) ::close(made_file);
  TUG_TRY(database,
          Database::open(file.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, kBusyMs));
  TUG_TRY(ours, check_owner(database));
  TUG_TRY(set, database.exec(kPragmas));
  TUG_TRY(owned, database.exec(("pragma application_id=" + std::to_string(kApplication)).c_str()));
  TUG_TRY(made, database.exec(kSchema));
  Statements use;
  TUG_TRY(get, database.prepare("select bytes, sum, until from entry where key = ?"));
  TUG_TRY(touch, database.prepare("update entry set used = ? where key = ?"));
  TUG_TRY(put, database.prepare("insert or replace into entry values (?, ?, ?, ?, ?)"));
  TUG_TRY(size, database.prepare("select count(*), coalesce(sum(length(bytes)), 0) from entry"));
  TUG_TRY(oldest, database.prepare("delete from entry where key = (select key from entry order by "
                                   "used limit 1)"));
  use.get = std::move(get);
  use.touch = std::move(touch);
  use.put = std::move(put);
  use.size = std::move(size);
  use.oldest = std::move(oldest);
  return std::make_shared<SqliteCache>(std::move(database), std::move(use), bounds);
}

}  // namespace tug
