// What a whole turn means, acted upon as far as that needs no waiting.
#pragma once

#include <optional>

#include "agent/run_tree.h"

namespace tug {

// The end of the run, or nothing when it goes on.
std::optional<Ending> decide(LiveRun& run);
// The next of the words that were to follow the answer; false when there are none.
bool tell_follow_up(LiveRun& run);

}  // namespace tug
