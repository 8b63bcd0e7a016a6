// The runs of one root that are under way, and how what happens to them is written down. Loop
// thread only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/run_plan.h"
#include "agent/run_state.h"
#include "tug/context/context.h"
#include "tug/core/codec.h"
#include "tug/core/scope.h"
#include "tug/core/wait.h"
#include "tug/journal/payloads.h"
#include "tug/middleware/control.h"

namespace tug {

class RunTree;

// One run under way. The state is what its records say; everything else here could be made again
// from it and the plan.
struct LiveRun {
  LiveRun(RunTree& tree, Context context, RunPlanPtr plan, RunState state);
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;
  ~LiveRun();

  RunTree& tree;
  Context ctx;
  RunPlanPtr plan;
  RunState state;
  LiveRun* parent;  // null at the root
  Hold hold;        // of the open attempt
  // What code inside the run asked for and no checkpoint has seen yet.
  std::optional<std::string> final_wanted;
  std::optional<std::string> pause_wanted;
  Scope background;  // children that nobody awaits
};

class RunTree final : public RunControl, public std::enable_shared_from_this<RunTree> {
 public:
  // The tree that a context belongs to; made when its root has none.
  static std::shared_ptr<RunTree> of(const Context& ctx);

  LiveRun* find(const RunId& run) const noexcept;

  void stop_with_final(const RunId& run, std::string text) override;
  void interrupt(const RunId& run, std::string reason) override;

  // What models were told to reserve, by model, in the order of the attempts of the whole root.
  std::shared_ptr<const std::vector<Json>> reserved(const std::string& model) const;
  void reserve(const std::string& model, Json reservation);

  // Every run of the tree ends its segment at its next checkpoint.
  std::optional<std::string> pause;
  WaitList pausing{"the next attempt, or a pause"};  // woken when that is set

 private:
  friend struct LiveRun;
  std::vector<LiveRun*> runs_;
  std::map<std::string, std::shared_ptr<std::vector<Json>>> reserved_;
};

// How a tree is found from a context: a typed value that every node inherits.
struct TreeSlot {
  std::shared_ptr<RunTree> tree;
};

// Writes one record of this run and applies it: the only way a run's state changes.
// The time is the loop's unless it is given.
Seq record_data(LiveRun& run, Kind kind, Json data, MessagePtr message = nullptr, Time ts = {});
template <class Payload>
Seq record(LiveRun& run, Kind kind, const Payload& payload, MessagePtr message = nullptr,
           Time ts = {}) {
  return record_data(run, kind, write_json(payload), std::move(message), ts);
}

// The limit that ends the run.
void record_limit(LiveRun& run, const Limit& limit);

payload::ErrorData error_data(const Error& error);

}  // namespace tug
