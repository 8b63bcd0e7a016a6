// One offloaded call between the coroutine that waits for it and the worker that runs it. The same
// for both engines; they differ in what stands behind OffloadQueue.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>

#include "tug/core/sync.h"
#include "tug/core/task.h"
#include "tug/core/wait.h"
#include "tug/io/engine.h"

namespace tug {

// queued -> withdrawn | running; running -> done | abandoned. The caller withdraws and abandons,
// the worker begins and finishes; one compare-and-swap each, so exactly one of them wins.
class OffloadTicket {
 public:
  OffloadTicket(std::shared_ptr<detail::Offloaded> work, std::shared_ptr<Mailbox> reply) noexcept
      : work_(std::move(work)), reply_(std::move(reply)) {}

  const std::string& name() const noexcept { return work_->name(); }
  std::stop_source& stop() noexcept { return stop_; }
  Signal& finished() noexcept { return finished_; }  // the caller's loop thread only

  bool withdraw() noexcept { return move(State::queued, State::withdrawn); }
  bool begin() noexcept { return move(State::queued, State::running); }
  void call() noexcept { work_->call(stop_.get_token()); }
  bool abandon() noexcept { return move(State::running, State::abandoned); }
  // Tells the caller. False, and nobody told, if it was abandoned. Gives the ticket back to the
  // caller's thread, so that what the function holds dies there.
  static bool finish(std::shared_ptr<OffloadTicket>& ticket) noexcept;

 private:
  enum class State : std::uint8_t { queued, withdrawn, running, done, abandoned };
  bool move(State from, State to) noexcept {
    return state_.compare_exchange_strong(from, to, std::memory_order_acq_rel);
  }

  std::shared_ptr<detail::Offloaded> work_;
  std::shared_ptr<Mailbox> reply_;
  std::stop_source stop_;
  Signal finished_{"an offloaded function"};
  std::atomic<State> state_ = State::queued;
};

class OffloadQueue {
 public:
  // Fails with `overloaded` when full, `cancelled` when closed.
  virtual Result<void> submit(std::shared_ptr<OffloadTicket> ticket) = 0;
  // Gives up on a running call and its worker's thread. False: it has just finished, and the news
  // is on its way.
  virtual bool abandon(const std::shared_ptr<OffloadTicket>& ticket) noexcept = 0;

 protected:
  ~OffloadQueue() = default;
};

Failure queue_full(const OffloadTicket& ticket);
Failure queue_closed(const OffloadTicket& ticket);

// What Engine::perform is; see Engine::offload for the promise it keeps.
Task<Result<void>> perform_offload(OffloadQueue& queue, std::shared_ptr<detail::Offloaded> work,
                                   Until until, Duration grace);

}  // namespace tug
