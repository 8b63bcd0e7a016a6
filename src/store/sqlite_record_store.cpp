#include <mutex>
#include <unordered_map>

#include "core/try.h"
#include "store/fence.h"
#include "store/file_lock.h"
#include "store/sqlite_db.h"
#include "store/sqlite_open.h"
#include "store/sqlite_read.h"
#include "tug/store/record_stores.h"

namespace tug {
namespace {

std::int64_t nanos(Time time) { return time.time_since_epoch().count(); }

// The statements of one transaction, prepared once.
struct Writes {
  Statement begin, commit, rollback, mark, keep, undo;
  Statement new_root, new_run, root_of, epoch_of, last_of, run_of, hash_at;
  Statement record, blob, partial, end_partial, take, status, summary, touch, release, claim;
};

Result<void> prepare(Database& database, Writes& w) {
  const std::pair<Statement*, const char*> all[] = {
      {&w.begin, "begin immediate"},
      {&w.commit, "commit"},
      {&w.rollback, "rollback"},
      {&w.mark, "savepoint batch"},
      {&w.keep, "release batch"},
      {&w.undo, "rollback to batch"},
      {&w.new_root,
       "insert into "
       "root(run_id,thread_id,base,base_seq,genesis,epoch,owner,status,created,updated,summary) "
       "values(?,?,?,?,?,?,?,?,?,?,?)"},
      {&w.new_run,
       "insert into run(run_id,root,parent,depth,agent,call_id,thread_id) values(?,?,?,?,?,?,?)"},
      {&w.root_of, "select id from root where run_id=?"},
      {&w.epoch_of, "select epoch,owner from root where id=?"},
      {&w.last_of, "select seq from record where root=? order by seq desc limit 1"},
      {&w.run_of, "select id,root from run where run_id=?"},
      {&w.hash_at, "select hash from record where root=? and seq=?"},
      {&w.record, "insert into record(root,seq,run,ts,body,hash) values(?,?,?,?,?,?)"},
      {&w.blob, "insert or ignore into blob values(?,?,?)"},
      {&w.partial, "insert or replace into partial values(?,?,?,?)"},
      {&w.end_partial, "delete from partial where root=? and call=?"},
      {&w.take, "delete from inbox where root=? and id=?"},
      {&w.status, "update root set status=? where id=?"},
      {&w.summary, "update root set summary=? where id=?"},
      {&w.touch, "update root set updated=? where id=?"},
      {&w.release, "update root set owner=null where id=?"},
      {&w.claim, "update root set epoch=?,owner=?,updated=? where id=?"},
  };
  for (auto [statement, sql] : all) {
    TUG_TRY(prepared, database.prepare(sql));
    *statement = std::move(prepared);
  }
  return {};
}

// What we know of a root we write to; true while our epoch is the root's.
struct KnownRun {
  std::int64_t number = 0;
  LineagePtr who;
};
struct OpenRoot {
  std::int64_t id = 0;
  Seq last_seq = 0;
  std::unordered_map<std::string, KnownRun> runs;  // looked up, never iterated
};

// Rolls back unless it was committed, however its scope is left.
class Transaction {
 public:
  Transaction(Database& database, Writes& writes) : database_(database), writes_(writes) {}
  ~Transaction() {
    if (!sqlite3_get_autocommit(database_.raw())) writes_.rollback.run();
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  Result<void> begin() { return run(writes_.begin, "beginning a transaction"); }
  Result<void> commit() { return run(writes_.commit, "committing"); }
  // One batch of it, kept or undone alone.
  Result<void> mark() { return run(writes_.mark, "marking a batch"); }
  Result<void> keep() { return run(writes_.keep, "keeping a batch"); }
  Result<void> undo() { return run(writes_.undo, "undoing a batch"); }

 private:
  Result<void> run(Statement& statement, const char* doing) {
    if (statement.run() == SQLITE_DONE) return {};
    return Failure(database_.error(doing));
  }

  Database& database_;
  Writes& writes_;
};

class SqliteRecordStore final : public RecordStore {
 public:
  SqliteRecordStore(std::string folder, SqliteOptions options, OpenedJournal opened)
      : folder_(std::move(folder)),
        options_(options),
        lock_(std::move(opened.lock)),
        db_(std::move(opened.writer)),
        reader_(std::move(opened.path), options.busy_ms) {}

  ~SqliteRecordStore() override { (void)checkpoint_if(1); }

  Result<void> prepare_writes() {
    sqlite3_wal_hook(
        db_.raw(),
        [](void* self, sqlite3*, const char*, int pages) {
          static_cast<SqliteRecordStore*>(self)->wal_pages_ = static_cast<std::uint32_t>(pages);
          return SQLITE_OK;
        },
        this);
    return prepare(db_, writes_);
  }

