// A handle to a run under way.
//
// Copies share one run. When the last one of an unfinished run goes, the run is cancelled and,
// where that does not block a loop, waited for; `detach` lets it go on. Any thread; what waits must
// not be called on a thread of the engine: there, `co_await run.result()`.
#pragma once

#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tug/agent/approval.h"
#include "tug/agent/steering.h"
#include "tug/agent/stream.h"
#include "tug/context/run_result.h"
#include "tug/core/task.h"
#include "tug/core/wait.h"
#include "tug/journal/event.h"

namespace tug {

namespace detail {
class RunHandle;
}

class RunEvents;

class Run {
 public:
  Run() noexcept = default;

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  const RunId& id() const noexcept;

  // Blocks until the run has ended. On a thread of the engine: a failed result that names
  // `co_await run.result()`.
  RunResult wait() const;
  Task<RunResult> result(Until until = {}) const;
  bool ended() const noexcept;

  // The events in order, live ones included, to the end of the run: its own and those of the runs
  // below it; of one that was resumed, from `run.resumed` on. Each event is handed out once, to
  // whoever asks first. A reader that lags more than kEventBacklog behind loses live events, never
  // records.
  //   for (const Event& event : run.events()) ..
  RunEvents events() const;
  // Those of them that the reader wants; the others are read past. The steps of middleware come
  // only to observers that ask for them (Sink::wants_steps).
  //   for (const Event& event : run.stream({.modes = {.messages = true, .tools = true}})) ..
  RunEvents stream(StreamOptions options) const;
  // The next one; blocks until there is one. Nothing once the run has ended and all are read.
  std::optional<Event> next_event() const;
  // Those that are there; blocks until there is one. Empty once the run has ended and all are read.
  std::vector<Event> next_events() const;
  // On the run's own loop: from a tool that started a child.
  Task<std::optional<Event>> next_event_async(Until until = {}) const;

  void cancel(std::string text = {}) const noexcept;
  // Ends the segment at the next checkpoint with `paused`; the run can be resumed.
  void pause(std::string reason) const noexcept;
  void detach() const noexcept;

  // Queues a command, or several that are taken together or not at all; never waits. What becomes
  // of them is in the events. Nothing happens once the run has ended.
  void steer(Steer command) const;
  void steer(std::vector<Steer> batch) const;
  // Calls of this run and of those below it that wait for approval now; of a run that has ended,
  // those it was parked with.
  std::vector<PendingApproval> pending() const;
  // Decides some or all of them, before anything else happens; what that frees runs at once.
  // `invalid`, and nothing is decided, for a call that does not wait, one named twice, arguments
  // that do not fit the tool or a digest of something else; `denied` for a grant that cannot be
  // given. A run that is parked needs Harness::approve. On the run's own loop: approve_async.
  Result<void> approve(std::vector<Decision> decisions) const;
  Task<Result<void>> approve_async(std::vector<Decision> decisions) const;
  // A handle to a run of this tree that is under way; empty when there is none of that id. Dropping
  // it leaves that run as it is: it belongs to its parent.
  Run node(const RunId& run) const;
  // The runs of this run's tree that are under way, this one first, in the order they began.
  std::vector<RunStatusRecord> tree() const;

  RunStatusRecord status() const;
  // The context of the run, as JSON for people.
  Json snapshot() const;

 private:
  friend class detail::RunHandle;
  explicit Run(std::shared_ptr<detail::RunHandle> handle) noexcept : handle_(std::move(handle)) {}
  std::shared_ptr<detail::RunHandle> handle_;
};
inline constexpr std::size_t kEventBacklog = 4096;

// What is left of a run's events, read as it is walked. Keeps the run's handle.
class RunEvents {
 public:
  class Iterator {
   public:
    using value_type = Event;
    using difference_type = std::ptrdiff_t;
    const Event& operator*() const noexcept { return *event_; }
    const Event* operator->() const noexcept { return &*event_; }
    Iterator& operator++() {
      read();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& at, std::default_sentinel_t) noexcept {
      return !at.event_;
    }

   private:
    friend class RunEvents;
    Iterator(Run run, StreamOptions options) : run_(std::move(run)), options_(options) { read(); }
    void read() {
      do {
        event_ = run_.next_event();
      } while (event_ && !shows(options_, *event_, run_.id()));
    }
    Run run_;
    StreamOptions options_;
    std::optional<Event> event_;
  };

  Iterator begin() const { return Iterator(run_, options_); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  friend class Run;
  RunEvents(Run run, StreamOptions options) noexcept : run_(std::move(run)), options_(options) {}
  Run run_;
  StreamOptions options_;
};
inline RunEvents Run::events() const { return RunEvents(*this, {}); }
inline RunEvents Run::stream(StreamOptions options) const { return RunEvents(*this, options); }

}  // namespace tug
