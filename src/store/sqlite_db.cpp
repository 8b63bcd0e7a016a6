#include "store/sqlite_db.h"

#include <cerrno>
#include <cstring>

#include "core/try.h"

namespace tug {
namespace {

Error sqlite_error(sqlite3* raw, const std::string& path, std::string_view doing) {
  const int code = raw ? sqlite3_extended_errcode(raw) : SQLITE_NOMEM;
  const int system = raw ? sqlite3_system_errno(raw) : 0;
  std::string text =
      path + ": " + std::string(doing) + ": " + (raw ? sqlite3_errmsg(raw) : "out of memory");
  if (system && (code & 0xff) == SQLITE_IOERR)
    text += std::string(" (") + std::strerror(system) + ")";
  switch (code & 0xff) {
    case SQLITE_FULL:
      return Error(ErrorKind::exhausted, text,
                   "free space on that disk, then resume; nothing durable is lost");
    case SQLITE_IOERR:
      if (system == ENOSPC || system == EDQUOT || system == EFBIG) {
        return Error(ErrorKind::exhausted, text,
                     "free space on that disk, then resume; nothing durable is lost");
      }
      return Error(ErrorKind::internal, text, "check the disk");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Error(ErrorKind::invalid, text,
                   "the file is damaged: copy it away and restore it from a copy, or name another "
                   "--state-dir; nothing was changed",
                   Damage{.file = path});
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
    case SQLITE_AUTH:
      return Error(ErrorKind::denied, text,
                   "make it writable for this user, or name another --state-dir",
                   Denied{path, "the file system"});
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error(ErrorKind::overloaded, text, "another process holds the journal; try again");
    case SQLITE_TOOBIG:
      return Error(ErrorKind::exhausted, text, "keep less in one record: a gigabyte does not fit");
    case SQLITE_NOMEM:
      return Error(ErrorKind::exhausted, text);
    default:
      return Error(ErrorKind::internal, text);
  }
}

}  // namespace

// Once a value is refused no other is bound, so that the error stays the connection's last one.
Statement& Statement::bind(std::int64_t value) noexcept {
  if (refused_ == SQLITE_OK) refused_ = sqlite3_bind_int64(raw_.get(), ++bound_, value);
  return *this;
}

Statement& Statement::bind_text(std::string_view text) noexcept {
  if (refused_ != SQLITE_OK) return *this;
  refused_ = sqlite3_bind_text64(raw_.get(), ++bound_, text.data() ? text.data() : "", text.size(),
                                 SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) noexcept {
  if (refused_ != SQLITE_OK) return *this;
  refused_ = sqlite3_bind_blob64(raw_.get(), ++bound_, bytes.data() ? bytes.data() : "",
                                 bytes.size(), SQLITE_STATIC);
  return *this;
}

Statement& Statement::bind_null() noexcept {
  if (refused_ == SQLITE_OK) refused_ = sqlite3_bind_null(raw_.get(), ++bound_);
  return *this;
}

int Statement::step() noexcept {
  return refused_ == SQLITE_OK ? sqlite3_step(raw_.get()) : refused_;
}

int Statement::run() noexcept {
  const int code = step();
  reset();
  return code;
}

void Statement::reset() noexcept {
  sqlite3_reset(raw_.get());
  bound_ = 0;
  refused_ = SQLITE_OK;
}

std::string_view Statement::text(int column) const noexcept {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(raw_.get(), column));
  const int size = sqlite3_column_bytes(raw_.get(), column);
  return bytes ? std::string_view(bytes, static_cast<std::size_t>(size)) : std::string_view();
}

std::string_view Statement::blob(int column) const noexcept {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(raw_.get(), column));
  const int size = sqlite3_column_bytes(raw_.get(), column);
  return bytes ? std::string_view(bytes, static_cast<std::size_t>(size)) : std::string_view();
}

Result<Database> Database::open(const std::string& path, int flags, std::uint32_t busy_ms) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database;
  database.raw_.reset(raw);
  database.path_ = path;
  if (code != SQLITE_OK) return Failure(database.error("opening"));
  sqlite3_busy_timeout(raw, static_cast<int>(busy_ms));
  // Checkpoints happen in one place, under our exclusive lock, and nowhere else.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_extended_result_codes(raw, 1);
  return database;
}

Result<void> Database::exec(const char* sql) {
  if (sqlite3_exec(raw_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  const std::string_view text(sql);
  return Failure(error(text.substr(0, text.find_first_of(";(\n"))));
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(raw_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) return Failure(error(sql));
  return Statement(raw);
}

Error Database::error(std::string_view doing) const {
  return sqlite_error(raw_.get(), path_, doing);
}

}  // namespace tug
