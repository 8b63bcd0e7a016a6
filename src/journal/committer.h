// The one writer of a store: takes what the logs of all loops have queued and commits it in groups.
//
// While one group is on its way to the disk the next one gathers, so a thousand roots share a
// handful of syncs. Verdicts go back to the loops, one message per loop and group.
#pragma once

#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "tug/core/job.h"
#include "tug/core/loop.h"
#include "tug/io/engine.h"
#include "tug/journal/record_store.h"

namespace tug {

// The side of a log that hears what became of its batches, on its loop.
class CommitListener {
 public:
  virtual ~CommitListener() = default;
  virtual void committed(Seq upto, const Result<void>& verdict) noexcept = 0;
};

struct Submission {
  Batch batch;
  std::shared_ptr<Mailbox> mailbox;
  std::shared_ptr<CommitListener> listener;
};

// Told, from the committer's thread, which roots have more on disk than before.
class CommitWatcher {
 public:
  virtual ~CommitWatcher() = default;
  virtual void on_disk(const std::vector<RunId>& roots) noexcept = 0;
};

class Committer {
 public:
  Committer(Engine& engine, std::shared_ptr<RecordStore> store, CommitWatcher& watcher);
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // The loop of the submissions. After close() the listeners hear `cancelled`. A store that commits
  // at once has done so, and the listeners have heard it, when this returns.
  void submit(std::vector<Submission> submissions) noexcept;
  // Runs on the committer's thread, in order with the submissions. False, and nothing runs, after
  // close().
  bool call(Job job) noexcept;
  // Commits what is queued, then ends the thread. Not on a loop.
  void close() noexcept;
  bool at_once() const noexcept { return at_once_; }

 private:
  using Item = std::variant<Submission, Job>;
  void step() noexcept;
  void commit(std::vector<Submission> group) noexcept;
  void commit_here(std::vector<Submission> group) noexcept;
  // One verdict per submission; the batches stay where they are.
  std::vector<Result<void>> write(std::vector<Submission>& group, std::vector<RunId>& written);

  std::shared_ptr<RecordStore> store_;
  CommitWatcher& watcher_;
  const bool at_once_;
  std::mutex mutex_;
  std::vector<Item> queue_;
  bool closed_ = false;
  std::unique_ptr<Background> thread_;  // last: its step uses the rest
};

}  // namespace tug
