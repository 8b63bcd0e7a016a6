// Children that run beside each other: a scope that owns them, and three shapes of it.
//
// Nothing is detached: whoever starts children cancels and joins them before it goes on. Children
// start after the current step, in the order they were given, on the loop of whoever starts them.
// Loop thread only.
#pragma once

#include <coroutine>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tug/core/cancel.h"
#include "tug/core/error.h"
#include "tug/core/loop.h"
#include "tug/core/task.h"
#include "tug/core/time.h"
#include "tug/core/wait.h"

namespace tug {

// Owns the children spawned in it. Its token is below `parent`; give it to the children. A child's
// failure stops nobody else: it is collected. Must be joined before it dies, so it cannot be left
// by an exception while children run: catch, cancel, join.
class Scope : private detail::Owner {
 public:
  Scope(Loop& loop, const CancelToken& parent);
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope();

  const CancelToken& token() const noexcept { return token_; }
  std::size_t running() const noexcept { return running_; }

  // Also from a child, also while somebody joins.
  void spawn(Task<void> child);
  // `what` names the child in its failure.
  void spawn(std::string what, Task<Result<void>> child);

  void cancel(CancelReason reason) noexcept { token_.request(std::move(reason)); }
  // Ends when no child runs. Cannot be cancelled: cancel the children.
  Task<void> join();

  // What children failed with so far, in the order they ended; what they threw is `internal`.
  const std::vector<Error>& failures() const noexcept { return failures_; }

 private:
  std::coroutine_handle<> ended(detail::PromiseBase& promise,
                                std::coroutine_handle<> frame) noexcept override;
  Task<void> keep_failure(std::string what, Task<Result<void>> child);

  Loop& loop_;
  CancelToken token_;
  std::size_t running_ = 0;
  WaitList idle_{"the children of a scope"};
  std::vector<Error> failures_;
};

namespace detail {

// Starts tasks that stay where they are, and resumes one coroutine when the last has ended.
class Gather : private Owner {
 public:
  // `stop` is requested when the first task ends; may be empty.
  Gather(Loop& loop, CancelToken stop) noexcept : loop_(loop), stop_(std::move(stop)) {}

  template <class T>
  void start(const Task<T>& task) noexcept {
    ++running_;
    task.frame().promise().start_under(*this, loop_);
    loop_.schedule(task.frame());
  }
  template <class T>
  bool is_first(const Task<T>& task) const noexcept {
    return first_ == task.frame().address();
  }

  bool await_ready() const noexcept { return running_ == 0; }
  void await_suspend(std::coroutine_handle<> frame) noexcept {
    waiting_ = frame;
    loop_.waiting(kWhat, +1);
  }
  void await_resume() const noexcept {}

 private:
  static constexpr const char* kWhat = "the branches of when_all or race";
  std::coroutine_handle<> ended(PromiseBase& promise,
                                std::coroutine_handle<> frame) noexcept override;

  Loop& loop_;
  CancelToken stop_;
  std::size_t running_ = 0;
  void* first_ = nullptr;
  std::coroutine_handle<> waiting_;
};

template <class T>
using Regular = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class T>
Regular<T> take(const Task<T>& task) {
  if constexpr (std::is_void_v<T>) {
    task.frame().promise().take();
    return {};
  } else {
    return task.frame().promise().take();
  }
}

template <class F>
struct TaskOf;
template <class T>
struct TaskOf<Task<T>> {
  using Value = T;
};
template <class F>
using BranchValue = typename TaskOf<std::invoke_result_t<F&, CancelToken>>::Value;

// Requests `token` at `at`, unless it dies before.
class DeadlineGuard : private Timer {
 public:
  DeadlineGuard(Loop& loop, Instant at, CancelToken token) noexcept;
  DeadlineGuard(const DeadlineGuard&) = delete;
  DeadlineGuard& operator=(const DeadlineGuard&) = delete;
  ~DeadlineGuard();
  // Whether it was this deadline that stopped the token.
  bool struck() const noexcept { return struck_; }
  Error error() const;

 private:
  Loop& loop_;
  Instant begun_;
  Instant deadline_;
  CancelToken token_;
  bool struck_ = false;
};

}  // namespace detail

// Runs all beside each other, ends when all have ended, answers in the order given (void as
// std::monostate). If any threw, the first of them in that order is rethrown, after all have ended.
template <class... Ts>
Task<std::tuple<detail::Regular<Ts>...>> when_all(Task<Ts>... tasks) {
  Loop& loop = co_await this_loop();
  detail::Gather gather(loop, {});
  (gather.start(tasks), ...);
  co_await gather;
  co_return std::tuple<detail::Regular<Ts>...>{detail::take(tasks)...};
}

template <class T>
Task<std::vector<T>> when_all(std::vector<Task<T>> tasks) {
  Loop& loop = co_await this_loop();
  detail::Gather gather(loop, {});
  for (const Task<T>& task : tasks) gather.start(task);
  co_await gather;
  std::vector<T> values;
  values.reserve(tasks.size());
  for (const Task<T>& task : tasks) values.push_back(detail::take(task));
  co_return values;
}

Task<void> when_all(std::vector<Task<void>> tasks);

template <class T>
struct RaceResult {
  std::size_t winner = 0;  // which factory, counted from 0
  detail::Regular<T> value;
};

// Runs factory(token below `token`) for all; the first to end wins, whatever it ends with. The
// others are cancelled (`parent`) and joined; what they end with, or throw, is dropped. All
// factories make the same kind of task. They live until the race is over, so they may capture.
template <class First, class... Rest>
Task<RaceResult<detail::BranchValue<First>>> race(CancelToken token, First first, Rest... rest) {
  using T = detail::BranchValue<First>;
  Loop& loop = co_await this_loop();
  CancelToken branch = token.child();
  std::vector<Task<T>> tasks;
  tasks.reserve(1 + sizeof...(Rest));
  tasks.push_back(first(branch));
  (tasks.push_back(rest(branch)), ...);
  detail::Gather gather(loop, branch);
  for (const Task<T>& task : tasks) gather.start(task);
  co_await gather;
  std::size_t winner = 0;
  while (!gather.is_first(tasks[winner])) ++winner;
  co_return RaceResult<T>{winner, detail::take(tasks[winner])};
}

// Runs factory(token below `token`), whose token is requested (`deadline`) at `deadline`; always
// waits for its end. A Result that failed as `cancelled` because of that deadline becomes
// `exhausted` with a Limit of kind wall_clock. The factory may capture.
template <class F>
Task<detail::BranchValue<F>> with_deadline(CancelToken token, Instant deadline, F factory) {
  using T = detail::BranchValue<F>;
  Loop& loop = co_await this_loop();
  CancelToken branch = token.child();
  detail::DeadlineGuard guard(loop, deadline, branch);
  Task<T> task = factory(branch);
  if constexpr (std::is_void_v<T>) {
    co_await std::move(task);
  } else {
    T value = co_await std::move(task);
    if constexpr (detail::is_result<T>) {
      if (!value && value.error().kind() == ErrorKind::cancelled && guard.struck())
        co_return Failure(guard.error());
    }
    co_return value;
  }
}

}  // namespace tug
