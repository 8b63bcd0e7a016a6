// Random trees of agents, disturbed at random points in every way there is, taken up again by other
// processes: whatever happens, the books balance, no limit is passed, nothing runs after its scope
// has closed, every pause can be ended, and every transcript is legal.
#include <cstdlib>

#include "agent/tree_process_testing.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using Node = TreeAudit::Node;
using Stands = TreeAudit::Stands;

constexpr int kMostSegments = 20;
constexpr int kMostSteps = 200'000;
constexpr int kMostNudges = 40;

std::string said_of(const RunResult& result) {
  return std::string(name_of(result.status)) + " (" + std::string(name_of(result.stop)) + ")" +
         (result.error ? ": " + to_string(*result.error) : "");
}

std::string id_of(const PendingApproval& pending) {
  return pending.run.text() + "/" + pending.call.text();
}

// Usage and cost of a run are its own and those of the runs below it.
void expect_balanced(const FoldedRoot& folded) {
  for (const FoldedRun& run : folded.runs) {
    Spending sum = run.result.own;
    for (const std::size_t child : run.children) {
      sum.usage += folded.runs[child].result.usage;
      sum.cost += folded.runs[child].result.cost;
    }
    EXPECT_EQ(run.result.usage, sum.usage) << "of run " << run.who->run_id.text();
    EXPECT_EQ(run.result.cost, sum.cost) << "of run " << run.who->run_id.text();
  }
}

// One root from its start to its end, however many processes that takes.
class Schedule {
 public:
  explicit Schedule(std::uint64_t seed) : world_(seed), rng_(seed * 3 + 1) {}
  void show() { audit().show = true; }

  void live() {
    process_ = std::make_unique<TreeProcess>(world_);
    RunOptions options = seen();
    options.limits = world_.limits;
    options.timeout = world_.timeout;
    tug::Run run = process_->harness->start(tree_prompt(0, "go"), std::move(options));
    root_ = run.id();
    ++world_.runs;
    for (int segment = 0; segment < kMostSegments; ++segment) {
      disturb(run);
      RunResult result = settle(run);
      if (closed_ && result.id.empty()) {
        // It did not even begin.
        if (audit().empty()) return finish();
      } else {
        result_ = std::move(result);
        check();
      }
      if (!sound()) return finish();
      if (goes_on()) {
        run = next();
      } else if (result_.ok() && one_in(12)) {
        run = follow();
      } else {
        return finish();
      }
    }
    world_.quiet = true;
    for (int segment = 0; segment < kMostSegments; ++segment) {
      result_ = settle(run);
      check();
      if (!sound() || result_.status != RunStatus::parked) return finish();
      run = next();
    }
    audit().fault("nothing ends it: " + said_of(result_));
  }

 private:
  TreeAudit& audit() { return *world_.audit; }
  bool sound() { return audit().faults.empty() && !::testing::Test::HasFailure(); }
  bool one_in(std::uint64_t n) { return rng_.below(n) == 0; }
  RunOptions seen() { return {.observers = {world_.audit}}; }

  // Lets the run go on for a while and does something to it, a few times.
  void disturb(const tug::Run& run) {
    for (std::uint64_t n = rng_.below(5); n > 0 && !run.ended(); --n) {
      if (one_in(2)) {
        for (std::uint64_t steps = rng_.below(80); steps > 0; --steps) process_->engine->step();
      } else {
        process_->engine->advance(milliseconds(rng_.below(250)));
      }
      if (!run.ended()) act(run);
    }
  }

  void act(const tug::Run& run) {
    tug::Run target = run;
    const std::vector<Node*> open = audit().open();
    if (!open.empty() && one_in(2)) {
      const RunId id = open[rng_.below(open.size())]->who->run_id;
      if (tug::Run node = run.node(id)) target = node;
    }
    switch (rng_.below(12)) {
      case 0:
        return target.cancel("enough");
      case 1:
        if (target.id() != root_) audit().paused_by_handle = true;
        return target.pause("later");
      case 2:
      case 3:
      case 4:
      case 5:
        return target.steer(commands());
      case 6:
      case 7:
      case 8:
        return decide(target);
      case 9:
        EXPECT_EQ(target.status().id, target.id());
        (void)target.snapshot();
        (void)target.tree();
        return;
      case 10:
        if (!one_in(6)) return;
        closed_ = true;
        return process_->harness->close();
      default:
        return;
    }
  }

