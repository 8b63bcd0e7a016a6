// What coroutines of one loop share: a flag, permits, a bounded queue. Built on the one wait
// (tug/core/wait.h); first come, first served, also against those that do not have to wait.
// Loop thread only; each must outlive its waiters.
#pragma once

#include <cassert>
#include <coroutine>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "tug/core/wait.h"

namespace tug {

// A flag that can be waited for. Stays set until reset.
class Signal {
 public:
  explicit Signal(const char* what = "a signal") noexcept : waiters_(what) {}

  bool is_set() const noexcept { return set_; }
  void set() noexcept;
  void reset() noexcept { set_ = false; }

  class Wait;
  // `Woken woken = co_await signal.wait(until);`
  Wait wait(Until until = {}) noexcept;

 private:
  WaitList waiters_;
  bool set_ = false;
};

// One permit of a Semaphore, given back when it dies. The semaphore must outlive it.
class Semaphore;
class [[nodiscard]] Permit {
 public:
  Permit() noexcept = default;
  Permit(Permit&& other) noexcept : from_(std::exchange(other.from_, nullptr)) {}
  Permit& operator=(Permit&& other) noexcept;
  ~Permit() { release(); }
  explicit operator bool() const noexcept { return from_ != nullptr; }
  void release() noexcept;

 private:
  friend class Semaphore;
  explicit Permit(Semaphore* from) noexcept : from_(from) {}
  Semaphore* from_ = nullptr;
};

// A permit given back goes to the first that waits, never to a later one that happens to ask.
class Semaphore {
 public:
  explicit Semaphore(std::size_t permits, const char* what = "a permit") noexcept
      : free_(permits), waiters_(what), what_(what) {}

  std::size_t available() const noexcept { return free_; }
  // An empty permit if none is free or others wait.
  Permit try_acquire() noexcept;

  class Acquire;
  // `Result<Permit> permit = co_await semaphore.acquire(until);` Fails as wait_error says.
  Acquire acquire(Until until = {}) noexcept;

 private:
  friend class Permit;
  void give_back() noexcept;

  std::size_t free_;
  WaitList waiters_;
  const char* what_;
};

// A bounded queue. Capacity 0 is a rendezvous: a send ends when its item is received.
template <class T>
class Channel {
 public:
  explicit Channel(std::size_t capacity, const char* what = "a channel") noexcept
      : capacity_(capacity), senders_(what), receivers_(what), what_(what) {}

  std::size_t size() const noexcept { return count_; }
  bool closed() const noexcept { return closed_; }
  // No more sends: waiting ones fail, what is queued can still be received. Again does nothing.
  void close() noexcept;

  class Send;
  class Receive;
  // `Result<void> sent = co_await channel.send(item, until);` Fails with `disconnected` when
  // closed, and as wait_error says; a failed send has delivered nothing.
  Send send(T item, Until until = {}) { return Send(*this, std::move(item), std::move(until)); }
  // `Result<std::optional<T>> item = co_await channel.receive(until);` Empty once closed and
  // drained. Fails as wait_error says; a failed receive has taken nothing.
  Receive receive(Until until = {}) noexcept { return Receive(*this, std::move(until)); }
  // False, and `item` untouched, when it would have to wait or the channel is closed.
  bool try_send(T& item);
  std::optional<T> try_receive();

 private:
  bool hand_over(T& item);
  void push(T item);
  T pop();

  std::size_t capacity_;
  std::vector<std::optional<T>> ring_;  // grows up to the capacity, as needed
  std::size_t head_ = 0;
  std::size_t count_ = 0;
  bool closed_ = false;
  WaitList senders_;
  WaitList receivers_;
  const char* what_;
};

// --- what the awaits are made of

class Signal::Wait : private detail::Waiter {
 public:
  Wait(Signal& signal, Until until, const char* what) noexcept
      : Waiter(std::move(until), what), signal_(signal) {}
  bool await_ready() noexcept { return already_cancelled() || signal_.set_; }
  template <detail::LoopPromise P>
  bool await_suspend(std::coroutine_handle<P> frame) noexcept {
    return park(&signal_.waiters_, frame, frame.promise().loop());
  }
  Woken await_resume() const noexcept { return woken(); }

