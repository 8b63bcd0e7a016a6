// The runs of one root that are under way, and how what happens to them is written down. Loop
// thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/run_plan.h"
#include "agent/run_state.h"
#include "tug/agent/steering.h"
#include "tug/context/context.h"
#include "tug/core/codec.h"
#include "tug/core/scope.h"
#include "tug/core/wait.h"
#include "tug/journal/payloads.h"
#include "tug/middleware/control.h"

namespace tug {

class CallBatch;
class RunShared;
class RunTree;

// How a run hangs below another.
struct Attachment {
  CallId anchor;            // the call of the parent's turn that it works for; empty when none
  bool awaited = false;     // somebody waits for it: a call, or other code
  bool resumable = true;    // whoever resumes the root can go on with it
  SteeringPolicy steering;  // what the model of its parent may tell it
};

// A child that nobody awaits, and where its result will be.
struct BackgroundRun {
  std::string agent;
  std::shared_ptr<RunShared> shared;
  // Of one that an earlier segment began, until the call that did so, run again, asks for it.
  CallId begun_by;
  std::string prompt;
};

// Commands that are taken together or not at all.
struct SteerBatch {
  std::vector<Steer> commands;
  std::string sender;         // owner | parent
  std::int64_t inbox_id = 0;  // where it came from, if from there
};

// One run under way. The state is what its records say; everything else here could be made again
// from it and the plan.
struct LiveRun {
  LiveRun(RunTree& tree, Context context, RunPlanPtr plan, RunState state, Attachment hangs = {});
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;
  ~LiveRun();

  // It waits for somebody else: a decision, the end of a pause.
  void wake() noexcept;
  // Whether anything of the run itself, its children aside, can still happen by itself.
  bool can_move() const noexcept;

  RunTree& tree;
  Context ctx;
  RunPlanPtr plan;
  RunState state;
  LiveRun* parent;  // null at the root
  Attachment hangs;
  Hold hold;  // of the open attempt
  // What code inside the run asked for and no checkpoint has seen yet.
  std::optional<std::string> final_wanted;
  std::optional<std::string> pause_wanted;
  std::vector<SteerBatch> commands;            // that no checkpoint has seen yet
  Scope background;                            // children that nobody awaits
  std::vector<BackgroundRun> background_runs;  // all of them, those that have ended, too
  std::uint32_t unbegun = 0;                   // of them
  std::weak_ptr<RunShared> shared;             // of whoever holds a handle
  std::shared_ptr<RunShared> shared_kept;      // of one that was asked for underway

  bool held = false;                                   // it waits in `news`
  WaitList news{"a decision, or the end of a pause"};  // commands, decisions, a pause
  const CallBatch* batch = nullptr;                    // the calls that run
  std::function<void()> on_freed;                      // while they do: a call was decided about
  // Live children of calls that run, by call; and of other code that waits for them.
  std::unordered_map<std::string, std::uint32_t> attended;
  std::uint32_t awaited_elsewhere = 0;
  std::uint32_t detached = 0;  // calls that run in the background
  bool joining = false;        // it has ended and waits for what runs in the background
};

class RunTree final : public RunControl, public std::enable_shared_from_this<RunTree> {
 public:
  // The tree that a context belongs to; made when its root has none.
  static std::shared_ptr<RunTree> of(const Context& ctx);

  LiveRun* find(const RunId& run) const noexcept;
  LiveRun* root() const noexcept { return runs_.empty() ? nullptr : runs_.front(); }
  // In the order they began.
  const std::vector<LiveRun*>& runs() const noexcept { return runs_; }

  void stop_with_final(const RunId& run, std::string text) override;
  void interrupt(const RunId& run, std::string reason) override;

  // What models were told to reserve, by model, in the order of the attempts of the whole root.
  std::shared_ptr<const std::vector<Json>> reserved(const std::string& model) const;
  void reserve(const std::string& model, Json reservation);

  // Every run of the tree holds at its next checkpoint, and then the tree is parked.
  void pause_all(std::string reason);
  void unpause();
  const std::optional<std::string>& pause() const noexcept { return pause_; }
  // Nothing in the tree could move: every segment ends where it stands.
  bool parking() const noexcept { return parking_; }
  // The run waits in its `news`.
  void hold(LiveRun& run);
  // Looks, after the current step, whether anything can still move.
  void look_later();

  const void* owner = nullptr;   // the harness of the root
  bool keeps_pause = false;      // steered pauses of an earlier segment still hold
  std::set<std::int64_t> heard;  // commands of the inbox that were taken in already
  // Runs that have not ended and that nobody drives: of an earlier segment, until somebody goes on
  // with them, and those that were parked in this one.
  std::vector<std::unique_ptr<RunState>> left_over;
  std::vector<std::unique_ptr<RunState>> done;  // those that have
  // The one that this call ran with these words; null when there is none, and while the tree parks.
  std::unique_ptr<RunState> take_left_over(const RunId& parent, const CallId& call,
                                           const std::string& agent, const std::string& prompt);
  // The same of those that have ended well.
  std::unique_ptr<RunState> take_done(const RunId& parent, const CallId& call,
                                      const std::string& agent, const std::string& prompt);
  // Those of them that hang below the run through each other, in the order they began.
  std::vector<const RunState*> left_over_below(const RunState& run) const;
  // Calls whose child was parked: they stay open.
  std::vector<CallId> left_open;
  bool is_left_open(const CallId& call) const noexcept;

 private:
  friend struct LiveRun;
  void look();

  std::vector<LiveRun*> runs_;
  std::unordered_map<std::string, LiveRun*> by_id_;
  std::map<std::string, std::shared_ptr<std::vector<Json>>> reserved_;
  std::optional<std::string> pause_;
  std::uint32_t held_ = 0;
  bool looking_ = false;
  bool parking_ = false;
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

// Who was to be asked in this run and cannot be.
void record_skipped(LiveRun& run);

// The limit that ends the run.
void record_limit(LiveRun& run, const Limit& limit);

payload::ErrorData error_data(const Error& error);

}  // namespace tug
