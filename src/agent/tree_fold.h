// The runs of one root, folded from its records: what `apply` makes of them, run by run.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/run_state.h"
#include "tug/journal/record_store.h"

namespace tug {

// What a run with a base starts from.
struct History {
  Transcript transcript;
  std::size_t bytes = 0;
  Seq offset = 0;
};

// What a run knows that goes on from another: everything but a turn whose calls are open.
History history_of(const RunState& run);

class TreeFold {
 public:
  // `store` is where histories of other roots are read; without one such a run cannot be folded.
  explicit TreeFold(History base = {}, RecordStore* store = nullptr)
      : base_(std::move(base)), store_(store) {}

  Result<void> take(const Event& event);

  bool empty() const noexcept { return runs_.empty(); }
  RunState& root() noexcept { return *runs_.front(); }
  const RunState& root() const noexcept { return *runs_.front(); }
  // In the order they began.
  const std::vector<std::unique_ptr<RunState>>& runs() const noexcept { return runs_; }
  // Takes those below the root: what has not ended, and what has and may still be asked for.
  struct Below {
    std::vector<std::unique_ptr<RunState>> left_over;
    std::vector<std::unique_ptr<RunState>> done;
  };
  Below take_below();
  // Of every attempt, by model.
  const std::map<std::string, std::vector<Json>>& reserved() const noexcept { return reserved_; }
  // The newest record after which nothing was open: where another run may go on from.
  Seq quiet_seq() const noexcept { return quiet_; }

 private:
  RunState* find(const RunId& run) noexcept;
  Result<void> begin(const Event& event);
  Result<History> history_for(const Event& event);

  History base_;
  RecordStore* store_ = nullptr;
  std::vector<std::unique_ptr<RunState>> runs_;
  std::unordered_map<std::string, RunState*> by_id_;
  std::map<std::string, std::vector<Json>> reserved_;
  Seq quiet_ = 0;
};

// All records of a root up to `upto`, on top of what its bases hold. Blocking.
Result<TreeFold> fold_tree(RecordStore& store, const RunId& root, Seq upto = ~Seq{0});
// What `root` had said up to `seq`, for a run that goes on from there; or what `run`, one of its
// tree, had.
Result<History> history_at(RecordStore& store, const RunId& root, Seq seq, const RunId& run = {});

}  // namespace tug
