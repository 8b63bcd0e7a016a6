// What a harness owns, and how its runs begin.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/agent_core.h"
#include "agent/answer_cache.h"
#include "agent/approvals.h"
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
  AgentCorePtr agent;    // whose run it is; the harness's own when null
  bool decides = false;  // of resume: with decisions about what it waits for
  std::vector<Decision> decisions;
  std::uint32_t session_turn = 0;  // of the runs of a session: those that ended well before it
};

// How a run below another begins.
struct LaunchBelow {
  std::string prompt;
  RunOptions options;
  AgentCorePtr agent;  // null: a run of the harness itself
  Attachment hangs;
  bool background = false;
  bool fork = false;                  // it starts with what its parent knows
  std::optional<payload::Base> base;  // or with what that run knew
  History history;                    // of the base
  std::uint32_t session_turn = 0;
  std::unique_ptr<RunState> left_over;  // what it goes on from
};

namespace detail {

class HarnessCore : public std::enable_shared_from_this<HarnessCore> {
 public:
  explicit HarnessCore(HarnessOptions options);
  ~HarnessCore();

  // Any thread.
  Run start(std::unique_ptr<Launch> launch);
  void add(Result<ToolPtr> tool);
  void add_provider(ProviderConfig config);
  void set_response_cache(std::shared_ptr<ResponseCache> cache, Duration ttl);
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
  // `previous` is who answered last, where the run is to stay with it.
  Result<RunPlanPtr> plan(const RunOptions& options, const InheritedMiddleware* inherited = nullptr,
                          const RunPlan* caller = nullptr, const std::string& previous = {});
  // Of a run of an agent, called by one with that plan (null for a root).
  Result<RunPlanPtr> plan(const AgentCore& agent, const RunOptions& options,
                          const InheritedMiddleware* inherited, const RunPlanPtr& caller,
                          const std::string& previous = {});
  AgentCorePtr agent(std::string name, std::string description, AgentConfig config);
  AgentCorePtr find_agent(std::string_view name) const;
  // The same for a run below another: the one that has no name of its own, too.
  AgentCorePtr find_agent_below(std::string_view name) const;
  // What runs of an agent are told that is not told anything else.
  std::string instructions_of(const AgentCore& agent) const;
  void subagents(SubagentOptions options);
  Limits default_limits() const;
  std::string agent_of(const RunOptions& options) const;
  std::shared_ptr<RunShared> find_live(const RunId& root);  // null when it is not under way here
  // Decides calls of a root that may be anywhere.
  Run approve(const RunId& root, std::vector<Decision> decisions, RunOptions options);
  // Why no run can start; nothing when all is well.
  std::optional<Error> fault() const;

  // The inboxes of live roots, where other processes may write into them: inbox.cpp.
  void watch_inbox(Loop& loop);
  bool goes_on_watching();
  void stopped_watching();
  Task<void> read_inboxes(Until until);

  // Loop thread.
  Task<RunResult> run_here(std::unique_ptr<Launch> launch);
  Run start_below(const Context& ctx, LaunchBelow launch);
  Task<std::unique_ptr<RunResult>> run_below(Context ctx, std::unique_ptr<LaunchBelow> launch);

 private:
  struct Opened;   // a root whose log and context are there
  struct RootRun;  // a root under way

