// The calls of one turn, run beside each other as far as their tools allow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tug/context/context.h"
#include "tug/core/scope.h"
#include "tug/core/task.h"
#include "tug/core/wait.h"
#include "tug/tools/tool.h"

namespace tug {

inline constexpr std::uint32_t kMaxConcurrency = 16;

// For each call, the earlier ones that must have ended before it begins; what follows from them is
// left out (if 2 waits for 1 and 1 for 0, then 2 has only 1). Calls run together unless their tools
// name the same lane; within a lane pure calls run together and others alone, in call order. One
// `sequential` tool puts the whole batch in call order.
std::vector<std::vector<std::size_t>> waits_of(std::span<const ToolSpec* const> tools);

struct BatchCall {
  ToolPtr tool;
  Context ctx;  // the call's own
  Json args;    // checked
};

// Told on the loop when a call begins to run and when it has ended, in that order, once each. A
// call that never began because the run was cancelled ends with Cancelled.
class BatchObserver {
 public:
  virtual ~BatchObserver() = default;
  virtual void on_begin(std::size_t index) { static_cast<void>(index); }
  // Whether calls that have not begun still may. Once they may not, they never do, nothing is said
  // of them, and the batch ends with those that run.
  virtual bool may_begin() const { return true; }
  // Runs the call: `invoke`, unless something stands around it.
  virtual Task<ToolResult> run(const BatchCall& call, std::size_t index);
  virtual void on_end(std::size_t index, ToolResult result, Duration took) = 0;
};

enum class BatchOrder : std::uint8_t {
  automatic,   // as far as the tools allow, beside each other
  sequential,  // one after the other, those of agents too
};

// `cancel` is the run's token: calls that have not begun when it is requested never do; those that
// run see it through their contexts. At most `cap` run at once (0 counts as 1); calls of agents
// take no place among them. Calls begin in call order as far as they need not wait. Loop thread.
// Must be joined before it dies.
class CallBatch {
 public:
  CallBatch(Loop& loop, BatchObserver& observer, CancelToken cancel,
            std::uint32_t cap = kMaxConcurrency, BatchOrder order = BatchOrder::automatic);
  CallBatch(const CallBatch&) = delete;
  CallBatch& operator=(const CallBatch&) = delete;

  // Also while others run: they come behind all that are there.
  void add(std::vector<BatchCall> calls);
  // Ends when every call has ended.
  Task<void> join();
  // Calls that run, or are about to.
  std::size_t running() const noexcept { return running_; }

 private:
  struct Entry {
    BatchCall call;
    std::vector<std::size_t> next;  // that wait for it
    std::uint32_t before = 0;       // how many it waits for
    bool ended = false;
  };
  Task<void> run_one(std::size_t index);
  void start_ready();
  void end(std::size_t index);
  bool takes_place(std::size_t index) const;

  BatchObserver& observer_;
  CancelToken cancel_;
  const std::uint32_t cap_;
  const BatchOrder order_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::size_t> ready_;  // that wait for a place alone
  std::uint32_t places_ = 0;        // taken
  std::size_t running_ = 0;
  std::size_t left_ = 0;
  WaitList done_{"the calls of a batch"};
  Scope scope_;
};

// A batch of these calls from its beginning to its end.
Task<void> run_batch(std::vector<BatchCall> calls, BatchObserver& observer, CancelToken cancel,
                     std::uint32_t cap = kMaxConcurrency);

}  // namespace tug
