// The threads that run offloaded functions. A thread whose function is abandoned is let go and
// replaced at once, so the pool keeps its size; it ends by itself if its function ever does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "io/offload.h"

namespace tug {

class WorkerPool final : public OffloadQueue {
 public:
  WorkerPool(unsigned workers, std::size_t queue_cap);
  ~WorkerPool();

  // Any thread.
  Result<void> submit(std::shared_ptr<OffloadTicket> ticket) override;
  bool abandon(const std::shared_ptr<OffloadTicket>& ticket) noexcept override;
  std::vector<std::string> abandoned() const;
  std::uint64_t abandoned_total() const noexcept;
  bool owns(std::thread::id thread) const noexcept;

  // Takes no more, drops what has not begun, asks what runs to stop, abandons what has not ended
  // within `grace`, joins the rest.
  void close(Duration grace);

 private:
  struct Shared;  // outlives the pool as long as an abandoned thread runs
  static void work(std::shared_ptr<Shared> shared, std::uint64_t worker) noexcept;
  void add_worker();

  std::shared_ptr<Shared> shared_;
};

}  // namespace tug
