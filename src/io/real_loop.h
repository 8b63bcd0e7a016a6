// A loop with a thread: takes steps while there are any, sleeps in Asio's reactor otherwise.
// Sockets and process handles live in that reactor; their handlers run on the loop thread, between
// steps.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/loop_core.h"
#include "io/loop_mailbox.h"
#include "io/root_ledger.h"

namespace tug {

Instant real_now() noexcept;
Time real_wall() noexcept;

// Something that lives on a loop, made by the part of io that needs it; it ends on the loop thread,
// with the loop.
class LoopGuest {
 public:
  virtual ~LoopGuest() = default;
};

class RealLoop final : public LoopCore {
 public:
  // Starts the thread. `slow_step` 0 measures nothing.
  RealLoop(unsigned index, RootLedger& ledger, Duration slow_step);
  // The thread must have been stopped.
  ~RealLoop() override;

  Instant now() const noexcept override { return real_now(); }
  Time wall() const noexcept override { return real_wall(); }
  bool is_current() const noexcept override {
    return id_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  void post(Job job) noexcept override { mail_->post(std::move(job)); }
  std::shared_ptr<Mailbox> mailbox() const noexcept override { return mail_; }

  LoopRoots& roots() noexcept { return roots_; }
  // Loop thread.
  boost::asio::io_context& reactor() noexcept { return reactor_; }
  LoopGuest* guest() noexcept { return guest_.get(); }
  void set_guest(std::unique_ptr<LoopGuest> guest) noexcept { guest_ = std::move(guest); }
  std::uint64_t slow_steps() const noexcept { return slow_steps_.load(std::memory_order_relaxed); }

  // Not on the loop thread: takes what has been posted so far, then ends and closes the mailbox.
  void stop();

 private:
  void run() noexcept;
  void take_steps() noexcept;
  void sleep() noexcept;
  // Runs one step and reports it if it was slow.
  template <class F>
  void step(const char* what, F&& function) noexcept;

  const unsigned index_;
  const Duration slow_step_;
  std::atomic<std::uint64_t> slow_steps_ = 0;
  boost::asio::io_context reactor_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      reactor_.get_executor()};
  std::shared_ptr<LoopMailbox> mail_;
  std::vector<Job> inbox_;
  std::unique_ptr<LoopGuest> guest_;
  LoopRoots roots_;
  bool stop_ = false;
  std::atomic<std::thread::id> id_;
  std::thread thread_;
};

// The reactor of a real loop, for the rest of io; null for a simulated one.
boost::asio::io_context* reactor_of(Loop& loop) noexcept;

}  // namespace tug
