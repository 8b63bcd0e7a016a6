// What is asked about, for how long an answer holds, and who gives it: the cases of the issue.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "agent/approval_testing.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using testkit::calls;
using testkit::recording;
using testkit::says;
using testkit::scripted;

// --- hold = call -----------------------------------------------------------------------------

TEST(ApprovalHoldCases, SiblingsOfACallThatIsAskedAboutRunAndTheirResultsStand) {
  auto model = recording(scripted({looks_and_pays(5), says("done")}));
  Rig rig(model);
  Till till(rig);
  const RunResult parked = run_on(rig, "go", {.permissions = Permissions{.hold = HoldScope::call}});
  expect_parked(rig, parked);
  EXPECT_EQ(till.looked, 2);
  EXPECT_TRUE(till.paid.empty());
  EXPECT_EQ(parked.counts.tool_calls, 3);
  EXPECT_EQ(parked.pending.size(), 1u);
  EXPECT_EQ(rig.seen->find(Kind::approval_requested)->data["hold"].as_string(), "call");
  const RunResult result = approve_on(rig, parked, all_yes(parked));
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(till.looked, 2) << "not again";
  EXPECT_EQ(till.paid, std::vector<int>{5});
  const auto answers = told(*model, 1);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0]->content, "seen");
  EXPECT_EQ(answers[1]->content, "paid 5");
  EXPECT_EQ(answers[2]->content, "seen");
  expect_journal_says(*rig.store, result);
}

TEST(ApprovalHoldCases, EachCallIsFreedByItsOwnDecision) {
  Rig rig(scripted({calls({{"a", "pay", sum(1)}, {"b", "pay", sum(2)}}), says("done")}));
  Till till(rig);
  const RunResult parked = run_on(rig, "go", {.permissions = Permissions{.hold = HoldScope::call}});
  ASSERT_EQ(parked.pending.size(), 2u);
  const RunResult again = approve_on(rig, parked, {all_yes(parked).at(1)});
  expect_parked(rig, again);
  EXPECT_EQ(till.paid, std::vector<int>{2});
  EXPECT_EQ(approve_on(rig, again, all_yes(again)).text, "done");
  EXPECT_EQ(till.paid, (std::vector<int>{2, 1}));
}

// --- grants ----------------------------------------------------------------------------------

Decision granting(const RunResult& parked, GrantScope scope, std::string pattern = {}) {
  Decision decision = all_yes(parked).at(0);
  decision.scope = scope;
  decision.pattern = std::move(pattern);
  return decision;
}

TEST(ApprovalGrantCases, AGrantForTheRunHoldsForLaterCallsThereAndBelow) {
  Rig rig(
      scripted({by("main", pays(1)), by("main", pays(2)), by("main", asks("helper", "buy")),
                by("helper", pays(3)), by("helper", says("bought")), by("main", says("done"))}));
  Till till(rig);
  rig.harness->agent("helper", "Helps.");
  const RunResult parked = run_on(rig, "go");
  const RunResult result = approve_on(rig, parked, {granting(parked, GrantScope::run)});
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(till.paid, (std::vector<int>{1, 2, 3}));
  const Event* decided = rig.seen->find(Kind::approval_decided);
  EXPECT_EQ(decided->data["scope"].as_string(), "run");
  EXPECT_FALSE(decided->data["grant"].as_string().empty());
}

TEST(ApprovalGrantCases, AGrantForOneRunIsNotThatOfItsParentAndOneForTheTreeIs) {
  for (const GrantScope scope : {GrantScope::run, GrantScope::tree}) {
    Rig rig(
        scripted({by("main", asks("helper", "buy")), by("helper", pays(1)), by("helper", pays(2)),
                  by("helper", says("bought")), by("main", pays(3)), by("main", says("done"))}));
    Till till(rig);
    rig.harness->agent("helper", "Helps.");
    const RunResult parked = run_on(rig, "go");
    const RunResult result = approve_on(rig, parked, {granting(parked, scope)});
    if (scope == GrantScope::tree) {
      EXPECT_EQ(result.text, "done");
      EXPECT_EQ(till.paid, (std::vector<int>{1, 2, 3}));
    } else {
      expect_parked(rig, result);
      EXPECT_EQ(till.paid, (std::vector<int>{1, 2}));
      EXPECT_EQ(result.pending.at(0).run, result.id);
    }
  }
}

