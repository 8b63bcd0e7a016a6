// The next model of a run's chain.
#pragma once

#include "agent/run_tree.h"

namespace tug {

// Goes on to the next model that has not been asked in this turn and can take over, and records
// that; those that cannot are passed over, with a record each. False when the failure is to stand:
// it is not one of a model, would be the same elsewhere, or nobody is left.
bool fall_back(LiveRun& run, const Error& error);

}  // namespace tug
