// Steering nodes of a tree, and from other threads: the cases of the issue.
#include <atomic>
#include <thread>

#include "agent/tree_testing.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using testkit::calls;
using testkit::recording;
using testkit::says;
using testkit::scripted;

RunOptions steerable() { return {.steering = SteeringPolicy::allow_all()}; }

// Two children at once, `left` for 300 ms and `right` for 600, and both go on after that.
struct Pair {
  explicit Pair(RunOptions options = steerable())
      : model(recording(scripted(
            {by("main",
                calls({{"a", "left", R"({"input":"l"})"}, {"b", "right", R"({"input":"r"})"}})),
             by("left", naps(300)), by("right", naps(600)), by("left", says("left done")),
             by("right", says("right done")), by("main", says("done"))}))),
        rig(model) {
    give_nap(rig);
    rig.harness->agent("left", "One.");
    rig.harness->agent("right", "The other.");
    run = start_on(rig, "go", std::move(options));
    rig.engine->advance(milliseconds(100));
  }
  tug::Run node(std::string_view agent) const { return run.node(run_of(*rig.seen, agent)); }

  std::shared_ptr<testkit::RecordingModel> model;
  Rig rig;
  tug::Run run;
};

TEST(SteeringTreeCases, AChildIsToldSomethingWithoutItsParentAndItsSibling) {
  Pair pair;
  pair.node("left").steer(Steer::inject("be quick"));
  const RunResult result = pair.run.wait();
  EXPECT_EQ(result.text, "done");
  const FoldedRoot tree = folded(pair.rig, result.id);
  for (const FoldedRun& run : tree.runs) {
    const Trace texts = texts_of(run.result.messages);
    EXPECT_EQ(std::ranges::count(texts, "be quick"), run.who->agent == "left" ? 1 : 0);
    expect_legal(run.result.messages);
  }
}

TEST(SteeringTreeCases, APausedChildParksTheTreeOnceItsSiblingHasFinished) {
  Pair pair;
  pair.node("left").steer(Steer::pause("lunch"));
  const RunResult parked = pair.run.wait();
  EXPECT_EQ(parked.status, RunStatus::parked);
  EXPECT_EQ(parked.stop, StopReason::paused);
  EXPECT_EQ(parked.duration_ms, 600) << "the sibling finishes first";
  EXPECT_EQ(told_of(*pair.rig.seen, {Kind::run_paused, Kind::run_completed}),
            (Trace{"right run.completed", "left run.paused", "main run.paused"}));
  EXPECT_EQ(pair.rig.seen->count(Kind::subagent_failed), 0u);
  const RunResult result = resume_on(pair.rig, parked);
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.tool_calls.at(0).result.content, "left done");
  EXPECT_EQ(result.tool_calls.at(1).result.content, "right done");
  EXPECT_EQ(told_of(*pair.rig.seen, {Kind::run_resumed}),
            (Trace{"main run.resumed", "left run.resumed"}));
  EXPECT_EQ(pair.model->requests().size(), 6u) << "nothing was asked twice";
  EXPECT_EQ(pair.rig.seen->count(Kind::run_started), 3u);
  expect_gap_free(*pair.rig.seen);
  expect_journal_says(*pair.rig.store, result);
}

TEST(SteeringTreeCases, APauseOfAChildHoldsUntilItIsTakenBackWhileTheTreeIsAlive) {
  Pair pair;
  pair.node("left").steer(Steer::pause("lunch"));
  pair.rig.engine->advance(milliseconds(350));
  EXPECT_EQ(pair.model->requests().size(), 3u) << "left has not asked again at 450 ms";
  pair.node("left").steer(Steer::resume());
  pair.rig.engine->advance(milliseconds(50));
  EXPECT_EQ(pair.model->requests().size(), 4u);
  const RunResult result = pair.run.wait();
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.duration_ms, 600);
  EXPECT_EQ(pair.rig.seen->count(Kind::run_paused), 0u);
}