TEST(ApprovalGrantCases, AGrantCoversWhatItsPatternNamesAndNoMore) {
  Rig rig(scripted({pays(12), pays(15), pays(20), says("done")}));
  Till till(rig);
  const RunResult parked = run_on(rig, "go");
  const RunResult next =
      approve_on(rig, parked, {granting(parked, GrantScope::run, R"(pay({"amount":1?}))")});
  expect_parked(rig, next);
  EXPECT_EQ(till.paid, (std::vector<int>{12, 15}));
  EXPECT_EQ(next.pending.at(0).arguments, Json::object({{"amount", 20}}));
}

TEST(ApprovalGrantCases, AGrantIsKnownInAnotherProcess) {
  const ModelPtr script = scripted({pays(1), pays(2), looks_and_pays(3), says("done")});
  Rig rig(script);
  Till till(rig);
  const RunResult parked = run_on(rig, "go");
  Rig next = beside(rig, script);
  Till other(next);
  const RunResult result = approve_on(next, parked, {granting(parked, GrantScope::run)});
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(other.paid, (std::vector<int>{1, 2, 3}));
}

TEST(ApprovalGrantCases, APatternThatDoesNotFitTheCallIsRefused) {
  Rig rig(scripted({pays(12), says("done")}));
  Till till(rig);
  const RunResult parked = run_on(rig, "go");
  for (const char* pattern : {"look", R"(pay({"amount":7}))", "pay(", ""}) {
    Decision decision = granting(parked, GrantScope::run, pattern);
    const RunResult refused = approve_on(rig, parked, {decision});
    if (*pattern == '\0') {
      EXPECT_EQ(refused.text, "done") << "every call of the tool";
    } else {
      ASSERT_TRUE(refused.error) << pattern;
      EXPECT_EQ(refused.error->kind(), ErrorKind::invalid) << pattern;
      EXPECT_EQ(rig.store->info(parked.root)->last_seq, parked.last_seq) << pattern;
    }
  }
}

struct Command {
  std::string command;
};

TEST(ApprovalGrantCases, ACommandThatHidesAnotherIsNeverAllowedForMoreThanOnce) {
  for (const char* command :
       {"sh -c 'rm x'", "env A=1 rm x", "xargs rm", "sudo rm x", "find . -exec rm {} ;"}) {
    Rig rig(
        scripted({calls("run", print_json(Json::object({{"command", command}}))), says("done")}));
    int ran = 0;
    rig.harness->inline_tool(
        "run", "Runs a command", [&ran](const Command&) { return ++ran; },
        {.requires_approval = true, .subject = {Subject::Kind::command, "command"}});
    const RunResult parked = run_on(rig, "go");
    const RunResult refused = approve_on(rig, parked, {granting(parked, GrantScope::run)});
    ASSERT_TRUE(refused.error) << command;
    EXPECT_EQ(refused.error->kind(), ErrorKind::denied) << to_string(*refused.error);
    EXPECT_EQ(rig.store->info(parked.root)->last_seq, parked.last_seq);
    EXPECT_EQ(approve_on(rig, parked, all_yes(parked)).text, "done") << command;
    EXPECT_EQ(ran, 1);
  }
}

// --- what is asked about -----------------------------------------------------------------------

