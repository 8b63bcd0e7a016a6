// A tree of runs as a whole: it parks when nothing in it can move, and goes on where it stood.
#include <gtest/gtest.h>

#include "agent/approval_testing.h"
#include "tug/agent/agent.h"
#include "tug/model/script.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::fails;
using testkit::says;
using testkit::scripted;

std::string told(const RunResult& result) {
  return std::string(name_of(result.stop)) + ": " + result.text +
         (result.error ? " / " + to_string(*result.error) : "");
}

// A root that asks two agents; each wants to pay.
struct Office {
  explicit Office(std::shared_ptr<RecordStore> store = nullptr, Permissions permissions = {}) {
    HarnessOptions options;
    options.engine = engine;
    options.store = store ? store : std::shared_ptr(make_memory_record_store());
    this->store = options.store;
    options.models = make_models();
    options.models->add(model());
    options.model = "script/office";
    options.permissions = std::move(permissions);
    options.steering = SteeringPolicy::allow_all();
    harness = std::make_unique<Harness>(std::move(options));
    harness->inline_tool("pay", "Pays", [this] { return "paid " + std::to_string(++paid); },
                         {.requires_approval = true});
    harness->agent("clerk", "Pays bills.");
  }
  static ModelPtr model();

  std::shared_ptr<SimEngine> engine = make_sim_engine({.seed = 3});
  std::shared_ptr<RecordStore> store;
  int paid = 0;
  std::unique_ptr<Harness> harness;
};

ModelPtr Office::model() {
  const char* kScript =
      R"({"agent":"main","tool_calls":[{"id":"a","name":"clerk","arguments":{"input":"first"}},{"id":"b","name":"clerk","arguments":{"input":"second"}}],"usage":{"input_tokens":10,"output_tokens":1}}
{"agent":"clerk","when":"first","tool_calls":[{"id":"c","name":"pay","arguments":{}}],"usage":{"input_tokens":5,"output_tokens":2}}
{"agent":"clerk","when":"second","tool_calls":[{"id":"d","name":"pay","arguments":{}}],"usage":{"input_tokens":5,"output_tokens":2}}
{"agent":"clerk","text":"done","repeat":true,"usage":{"input_tokens":7,"output_tokens":3}}
{"agent":"main","text":"all paid","usage":{"input_tokens":20,"output_tokens":4}}
)";
  return make_script_model(parse_script(kScript, "office").value(),
                           {.provider = "script", .name = "office"});
}

TEST(Tree, ParksWithEveryPendingCallOfEveryNodeAndGoesOnWhereItStood) {
  Office office;
  const RunResult parked = office.harness->run("pay the bills");
  ASSERT_EQ(parked.status, RunStatus::parked) << told(parked);
  EXPECT_EQ(parked.stop, StopReason::approval_required);
  ASSERT_EQ(parked.pending.size(), 2u);
  EXPECT_EQ(office.paid, 0);
  EXPECT_EQ(parked.pending[0].agent, "clerk");
  expect_journal_says(*office.store, parked);

  // Another process, in effect.
  Office other(office.store);
  const RunResult again = other.harness->resume(parked.root).wait();
  EXPECT_EQ(again.status, RunStatus::parked);
  EXPECT_EQ(again.last_seq, parked.last_seq);

  const RunResult half =
      other.harness->approve(parked.root, {Decision::approve(parked.pending[0].call)}).wait();
  EXPECT_EQ(half.status, RunStatus::parked) << told(half);
  ASSERT_EQ(half.pending.size(), 1u);
  EXPECT_EQ(half.pending[0].call, parked.pending[1].call);
  EXPECT_EQ(other.paid, 1);
  expect_journal_says(*office.store, half);

  Office third(office.store);
  const RunResult whole =
      third.harness->approve(parked.root, {Decision::deny(half.pending[0].call, "too much")})
          .wait();
  EXPECT_EQ(whole.status, RunStatus::completed) << told(whole);
  EXPECT_EQ(whole.text, "all paid");
  EXPECT_EQ(third.paid, 0);
  EXPECT_EQ(whole.usage.input_tokens, 10 + 5 + 5 + 7 + 7 + 20);
  EXPECT_EQ(whole.counts.tool_calls, 2);
  expect_journal_says(*office.store, whole);
  ASSERT_TRUE(verify_root(*office.store, whole.root));
}