TEST(SteeringTreeCases, APauseOfTheRootHoldsEverythingBelowIt) {
  Pair pair;
  pair.run.steer(Steer::pause("lunch"));
  const RunResult parked = pair.run.wait();
  EXPECT_EQ(parked.stop, StopReason::paused);
  EXPECT_EQ(pair.model->requests().size(), 3u) << "no run asked again";
  EXPECT_EQ(pair.rig.seen->count(Kind::run_paused), 3u);
  EXPECT_EQ(pair.rig.seen->kinds().back(), "run.paused");
  EXPECT_EQ(pair.rig.seen->events.back().who->run_id, parked.id);
  const RunResult result = resume_on(pair.rig, parked);
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(pair.rig.seen->count(Kind::tool_started), 4u);
}

TEST(SteeringTreeCases, APausedTreeGoesOnInAnotherProcess) {
  Pair pair;
  pair.node("left").steer({Steer::inject("be quick"), Steer::pause("lunch")});
  const RunResult parked = pair.run.wait();
  ASSERT_EQ(parked.stop, StopReason::paused);
  Rig next = beside(pair.rig, pair.model);
  give_nap(next);
  next.harness->agent("left", "One.");
  next.harness->agent("right", "The other.");
  const RunResult result = resume_on(next, parked);
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(texts_of(pair.model->requests().at(4).transcript),
            (Trace{"l", "(nap)", "[rested]", "be quick"}));
  EXPECT_EQ(pair.model->requests().size(), 6u);
  expect_journal_says(*next.store, result);
}

TEST(SteeringTreeCases, AHandlePausesItsNodeWhateverThePolicySays) {
  Pair pair({});
  pair.node("left").pause("lunch");
  const RunResult parked = pair.run.wait();
  EXPECT_EQ(parked.stop, StopReason::paused);
  EXPECT_EQ(pair.rig.seen->find(Kind::run_paused)->data["reason"].as_string(), "lunch");
  EXPECT_EQ(resume_on(pair.rig, parked).text, "done");
}

TEST(SteeringTreeCases, WordsForAParkedTreeComeBehindTheResultsThatItWaitsFor) {
  Pair pair;
  pair.node("left").steer(Steer::pause("lunch"));
  const RunResult parked = pair.run.wait();
  const RunResult result = resume_on(pair.rig, parked, "and hurry");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(texts_of(result.messages),
            (Trace{"go", "(left)(right)", "[left done][right done]", "and hurry", "done"}));
  expect_legal(result.messages);
}

TEST(SteeringTreeCases, ADecisionLeavesAPauseAsItIs) {
  Rig rig(scripted(
      {by("main", calls({{"a", "left", R"({"input":"l"})"}, {"b", "right", R"({"input":"r"})"}})),
       by("left", naps(300)), by("right", calls("pay")), by("left", says("left done")),
       by("right", says("right done")), by("main", says("done"))}));
  give_nap(rig);
  rig.harness->inline_tool("pay", "Pays", [] { return "paid"; }, {.requires_approval = true});
  rig.harness->agent("left", "One.");
  rig.harness->agent("right", "The other.");
  tug::Run run = start_on(rig, "go", steerable());
  rig.engine->advance(milliseconds(100));
  run.node(run_of(*rig.seen, "left")).steer(Steer::pause("lunch"));
  const RunResult parked = run.wait();
  ASSERT_EQ(parked.stop, StopReason::approval_required);
  ASSERT_EQ(parked.pending.size(), 1u);
  const RunResult paused =
      rig.harness->approve(parked.root, decide_all(parked.pending, /*approved=*/true)).wait();
  EXPECT_EQ(paused.status, RunStatus::parked);
  EXPECT_EQ(paused.stop, StopReason::paused);
  EXPECT_TRUE(paused.pending.empty());
  EXPECT_EQ(resume_on(rig, paused).text, "done");
}