  std::vector<Result<void>> commit(std::span<const Batch> batches) override {
    std::vector<Result<void>> verdicts;
    verdicts.reserve(batches.size());
    if (Result<void> whole = transaction(batches, verdicts); !whole) {
      verdicts.assign(batches.size(), Failure(whole.error()));
      for (const Batch& batch : batches) open_.erase(batch.root.text());
    }
    for (const Batch& batch : batches) {
      if (batch.release) open_.erase(batch.root.text());
    }
    if (wal_pages_ >= checkpoint_at_) (void)checkpoint_if(checkpoint_at_);
    return verdicts;
  }

  Result<RootInfo> claim(const RunId& root, const Owner& owner, Time now) override {
    TUG_TRY(locked, lock_.lock_shared(options_.busy_ms));
    Locked held(lock_);
    Transaction transaction(db_, writes_);
    TUG_TRY(begun, transaction.begin());
    TUG_TRY(claimed, claim_inside(root, owner, now));
    TUG_TRY(committed, transaction.commit());
    return std::move(claimed);
  }

  Result<void> checkpoint() override { return checkpoint_if(1); }

  Result<RootInfo> info(const RunId& root) override { return reader_.info(root); }
  Result<std::vector<RootInfo>> list(std::size_t limit) override { return reader_.list(limit); }
  Result<std::vector<RunName>> find_runs(std::string_view part, std::size_t limit) override {
    return reader_.find_runs(part, limit);
  }
  Result<std::vector<Record>> read(const RunId& root, Seq after, std::size_t limit) override {
    return reader_.read(root, after, limit);
  }
  Result<std::string> blob(const Digest& digest) override { return reader_.blob(digest); }
  Result<std::vector<Partial>> partials(const RunId& root) override {
    return reader_.partials(root);
  }
  Result<std::vector<InboxCommand>> inbox(const RunId& root) override {
    return reader_.inbox(root);
  }
  Result<std::vector<RunId>> addressed() override { return reader_.addressed(); }
  bool is_shared() const noexcept override { return true; }
  Result<void> check_integrity() override { return reader_.check_integrity(); }
  std::string where() const override { return folder_; }

  // From any thread, so on a connection and under a lock file of its own: journal.lock is held by
  // descriptor, and ours belongs to the committer.
  Result<void> send(const RunId& root, InboxCommand command) override {
    TUG_TRY(lock, FileLock::open(folder_ + "/journal.lock"));
    TUG_TRY(locked, lock.lock_shared(options_.busy_ms));
    Locked held(lock);
    return reader_.send(root, command);
  }

 private:
  Result<void> transaction(std::span<const Batch> batches, std::vector<Result<void>>& verdicts) {
    TUG_TRY(locked, lock_.lock_shared(options_.busy_ms));
    Locked held(lock_);
    Transaction transaction(db_, writes_);
    TUG_TRY(begun, transaction.begin());
    for (const Batch& batch : batches) {
      TUG_TRY(marked, transaction.mark());
      verdicts.push_back(apply(batch));
      if (!verdicts.back()) {
        open_.erase(batch.root.text());
        // A full disk has ended the whole transaction already; then no batch of it is kept.
        if (sqlite3_get_autocommit(db_.raw())) return Failure(verdicts.back().error());
        TUG_TRY(undone, transaction.undo());
      }
      TUG_TRY(kept, transaction.keep());
    }
    return transaction.commit();
  }

  Result<void> apply(const Batch& batch) {
    TUG_TRY(root, batch.create ? create(batch) : fenced(batch));
    for (const Record& record : batch.records) {
      TUG_TRY(run, run_number(*root, record.who));
      writes_.record.bind(root->id)
          .bind(static_cast<std::int64_t>(record.seq))
          .bind(run)
          .bind(nanos(record.ts))
          .bind_blob(record.body)
          .bind_blob(record.hash.view());
      if (writes_.record.run() != SQLITE_DONE) return Failure(db_.error("writing a record"));
      root->last_seq = record.seq;
    }
    for (const Blob& blob : batch.blobs) {
      writes_.blob.bind_blob(blob.digest.view())
          .bind(static_cast<std::int64_t>(blob.bytes.size()))
          .bind_blob(blob.bytes);
      if (writes_.blob.run() != SQLITE_DONE) return Failure(db_.error("writing a blob"));
    }
    return apply_rest(*root, batch);
  }