TEST(Tree, ArgumentsPutInTheirPlaceNeedNotBeOnesThatAreAskedAbout) {
  ScriptTurn pays = testkit::calls("pay", R"({"text":"5000"})");
  Rig rig(testkit::scripted({pays, testkit::says("done")}));
  std::vector<std::string> paid;
  rig.harness->inline_tool("pay", "Pays",
                           [&paid](const Words& words) {
                             paid.push_back(words.text);
                             return "paid";
                           },
                           {.checks = {.approve_when = [](const Json& args) {
                              return args["text"].as_string() == "5000";
                            }}});
  const RunResult parked = rig.run("go");
  ASSERT_EQ(parked.pending.size(), 1u);
  Decision decision = Decision::approve(parked.pending[0].call);
  decision.arguments = Json::object({{"text", "50"}});
  const RunResult result = rig.harness->approve(parked.root, {decision}).wait();
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(paid, std::vector<std::string>{"50"});
}

TEST(Tree, WhatADecisionFreesRunsAtOnceWhileTheRootIsAlive) {
  Office office(nullptr, {.on_ask = OnAsk::wait});
  tug::Run run = office.harness->start("pay the bills");
  office.engine->run_until_idle();
  ASSERT_EQ(run.pending().size(), 2u);
  EXPECT_FALSE(run.ended());
  EXPECT_EQ(run.tree().size(), 3u);
  const auto pending = run.pending();
  ASSERT_TRUE(run.approve({Decision::approve(pending[1].call)}));
  office.engine->run_until_idle();
  EXPECT_EQ(office.paid, 1);
  EXPECT_EQ(run.pending().size(), 1u);
  EXPECT_FALSE(run.approve({Decision::approve(pending[1].call)}));
  ASSERT_TRUE(run.approve({Decision::approve(pending[0].call)}));
  const RunResult result = run.wait();
  EXPECT_EQ(result.text, "all paid");
  EXPECT_EQ(office.paid, 2);
}

TEST(Tree, ACancelledParkedTreeEndsEverything) {
  Office office(nullptr, {.on_ask = OnAsk::wait});
  tug::Run run = office.harness->start("pay the bills");
  office.engine->run_until_idle();
  run.cancel("enough");
  const RunResult result = run.wait();
  EXPECT_EQ(result.status, RunStatus::cancelled);
  expect_journal_says(*office.store, result);
  for (const FoldedRun& folded : fold_root(*office.store, result.root)->runs) {
    EXPECT_EQ(folded.result.status, RunStatus::cancelled);
    expect_legal(folded.result.messages);
  }
}

TEST(Tree, ASteeredPauseOfTheRootParksTheWholeTree) {
  Office office(nullptr, {.on_ask = OnAsk::wait});
  tug::Run run = office.harness->start("pay the bills");
  office.engine->run_until_idle();
  run.pause("lunch");
  const RunResult parked = run.wait();
  EXPECT_EQ(parked.status, RunStatus::parked);
  EXPECT_EQ(parked.stop, StopReason::approval_required);
  EXPECT_EQ(parked.pending.size(), 2u);
}

TEST(Tree, WhatNobodyGoesOnWithEndsFromTheOutsideIn) {
  Rig rig(scripted(
      {by("main", asks("lead", "go")), by("lead", asks("clerk", "go")), by("clerk", pays(1))}));
  Till till(rig);
  rig.harness->agent("lead", "Leads.");
  rig.harness->agent("clerk", "Pays.");
  const RunResult parked = run_on(rig, "go");
  ASSERT_EQ(parked.pending.size(), 1u);
  rig.seen->events.clear();
  const tug::Run run =
      rig.harness->approve(parked.root, all_yes(parked), {.observers = {rig.seen}});
  run.cancel("never mind");
  EXPECT_EQ(run.wait().status, RunStatus::cancelled);
  EXPECT_EQ(told_of(*rig.seen, {Kind::run_resumed, Kind::run_failed, Kind::subagent_failed,
                                Kind::run_cancelled}),
            (Trace{"main run.resumed", "lead run.resumed", "clerk run.resumed", "clerk run.failed",
                   "lead subagent.failed", "lead run.failed", "main subagent.failed",
                   "main run.cancelled"}));
  EXPECT_TRUE(till.paid.empty());
}

// A tool that begins an agent beside its caller, and, where it `waits`, waits for it.
void give_begin(Rig& rig, const Agent& agent, ToolOptions options, bool waits) {
  rig.harness->tool(
      "begin", "Begins",
      [agent, waits](const Context& ctx) -> Task<std::string> {
        const tug::Run run = agent.start(ctx, "go");
        run.detach();
        if (!waits) co_return "begun";
        auto waiting = run.result({ctx.cancel()});
        const RunResult result = co_await std::move(waiting);
        co_return std::string(name_of(result.status)) + ": " + result.text;
      },
      std::move(options));
}

