// The simulated engine: the same code in virtual time, in an order drawn from a seed.
//
// Single-threaded: everything runs on the thread that calls run(), run_until_idle() or step(), and
// nothing of it may be touched by another. Each step the scheduler draws one of what could run
// next: a loop's next coroutine, message or due timer, a woken background, an offloaded function
// that begins or ends. How long (virtually) an offloaded function takes is drawn too; it is called
// inline at its end, so it must not block on anything else of the simulation. Time stands still
// while anything can run, and then jumps to the next timer. Same seed, same order, on every
// platform and at every optimisation level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tug/io/engine.h"

namespace tug {

struct SimOptions {
  std::uint64_t seed = 1;
  unsigned loops = 1;
  unsigned workers = 4;
  Duration grace = std::chrono::seconds(2);
  Duration drain = std::chrono::seconds(10);
  std::size_t queue_cap = 65536;
  // What wall() says at instant 0: 2026-01-01T00:00:00Z.
  Time start = Time(std::chrono::seconds(1767225600));
  // An offloaded function takes a drawn time in [min, max].
  Duration offload_min = std::chrono::microseconds(10);
  Duration offload_max = std::chrono::milliseconds(5);
};

class SimEngine : public Engine {
 public:
  // One drawn step, or one jump of the clock. False when nothing can happen any more.
  virtual bool step() = 0;
  // Steps until nothing can happen; how many steps.
  virtual std::uint64_t run_until_idle() = 0;
  // Steps until virtual time has moved on by `by`, also if nothing happens meanwhile.
  virtual void advance(Duration by) = 0;
  // A digest of every choice drawn so far: equal digests, equal orders.
  virtual std::uint64_t order_digest() const noexcept = 0;
  virtual std::uint64_t seed() const noexcept = 0;
};

std::unique_ptr<SimEngine> make_sim_engine(SimOptions options = {});

}  // namespace tug
