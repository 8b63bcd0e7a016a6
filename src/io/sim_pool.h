// The worker pool of the simulation. A free worker begins the first call in the queue; how long it
// takes is drawn then; the function is called inline when that time is over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "io/offload.h"
#include "io/sim_loop.h"
#include "tug/core/rng.h"

namespace tug {

class SimPool final : public OffloadQueue {
 public:
  SimPool(unsigned workers, std::size_t queue_cap, Duration least, Duration most,
          const SimClock& clock) noexcept
      : workers_(workers), queue_cap_(queue_cap), least_(least), most_(most), clock_(clock) {}

  Result<void> submit(std::shared_ptr<OffloadTicket> ticket) override;
  bool abandon(const std::shared_ptr<OffloadTicket>& ticket) noexcept override;
  std::vector<std::string> abandoned() const;
  std::uint64_t abandoned_total() const noexcept { return abandoned_total_; }

  // What the scheduler can draw: a worker that begins, and calls that are over.
  bool can_begin() const noexcept { return !queue_.empty() && busy_ < workers_; }
  std::size_t due() const noexcept;
  void begin_one(Rng& rng);
  // The `nth` of those that are due, in the order they began.
  void end_one(std::size_t nth);
  Instant next_due() const noexcept;

  bool idle() const noexcept { return running_.empty(); }
  // Takes no more, drops what has not begun, asks what runs to stop.
  void close();
  // Abandons what still runs.
  void abandon_all() noexcept;

 private:
  struct Running {
    std::shared_ptr<OffloadTicket> ticket;
    Instant due;
    bool abandoned = false;
  };

  const unsigned workers_;
  const std::size_t queue_cap_;
  const Duration least_;
  const Duration most_;
  const SimClock& clock_;
  std::deque<std::shared_ptr<OffloadTicket>> queue_;
  std::vector<Running> running_;
  unsigned busy_ = 0;  // workers that are not replaced
  std::uint64_t abandoned_total_ = 0;
  bool closed_ = false;
};

}  // namespace tug
