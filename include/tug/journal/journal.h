// The journal: all roots of one store, written by one committer in groups.
//
// Records do not wait, acts do: `emit` never waits and never fails; `co_await durable(seq)`
// resolves when everything up to `seq` is on disk. A commit that fails closes its root: nothing
// more of it is written, and every later `durable` gives the same error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tug/core/task.h"
#include "tug/core/wait.h"
#include "tug/journal/record_store.h"
#include "tug/journal/sink.h"

namespace tug {

class Engine;

// One root's log, as its loop sees it. Loop thread only.
class RootLog {
 public:
  virtual ~RootLog() = default;

  // Gives the event its place, time and hash, queues it, shows it to in-process observers. Never
  // waits, never fails; after a failed commit it still shows events, for the ending in memory.
  virtual Seq emit(Event event) noexcept = 0;
  virtual void emit_live(Event event) noexcept = 0;
  virtual bool wants_live() const noexcept = 0;
  virtual bool wants_steps() const noexcept = 0;  // middleware.started, middleware.completed

  // Resolves once everything up to `seq` is on disk under our epoch. Fails with `denied` (another
  // owner), `exhausted` (no space or the deadline), `cancelled`, `overloaded` (another process
  // holds the store), `invalid` (damage) or `internal`; after one failed commit, always.
  virtual Task<Result<void>> durable(Seq seq, Until until = {}) = 0;

  // On disk with the next commit; a record names its digest.
  virtual void keep_blob(Blob blob) noexcept = 0;
  virtual void keep_partial(CallId call, std::string bytes) noexcept = 0;
  // The partner of this call's start is in the log; its partial goes with the next commit.
  virtual void drop_partial(CallId call) noexcept = 0;
  // These commands have become records (emitted before this call).
  virtual void took(std::vector<std::int64_t> commands) noexcept = 0;
  virtual void set_status(RootStatus status, Json summary) noexcept = 0;

  virtual void observe(std::shared_ptr<Sink> sink) = 0;
  virtual void forget(const Sink& sink) noexcept = 0;

  virtual Seq last_seq() const noexcept = 0;
  virtual Seq durable_seq() const noexcept = 0;
  virtual Digest last_hash() const noexcept = 0;
  // The root's own: what is emitted without a lineage has this one.
  virtual const LineagePtr& lineage() const noexcept = 0;
  virtual std::uint64_t epoch() const noexcept = 0;
  virtual std::uint64_t removed_sinks() const noexcept = 0;

  // Commits what is left and gives the root up, so that another may claim it. A log that is
  // destroyed without this does the same, without waiting.
  virtual Task<Result<void>> close(Until until = {}) = 0;
};

class Journal {
 public:
  virtual ~Journal() = default;

  // A new root on the calling task's loop. Nothing is on disk before its first `durable`; a run id
  // that exists already is `denied` there.
  virtual Task<Result<std::unique_ptr<RootLog>>> create(NewRoot root) = 0;
  // The same root under the next epoch; `denied` while its owner lives. Emit `run.resumed` first.
  // Waits as long as the store does for another process (SqliteOptions::busy_ms), then
  // `overloaded`.
  virtual Task<Result<std::unique_ptr<RootLog>>> claim(RunId root) = 0;

  virtual Task<Result<std::vector<Record>>> read(RunId root, Seq after, std::size_t limit,
                                                 Until until = {}) = 0;
  // Waits for at least one record after `after`, from this or another process.
  virtual Task<Result<std::vector<Record>>> follow(RunId root, Seq after, Until until) = 0;
  // The base link that a fork at `seq` needs; `invalid` when the root has no such record.
  virtual Task<Result<Base>> base_at(RunId root, Seq seq, Until until = {}) = 0;

  virtual RecordStore& store() noexcept = 0;
  // Commits what is queued and stops the committer. Called by the destructor too.
  virtual void close() noexcept = 0;
};

// The engine must outlive the journal, the journal its logs; the journal keeps the store.
std::unique_ptr<Journal> make_journal(Engine& engine, std::shared_ptr<RecordStore> store);

}  // namespace tug
