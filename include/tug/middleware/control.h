// What code inside a run may ask of it: a tool, a hook, a middleware.
#pragma once

#include <string>

#include "tug/context/context.h"

namespace tug {

// The run ends well with this text at its next checkpoint; results that are under way are kept.
// Nothing happens when the context belongs to no run.
void stop_with_final(const Context& ctx, std::string text);
// The root is parked at its next checkpoint, as `paused`, when the calls and child runs in hand
// have ended; wins over stop_with_final.
void interrupt(const Context& ctx, std::string reason);

// Behind them: the tree of runs, found as a typed value of every context of it. Of several requests
// of one kind before a checkpoint the first counts.
class RunControl {
 public:
  virtual ~RunControl() = default;
  virtual void stop_with_final(const RunId& run, std::string text) = 0;
  virtual void interrupt(const RunId& run, std::string reason) = 0;  // the root of that run
};
struct RunControlSlot {
  std::shared_ptr<RunControl> control;
};

}  // namespace tug
