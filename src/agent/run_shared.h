// What a run and its handles share. The loop writes; any thread may ask.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/run_tree.h"
#include "tug/agent/approval.h"
#include "tug/context/run_result.h"
#include "tug/core/task.h"
#include "tug/core/wait.h"
#include "tug/io/engine.h"
#include "tug/journal/record_store.h"
#include "tug/journal/sink.h"

namespace tug {

class Run;

class RunShared : public std::enable_shared_from_this<RunShared> {
 public:
  // A root's events are kept from the moment somebody asks for them; what came before is read back
  // from `store`. Without a store they are kept from the first on.
  RunShared(RunId id, std::shared_ptr<Engine> engine, Loop& loop,
            std::shared_ptr<RecordStore> store);
  ~RunShared();

  // Any thread.
  const RunId& id() const noexcept { return id_; }
  bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  std::shared_ptr<const RunResult> result() const;  // null until ended
  void cancel(CancelReason reason) noexcept;
  void pause(std::string reason) noexcept;
  void steer(std::vector<Steer> batch);
  void hear(std::vector<InboxCommand> commands);
  void detach() noexcept { detached_ = true; }
  bool detached() const noexcept { return detached_; }
  // Somebody has a handle: what it may ask for is kept when the run has ended.
  void hold() noexcept { held_ = true; }
  // Keeps events from the first on. Before the run begins.
  void keep_events() noexcept { watched_ = complete_ = true; }
  // Once it has ended, or while it does not matter what else comes; null when there is none yet.
  std::optional<Event> take_event();
  Engine& engine() const noexcept { return *engine_; }
  Loop& loop() const noexcept { return loop_; }

  // A loop, any of them.
  Task<RunResult> wait(Until until);
  // The same for code of a run, which cannot move by itself while it waits: if this run is parked,
  // its call stays open. `by` is empty where only the call that began this one can be meant.
  Task<RunResult> attend(Until until, CallId by = {});
  // Whose child it is, and which of its calls began it. Before anybody waits.
  void belongs_to(LiveRun& owner, CallId call);
  // The run's loop.
  Task<Result<void>> wait_event(Until until);
  RunStatusRecord status() const;
  Json snapshot() const;
  std::vector<PendingApproval> pending() const;
  std::vector<RunStatusRecord> tree() const;
  Result<void> decide(const std::vector<Decision>& decisions);
  // Of a run of the same tree that is under way; null when there is none.
  std::shared_ptr<RunShared> node(const RunId& run);

  // The run itself, on its loop.
  void begin(LiveRun& live);
  // What it was told before it began; once its first record is there.
  void hear_early();
  // Keeps what handles may still ask for; the live run may go after this.
  void retire();
  void end(RunResult result);

 private:
  class Buffer;
  void watch();
  void read_back(Seq upto);

  const RunId id_;
  const std::shared_ptr<Engine> engine_;
  Loop& loop_;
  const std::shared_ptr<Mailbox> mailbox_;
  std::atomic<bool> ended_ = false;
  std::atomic<bool> detached_ = false;
  std::atomic<bool> held_ = false;

  const std::shared_ptr<RecordStore> store_;
  mutable std::mutex mutex_;  // everything up to last_snapshot_
  std::shared_ptr<const RunResult> result_;
  std::list<Event> events_;
  bool watched_ = false;   // somebody has asked for events
  bool complete_ = false;  // what came before that is there
  Seq before_ = 0;         // the last record of earlier segments
  std::unique_ptr<RunStatusRecord> last_status_;
  Json last_snapshot_;

  // The loop's.
  LiveRun* live_ = nullptr;
  class Attending;
  std::weak_ptr<RunTree> owners_tree_;
  RunId owner_;
  CallId begun_by_;
  std::vector<Attending*> attending_;
  std::shared_ptr<Sink> buffer_;
  std::optional<CancelReason> cancelled_early_;
  std::optional<std::string> paused_early_;
  std::vector<SteerBatch> steered_early_;
  std::vector<std::function<void()>> told_;  // waiters on other loops
  WaitList done_{"the end of a run"};
  WaitList news_{"an event of a run"};
};

namespace detail {

// One run as its user holds it: what is left behind when the last copy goes is cancelled.
class RunHandle {
 public:
  // Whether the run goes with the last handle.
  enum class Holds : bool { looks_on, owns };
  static Run make(std::shared_ptr<RunShared> shared, Holds holds = Holds::owns);
  explicit RunHandle(std::shared_ptr<RunShared> shared, Holds holds = Holds::owns)
      : shared_(std::move(shared)), holds_(holds) {
    shared_->hold();
  }
  RunHandle(const RunHandle&) = delete;
  RunHandle& operator=(const RunHandle&) = delete;
  ~RunHandle();
  RunShared& shared() const noexcept { return *shared_; }
  const std::shared_ptr<RunShared>& share() const noexcept { return shared_; }

 private:
  std::shared_ptr<RunShared> shared_;
  Holds holds_;
};

}  // namespace detail

// Passes on the events of one run and of those below it.
std::shared_ptr<Sink> only_below(RunId run, std::shared_ptr<Sink> sink);

// The result of what could not even start.
RunResult failed_result(Error error);

}  // namespace tug