TEST(SteeringTreeCases, ACommandForAChildCancelsItAlone) {
  Pair pair;
  pair.node("left").steer(Steer::cancel("no need"));
  const RunResult result = pair.run.wait();
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(error_type_of(result.tool_calls.at(0)), "SubAgentCancelled");
  EXPECT_TRUE(result.tool_calls.at(1).result.ok);
}

// C4: what the root permits holds for the whole tree, whoever is addressed.
TEST(SteeringTreeCases, ThePolicyOfTheRootIsThatOfEveryNodeForItsOwner) {
  AgentConfig generous;
  generous.steering = SteeringPolicy::allow_all();
  Rig rig(scripted({by("main", asks("helper", "dig")), by("helper", naps(300)),
                    by("helper", says("gold")), by("main", says("done"))}));
  give_nap(rig);
  rig.harness->agent("helper", "Helps.", generous);
  tug::Run run = start_on(rig, "go");
  rig.engine->advance(milliseconds(100));
  run.node(run_of(*rig.seen, "helper")).steer(Steer::inject("x"));
  EXPECT_EQ(run.wait().text, "done");
  EXPECT_EQ(told_of(*rig.seen, {Kind::steering_applied, Kind::steering_rejected}),
            Trace{"helper steering.rejected"});
}

TEST(SteeringTreeCases, ARunHearsOtherThreadsWhileItWorks) {
  HarnessOptions options{.steering = SteeringPolicy::allow_all(), .seed = 7};
  options.models = make_models();
  auto model = recording(scripted({calls("wait"), says("done")}));
  options.model = model->profile().id();
  options.models->add(model);
  options.engine = make_engine({.loops = 2});
  Harness harness(std::move(options));
  // Returns once every thread has spoken: each of them waits for the call to begin.
  std::atomic<bool> begun = false;
  std::atomic<int> spoken = 0;
  constexpr int kThreads = 8;
  harness.tool("wait", "Waits", [&] {
    begun = true;
    begun.notify_all();
    for (int now = spoken; now < kThreads; now = spoken) spoken.wait(now);
    return "heard";
  });
  const tug::Run run = harness.start("go");
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      begun.wait(false);
      run.steer({Steer::inject("a" + std::to_string(i)), Steer::inject("b" + std::to_string(i))});
      ++spoken;
      spoken.notify_all();
    });
  }
  const RunResult result = run.wait();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(result.text, "done");
  const Trace texts = texts_of(result.messages);
  ASSERT_EQ(texts.size(), 3u + 2 * kThreads + 1);
  for (std::size_t i = 3; i + 1 < texts.size(); i += 2) {
    EXPECT_EQ(texts[i].substr(1), texts[i + 1].substr(1)) << "a batch stays together";
    EXPECT_EQ(texts[i][0], 'a');
  }
}

TEST(SteeringTreeCases, APauseFromAnotherThreadParksARunOfARealEngine) {
  HarnessOptions options{.steering = SteeringPolicy::allow_all(), .seed = 7};
  options.models = make_models();
  const ModelPtr model = scripted({calls("wait"), says("done")});
  options.model = model->profile().id();
  options.models->add(model);
  Harness harness(std::move(options));
  std::atomic<bool> begun = false;
  std::atomic<bool> spoken = false;
  harness.tool("wait", "Waits", [&] {
    begun = true;
    begun.notify_all();
    spoken.wait(false);
    return "heard";
  });
  const tug::Run run = harness.start("go");
  std::thread owner([&] {
    begun.wait(false);
    run.steer(Steer::pause("lunch"));
    spoken = true;
    spoken.notify_all();
  });
  const RunResult parked = run.wait();
  owner.join();
  EXPECT_EQ(parked.stop, StopReason::paused);
  EXPECT_EQ(harness.resume(parked.id).wait().text, "done");
}

}  // namespace
}  // namespace tug
