#include "tug/core/scope.h"

#include <cassert>

namespace tug {

Scope::Scope(Loop& loop, const CancelToken& parent) : loop_(loop), token_(parent.child()) {}

Scope::~Scope() { assert(running_ == 0 && "a scope died before its children: join it first"); }

void Scope::spawn(Task<void> child) {
  auto frame = child.release();
  ++running_;
  frame.promise().start_under(*this, loop_);
  loop_.schedule(frame);
}

void Scope::spawn(std::string what, Task<Result<void>> child) {
  spawn(keep_failure(std::move(what), std::move(child)));
}

Task<void> Scope::keep_failure(std::string what, Task<Result<void>> child) {
  try {
    Result<void> ended = co_await std::move(child);
    if (!ended) failures_.push_back(ended.error().within(what));
  } catch (...) {
    failures_.push_back(detail::error_in_flight(what));
  }
}

std::coroutine_handle<> Scope::ended(detail::PromiseBase& promise,
                                     std::coroutine_handle<> frame) noexcept {
  std::exception_ptr thrown = static_cast<detail::Promise<void>&>(promise).failure();
  frame.destroy();
  if (thrown) {
    auto rethrow = [&] { std::rethrow_exception(thrown); };
    failures_.push_back(guarded("a child of a scope", rethrow).error());
  }
  if (--running_ == 0) idle_.wake_all();
  return std::noop_coroutine();
}

Task<void> Scope::join() {
  while (running_ > 0) co_await idle_.wait();
}

Task<void> when_all(std::vector<Task<void>> tasks) {
  Loop& loop = co_await this_loop();
  detail::Gather gather(loop, {});
  for (const Task<void>& task : tasks) gather.start(task);
  co_await gather;
  for (const Task<void>& task : tasks) detail::take(task);
}

namespace detail {

std::coroutine_handle<> Gather::ended(PromiseBase&, std::coroutine_handle<> frame) noexcept {
  if (!first_) {
    first_ = frame.address();
    stop_.request({CancelReason::Why::parent, "another branch ended first"});
  }
  if (--running_ > 0) return std::noop_coroutine();
  loop_.waiting(kWhat, -1);
  return waiting_;
}

DeadlineGuard::DeadlineGuard(Loop& loop, Instant at, CancelToken token) noexcept
    : Timer([](Timer& timer) noexcept {
        auto& self = static_cast<DeadlineGuard&>(timer);
        if (self.token_.requested()) return;
        self.struck_ = true;
        self.token_.request({CancelReason::Why::deadline, {}});
      }),
      loop_(loop),
      begun_(loop.now()),
      deadline_(at),
      token_(std::move(token)) {
  if (deadline_ <= begun_)
    fire(*this);
  else
    loop_.arm(*this, deadline_);
}

DeadlineGuard::~DeadlineGuard() { loop_.disarm(*this); }

Error DeadlineGuard::error() const {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  const auto allowed = duration_cast<milliseconds>(deadline_ - begun_).count();
  const auto used = duration_cast<milliseconds>(loop_.now() - begun_).count();
  return Error(ErrorKind::exhausted, "the deadline passed", "allow more time",
               Limit{LimitKind::wall_clock, allowed, used});
}

}  // namespace detail
}  // namespace tug