TEST(ApprovalRuleCases, APredicateOnTheArgumentsDecidesAndOneThatThrowsAsks) {
  ToolOptions options;
  options.checks.approve_when = [](const Json& args) {
    const std::int64_t amount = args["amount"].as_int().value_or(0);
    if (amount == 13) throw std::runtime_error("unlucky");
    return amount > 100;
  };
  const std::vector<std::pair<int, bool>> cases = {{7, false}, {101, true}, {13, true}};
  for (const auto& [amount, asked] : cases) {
    Rig rig(scripted({pays(amount), says("done")}));
    Till till(rig, options);
    const RunResult result = run_on(rig, "go");
    EXPECT_EQ(result.status == RunStatus::parked, asked) << amount;
    EXPECT_EQ(till.paid.empty(), asked) << amount;
    if (asked) EXPECT_EQ(approve_on(rig, result, all_yes(result)).text, "done") << amount;
  }
}

TEST(ApprovalRuleCases, EffectsCanBeAskedAbout) {
  Rig rig(scripted({pays(1), says("done")}));
  Till till(rig, {.effect = Effect::idempotent});
  RunOptions options;
  options.permissions = Permissions{.ask_effects = {Effect::idempotent}};
  const RunResult parked = run_on(rig, "go", options);
  expect_parked(rig, parked);
  EXPECT_EQ(approve_on(rig, parked, all_yes(parked)).text, "done");
}

// What becomes of one call of each tool: r runs, a is asked about, d is denied.
std::string fates(PermissionMode mode, Permissions permissions = {}) {
  Rig rig(scripted(
      {calls({{"1", "read", "{}"}, {"2", "edit", "{}"}, {"3", "act", "{}"}, {"4", "pay", "{}"}}),
       says("done")}));
  std::map<std::string, char> fate;
  const auto give = [&](const char* name, ToolOptions options) {
    rig.harness->inline_tool(name, "Does", [&fate, name] { fate[name] = 'r'; }, std::move(options));
  };
  give("read", {.effect = Effect::pure});
  give("edit", {.tags = {"edit"}});
  give("act", {});
  give("pay", {.requires_approval = true});
  permissions.mode = mode;
  permissions.hold = HoldScope::call;
  const RunResult result = run_on(rig, "go", {.permissions = permissions});
  for (const PendingApproval& pending : result.pending) fate[pending.tool] = 'a';
  for (const Denial& denial : result.denials) fate[denial.tool] = 'd';
  std::string found;
  for (const char* name : {"read", "edit", "act", "pay"}) found += fate[name];
  return found;
}

TEST(ApprovalRuleCases, EveryModeAsksAboutItsOwn) {
  EXPECT_EQ(fates(PermissionMode::declared), "rrra");
  EXPECT_EQ(fates(PermissionMode::ask), "raaa");
  EXPECT_EQ(fates(PermissionMode::accept_edits), "rraa");
  EXPECT_EQ(fates(PermissionMode::read_only), "rddd");
  EXPECT_EQ(fates(PermissionMode::yolo), "rrrr");
}

TEST(ApprovalRuleCases, DenyBeatsAskBeatsAllow) {
  EXPECT_EQ(fates(PermissionMode::ask, {.allow = {"edit", "act"}}), "rrra");
  EXPECT_EQ(fates(PermissionMode::declared, {.allow = {"pay"}}), "rrrr");
  EXPECT_EQ(fates(PermissionMode::declared, {.allow = {"act"}, .ask = {"act", "read"}}), "araa");
  EXPECT_EQ(fates(PermissionMode::declared, {.allow = {"act"}, .ask = {"act"}, .deny = {"act"}}),
            "rrda");
  EXPECT_EQ(fates(PermissionMode::yolo, {.ask = {"act"}, .deny = {"read"}}), "drar");
}

TEST(ApprovalRuleCases, WhatCannotBeUsedIsRefusedAtOnceAndNotAskedAbout) {
  Rig rig(scripted(
      {calls({{"a", "pay", R"({"amount":"much"})"}, {"b", "nothing", "{}"}}), says("done")}));
  Till till(rig);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(rig.seen->count(Kind::approval_requested), 0u);
}

// --- who answers -------------------------------------------------------------------------------

