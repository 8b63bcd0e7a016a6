// SQLite's C API with owners and our errors; nothing else includes sqlite3.h but the files of this
// backend.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tug/core/error.h"

namespace tug {

// A prepared statement. Bind in order, step, read columns, reset; views live until the next step or
// reset.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* raw) : raw_(raw, &sqlite3_finalize) {}

  Statement& bind(std::int64_t value) noexcept;
  Statement& bind_text(std::string_view text) noexcept;  // the bytes must live until reset
  Statement& bind_blob(std::string_view bytes) noexcept;
  Statement& bind_null() noexcept;

  // SQLITE_TOOBIG, and nothing done, when a value was refused.
  int step() noexcept;
  // Runs a statement that gives no rows.
  int run() noexcept;
  void reset() noexcept;

  std::int64_t integer(int column) const noexcept {
    return sqlite3_column_int64(raw_.get(), column);
  }
  std::string_view text(int column) const noexcept;
  std::string_view blob(int column) const noexcept;
  bool is_null(int column) const noexcept {
    return sqlite3_column_type(raw_.get(), column) == SQLITE_NULL;
  }

 private:
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> raw_{nullptr, &sqlite3_finalize};
  int bound_ = 0;
  int refused_ = 0;  // why a value could not be bound
};

// A statement that is reset when the scope ends, however it ends.
class Using {
 public:
  explicit Using(Statement& statement) noexcept : statement_(statement) {}
  ~Using() { statement_.reset(); }
  Using(const Using&) = delete;
  Using& operator=(const Using&) = delete;
  Statement* operator->() const noexcept { return &statement_; }

 private:
  Statement& statement_;
};

// One connection. Not thread-safe.
class Database {
 public:
  Database() = default;
  static Result<Database> open(const std::string& path, int flags, std::uint32_t busy_ms);

  Result<void> exec(const char* sql);
  Result<Statement> prepare(std::string_view sql);
  Error error(std::string_view doing) const;
  sqlite3* raw() const noexcept { return raw_.get(); }
  const std::string& path() const noexcept { return path_; }

 private:
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> raw_{nullptr, &sqlite3_close_v2};
  std::string path_;
};

}  // namespace tug
