#include "store/sqlite_read.h"

#include <map>

#include "core/try.h"
#include "store/fence.h"

namespace tug {
namespace {

Time time_of(std::int64_t nanos) { return Time(Duration(nanos)); }

Failure damaged(const std::string& file, const std::string& root, Seq seq,
                const std::string& what) {
  return fail(
      ErrorKind::invalid,
      file + ": root " + root + (seq ? ", record " + std::to_string(seq) : "") + ": " + what,
      "the file is damaged; restore it from a copy",
      Damage{.file = file, .root = root, .seq = seq});
}

constexpr const char* kRootColumns =
    "select r.run_id, r.thread_id, b.run_id, r.base_seq, "
    "(select hash from record where root=r.base and seq=r.base_seq), r.genesis, r.epoch, r.owner, "
    "r.status, r.created, r.updated, r.summary, "
    "(select seq from record where root=r.id order by seq desc limit 1), "
    "(select hash from record where root=r.id order by seq desc limit 1), "
    "coalesce((select agent from run where run_id=r.run_id), ''), r.base "
    "from root r left join root b on b.id=r.base ";

Result<RootInfo> root_row(const Statement& row, const std::string& file) {
  auto who = std::make_shared<Lineage>();
  who->run_id = RunId(row.text(0));
  who->root_run_id = who->run_id;
  who->thread_id = ThreadId(row.text(1));
  who->agent = row.text(14);
  RootInfo info;
  const std::string& root = who->run_id.text();
  if (!row.is_null(15)) {
    const auto hash = Digest::from_bytes(row.blob(4));
    if (row.is_null(2) || !hash) return damaged(file, root, 0, "its base is missing");
    info.base = Base{RunId(row.text(2)), static_cast<Seq>(row.integer(3)), *hash};
  }
  const auto genesis = Digest::from_bytes(row.blob(5));
  if (!genesis) return damaged(file, root, 0, "its genesis is not a digest");
  info.genesis = *genesis;
  info.epoch = static_cast<std::uint64_t>(row.integer(6));
  if (!row.is_null(7)) {
    info.owner = owner_from(row.text(7));
    if (!info.owner) return damaged(file, root, 0, "its owner cannot be read");
  }
  if (row.integer(8) < 0 || row.integer(8) > static_cast<std::int64_t>(RootStatus::cancelled)) {
    return damaged(file, root, 0, "it has no known status");
  }
  info.status = static_cast<RootStatus>(row.integer(8));
  info.created = time_of(row.integer(9));
  info.updated = time_of(row.integer(10));
  auto summary = parse_json(row.text(11));
  if (!summary) return damaged(file, root, 0, "its summary is not JSON");
  info.summary = *std::move(summary);
  info.last_hash = info.genesis;
  if (!row.is_null(12)) {
    const auto hash = Digest::from_bytes(row.blob(13));
    info.last_seq = static_cast<Seq>(row.integer(12));
    if (!hash) return damaged(file, root, info.last_seq, "its hash is not a digest");
    info.last_hash = *hash;
  }
  info.who = std::move(who);
  return info;
}

}  // namespace

Result<LineagePtr> Lineages::of(std::int64_t run) {
  if (auto known = known_.find(run); known != known_.end()) return known->second;
  TUG_TRY(statement,
          database_.prepare("select r.run_id, r.thread_id, p.run_id, r.call_id, r.depth, r.agent "
                            "from run r left join run p on p.id=r.parent where r.id=?"));
  statement.bind(run);
  const int code = statement.step();
  if (code == SQLITE_DONE) {
    return damaged(database_.path(), root_.text(), 0,
                   "run number " + std::to_string(run) + " is missing");
  }
  if (code != SQLITE_ROW) return Failure(database_.error("reading a run"));
  auto who = std::make_shared<Lineage>();
  who->run_id = RunId(statement.text(0));
  who->thread_id = ThreadId(statement.text(1));
  who->root_run_id = root_;
  if (!statement.is_null(2)) who->parent_run_id = RunId(statement.text(2));
  if (!statement.is_null(3)) who->parent_call_id = CallId(statement.text(3));
  who->depth = static_cast<std::uint32_t>(statement.integer(4));
  who->agent = statement.text(5);
  return known_[run] = std::move(who);
}

Result<RootInfo> read_root(Database& database, const RunId& root, const std::string& where) {
  TUG_TRY(statement, database.prepare(std::string(kRootColumns) + "where r.run_id=?"));
  statement.bind_text(root.text());
  const int code = statement.step();
  if (code == SQLITE_ROW) return root_row(statement, database.path());
  if (code == SQLITE_DONE) return no_such_root(root, where);
  return Failure(database.error("reading a root"));
}

Result<Database*> SqliteReader::connection() {
  if (database_) return &*database_;
  TUG_TRY(opened, Database::open(path_, SQLITE_OPEN_READWRITE, busy_ms_));
  TUG_TRY(set, opened.exec(
                   "pragma synchronous=full; pragma wal_autocheckpoint=0; pragma foreign_keys=on"));
  database_ = std::move(opened);
  return &*database_;
}

Result<std::int64_t> SqliteReader::root_id(Database& database, const RunId& root) {
  TUG_TRY(statement, database.prepare("select id from root where run_id=?"));
  statement.bind_text(root.text());
  const int code = statement.step();
  if (code == SQLITE_ROW) return statement.integer(0);
  if (code == SQLITE_DONE) return no_such_root(root, path_);
  return Failure(database.error("looking for a root"));
}

Result<RootInfo> SqliteReader::info(const RunId& root) {
  std::scoped_lock lock(mutex_);
  TUG_TRY(database, connection());
  return read_root(*database, root, path_);
}

Result<std::vector<RootInfo>> SqliteReader::list(std::size_t limit) {
  std::scoped_lock lock(mutex_);
  TUG_TRY(database, connection());
  TUG_TRY(statement, database->prepare(std::string(kRootColumns) + "order by r.id desc limit ?"));
  statement.bind(static_cast<std::int64_t>(limit));
  std::vector<RootInfo> infos;
  int code = statement.step();
  for (; code == SQLITE_ROW; code = statement.step()) {
    TUG_TRY(info, root_row(statement, path_));
    infos.push_back(std::move(info));
  }
  if (code != SQLITE_DONE) return Failure(database->error("listing roots"));
  return infos;
}

Result<std::vector<RunName>> SqliteReader::find_runs(std::string_view part, std::size_t limit) {
  std::scoped_lock lock(mutex_);
  TUG_TRY(database, connection());
  TUG_TRY(
      statement,
      database->prepare("select c.run_id, r.run_id from run c join root r on r.id=c.root "
                        "where substr(c.run_id,1,length(?1))=?1 or substr(c.run_id,-length(?1))=?1 "
                        "order by c.root desc, c.id limit ?2"));
  statement.bind_text(part).bind(static_cast<std::int64_t>(limit));
  std::vector<RunName> names;
  int code = statement.step();
  for (; code == SQLITE_ROW; code = statement.step()) {
    names.push_back({RunId(statement.text(0)), RunId(statement.text(1))});
  }
  if (code != SQLITE_DONE) return Failure(database->error("looking for runs"));
  return names;
}

Result<std::vector<Record>> SqliteReader::read(const RunId& root, Seq after, std::size_t limit) {
  std::scoped_lock lock(mutex_);
  TUG_TRY(database, connection());
  TUG_TRY(id, root_id(*database, root));
  TUG_TRY(statement, database->prepare("select seq, run, ts, body, hash from record "
                                       "where root=? and seq>? order by seq limit ?"));
  statement.bind(id).bind(static_cast<std::int64_t>(after)).bind(static_cast<std::int64_t>(limit));
  Lineages lineages(*database, root);
  std::vector<Record> records;
  int code = statement.step();
  for (; code == SQLITE_ROW; code = statement.step()) {
    Record record{.seq = static_cast<Seq>(statement.integer(0)),
                  .ts = time_of(statement.integer(2))};
    TUG_TRY(who, lineages.of(statement.integer(1)));
    record.who = std::move(who);
    record.body = statement.blob(3);
    const auto hash = Digest::from_bytes(statement.blob(4));
    if (!hash) return damaged(path_, root.text(), record.seq, "its hash is not a digest");
    record.hash = *hash;
    records.push_back(std::move(record));
  }
  if (code != SQLITE_DONE) return Failure(database->error("reading records of " + root.text()));
  return records;
}

Result<std::string> SqliteReader::blob(const Digest& digest) {
  std::scoped_lock lock(mutex_);
  TUG_TRY(database, connection());
  TUG_TRY(statement, database->prepare("select bytes from blob where digest=?"));
  statement.bind_blob(digest.view());
  const int code = statement.step();
  if (code == SQLITE_ROW) return std::string(statement.blob(0));
  if (code == SQLITE_DONE) return no_such_blob(digest, path_);
  return Failure(database->error("reading a blob"));
}

Result<std::vector<Partial>> SqliteReader::partials(const RunId& root) {
  std::scoped_lock lock(mutex_);
  TUG_TRY(database, connection());
  TUG_TRY(id, root_id(*database, root));
  TUG_TRY(statement,
          database->prepare("select call, n, bytes from partial where root=? order by call, n"));
  statement.bind(id);
  std::vector<Partial> partials;
  int code = statement.step();
  for (; code == SQLITE_ROW; code = statement.step()) {
    partials.push_back({CallId(statement.text(0)), static_cast<std::uint32_t>(statement.integer(1)),
                        std::string(statement.blob(2))});
  }
  if (code != SQLITE_DONE) return Failure(database->error("reading partials"));
  return partials;
}

Result<std::vector<InboxCommand>> SqliteReader::inbox(const RunId& root) {
  std::scoped_lock lock(mutex_);
  TUG_TRY(database, connection());
  TUG_TRY(id, root_id(*database, root));
  TUG_TRY(
      statement,
      database->prepare("select id, command, sender, created from inbox where root=? order by id"));
  statement.bind(id);
  std::vector<InboxCommand> commands;
  int code = statement.step();
  for (; code == SQLITE_ROW; code = statement.step()) {
    commands.push_back({statement.integer(0), std::string(statement.blob(1)),
                        std::string(statement.text(2)), time_of(statement.integer(3))});
  }
  if (code != SQLITE_DONE) return Failure(database->error("reading the inbox"));
  return commands;
}

Result<std::vector<RunId>> SqliteReader::addressed() {
  std::scoped_lock lock(mutex_);
  TUG_TRY(database, connection());
  TUG_TRY(statement,
          database->prepare("select run_id from root where id in (select root from inbox)"));
  std::vector<RunId> roots;
  int code = statement.step();
  for (; code == SQLITE_ROW; code = statement.step()) {
    roots.emplace_back(std::string(statement.text(0)));
  }
  if (code != SQLITE_DONE) return Failure(database->error("reading the inboxes"));
  return roots;
}

Result<void> SqliteReader::send(const RunId& root, const InboxCommand& command) {
  std::scoped_lock lock(mutex_);
  TUG_TRY(database, connection());
  TUG_TRY(id, root_id(*database, root));
  // By itself SQLite gives the id of a command that was taken to the next one, which its reader
  // would hold for the same.
  TUG_TRY(statement,
          database->prepare("insert into inbox(root,command,sender,created,id) values(?1,?2,?3,?4,"
                            "max(?4, 1 + coalesce((select max(id) from inbox), 0)))"));
  statement.bind(id)
      .bind_blob(command.command)
      .bind_text(command.sender)
      .bind(command.created.time_since_epoch().count());
  if (statement.run() == SQLITE_DONE) return {};
  return Failure(database->error("sending a command"));
}

Result<void> SqliteReader::check_integrity() {
  std::scoped_lock lock(mutex_);
  TUG_TRY(database, connection());
  TUG_TRY(statement, database->prepare("pragma integrity_check(4)"));
  std::string findings;
  int code = statement.step();
  for (; code == SQLITE_ROW; code = statement.step()) {
    if (statement.text(0) == "ok") continue;
    if (!findings.empty()) findings += "; ";
    findings += statement.text(0);
  }
  if (code != SQLITE_DONE) return Failure(database->error("checking integrity"));
  if (findings.empty()) return {};
  return fail(ErrorKind::invalid, path_ + ": " + findings,
              "the file is damaged; restore it from a copy", Damage{.file = path_});
}

}  // namespace tug
