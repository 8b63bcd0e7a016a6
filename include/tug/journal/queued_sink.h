// A bounded queue and a thread between a log and a slow exporter.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "tug/journal/record_store.h"
#include "tug/journal/sink.h"

namespace tug {

class Engine;

// What the bounded queue does when it is full. None of them holds up a run.
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

// Puts a bounded queue and a thread between a log and a slow exporter. The wrapped sink's
// `on_event` then runs on that thread: records only once they are on disk, live events in their
// place between them. A `catch_up` queue needs the store.
struct QueueOptions {
  QueueOverflow overflow = QueueOverflow::catch_up;
  std::size_t capacity = 4096;
  std::string name = "sink";
};
class QueuedSink : public Sink {
 public:
  virtual QueueCounts counts() const noexcept = 0;
  // Delivers what is queued, then stops the thread. Blocks, so not on a loop; a queue that is
  // dropped without it ends in the background.
  virtual void finish() noexcept = 0;
};
// The wrapped sink's `on_event` runs on the thread of the queue: records only once they are on
// disk, live events in their place between them. A `catch_up` queue needs the store. The engine
// must outlive it.
std::shared_ptr<QueuedSink> make_queued_sink(Engine& engine, std::shared_ptr<RecordStore> store,
                                             std::shared_ptr<Sink> slow, QueueOptions options = {});

}  // namespace tug
