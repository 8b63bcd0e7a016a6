// What a journal says about a root: every run of its tree, folded from the records. Nothing is
// called, nothing is written.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tug/context/run_result.h"
#include "tug/core/error.h"
#include "tug/journal/record_store.h"

namespace tug {

struct FoldedRun {
  LineagePtr who;
  std::string prompt;
  RunResult result;  // as it stands: of an unfinished run, everything so far
  RunStatusRecord status;
  std::vector<std::size_t> children;  // places in FoldedRoot::runs
};

struct FoldedRoot {
  RootInfo info;
  std::vector<FoldedRun> runs;  // in the order they began; the root first
  Seq last_seq = 0;
};

// Reads through bases. `invalid` for a root that is not there, or whose records do not fold, naming
// the seq. Blocking: not on a loop.
Result<FoldedRoot> fold_root(RecordStore& store, const RunId& root);

// The root run of a run id; a unique prefix or suffix of at least 4 characters, or "last", will do.
// `invalid` when none or several fit, naming some of them.
struct FoundRun {
  RunId root;
  RunId run;  // the root's own, or one of its children
};
Result<FoundRun> find_run(RecordStore& store, std::string_view name);

}  // namespace tug