  std::vector<Steer> commands() {
    std::vector<Steer> batch;
    for (std::uint64_t n = one_in(3) ? 1 + rng_.below(3) : 1; n > 0; --n) {
      switch (rng_.below(9)) {
        case 0:
          batch.push_back(Steer::pause("lunch"));
          break;
        case 1:
        case 2:
          batch.push_back(Steer::resume());
          break;
        case 3:
          if (one_in(3)) batch.push_back(Steer::cancel("stop"));
          break;
        case 4:
          batch.push_back(Steer::redirect("the other way"));
          break;
        case 5:
          batch.push_back(Steer::set_metadata(Json::object({{"n", 1}})));
          break;
        case 6:
          batch.push_back(Steer::follow_up("and then"));
          break;
        default:
          batch.push_back(Steer::inject("by the way"));
          break;
      }
    }
    return batch;
  }

  Decision decision_on(const PendingApproval& pending) {
    Decision decision{.call = pending.call, .run = pending.run};
    if (one_in(2)) decision.digest = pending.digest;
    if (one_in(3)) {
      if (one_in(2)) decision.reason = "too much";
      return decision;
    }
    decision.approved = true;
    if (one_in(4)) decision.arguments = Json::object({{"text", "edited"}, {"ms", 10}});
    if (one_in(6)) decision.scope = one_in(2) ? GrantScope::run : GrantScope::tree;
    return decision;
  }

  // Some of them, at least one.
  std::vector<Decision> decisions_on(const std::vector<PendingApproval>& pending) {
    std::vector<Decision> decisions;
    const bool all = world_.quiet || one_in(2);
    const std::size_t first = rng_.below(pending.size());
    for (std::size_t i = 0; i < pending.size(); ++i) {
      if (all || i == first || one_in(3)) decisions.push_back(decision_on(pending[i]));
    }
    return decisions;
  }

  // What must change nothing.
  std::vector<Decision> spoiled(std::vector<Decision> decisions) {
    switch (rng_.below(4)) {
      case 0:
        decisions.push_back(decisions.front());
        break;
      case 1:
        decisions.front().digest = "0000";
        break;
      case 2:
        decisions.push_back(Decision::approve(CallId("999999.0")));
        break;
      default:
        decisions.back().approved = true;
        decisions.back().arguments = Json::object({{"text", 7}});
        break;
    }
    return decisions;
  }

  // Of a run that is under way.
  void decide(const tug::Run& run) {
    const std::vector<PendingApproval> pending = run.pending();
    if (pending.empty() || run.ended()) return;
    const std::vector<Decision> decisions = decisions_on(pending);
    if (one_in(6)) {
      EXPECT_FALSE(run.approve(spoiled(decisions)));
      return;
    }
    const auto before = audit().waiting();
    const auto decided = run.approve(decisions);
    if (decided) return;
    // It may have ended while somebody asked.
    if (run.ended() || audit().waiting() != before) return;
    audit().fault("decisions about a live run were refused: " + to_string(decided.error()));
  }

  bool waits_for_owner() {
    for (Node* node : audit().open()) {
      if (audit().permissions(*node).on_ask != OnAsk::wait) continue;
      for (const auto& [id, call] : node->calls) {
        if (call.asked && !call.asked->approved) return true;
      }
    }
    return false;
  }