TEST(Tree, ARunThatFailsTakesWhatWaitsInItsBackgroundWithIt) {
  Rig rig(scripted(
      {by("main", calls("begin")), by("clerk", pays(1)), by("main", after_ms(100, fails(401)))}));
  Till till(rig);
  give_begin(rig, rig.harness->agent("clerk", "Pays."), {}, false);
  const RunResult result = run_on(rig, "go");
  EXPECT_EQ(result.status, RunStatus::failed) << told(result);
  EXPECT_EQ(folded(rig, result.id).runs.at(1).result.status, RunStatus::cancelled);
  expect_journal_says(*rig.store, result);
}

TEST(Tree, ARunThatIsDoomedWaitsForNoApproval) {
  Rig rig(scripted({calls({{"a", "pay", sum(1)}, {"b", "fatal", "{}"}}), says("done")}), 1,
          {.permissions = {.hold = HoldScope::call}});
  Till till(rig);
  rig.harness->inline_tool("fatal", "Ends it",
                           []() -> std::string { throw std::runtime_error("boom"); },
                           {.on_error = OnError::fail_run});
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.status, RunStatus::failed) << told(result);
  EXPECT_TRUE(result.pending.empty());
  EXPECT_TRUE(till.paid.empty());
}

TEST(Tree, ABackgroundRunOfTheUnnamedAgentGoesOnWhenItIsApproved) {
  const ModelPtr model =
      scripted({by("main", calls("subagent", R"({"task":"go","background":true})")),
                by("main", says("done")), by("default", pays(1)), by("default", says("paid"))});
  Rig rig(model);
  Till till(rig);
  rig.harness->subagents({.background = true});
  const RunResult parked = run_on(rig, "go");
  ASSERT_EQ(parked.pending.size(), 1u) << told(parked);
  Rig other = beside(rig, model);
  Till theirs(other);
  other.harness->subagents({.background = true});
  const RunResult result = approve_on(other, parked, all_yes(parked));
  EXPECT_EQ(result.text, "done") << told(result);
  EXPECT_EQ(theirs.paid, std::vector<int>{1});
  EXPECT_EQ(folded(other, result.id).runs.at(1).result.text, "paid");
}

TEST(Tree, WhatWaitsInARunThatWasNotTakenUpAgainIsStillPending) {
  Rig rig(scripted({by("main", asks("lead", "go")),
                    by("lead", calls({{"a", "clerk", R"({"input":"go"})"}, {"b", "pay", sum(1)}})),
                    by("clerk", pays(2))}),
          1, {.permissions = {.hold = HoldScope::call}});
  Till till(rig);
  rig.harness->agent("lead", "Leads.");
  rig.harness->agent("clerk", "Pays.");
  const tug::Run run = start_on(rig, "go");
  while (run_of(*rig.seen, "clerk").empty()) rig.engine->step();
  run.node(run_of(*rig.seen, "lead")).pause("later");
  const RunResult parked = run.wait();
  ASSERT_EQ(parked.pending.size(), 2u) << told(parked);
  ASSERT_EQ(parked.pending[0].agent, "lead");
  // The lead is paused before it comes to its calls, so nobody takes up the clerk.
  const RunResult half = approve_on(rig, parked, {Decision::approve(parked.pending[0].call)});
  EXPECT_EQ(half.stop, StopReason::approval_required);
  ASSERT_EQ(half.pending.size(), 1u);
  EXPECT_EQ(half.pending[0], parked.pending[1]);
}

TEST(Tree, CallsThatHaveToWaitForAParkedOneBeginAfterIt) {
  Rig rig(scripted({by("main", calls({{"a", "clerk", R"({"input":"go"})"}, {"b", "note", "{}"}})),
                    by("clerk", pays(1)), by("clerk", says("paid")), by("main", says("done"))}));
  Till till(rig);
  rig.harness->agent("clerk", "Pays.");
  std::vector<std::size_t> noted;  // what had been paid by then
  rig.harness->inline_tool("note", "Notes", [&] { return noted.push_back(till.paid.size()); },
                           {.sequential = true});
  const RunResult parked = run_on(rig, "go");
  ASSERT_EQ(parked.pending.size(), 1u) << told(parked);
  EXPECT_TRUE(noted.empty());
  const RunResult result = approve_on(rig, parked, all_yes(parked));
  EXPECT_EQ(result.text, "done") << told(result);
  EXPECT_EQ(noted, std::vector<std::size_t>{1}) << "once, and not before";
  EXPECT_TRUE(result.tool_calls.at(1).result.ok);
}

