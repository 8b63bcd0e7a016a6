// A handle to a run under way.
//
// Copies share one run. When the last one of an unfinished run goes, the run is cancelled and,
// where that does not block a loop, waited for; `detach` lets it go on. Any thread; what waits must
// not be called on a thread of the engine: there, `co_await run.result()`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tug/agent/result.h"
#include "tug/core/task.h"
#include "tug/core/wait.h"
#include "tug/journal/event.h"

namespace tug {

namespace detail {
class RunHandle;
}

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

  // The next events in order: every record of the run and of those below it (of one that was
  // resumed: from `run.resumed` on), and the live ones that came since somebody first asked. Blocks
  // until there is one; empty once the run has ended and all are read. Each event is handed out
  // once, to whoever asks first. A reader that lags more than kEventBacklog behind loses live
  // events, never records.
  std::vector<Event> events() const;
  std::optional<Event> next_event() const;
  // On the run's own loop: from a tool that started a child.
  Task<std::optional<Event>> next_event_async(Until until = {}) const;

  void cancel(std::string text = {}) const noexcept;
  // Ends the segment at the next checkpoint with `paused`; the run can be resumed.
  void pause(std::string reason) const noexcept;
  void detach() const noexcept;

  RunStatusRecord status() const;
  // The context of the run, as JSON for people.
  Json snapshot() const;

 private:
  friend class detail::RunHandle;
  explicit Run(std::shared_ptr<detail::RunHandle> handle) noexcept : handle_(std::move(handle)) {}
  std::shared_ptr<detail::RunHandle> handle_;
};
inline constexpr std::size_t kEventBacklog = 4096;

}  // namespace tug