TEST(ApprovalRuleCases, WhereNobodyIsThereTheCallIsDeniedAtOnceAndTheRunGoesOn) {
  auto model = recording(scripted({looks_and_pays(5), says("done")}));
  Rig rig(model);
  Till till(rig);
  const RunResult result = rig.run("go", {.permissions = Permissions{.on_ask = OnAsk::deny}});
  EXPECT_EQ(result.text, "done");
  EXPECT_TRUE(till.paid.empty());
  EXPECT_EQ(till.looked, 2);
  ASSERT_EQ(result.denials.size(), 1u);
  EXPECT_EQ(result.denials[0].tool, "pay");
  EXPECT_FALSE(told(*model, 1).at(1)->ok);
  EXPECT_EQ(rig.seen->count(Kind::tool_denied), 1u);
}

TEST(ApprovalRuleCases, ARunThatWaitsGoesOnAtTheMomentOfTheDecision) {
  Rig rig(scripted({pays(5), says("done")}));
  Till till(rig);
  tug::Run run = start_on(rig, "go", {.permissions = Permissions{.on_ask = OnAsk::wait}});
  rig.engine->advance(std::chrono::hours(1));
  ASSERT_FALSE(run.ended());
  const std::vector<PendingApproval> pending = run.pending();
  ASSERT_EQ(pending.size(), 1u);
  EXPECT_EQ(pending[0].arguments, Json::object({{"amount", 5}}));
  const auto wrong = run.approve({Decision::approve(CallId("9.9"))});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind(), ErrorKind::invalid);
  EXPECT_EQ(run.pending(), pending);
  const auto decided = run.approve(decide_all(pending, true));
  EXPECT_TRUE(decided) << to_string(decided.error());
  const RunResult result = run.wait();
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(till.paid, std::vector<int>{5});
  EXPECT_EQ(rig.seen->count(Kind::run_paused), 0u);
  EXPECT_FALSE(run.approve(decide_all(pending, true))) << "it has ended";
}

TEST(ApprovalRuleCases, ARunThatWaitsCanBeCancelledAndPaused) {
  for (const bool cancel : {true, false}) {
    Rig rig(scripted({pays(5), says("done")}));
    Till till(rig);
    tug::Run run = start_on(rig, "go", {.permissions = Permissions{.on_ask = OnAsk::wait}});
    rig.engine->advance(milliseconds(100));
    cancel ? run.cancel("enough") : run.pause("lunch");
    const RunResult result = run.wait();
    EXPECT_EQ(result.status, cancel ? RunStatus::cancelled : RunStatus::parked);
    EXPECT_TRUE(till.paid.empty());
    if (cancel) {
      expect_legal(result.messages);
    } else {
      ASSERT_EQ(result.pending.size(), 1u);
      EXPECT_EQ(approve_on(rig, result, all_yes(result)).text, "done");
    }
  }
}

// Says when somebody is asked.
class Bell final : public Sink {
 public:
  void on_event(const Event& event) override {
    if (event.kind != Kind::approval_requested) return;
    const std::lock_guard lock(mutex_);
    rung_ = true;
    bell_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    bell_.wait(lock, [this] { return rung_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable bell_;
  bool rung_ = false;
};

TEST(ApprovalRuleCases, AnotherThreadDecidesForARunOfARealEngine) {
  HarnessOptions options{.permissions = {.on_ask = OnAsk::wait}, .seed = 7};
  options.models = make_models();
  const ModelPtr model = scripted({pays(5), says("done")});
  options.model = model->profile().id();
  options.models->add(model);
  Harness harness(std::move(options));
  std::atomic<int> paid = 0;
  harness.tool("pay", "Pays", [&paid](const Sum& sum) { return paid += sum.amount; },
               {.requires_approval = true});
  const auto bell = std::make_shared<Bell>();
  const tug::Run run = harness.start("go", {.observers = {bell}});
  Result<void> decided;
  std::thread owner([&] {
    bell->wait();
    decided = run.approve(decide_all(run.pending(), true));
  });
  const RunResult result = run.wait();
  owner.join();
  EXPECT_TRUE(decided) << to_string(decided.error());
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(paid, 5);
}

}  // namespace
}  // namespace tug
