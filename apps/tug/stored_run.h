// A run that is named on the command line, read back from the journal.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "command.h"
#include "tug/agent/fold.h"

namespace tug::cli {

struct StoredRun {
  std::shared_ptr<RecordStore> store;
  FoundRun name;
};
// `invalid` for a run that is not there.
Result<StoredRun> find_stored(const Options& options, const std::string& run);

// Whether some process runs it now.
bool is_alive(const RootInfo& root);

// The run among those of its root; null when it is not there.
const FoldedRun* find_folded(const FoldedRoot& root, const RunId& run);

// Every record of the root in order, as events.
Result<void> for_each_event(RecordStore& store, const RunId& root,
                            const std::function<void(const Event&)>& visit);

}  // namespace tug::cli
