// What the logs of one loop have queued since the last flush. One flush a step, for all of them:
// one lock, one wake of the committer. Loop thread only.
#pragma once

#include <memory>
#include <vector>

#include "journal/committer.h"
#include "tug/core/loop.h"

namespace tug {

// A log with something to commit.
class Pending {
 public:
  virtual ~Pending() = default;
  // Moves out what is queued; false when there is nothing after all.
  virtual bool take(Submission& submission) noexcept = 0;
};

class Outbox : public std::enable_shared_from_this<Outbox> {
 public:
  Outbox(Loop& loop, Committer& committer) : loop_(loop), committer_(committer) {}

  Loop& loop() noexcept { return loop_; }
  // Whether a flush has committed when it returns.
  bool at_once() const noexcept { return committer_.at_once(); }
  // Each log marks itself once between flushes.
  void mark(std::shared_ptr<Pending> log) {
    dirty_.push_back(std::move(log));
    if (posted_) return;
    posted_ = true;
    loop_.post([self = shared_from_this()]() noexcept { self->flush(); });
  }

  void flush() noexcept {
    posted_ = false;
    if (dirty_.empty()) return;
    std::vector<Submission> submissions;
    submissions.reserve(dirty_.size());
    for (const auto& log : dirty_) {
      Submission submission;
      if (log->take(submission)) submissions.push_back(std::move(submission));
    }
    dirty_.clear();
    if (!submissions.empty()) committer_.submit(std::move(submissions));
  }

 private:
  Loop& loop_;
  Committer& committer_;
  std::vector<std::shared_ptr<Pending>> dirty_;
  bool posted_ = false;
};

}  // namespace tug
