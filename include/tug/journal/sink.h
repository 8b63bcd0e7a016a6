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
  // The steps of middleware come by the dozen per turn; they are built only for who asks for them.
  virtual bool wants_steps() const noexcept { return false; }
};

}  // namespace tug
