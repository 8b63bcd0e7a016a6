// A tree of runs as a whole: it parks when nothing in it can move, and goes on where it stood.
#include <gtest/gtest.h>

#include "agent/testing.h"
#include "tug/agent/agent.h"
#include "tug/model/script.h"

namespace tug {
namespace {

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

}  // namespace
}  // namespace tug
