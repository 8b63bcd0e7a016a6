// A loop that a test turns by hand: virtual time, one thread, no engine. For the tests of core,
// which may not know the engines.
#pragma once

#include <coroutine>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "core/loop_core.h"
#include "tug/core/task.h"

namespace tug {

class ManualLoop final : public LoopCore, private detail::Owner {
 public:
  Instant now() const noexcept override { return now_; }
  Time wall() const noexcept override { return Time(now_.time_since_epoch()); }
  bool is_current() const noexcept override { return true; }
  void post(Job job) noexcept override { mail_->jobs.push_back(std::move(job)); }
  std::shared_ptr<Mailbox> mailbox() const noexcept override { return mail_; }
  ~ManualLoop() override { mail_->open = false; }

  void start(Task<void> root) {
    auto frame = root.release();
    ++roots_;
    frame.promise().start_under(*this, *this);
    schedule(frame);
  }
  std::size_t roots() const noexcept { return roots_; }

  // Turns until nothing is ready and nothing is due; time stands still.
  void settle() {
    while (true) {
      if (ready()) {
        resume_one();
      } else if (!mail_->jobs.empty()) {
        Job job = std::move(mail_->jobs.front());
        mail_->jobs.pop_front();
        job();
      } else if (!fire_one(now_)) {
        return;
      }
    }
  }
  // Lets `by` pass, alarm by alarm.
  void advance(Duration by) {
    const Instant end = now_ + by;
    settle();
    while (next_alarm() <= end) {
      now_ = next_alarm();
      settle();
    }
    now_ = end;
  }

  // Runs `task` to its end, through all the time it needs. Rethrows what it throws; empty if it is
  // stuck (then it stays parked).
  template <class T>
  std::optional<T> run(Task<T> task) {
    auto kept = std::make_shared<Kept<T>>();
    start(keep(std::move(task), kept));
    settle();
    while (!kept->ended && next_alarm() != kNever) {
      now_ = next_alarm();
      settle();
    }
    if (kept->thrown) std::rethrow_exception(kept->thrown);
    return std::move(kept->value);
  }
  bool run(Task<void> task) {
    auto kept = std::make_shared<Kept<int>>();
    start(keep_void(std::move(task), kept));
    settle();
    while (!kept->ended && next_alarm() != kNever) {
      now_ = next_alarm();
      settle();
    }
    if (kept->thrown) std::rethrow_exception(kept->thrown);
    return kept->ended;
  }

 private:
  struct Mail final : Mailbox {
    bool post(Job job) noexcept override {
      if (open) jobs.push_back(std::move(job));
      return open;
    }
    std::deque<Job> jobs;
    bool open = true;
  };
  template <class T>
  struct Kept {
    std::optional<T> value;
    std::exception_ptr thrown;
    bool ended = false;
  };

  template <class T>
  static Task<void> keep(Task<T> task, std::shared_ptr<Kept<T>> kept) {
    try {
      kept->value.emplace(co_await std::move(task));
    } catch (...) {
      kept->thrown = std::current_exception();
    }
    kept->ended = true;
  }
  static Task<void> keep_void(Task<void> task, std::shared_ptr<Kept<int>> kept) {
    try {
      co_await std::move(task);
    } catch (...) {
      kept->thrown = std::current_exception();
    }
    kept->ended = true;
  }
  std::coroutine_handle<> ended(detail::PromiseBase&,
                                std::coroutine_handle<> frame) noexcept override {
    frame.destroy();
    --roots_;
    return std::noop_coroutine();
  }

  Instant now_{};
  std::size_t roots_ = 0;
  std::shared_ptr<Mail> mail_ = std::make_shared<Mail>();
};

}  // namespace tug
