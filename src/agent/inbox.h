// Commands that came through the journal: from another process, or before the run was under way.
//
// A command is JSON: {"run": RUN_ID, "steer": [..]} or {"approve": [..]}.
#pragma once

#include <string>
#include <vector>

#include "agent/run_tree.h"
#include "tug/agent/approval.h"
#include "tug/core/task.h"
#include "tug/journal/record_store.h"

namespace tug {

namespace detail {
class HarnessCore;
}

// Takes them in, each once, in order; what cannot be taken is a steering.rejected of the root.
void hear(LiveRun& root, const std::vector<InboxCommand>& commands);

// A prompt that has to wait until the run has answered.
std::string follow_up_command(const RunId& root, std::string prompt);
// Decisions about calls of a root.
std::string approve_command(const std::vector<Decision>& decisions);

// Looks into the inboxes of the harness's live roots from time to time, until there is none.
Task<void> watch_inboxes(std::weak_ptr<detail::HarnessCore> harness);
inline constexpr Duration kInboxPause = std::chrono::milliseconds(200);

}  // namespace tug
