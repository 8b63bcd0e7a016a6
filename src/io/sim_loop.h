// A loop of the simulation: its clock is the engine's, and it takes exactly one step when told.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "core/loop_core.h"
#include "io/root_ledger.h"
#include "tug/core/rng.h"

namespace tug {

// Virtual time, the same for all loops of one engine.
struct SimClock {
  Instant now{};
  Time start{};
  Time wall() const noexcept { return start + now.time_since_epoch(); }
};

class SimLoop final : public LoopCore {
 public:
  SimLoop(const SimClock& clock, const Loop* const& current, RootLedger& ledger)
      : clock_(clock), current_(current), roots_(ledger) {}
  ~SimLoop() override { mail_->close(); }

  Instant now() const noexcept override { return clock_.now; }
  Time wall() const noexcept override { return clock_.wall(); }
  bool is_current() const noexcept override { return current_ == this; }
  void post(Job job) noexcept override { mail_->post(std::move(job)); }
  std::shared_ptr<Mailbox> mailbox() const noexcept override { return mail_; }

  LoopRoots& roots() noexcept { return roots_; }
  bool runnable() const noexcept {
    return ready() > 0 || !mail_->jobs.empty() || next_alarm() <= clock_.now;
  }
  // One step: a coroutine, a message or a due timer, drawn from what there is. Which of the three.
  unsigned step(Rng& rng) noexcept;
  void close() noexcept { mail_->close(); }

 private:
  struct Mail final : Mailbox {
    bool post(Job job) noexcept override {
      if (open) jobs.push_back(std::move(job));
      return open;
    }
    void close() noexcept {
      open = false;
      std::deque<Job> dropped = std::move(jobs);
      jobs.clear();
    }
    std::deque<Job> jobs;
    bool open = true;
  };

  const SimClock& clock_;
  const Loop* const& current_;
  std::shared_ptr<Mail> mail_ = std::make_shared<Mail>();
  LoopRoots roots_;
};

}  // namespace tug
