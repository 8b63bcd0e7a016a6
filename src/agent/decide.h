// What a whole turn means, acted upon as far as that needs no waiting.
#pragma once

#include <optional>

#include "agent/run_tree.h"

namespace tug {

// The end of the run, or nothing when it goes on.
std::optional<Ending> decide(LiveRun& run);

}  // namespace tug
