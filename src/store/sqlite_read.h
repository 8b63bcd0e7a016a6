// The reading side of the SQLite backend: one connection of its own behind a mutex, opened when
// first used.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "store/sqlite_db.h"
#include "tug/journal/record_store.h"

namespace tug {

// The runs of one read, so that records of one run share one lineage.
class Lineages {
 public:
  Lineages(Database& database, const RunId& root) : database_(database), root_(root) {}
  Result<LineagePtr> of(std::int64_t run);

 private:
  Database& database_;
  RunId root_;
  std::map<std::int64_t, LineagePtr> known_;
};

// On any connection; the writer uses it inside its own transaction.
Result<RootInfo> read_root(Database& database, const RunId& root, const std::string& where);

class SqliteReader {
 public:
  SqliteReader(std::string path, std::uint32_t busy_ms)
      : path_(std::move(path)), busy_ms_(busy_ms) {}

  Result<RootInfo> info(const RunId& root);
  Result<std::vector<RootInfo>> list(std::size_t limit);
  Result<std::vector<RunName>> find_runs(std::string_view part, std::size_t limit);
  Result<std::vector<Record>> read(const RunId& root, Seq after, std::size_t limit);
  Result<std::string> blob(const Digest& digest);
  Result<std::vector<Partial>> partials(const RunId& root);
  Result<std::vector<InboxCommand>> inbox(const RunId& root);
  Result<std::vector<RunId>> addressed();
  Result<void> send(const RunId& root, const InboxCommand& command);
  Result<void> check_integrity();

 private:
  Result<Database*> connection();
  Result<std::int64_t> root_id(Database& database, const RunId& root);

  std::string path_;
  std::uint32_t busy_ms_;
  std::mutex mutex_;
  std::optional<Database> database_;
};

}  // namespace tug
