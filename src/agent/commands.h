// What a run under way is told from outside.
#pragma once

#include "agent/run_tree.h"

namespace tug {

// Takes a batch for the run's next checkpoint; at once where it cancels.
void enqueue(LiveRun& run, SteerBatch batch);
// What has come becomes records, batch by batch. Between the attempts of a model call only what
// needs no words: `control_only`.
enum class Drain : std::uint8_t { everything, control_only };
void drain(LiveRun& run, Drain what);

}  // namespace tug