TEST(Tree, CodeThatWaitsForAChildItStartedParksWithItAndGoesOnWithTheSame) {
  const ModelPtr model = scripted({by("main", calls("begin")), by("clerk", pays(1)),
                                   by("clerk", says("paid")), by("main", says("done"))});
  Rig rig(model);
  Till till(rig);
  give_begin(rig, rig.harness->agent("clerk", "Pays."), {.effect = Effect::pure}, true);
  const RunResult parked = run_on(rig, "go");
  ASSERT_EQ(parked.pending.size(), 1u) << told(parked);
  Rig other = beside(rig, model);
  Till theirs(other);
  give_begin(other, other.harness->agent("clerk", "Pays."), {.effect = Effect::pure}, true);
  const RunResult result = approve_on(other, parked, all_yes(parked));
  EXPECT_EQ(result.text, "done") << told(result);
  EXPECT_EQ(result.tool_calls.at(0).result.content, "completed: paid");
  EXPECT_EQ(folded(other, result.id).runs.size(), 2u) << "one child, however often it was begun";
}

TEST(Tree, CodeThatCannotBeRunAgainHearsThatItsChildWasParked) {
  Rig rig(scripted({by("main", calls("begin")), by("clerk", pays(1)), by("clerk", says("paid")),
                    by("main", says("done"))}));
  Till till(rig);
  give_begin(rig, rig.harness->agent("clerk", "Pays."), {}, true);
  const RunResult parked = run_on(rig, "go");
  ASSERT_EQ(parked.pending.size(), 1u) << told(parked);
  const RunResult result = approve_on(rig, parked, all_yes(parked));
  EXPECT_EQ(result.text, "done") << told(result);
  EXPECT_EQ(till.paid, std::vector<int>{1});
  EXPECT_EQ(result.tool_calls.at(0).result.content, "parked: ");
}

TEST(Tree, AgentsAreCalledOneAfterTheOtherWhereAllCallsAre) {
  Rig rig(scripted({by("main", calls({{"a", "clerk", R"({"input":"first"})"},
                                      {"b", "clerk", R"({"input":"second"})"}})),
                    by("clerk", after_ms(100, says("one"))), by("clerk", says("two")),
                    by("main", says("done"))}));
  rig.harness->agent("clerk", "Works.");
  const RunResult result = rig.run("go", {.tool_execution = ToolExecution::sequential});
  EXPECT_EQ(told_of(*rig.seen, {Kind::run_started, Kind::run_completed}),
            (Trace{"main run.started", "clerk run.started", "clerk run.completed",
                   "clerk run.started", "clerk run.completed", "main run.completed"}));
  EXPECT_EQ(result.tool_calls.at(0).result.content, "one");
}

TEST(Tree, WhatWasAdmittedAndIsNotAllowedAnyMoreIsNotRun) {
  Rig rig(
      scripted({by("main", calls({{"a", "clerk", R"({"input":"go"})"}, {"b", "note", "{}"}})),
                by("clerk", pays(1)), by("clerk", says("not paid")), by("main", says("done"))}));
  Till till(rig);
  rig.harness->agent("clerk", "Pays.");
  int noted = 0;
  rig.harness->inline_tool("note", "Notes", [&noted] { return ++noted; }, {.sequential = true});
  const RunResult parked = run_on(rig, "go");
  ASSERT_EQ(parked.pending.size(), 1u) << told(parked);
  const RunResult result =
      approve_on(rig, parked, all_yes(parked),
                 {.permissions = Permissions{.mode = PermissionMode::read_only}});
  EXPECT_EQ(result.text, "done") << told(result);
  EXPECT_TRUE(till.paid.empty());
  EXPECT_EQ(noted, 0);
  EXPECT_EQ(error_type_of(result.tool_calls.at(1)), "ApprovalRejected");
}

TEST(Tree, WhatARunIsToldBeforeItBeginsItHearsRightAfterThat) {
  Rig rig(scripted({by("main", asks("clerk", "go")), by("clerk", pays(1)), says("done")}), 1,
          {.steering = SteeringPolicy::allow_all()});
  Till till(rig);
  rig.harness->agent("clerk", "Pays.");
  const tug::Run first = start_on(rig, "go");
  first.steer(Steer::inject("gently"));
  const RunResult parked = first.wait();
  EXPECT_EQ(told_of(*rig.seen, {Kind::run_started, Kind::steering_applied}).at(1),
            "main steering.applied");
  const tug::Run again =
      rig.harness->approve(parked.root, all_no(parked), {.observers = {rig.seen}});
  again.steer(Steer::cancel("enough"));
  EXPECT_EQ(again.wait().status, RunStatus::cancelled);
  const tug::Run third = start_on(rig, "go");
  rig.seen->events.clear();
  third.steer(Steer::cancel("enough"));
  EXPECT_EQ(third.wait().status, RunStatus::cancelled);
  EXPECT_EQ(rig.seen->kinds(), (Trace{"run.started", "steering.applied", "run.cancelled"}));
}

}  // namespace
}  // namespace tug