 private:
  Signal& signal_;
};
inline Signal::Wait Signal::wait(Until until) noexcept {
  return Wait(*this, std::move(until), waiters_.what());
}

class Semaphore::Acquire : private detail::Waiter {
 public:
  Acquire(Semaphore& from, Until until) noexcept
      : Waiter(std::move(until), from.what_), from_(from) {}
  bool await_ready() noexcept {
    if (already_cancelled()) return true;
    permit_ = from_.try_acquire();
    return static_cast<bool>(permit_);
  }
  template <detail::LoopPromise P>
  bool await_suspend(std::coroutine_handle<P> frame) noexcept {
    return park(&from_.waiters_, frame, frame.promise().loop());
  }
  Result<Permit> await_resume() {
    if (woken() != Woken::ready) return Failure(wait_error(woken(), until(), from_.what_));
    // Woken by give_back, which kept the permit out of free_ for us.
    if (!permit_) permit_ = Permit(&from_);
    return std::move(permit_);
  }

 private:
  Semaphore& from_;
  Permit permit_;
};
inline Semaphore::Acquire Semaphore::acquire(Until until) noexcept {
  return Acquire(*this, std::move(until));
}

template <class T>
class Channel<T>::Send : private detail::Waiter {
 public:
  Send(Channel& to, T item, Until until)
      : Waiter(std::move(until), to.what_), to_(to), item_(std::move(item)) {}
  bool await_ready() {
    if (already_cancelled()) return true;
    if (to_.closed_) return true;
    sent_ = to_.try_send(item_);
    return sent_;
  }
  template <detail::LoopPromise P>
  bool await_suspend(std::coroutine_handle<P> frame) noexcept {
    return park(&to_.senders_, frame, frame.promise().loop());
  }
  Result<void> await_resume() {
    if (sent_) return {};
    if (woken() != Woken::ready) return Failure(wait_error(woken(), until(), to_.what_));
    return fail(ErrorKind::disconnected, std::string(to_.what_) + " is closed");
  }

 private:
  friend class Channel;
  Channel& to_;
  T item_;
  bool sent_ = false;
};

template <class T>
class Channel<T>::Receive : private detail::Waiter {
 public:
  Receive(Channel& from, Until until) noexcept
      : Waiter(std::move(until), from.what_), from_(from) {}
  bool await_ready() {
    if (already_cancelled()) return true;
    item_ = from_.try_receive();
    return item_.has_value() || from_.closed_;
  }
  template <detail::LoopPromise P>
  bool await_suspend(std::coroutine_handle<P> frame) noexcept {
    return park(&from_.receivers_, frame, frame.promise().loop());
  }
  Result<std::optional<T>> await_resume() {
    if (woken() != Woken::ready) return Failure(wait_error(woken(), until(), from_.what_));
    return std::move(item_);  // empty: closed and drained
  }

 private:
  friend class Channel;
  Channel& from_;
  std::optional<T> item_;
};

// A receiver only waits while nothing is queued and no sender waits; so an item goes to the first
// receiver directly, and nobody can take it in between.
template <class T>
bool Channel<T>::hand_over(T& item) {
  detail::Waiter* waiter = receivers_.first();
  if (!waiter) return false;
  static_cast<Receive*>(waiter)->item_.emplace(std::move(item));
  waiter->wake();
  return true;
}

template <class T>
bool Channel<T>::try_send(T& item) {
  if (closed_) return false;
  if (hand_over(item)) return true;
  if (count_ >= capacity_) return false;
  push(std::move(item));
  return true;
}

template <class T>
std::optional<T> Channel<T>::try_receive() {
  if (count_ == 0) {
    detail::Waiter* waiter = senders_.first();
    if (!waiter) return std::nullopt;
    auto* sender = static_cast<Send*>(waiter);
    std::optional<T> item(std::move(sender->item_));
    sender->sent_ = true;
    sender->wake();
    return item;
  }
  std::optional<T> item(pop());
  if (detail::Waiter* waiter = senders_.first()) {
    auto* sender = static_cast<Send*>(waiter);
    push(std::move(sender->item_));
    sender->sent_ = true;
    sender->wake();
  }
  return item;
}

template <class T>
void Channel<T>::close() noexcept {
  closed_ = true;
  senders_.wake_all();
  receivers_.wake_all();
}

template <class T>
void Channel<T>::push(T item) {
  if (count_ == ring_.size()) {
    std::vector<std::optional<T>> wider(ring_.empty() ? 4 : ring_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i)
      wider[i] = std::move(ring_[(head_ + i) % ring_.size()]);
    ring_ = std::move(wider);
    head_ = 0;
  }
  ring_[(head_ + count_++) % ring_.size()].emplace(std::move(item));
}

template <class T>
T Channel<T>::pop() {
  T item = std::move(*ring_[head_]);
  ring_[head_].reset();
  head_ = (head_ + 1) % ring_.size();
  --count_;
  return item;
}

}  // namespace tug
