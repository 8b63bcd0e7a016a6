// The engine: loops, a worker pool, background threads, entropy and the order in which they end.
//
// One root run lives on one loop; roots are spread over loops. What blocks or computes for long
// goes to the pool. The real engine (make_engine) has a thread per loop; the simulated one
// (tug/io/sim_engine.h) runs everything on the caller's thread in virtual time, drawn from a seed.
// Code above this line cannot tell them apart.
//
// Any thread, unless said otherwise. The engine must outlive what it runs; it is destroyed by a
// thread that is not one of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tug/core/error.h"
#include "tug/core/job.h"
#include "tug/core/loop.h"
#include "tug/core/task.h"
#include "tug/core/time.h"
#include "tug/core/wait.h"

namespace tug {

struct EngineOptions {
  unsigned loops = 0;    // 0: one per core
  unsigned workers = 0;  // 0: as many as cores, at least 4
  // How long an offloaded function may go on after it was asked to stop.
  Duration grace = std::chrono::seconds(2);
  // How long shutdown() waits for cancelled roots to end.
  Duration drain = std::chrono::seconds(10);
  // Offloaded functions that may wait for a worker; more are answered `overloaded`.
  std::size_t queue_cap = 65536;
  // A step of a loop that computes longer is counted and reported on stderr; 0 measures nothing. By
  // default 20 ms, and nothing in builds without assertions.
  std::optional<Duration> slow_step;
};

// A thread of its own that runs `step` whenever it was woken.
class Background {
 public:
  // Runs a last step if it was woken since the last one began, then ends the thread.
  virtual ~Background() = default;
  // Any thread. `step` runs at least once after each wake; wakes in between coalesce.
  virtual void wake() noexcept = 0;
};

// What shutdown() had to leave behind; both empty after a clean one.
struct Leftovers {
  std::vector<std::string> abandoned;  // functions that still run, by name
  std::vector<std::string> stranded;   // what roots that ignored their cancellation wait for
};

namespace detail {

// An offloaded function and the room for its answer. Shared by the caller and the worker, because
// an abandoned one outlives its caller.
class Offloaded {
 public:
  explicit Offloaded(std::string name) noexcept : name_(std::move(name)) {}
  virtual ~Offloaded() = default;
  virtual void call(std::stop_token stop) noexcept = 0;
  const std::string& name() const noexcept { return name_; }

 private:
  std::string name_;
};

template <class F>
using OffloadValue = std::invoke_result_t<F&, std::stop_token>;
template <class T>
struct AsResult {
  using Type = Result<T>;
};
template <class T>
struct AsResult<Result<T>> {
  using Type = Result<T>;
};
// Result<T> stays, T becomes Result<T>.
template <class T>
using Resulting = typename AsResult<T>::Type;

template <class T>
struct RunSlot {
  std::optional<Resulting<T>> value;
};

}  // namespace detail

class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::size_t loops() const noexcept = 0;
  virtual Loop& loop(std::size_t index) noexcept = 0;
  // The loop with the fewest roots; the first of those.
  virtual Loop& place() noexcept = 0;

  // Runs `root` on `loop`, for life. False, and `root` dropped, after shutdown() has begun. What
  // escapes a root is a bug: it is kept in faults() and written to stderr.
  virtual bool start(Loop& loop, Task<void> root) = 0;

  // Runs `task` on `loop` and blocks until it has ended. A task of Result<T> answers Result<T>;
  // what it throws is `internal`. On a thread of this engine: `invalid`, because the loop would
  // wait for itself. After shutdown() has begun: `cancelled`. Simulated: `internal` when nothing
  // can happen any more, naming what waits.
  template <class T>
  detail::Resulting<T> run(Loop& loop, Task<T> task) {
    auto slot = std::make_shared<detail::RunSlot<T>>();
    Task<void> root = deliver(std::move(task), slot);
    Result<void> ended = run_root(loop, std::move(root));
    if (!ended) return Failure(std::move(ended).error());
    return std::move(*slot->value);
  }

  // Calls `function(std::stop_token)` on the worker pool and answers with what it returns (a
  // Result stays one, what it throws is `internal`). Loop thread.
  //
  // When `until` ends the wait: a function that has not begun never does (`cancelled`, or
  // `exhausted` for the deadline); one that runs is asked to stop (its stop callbacks run on the
  // loop). If it ends within the grace, its answer counts. If not it is abandoned: the error keeps
  // its kind and has the detail OutcomeUnknown, a fresh thread takes its place in the pool, and
  // what it still does is dropped. `overloaded` when the queue is full.
  template <class F>
  Task<detail::Resulting<detail::OffloadValue<F>>> offload(std::string name, F function,
                                                           Until until) {
    auto work = std::make_shared<Offload<F>>(std::move(name), std::move(function));
    Task<Result<void>> performing = perform(work, std::move(until));
    Result<void> ended = co_await std::move(performing);
    if (!ended) co_return Failure(std::move(ended).error());
    co_return std::move(*work->value);
  }
  template <class F>
  Task<detail::Resulting<detail::OffloadValue<F>>> offload(F function, Until until) {
    return offload(std::string("an offloaded function"), std::move(function), std::move(until));
  }
  // Functions that were abandoned and have not ended yet, by name, oldest first.
  virtual std::vector<std::string> abandoned() const = 0;
  // All that ever were.
  virtual std::uint64_t abandoned_total() const noexcept = 0;

  // `step` always runs on the one thread made for it. The engine must outlive the Background, or
  // have been shut down: then the last step has run and wake() does nothing.
  virtual std::unique_ptr<Background> background(std::string name, Job step) = 0;

  virtual std::uint64_t entropy() noexcept = 0;
  virtual Instant now() const noexcept = 0;
  virtual Time wall() const noexcept = 0;

  // What escaped roots, oldest first, at most 64.
  virtual std::vector<Error> faults() const = 0;
  // Steps that took longer than EngineOptions::slow_step.
  virtual std::uint64_t slow_steps() const noexcept = 0;

  // In this order: no new roots; every loop's stopping() is requested (`shutdown`); roots end (for
  // at most `drain`; the pool and the backgrounds still work for them) and what they posted is
  // delivered; the pool is joined, except abandoned threads; backgrounds run their last step and
  // are joined; the loops stop. Again: the same answer. Not on a thread of this engine. The
  // destructor does it too.
  virtual Leftovers shutdown() = 0;

 protected:
  virtual Result<void> run_root(Loop& loop, Task<void> root) = 0;
  virtual Task<Result<void>> perform(std::shared_ptr<detail::Offloaded> work, Until until) = 0;

 private:
  template <class F>
  class Offload final : public detail::Offloaded {
   public:
    Offload(std::string name, F function)
        : Offloaded(std::move(name)), function_(std::move(function)) {}
    void call(std::stop_token stop) noexcept override {
      value.emplace(guarded(name(), [&] { return function_(std::move(stop)); }));
    }
    std::optional<detail::Resulting<detail::OffloadValue<F>>> value;

   private:
    F function_;
  };

  template <class T>
  static Task<void> deliver(Task<T> task, std::shared_ptr<detail::RunSlot<T>> slot) {
    try {
      if constexpr (std::is_void_v<T>) {
        co_await std::move(task);
        slot->value.emplace();
      } else {
        T value = co_await std::move(task);
        slot->value.emplace(std::move(value));
      }
    } catch (...) {
      slot->value.emplace(Failure(detail::error_in_flight("the task")));
    }
  }
};

std::unique_ptr<Engine> make_engine(EngineOptions options = {});

}  // namespace tug
