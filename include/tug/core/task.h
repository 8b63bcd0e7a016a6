// Task<T>: a coroutine that starts when it is awaited and ends before its awaiter goes on.
//
//   Task<int> twice(int n) { co_return 2 * n; }
//   auto task = twice(21);
//   int answer = co_await std::move(task);
//
// Lazy, move-only, one awaiter. Calls and returns transfer symmetrically, so a million synchronous
// awaits in a row use no stack. What the coroutine throws is rethrown in the awaiter; exceptions
// are bugs, expected failures are a Task<Result<T>>.
//
// The promise carries the Loop the task runs on, inherited from the awaiter, so no wait asks for a
// loop. A tree of tasks lives on that loop's thread. A Task may be built and dropped anywhere
// before it starts; after that only when it is done: destroying a suspended task would leave its
// operations pointing into freed memory, and asserts. Cancel it, then let it end.
//
// Parameters are kept by value in the frame; a reference parameter must outlive the run. A lambda
// coroutine must not capture: its captures die with the lambda, before the frame.
#pragma once

#include <cassert>
#include <concepts>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>
#include <variant>

namespace tug {

class Loop;
template <class T>
class Task;

namespace detail {

class PromiseBase;

// Whoever started a coroutine without awaiting it: scopes and engines. Told once, on the loop
// thread, when it has ended (the frame is suspended for the last time and may be destroyed);
// answers with what to run next.
class Owner {
 public:
  virtual std::coroutine_handle<> ended(PromiseBase& promise,
                                        std::coroutine_handle<> frame) noexcept = 0;

 protected:
  ~Owner() = default;
};

class PromiseBase {
 public:
  PromiseBase() noexcept = default;
  PromiseBase(const PromiseBase&) = delete;
  PromiseBase& operator=(const PromiseBase&) = delete;

  std::suspend_always initial_suspend() const noexcept { return {}; }

  struct Final {
    bool await_ready() const noexcept { return false; }
    template <class P>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<P> frame) const noexcept {
      return frame.promise().leave(frame);
    }
    void await_resume() const noexcept {}
  };
  Final final_suspend() const noexcept { return {}; }

  Loop& loop() const noexcept { return *loop_; }
  bool started() const noexcept { return loop_ != nullptr; }

  void start_under(std::coroutine_handle<> awaiter, Loop& loop) noexcept {
    next_ = reinterpret_cast<std::uintptr_t>(awaiter.address());
    loop_ = &loop;
  }
  void start_under(Owner& owner, Loop& loop) noexcept {
    next_ = reinterpret_cast<std::uintptr_t>(&owner) | kOwned;
    loop_ = &loop;
  }

 private:
  static constexpr std::uintptr_t kOwned = 1;

  std::coroutine_handle<> leave(std::coroutine_handle<> frame) noexcept {
    if (next_ & kOwned) return reinterpret_cast<Owner*>(next_ & ~kOwned)->ended(*this, frame);
    return std::coroutine_handle<>::from_address(reinterpret_cast<void*>(next_));
  }

  std::uintptr_t next_ = 0;  // the awaiter's frame, or an Owner with the low bit set
  Loop* loop_ = nullptr;
};

template <class P>
concept LoopPromise = std::derived_from<P, PromiseBase>;

template <class T>
class Promise final : public PromiseBase {
 public:
  Task<T> get_return_object() noexcept;

  template <class U = T>
    requires std::convertible_to<U&&, T>
  void return_value(U&& value) {
    outcome_.template emplace<1>(std::forward<U>(value));
  }
  void unhandled_exception() noexcept { outcome_.template emplace<2>(std::current_exception()); }

  // Moves the value out, or rethrows. Once, after the end.
  T take() {
    if (outcome_.index() == 2) std::rethrow_exception(std::get<2>(std::move(outcome_)));
    return std::get<1>(std::move(outcome_));
  }
  std::exception_ptr failure() const noexcept {
    return outcome_.index() == 2 ? std::get<2>(outcome_) : nullptr;
  }

 private:
  std::variant<std::monostate, T, std::exception_ptr> outcome_;
};

template <>
class Promise<void> final : public PromiseBase {
 public:
  Task<void> get_return_object() noexcept;
  void return_void() noexcept {}
  void unhandled_exception() noexcept { failure_ = std::current_exception(); }
  void take() {
    if (failure_) std::rethrow_exception(std::move(failure_));
  }
  std::exception_ptr failure() const noexcept { return failure_; }

 private:
  std::exception_ptr failure_;
};

}  // namespace detail

template <class T = void>
class [[nodiscard]] Task {
  static_assert(!std::is_reference_v<T>, "a task returns a value; return a pointer instead");

 public:
  using promise_type = detail::Promise<T>;
  using Frame = std::coroutine_handle<promise_type>;

  Task() noexcept = default;
  explicit Task(Frame frame) noexcept : frame_(frame) {}
  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this == &other) return *this;
    drop();
    frame_ = std::exchange(other.frame_, {});
    return *this;
  }
  ~Task() { drop(); }

  explicit operator bool() const noexcept { return static_cast<bool>(frame_); }

  class Awaiter {
   public:
    explicit Awaiter(Frame frame) noexcept : frame_(frame) {}
    bool await_ready() const noexcept { return false; }
    template <detail::LoopPromise P>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<P> awaiter) const noexcept {
      frame_.promise().start_under(awaiter, awaiter.promise().loop());
      return frame_;
    }
    T await_resume() const { return frame_.promise().take(); }

   private:
    Frame frame_;
  };
  // The task keeps its frame until it is destroyed; awaiting only borrows it.
  Awaiter operator co_await() && noexcept {
    assert(frame_ && !frame_.promise().started() && "a task is awaited once");
    return Awaiter(frame_);
  }

  // For owners.
  Frame frame() const noexcept { return frame_; }
  Frame release() noexcept { return std::exchange(frame_, {}); }

 private:
  void drop() noexcept {
    if (!frame_) return;
    assert((frame_.done() || !frame_.promise().started()) &&
           "a suspended task was destroyed: cancel it and await its end instead");
    std::exchange(frame_, {}).destroy();
  }

  Frame frame_;
};

namespace detail {

template <class T>
Task<T> Promise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<Promise>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<Promise>::from_promise(*this));
}

struct ThisLoop {
  Loop* loop = nullptr;
  bool await_ready() const noexcept { return false; }
  template <LoopPromise P>
  bool await_suspend(std::coroutine_handle<P> frame) noexcept {
    loop = &frame.promise().loop();
    return false;
  }
  Loop& await_resume() const noexcept { return *loop; }
};

}  // namespace detail

// The loop of the coroutine that asks: `Loop& loop = co_await this_loop();`. Never suspends.
inline detail::ThisLoop this_loop() noexcept { return {}; }

}  // namespace tug