  // Somewhere a pause holds a run that nobody could go on with.
  bool holds_unresumable() {
    if (!audit().any_paused()) return false;
    for (Node* node : audit().open()) {
      for (Node* at = node; at->parent; at = at->parent) {
        const std::string& call = at->who->parent_call_id.text();
        const auto found = at->parent->calls.find(call);
        if (found == at->parent->calls.end() || found->second.effect == "at_most_once" ||
            found->second.from_code) {
          return true;
        }
      }
    }
    return false;
  }

  void nudge(const tug::Run& run) {
    const std::vector<PendingApproval> pending = run.pending();
    if (!pending.empty() && (world_.quiet || rng_.below(8) > 1)) return decide(run);
    if (world_.steering.permits(SteerKind::resume) && !one_in(4)) {
      for (Node* node : audit().open()) {
        if (!node->paused) continue;
        if (tug::Run held = run.node(node->who->run_id)) held.steer(Steer::resume());
      }
      return;
    }
    if (one_in(2)) return run.pause("for the night");
    run.cancel("nobody comes");
  }

  // To the end of the segment: it comes by itself, unless somebody is waited for.
  RunResult settle(const tug::Run& run) {
    for (int nudges = 0;; ++nudges) {
      int steps = 0;
      while (!run.ended() && process_->engine->step() && ++steps < kMostSteps) {
      }
      if (steps == kMostSteps) audit().fault("it goes on for ever");
      if (run.ended()) return run.wait();
      if (!waits_for_owner() && !holds_unresumable()) {
        audit().fault("nothing moves, and nobody is waited for: " + standing());
      }
      if (nudges >= kMostNudges || !sound()) {
        run.cancel("enough");
        if (nudges > kMostNudges) {
          audit().fault("not even a cancel ends it: " + standing());
          return {};
        }
        nudges = kMostNudges;
        continue;
      }
      nudge(run);
    }
  }

  std::string standing() {
    std::string text;
    for (Node* node : audit().open()) {
      text += "\n  " + node->who->run_id.text() + " [" + node->who->agent + "] depth " +
              std::to_string(node->who->depth) + " below call " + node->who->parent_call_id.text() +
              (node->paused ? ", paused" : "") + (node->attempt.empty() ? "" : ", asks");
      for (const auto& [id, call] : node->calls) {
        text += "\n    " + id + " " + call.tool + (call.started ? " runs" : "") +
                (call.asked && !call.asked->approved ? " waits" : "");
      }
    }
    return text;
  }

  // What must hold of a segment that is over.
  void check() {
    if (!sound()) return;
    if (result_.id != root_) return audit().fault("it did not go on: " + said_of(result_));
    if (result_.error) {
      for (const char* sign : {"does not follow", "changed nothing", "left unfinished"}) {
        if (result_.error->message().find(sign) != std::string::npos) {
          audit().fault(said_of(result_));
        }
      }
    }
    EXPECT_EQ(world_.streams, 0);
    for (Node* node : audit().order()) {
      if (node->stands == Stands::open) audit().fault("left open: " + standing());
      EXPECT_EQ(node->bodies, 0);
    }
    const auto verified = verify_root(*world_.store, root_);
    EXPECT_TRUE(verified) << to_string(verified.error());
    const auto folded = fold_root(*world_.store, root_);
    ASSERT_TRUE(folded) << to_string(folded.error());
    const RunResult& read = folded->runs[0].result;
    EXPECT_EQ(print_json(to_json(read)), print_json(to_json(result_)));
    EXPECT_EQ(read.messages, result_.messages);
    EXPECT_EQ(read.tool_calls, result_.tool_calls);
    EXPECT_EQ(folded->last_seq, audit().last_seq());
    expect_balanced(*folded);
    ASSERT_EQ(folded->runs.size(), audit().order().size());
    for (const FoldedRun& run : folded->runs) {
      const Node& node = *audit().find(run.who->run_id);
      expect_legal(run.result.messages, run.result.status == RunStatus::parked);
      if (node.last > node.ended_at) continue;
      EXPECT_EQ(print_json(to_json(run.result)), print_json(node.result));
    }
    check_pending();
  }

