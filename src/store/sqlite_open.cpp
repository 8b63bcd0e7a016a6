#include "store/sqlite_open.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/try.h"

namespace tug {
namespace {

constexpr std::int64_t kApplication = 0x7475676a;  // "tugj"
constexpr std::int64_t kFormat = 1;
constexpr off_t kSmallestDatabase = 512;

constexpr const char* kTables = R"sql(
create table meta   (key text primary key, value text not null);
create table root   (id integer primary key, run_id text not null unique, thread_id text not null,
                     base integer references root(id), base_seq integer, genesis blob not null,
                     epoch integer not null, owner text, lease_until integer,
                     status integer not null, created integer not null, updated integer not null,
                     summary text not null);
create table run    (id integer primary key, run_id text not null unique, root integer not null references root(id),
                     parent integer references run(id), depth integer not null, agent text not null,
                     call_id text, thread_id text not null);
create table record (id integer primary key, root integer not null, seq integer not null, run integer not null,
                     ts integer not null, body blob not null, hash blob not null);
create unique index record_seq on record(root, seq);
create table blob   (digest blob primary key, size integer not null, bytes blob not null);
create table partial(root integer not null, call text not null, n integer not null, bytes blob not null,
                     primary key (root, call, n)) without rowid;
create table inbox  (id integer primary key, root integer not null, command blob not null, sender text not null,
                     created integer not null);
create index inbox_root on inbox(root);
create index root_base on root(base);
)sql";

Failure denied(const std::string& path, const std::string& what) {
  return fail(ErrorKind::denied, path + ": " + what,
              "make it writable for this user, or name another --state-dir",
              Denied{path, "the file system"});
}

// What the system said, as the kind it is.
Failure no_entry(const std::string& path, int reason) {
  if (reason == ENOSPC || reason == EDQUOT) {
    return fail(ErrorKind::exhausted, path + ": " + std::strerror(reason),
                "free space on that disk");
  }
  if (reason == EMFILE || reason == ENFILE) {
    return fail(ErrorKind::exhausted, path + ": " + std::strerror(reason),
                "raise the limit of open files (ulimit -n)");
  }
  return denied(path, std::strerror(reason));
}

Failure damaged(const std::string& path, const std::string& what) {
  return fail(ErrorKind::invalid, path + ": " + what,
              "nothing was changed: move the file away and restore it from a copy, or name another "
              "--state-dir",
              Damage{.file = path});
}

Result<void> make_folder(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path path(folder);
  if (std::filesystem::is_directory(path, error)) {
    if (access(folder.c_str(), R_OK | W_OK | X_OK) == 0) return {};
    return no_entry(folder, errno);
  }
  if (std::filesystem::exists(path, error)) return denied(folder, "it is not a folder");
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return no_entry(folder, errno);
}

Result<std::int64_t> pragma(Database& database, const char* name) {
  TUG_TRY(statement, database.prepare(std::string("pragma ") + name));
  if (statement.step() != SQLITE_ROW) return Failure(database.error(name));
  return statement.integer(0);
}

// A journal that exists must be one before SQLite may touch it: SQLite would take an empty file for
// a new database. The file is looked at and never opened here: closing a descriptor would drop
// every lock that this process has on it, and with them the log under another connection.
Result<bool> already_there(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) return no_entry(path, errno);
    if (access((path + "-wal").c_str(), F_OK) == 0) {
      return damaged(path, "the file is missing but its log " + path + "-wal is there");
    }
    return false;
  }
  if (!S_ISREG(status.st_mode)) return denied(path, "it is not a regular file");
  if (access(path.c_str(), R_OK | W_OK) != 0) return no_entry(path, errno);
  if (status.st_size < kSmallestDatabase) {
    return damaged(path, "the file has " + std::to_string(status.st_size) +
                             " bytes; it was cut off or is not a journal");
  }
  return true;
}

// Made aside and moved into place whole, so that a crash never leaves half a journal behind.
Result<void> create_journal(const std::string& folder, const std::string& path) {
  const std::string fresh = path + ".new";
  unlink(fresh.c_str());
  unlink((fresh + "-wal").c_str());
  unlink((fresh + "-shm").c_str());
  {
    const int fd = open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return no_entry(fresh, errno);
    close(fd);
    TUG_TRY(database, Database::open(fresh, SQLITE_OPEN_READWRITE, 0));
    TUG_TRY(begun,
            database.exec(
                "pragma page_size=4096; pragma journal_mode=wal; pragma synchronous=full; begin"));
    TUG_TRY(made, database.exec(kTables));
    const std::string marks = "insert into meta values('format','" + std::to_string(kFormat) +
                              "'); pragma application_id=" + std::to_string(kApplication) +
                              "; pragma user_version=" + std::to_string(kFormat) +
                              "; commit; pragma wal_checkpoint(truncate)";
    TUG_TRY(marked, database.exec(marks.c_str()));
  }
  unlink((fresh + "-wal").c_str());
  unlink((fresh + "-shm").c_str());
  if (rename(fresh.c_str(), path.c_str()) != 0) return no_entry(path, errno);
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    fsync(fd);
    close(fd);
  }
  return {};
}

Result<void> check_version(Database& database) {
  TUG_TRY(application, pragma(database, "application_id"));
  if (application != kApplication) {
    return damaged(database.path(), "the file is a database, but not a journal of tug");
  }
  TUG_TRY(format, pragma(database, "user_version"));
  if (format == kFormat) return {};
  return fail(ErrorKind::unsupported,
              database.path() + ": written in format " + std::to_string(format) +
                  "; this tug reads format " + std::to_string(kFormat),
              "use the newer tug that wrote it, or name another --state-dir");
}

}  // namespace

Result<OpenedJournal> open_journal_file(const std::string& folder, const SqliteOptions& options) {
  TUG_TRY(made, make_folder(folder));
  const std::string path = folder + "/journal.db";
  TUG_TRY(lock, FileLock::open(folder + "/journal.lock"));
  TUG_TRY(present, already_there(path));
  if (!present) {
    TUG_TRY(alone, lock.lock_alone(options.busy_ms));
    Locked held(lock);
    TUG_TRY(by_another, already_there(path));
    if (!by_another) {
      TUG_TRY(created, create_journal(folder, path));
    }
  }
  TUG_TRY(writer, Database::open(path, SQLITE_OPEN_READWRITE, options.busy_ms));
  TUG_TRY(known, check_version(writer));
  TUG_TRY(set, writer.exec(
                   "pragma synchronous=full; pragma wal_autocheckpoint=0; pragma foreign_keys=on; "
                   "pragma journal_size_limit=67108864"));
  if (options.max_pages) {
    const std::string cap = "pragma max_page_count=" + std::to_string(options.max_pages);
    TUG_TRY(capped, writer.exec(cap.c_str()));
  }
  return OpenedJournal{path, std::move(lock), std::move(writer)};
}

}  // namespace tug