  Result<void> apply_rest(const OpenRoot& root, const Batch& batch) {
    auto run = [&](Statement& statement, const char* doing) -> Result<void> {
      if (statement.run() == SQLITE_DONE) return {};
      return Failure(db_.error(doing));
    };
    for (const Partial& part : batch.partials) {
      writes_.partial.bind(root.id).bind_text(part.call.text()).bind(part.n).bind_blob(part.bytes);
      TUG_TRY(done, run(writes_.partial, "keeping a partial"));
    }
    for (const CallId& call : batch.finished_partials) {
      writes_.end_partial.bind(root.id).bind_text(call.text());
      TUG_TRY(done, run(writes_.end_partial, "dropping a partial"));
    }
    for (std::int64_t command : batch.taken_commands) {
      writes_.take.bind(root.id).bind(command);
      TUG_TRY(done, run(writes_.take, "taking a command"));
    }
    if (batch.status) {
      writes_.status.bind(static_cast<std::int64_t>(*batch.status)).bind(root.id);
      TUG_TRY(done, run(writes_.status, "writing the status"));
      writes_.touch.bind(nanos(batch.now)).bind(root.id);
      TUG_TRY(touched, run(writes_.touch, "writing the time"));
    }
    if (batch.summary) {
      const std::string text = print_json(*batch.summary);
      writes_.summary.bind_text(text).bind(root.id);
      TUG_TRY(done, run(writes_.summary, "writing the summary"));
    }
    if (batch.release) {
      writes_.release.bind(root.id);
      TUG_TRY(done, run(writes_.release, "giving the root up"));
    }
    return {};
  }

  Result<OpenRoot*> create(const Batch& batch) {
    const RootInfo info = first_info(batch);
    const std::string summary = print_json(info.summary);
    const std::string owner = info.owner ? to_text(*info.owner) : std::string();
    std::int64_t base_id = 0;
    if (info.base) {
      TUG_TRY(found, find_root(info.base->root));
      base_id = found;
      Using hash(writes_.hash_at);
      hash->bind(base_id).bind(static_cast<std::int64_t>(info.base->seq));
      const int found_hash = hash->step();
      if (found_hash != SQLITE_ROW && found_hash != SQLITE_DONE)
        return Failure(db_.error("reading a base"));
      if (found_hash == SQLITE_DONE || hash->blob(0) != info.base->hash.view())
        return no_such_base(*info.base);
    }
    Statement& insert = writes_.new_root;
    insert.bind_text(batch.root.text()).bind_text(info.who->thread_id.text());
    if (info.base) {
      insert.bind(base_id).bind(static_cast<std::int64_t>(info.base->seq));
    } else {
      insert.bind_null().bind_null();
    }
    insert.bind_blob(info.genesis.view()).bind(static_cast<std::int64_t>(info.epoch));
    info.owner ? insert.bind_text(owner) : insert.bind_null();
    insert.bind(static_cast<std::int64_t>(info.status))
        .bind(nanos(info.created))
        .bind(nanos(info.updated))
        .bind_text(summary);
    const int code = insert.run();
    if ((code & 0xff) == SQLITE_CONSTRAINT) return already_exists(batch.root);
    if (code != SQLITE_DONE) return Failure(db_.error("creating a root"));
    OpenRoot& root = open_[batch.root.text()];
    root = OpenRoot{.id = sqlite3_last_insert_rowid(db_.raw())};
    return &root;
  }

  // The root of a batch, when its epoch is still ours.
  Result<OpenRoot*> fenced(const Batch& batch) {
    auto found = open_.find(batch.root.text());
    if (found == open_.end()) {
      TUG_TRY(id, find_root(batch.root));
      OpenRoot root{.id = id};
      Using last(writes_.last_of);
      last->bind(id);
      const int code = last->step();
      if (code != SQLITE_ROW && code != SQLITE_DONE)
        return Failure(db_.error("reading the last record"));
      if (code == SQLITE_ROW) root.last_seq = static_cast<Seq>(last->integer(0));
      found = open_.emplace(batch.root.text(), std::move(root)).first;
    }
    OpenRoot& root = found->second;
    Using epoch(writes_.epoch_of);
    epoch->bind(root.id);
    if (epoch->step() != SQLITE_ROW) return Failure(db_.error("reading the epoch"));
    RootInfo info{.epoch = static_cast<std::uint64_t>(epoch->integer(0)),
                  .last_seq = root.last_seq};
    if (info.epoch != batch.epoch) info.owner = owner_from(epoch->text(1));
    TUG_TRY(ours, check_fence(info, batch));
    return &root;
  }

  Result<std::int64_t> find_root(const RunId& root) {
    Using found(writes_.root_of);
    found->bind_text(root.text());
    const int code = found->step();
    if (code == SQLITE_ROW) return found->integer(0);
    if (code == SQLITE_DONE) return no_such_root(root, folder_);
    return Failure(db_.error("looking for a root"));
  }