  void check_pending() {
    std::set<std::string> pending;
    for (const PendingApproval& one : result_.pending) pending.insert(id_of(one));
    EXPECT_EQ(pending.size(), result_.pending.size());
    if (result_.status != RunStatus::parked) {
      EXPECT_TRUE(pending.empty());
      return;
    }
    EXPECT_EQ(pending, audit().waiting());
    EXPECT_EQ(result_.stop == StopReason::approval_required, !pending.empty());
  }

  // Another root that has this one as its base.
  tug::Run follow() {
    said_everything();
    prompts_.clear();
    if (one_in(2)) move();
    world_.watch_another_root();
    tug::Run run = process_->harness->resume(root_, tree_prompt(0, "again"), seen());
    root_ = run.id();
    return run;
  }

  void move() {
    process_.reset();
    process_ = std::make_unique<TreeProcess>(world_);
    closed_ = false;
  }

  bool goes_on() {
    if (result_.status == RunStatus::parked) return true;
    return result_.status == RunStatus::cancelled && one_in(2);
  }

  // The next segment, perhaps in another process.
  tug::Run next() {
    if (!closed_ && !result_.pending.empty() && one_in(4)) stay_parked();
    if (closed_ || one_in(2)) move();
    RunOptions options = seen();
    if (one_in(10)) options.limits.max_turns = audit().root().all.model_calls + 5;
    if (one_in(10)) options.limits.max_tool_calls = audit().root().all.tool_calls + 100;
    if (one_in(10)) {
      world_.draw_other_permissions(rng_);
      options.permissions = world_.permissions;
    }
    if (result_.pending.empty()) {
      return process_->harness->resume(root_, one_in(4) ? "go on" : "", std::move(options));
    }
    const std::vector<Decision> decisions = decisions_on(result_.pending);
    if (one_in(6)) {
      const RunResult refused =
          process_->harness->approve(root_, spoiled(decisions), seen()).wait();
      EXPECT_TRUE(refused.id.empty() && refused.error);
    }
    return process_->harness->approve(root_, decisions, std::move(options));
  }

  // A root that waits for decisions and is given none changes nothing.
  void stay_parked() {
    std::string prompt;
    if (one_in(2)) {
      prompt = "later " + std::to_string(prompts_.size());
      prompts_.push_back(prompt);
    }
    const RunResult same = process_->harness->resume(root_, prompt, seen()).wait();
    EXPECT_EQ(print_json(to_json(same)), print_json(to_json(result_)));
    EXPECT_EQ(same.messages, result_.messages);
  }

  // What was to follow the answer did.
  void said_everything() {
    // Words of a tool end a run without them.
    if (!result_.ok() || result_.stop != StopReason::end_turn || result_.text == "enough") return;
    for (const std::string& prompt : prompts_) {
      bool heard = false;
      for (const MessagePtr& message : result_.messages.messages()) {
        heard = heard || message->text() == prompt;
      }
      EXPECT_TRUE(heard) << prompt << " was never said";
    }
  }

  void finish() {
    if (sound()) said_everything();
    process_.reset();
  }

  TreeWorld world_;
  Rng rng_;
  std::unique_ptr<TreeProcess> process_;
  RunId root_;
  RunResult result_;
  bool closed_ = false;               // the harness is
  std::vector<std::string> prompts_;  // that wait for the end of an answer
};

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(TreeRandom, WhateverHappensToATreeItsBooksBalanceAndItGoesOnOrEnds) {
  const std::uint64_t first = from_environment("TUG_TEST_SEED", 1);
  const std::uint64_t count = from_environment("TUG_TEST_SCHEDULES", 1500);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Schedule schedule(seed);
    if (count == 1) schedule.show();
    schedule.live();
    if (HasFatalFailure() || HasNonfatalFailure()) {
      FAIL() << "TUG_TEST_SEED=" << seed << " TUG_TEST_SCHEDULES=1 shows it again";
    }
  }
}

}  // namespace
}  // namespace tug