  std::shared_ptr<RunShared> make_shared(const Launch& launch, Loop& loop);
  std::shared_ptr<RunShared> make_shared_below(const Context& ctx, const RunId& id);
  void remember(const std::shared_ptr<RunShared>& shared);  // close() ends it
  void forget_plans();                                      // under mutex_
  std::optional<Error> agent_fault() const;                 // under mutex_
  Result<PlanSpec> plan_spec(const RunOptions& options, const InheritedMiddleware* inherited,
                             const RunPlan* caller);
  Result<ToolSet> tools_of(const AgentCore& agent, const RunPlan* caller);
  Task<void> run_root(std::shared_ptr<RunShared> shared, std::unique_ptr<Launch> launch);
  // Not inlined, or their frames would become part of run_root's.
  [[gnu::noinline]] Task<Result<std::unique_ptr<RootRun>>> begin_root(
      std::shared_ptr<RunShared> shared, std::unique_ptr<Launch> launch);
  [[gnu::noinline]] Task<void> end_root(std::shared_ptr<RunShared> shared,
                                        std::unique_ptr<RootRun> root);
  Task<Result<std::unique_ptr<Opened>>> open_fresh(RunId id, Launch& launch);
  Task<Result<std::unique_ptr<Opened>>> open_again(Launch& launch);
  // Into the inbox of a root.
  Task<Result<void>> send(RunId root, std::string command, std::string sender);
  // The result of a root that waits for approvals and is given none; nothing when it can go on.
  // Decisions for one that is under way elsewhere are sent there, which is an error here.
  Task<Result<std::optional<RunResult>>> stays_parked(Launch& launch);
  struct BelowRun;
  struct BelowResult {
    std::unique_ptr<BelowRun> run;
    std::unique_ptr<RunResult> failed;  // why there is none
  };
  [[gnu::noinline]] BelowResult begin_driving(const Context& ctx,
                                              std::unique_ptr<LaunchBelow> launch,
                                              std::shared_ptr<RunShared> shared);
  [[gnu::noinline]] static std::unique_ptr<RunResult> end_driving(BelowRun& below);
  Task<std::unique_ptr<RunResult>> drive_below(std::shared_ptr<RunShared> shared, Context ctx,
                                               std::unique_ptr<LaunchBelow> launch);
  // The answer of a child that the same call had in an earlier segment; null when it has to be run.
  [[gnu::noinline]] std::unique_ptr<RunResult> answered_before(const Context& ctx,
                                                               const LaunchBelow& launch) const;
  [[gnu::noinline]] Result<std::unique_ptr<LiveRun>> begin_below(const Context& ctx,
                                                                 LaunchBelow& launch);
  Task<void> run_background(std::shared_ptr<RunShared> shared, Context ctx,
                            std::unique_ptr<LaunchBelow> launch);
  // Goes on with what worked in the background when the run's last segment ended.
  void restart_background(LiveRun& run);
  Result<RunPlanPtr> plan_for(const Launch& launch, const RunOptions& options,
                              std::string_view agent, const std::string& answered);
  // Who is asked first, as the options, the agent and the registry have it, and who after that.
  Result<void> choose_models(PlanSpec& spec, const std::string& named,
                             const std::string& agent_default, const std::string& previous,
                             const std::vector<std::string>& fallbacks);
  void add_fallbacks(std::vector<PlannedModel>& models, const std::vector<std::string>& names);
  Result<Context> root_context(std::shared_ptr<RootLog> log, const RunOptions& options,
                               std::optional<BudgetSnapshot> restored, Loop& loop);
  Result<RunOptions> taken_up(const RunState& state, const RunOptions& given);
  Result<std::vector<Ruling>> rulings_on(const TreeFold& fold,
                                         const std::vector<Decision>& decisions);

  HarnessOptions options_;
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<RecordStore> store_;
  std::shared_ptr<Models> models_;
  const std::shared_ptr<AnswerCache> answers_ = std::make_shared<AnswerCache>();
  ServicesPtr services_;
  std::unique_ptr<Journal> journal_;
  std::optional<Error> broken_;  // what kept the harness from being built

  mutable std::mutex mutex_;  // everything below
  ToolSet tools_;
  std::vector<AgentCorePtr> agents_;
  AgentCorePtr default_agent_;  // of the tool `subagent`, where no agent has that name
  std::map<const AgentCore*, AgentPlan> agent_plans_;
  std::uint64_t version_ = 0;  // of everything plans are made of
  // Whether every agent's names are there, as of that version.
  mutable std::optional<std::uint64_t> agents_checked_;
  mutable std::optional<Error> bad_agent_;
  std::vector<MiddlewarePtr> middleware_;
  std::optional<Error> bad_tool_;
  std::string taken_twice_;  // the name, where that is what is wrong
  RunPlanPtr usual_;         // of runs without options of their own
  std::vector<std::weak_ptr<RunShared>> live_;
  std::size_t swept_ = 0;  // how many lived when the ended ones last went
  bool closed_ = false;
  bool watching_ = false;  // somebody looks into the inboxes
};

}  // namespace detail

// As the budget takes them. `invalid` for an amount that is none.
Result<Limits> limits_of(const RunOptions& options);
// `over` wins field by field.
Result<RunOptions> merged(const Json& under, const RunOptions& over);

}  // namespace tug