  // The number of a run, made with its first record. A run has one lineage: the chain covers it.
  Result<std::int64_t> run_number(OpenRoot& root, const LineagePtr& who) {
    auto known = root.runs.find(who->run_id.text());
    if (known == root.runs.end()) {
      TUG_TRY(found, find_run(who->run_id));
      if (!found) {
        TUG_TRY(made, insert_run(root, *who));
        return root.runs.emplace(who->run_id.text(), KnownRun{made, who}).first->second.number;
      }
      Lineages lineages(db_, who->root_run_id);
      if (found->root != root.id) return already_exists(who->run_id);
      TUG_TRY(written, lineages.of(found->number));
      known = root.runs.emplace(who->run_id.text(), KnownRun{found->number, written}).first;
    }
    if (known->second.who == who || *known->second.who == *who) return known->second.number;
    return fail(ErrorKind::internal,
                "run " + who->run_id.text() + " has records under another lineage",
                "a run keeps its thread, parent, agent and depth for life");
  }

  struct FoundRun {
    std::int64_t number = 0;
    std::int64_t root = 0;
  };
  Result<std::optional<FoundRun>> find_run(const RunId& run) {
    Using found(writes_.run_of);
    found->bind_text(run.text());
    const int code = found->step();
    if (code == SQLITE_ROW) return std::optional(FoundRun{found->integer(0), found->integer(1)});
    if (code == SQLITE_DONE) return std::optional<FoundRun>();
    return Failure(db_.error("looking for a run"));
  }

  Result<std::int64_t> insert_run(OpenRoot& root, const Lineage& who) {
    std::optional<std::int64_t> parent;
    if (!who.parent_run_id.empty()) {
      TUG_TRY(found, find_run(who.parent_run_id));
      if (!found) {
        return fail(ErrorKind::internal, "run " + who.run_id.text() + " names a parent, " +
                                             who.parent_run_id.text() + ", that wrote no record");
      }
      parent = found->number;
    }
    Statement& insert = writes_.new_run;
    insert.bind_text(who.run_id.text()).bind(root.id);
    parent ? insert.bind(*parent) : insert.bind_null();
    insert.bind(who.depth).bind_text(who.agent);
    who.parent_call_id.empty() ? insert.bind_null() : insert.bind_text(who.parent_call_id.text());
    insert.bind_text(who.thread_id.text());
    if (insert.run() != SQLITE_DONE) return Failure(db_.error("creating a run"));
    return sqlite3_last_insert_rowid(db_.raw());
  }

  Result<RootInfo> claim_inside(const RunId& root, const Owner& owner, Time now) {
    open_.erase(root.text());
    TUG_TRY(info, read_root(db_, root, folder_));
    TUG_TRY(free, may_claim(info, owner));
    info.epoch += 1;
    info.owner = owner;
    info.updated = now;
    TUG_TRY(id, find_root(root));
    const std::string text = to_text(owner);
    writes_.claim.bind(static_cast<std::int64_t>(info.epoch))
        .bind_text(text)
        .bind(nanos(now))
        .bind(id);
    if (writes_.claim.run() != SQLITE_DONE) return Failure(db_.error("claiming a root"));
    return info;
  }

  Result<void> checkpoint_if(std::uint32_t pages) {
    if (wal_pages_ < pages) return {};
    // Others that write now will come back to it; a log four times the usual is worth waiting for.
    const std::uint32_t wait_ms = wal_pages_ > 4 * options_.checkpoint_pages ? 1000 : 100;
    if (Result<void> alone = lock_.lock_alone(wait_ms); !alone) return alone;
    Locked held(lock_);
    // Everybody's commits wait while we hold the lock, so a reader that still looks at the log is
    // not waited for: what it keeps from being moved is safe, and goes with a later checkpoint.
    sqlite3_busy_timeout(db_.raw(), 0);
    const int code =
        sqlite3_wal_checkpoint_v2(db_.raw(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    sqlite3_busy_timeout(db_.raw(), static_cast<int>(options_.busy_ms));
    if (code == SQLITE_OK) {
      wal_pages_ = 0;
      checkpoint_at_ = options_.checkpoint_pages;
      return {};
    }
    checkpoint_at_ = wal_pages_ + options_.checkpoint_pages;
    if ((code & 0xff) == SQLITE_BUSY) return {};
    return Failure(db_.error("checkpointing"));
  }

  std::string folder_;
  SqliteOptions options_;
  FileLock lock_;
  Database db_;
  Writes writes_;
  SqliteReader reader_;
  std::uint32_t wal_pages_ = 0;
  std::uint32_t checkpoint_at_ = options_.checkpoint_pages;  // pages at which the next one is tried
  std::unordered_map<std::string, OpenRoot> open_;
};

}  // namespace

Result<std::unique_ptr<RecordStore>> open_sqlite_record_store(std::string folder,
                                                              SqliteOptions options) {
  TUG_TRY(opened, open_journal_file(folder, options));
  auto store = std::make_unique<SqliteRecordStore>(std::move(folder), options, std::move(opened));
  TUG_TRY(prepared, store->prepare_writes());
  return store;
}

}  // namespace tug
