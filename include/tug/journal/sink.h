// Who watches a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tug/journal/event.h"

namespace tug {

// Called on the root's loop and must return at once. What throws is removed and counted; the run
// goes on.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void on_event(const Event& event) = 0;
  // Every record up to `seq` is on disk. What leaves the process as fact waits for this.
  virtual void on_durable(Seq) {}
  // Live events are built only while somebody wants them.
  virtual bool wants_live() const noexcept { return true; }
};

// What the bounded queue behind a slow exporter does when it is full. None of them holds up a run.
enum class QueueOverflow : std::uint8_t {
  catch_up,  // drop, count, and read the missed records back from the store; live events are lost
  coalesce_deltas,  // join a delta to the one before it of the same call; otherwise as
                    // drop_and_count
  drop_and_count,
};

struct QueueCounts {
  std::uint64_t delivered = 0;
  std::uint64_t dropped_live = 0;
  std::uint64_t dropped_records = 0;  // always 0 with catch_up, unless the store cannot be read
  std::uint64_t caught_up = 0;        // records that were read back
  std::uint64_t coalesced = 0;
  bool failed = false;  // the exporter threw; nothing more is delivered
};

}  // namespace tug
