// What a harness owns, and how its runs begin.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/run_plan.h"
#include "agent/run_shared.h"
#include "agent/tree_fold.h"
#include "tug/agent/harness.h"
#include "tug/context/services.h"
#include "tug/journal/journal.h"
#include "tug/model/models.h"

namespace tug {

// How a root run begins.
struct Launch {
  enum class Kind : std::uint8_t {
    fresh,
    resume,  // the same root, under its own id
    follow,  // the next run of its thread, with it as the base
    fork,    // a run of a thread of its own, with it as the base
  };
  Kind kind = Kind::fresh;
  RunId from;  // of all but fresh
  Seq at = 0;  // of fork; 0: all of it
  std::string prompt;
  RunOptions options;
};

namespace detail {

class HarnessCore {
 public:
  explicit HarnessCore(HarnessOptions options);
  ~HarnessCore();

  // Any thread.
  Run start(std::unique_ptr<Launch> launch);
  void add(Result<ToolPtr> tool);
  bool remove(std::string_view name);
  void use(MiddlewarePtr middleware);
  void set_system_prompt(std::string text);
  ToolSet tools() const;
  void close() noexcept;
  Engine& engine() noexcept { return *engine_; }
  RecordStore& store() noexcept { return *store_; }
  const ServicesPtr& services() noexcept { return services_; }
  // With the harness's own where the options say nothing. `inherited` is what a run below another
  // has around it too.
  Result<RunPlanPtr> plan(const RunOptions& options,
                          const InheritedMiddleware* inherited = nullptr);
  Limits default_limits() const;
  std::string agent_of(const RunOptions& options) const;
  // Why no run can start; nothing when all is well.
  std::optional<Error> fault() const;

  // Loop thread.
  Task<RunResult> run_here(std::unique_ptr<Launch> launch);
  Run start_below(const Context& ctx, std::string prompt, RunOptions options);
  Task<RunResult> run_below(Context ctx, std::string prompt, RunOptions options);

 private:
  struct Opened;   // a root whose log and context are there
  struct RootRun;  // a root under way

  std::shared_ptr<RunShared> make_shared(const Launch& launch, Loop& loop);
  std::shared_ptr<RunShared> make_shared_below(const Context& ctx, RunOptions& options);
  void remember(const std::shared_ptr<RunShared>& shared);  // close() ends it
  Task<void> run_root(std::shared_ptr<RunShared> shared, std::unique_ptr<Launch> launch);
  // Not inlined, or their frames would become part of run_root's.
  [[gnu::noinline]] Task<Result<std::unique_ptr<RootRun>>> begin_root(
      std::shared_ptr<RunShared> shared, std::unique_ptr<Launch> launch);
  [[gnu::noinline]] Task<void> end_root(std::shared_ptr<RunShared> shared,
                                        std::unique_ptr<RootRun> root);
  Task<Result<std::unique_ptr<Opened>>> open_fresh(RunId id, Launch& launch);
  Task<Result<std::unique_ptr<Opened>>> open_again(Launch& launch);
  Task<Result<RunResult>> drive_below(std::shared_ptr<RunShared> shared, Context ctx,
                                      std::string prompt, RunOptions options);
  Task<void> run_background(std::shared_ptr<RunShared> shared, Context ctx, std::string prompt,
                            RunOptions options);
  Result<std::vector<PlannedModel>> models_of(const RunOptions& options);
  Result<Context> root_context(std::shared_ptr<RootLog> log, const RunOptions& options,
                               std::optional<BudgetSnapshot> restored, Loop& loop);
  Result<RunOptions> taken_up(const RunState& state, const RunOptions& given);

  HarnessOptions options_;
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<RecordStore> store_;
  std::shared_ptr<Models> models_;
  ServicesPtr services_;
  std::unique_ptr<Journal> journal_;
  std::optional<Error> broken_;  // what kept the harness from being built

  mutable std::mutex mutex_;  // everything below
  ToolSet tools_;
  std::vector<MiddlewarePtr> middleware_;
  std::optional<Error> bad_tool_;
  std::string taken_twice_;  // the name, where that is what is wrong
  RunPlanPtr usual_;         // of runs without options of their own
  std::vector<std::weak_ptr<RunShared>> live_;
  std::size_t swept_ = 0;  // how many lived when the ended ones last went
  bool closed_ = false;
};

}  // namespace detail

// As the budget takes them. `invalid` for an amount that is none.
Result<Limits> limits_of(const RunOptions& options);
// `over` wins field by field.
Result<RunOptions> merged(const Json& under, const RunOptions& over);

}  // namespace tug
