// Children that nobody waits for: the cases of the issue. C: the table of the seeds.
#include "agent/tree_testing.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using testkit::calls;
using testkit::fails;
using testkit::recording;
using testkit::says;
using testkit::scripted;

// A tool `begin` that starts the agent beside its caller, and what it was given.
struct Beside {
  explicit Beside(Rig& rig, AgentConfig config = {}) {
    const Agent helper = rig.harness->agent("helper", "Helps.", std::move(config));
    rig.harness->inline_tool("begin", "Begins", [helper, this](const Context& ctx) {
      child = helper.start(ctx, "dig");
      return "begun";
    });
  }
  tug::Run child;
};

TEST(BackgroundCases, AChildGoesOnBesideItsParentAndIsJoinedBeforeThatOneEnds) {
  Rig rig(scripted({by("main", calls("begin")), by("helper", after_ms(300, says("gold"))),
                    by("main", after_ms(100, says("done")))}));
  Beside beside(rig);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.duration_ms, 300);
  EXPECT_EQ(told_of(*rig.seen, {Kind::tool_completed, Kind::model_completed,
                                Kind::subagent_completed, Kind::run_completed}),
            (Trace{"main model.completed", "main tool.completed", "main model.completed",
                   "helper model.completed", "helper run.completed", "main subagent.completed",
                   "main run.completed"}));
  EXPECT_TRUE(rig.seen->find(Kind::subagent_started)->data["background"].as_bool());
  EXPECT_EQ(beside.child.wait().text, "gold");
  expect_gap_free(*rig.seen);
}

TEST(BackgroundCases, TheHandlePollsAndWaits) {
  Rig rig(scripted({by("main", calls("begin")), by("main", calls("poll")),
                    by("helper", after_ms(300, says("gold"))), by("main", calls("collect")),
                    by("main", calls("poll")), by("main", says("done"))}));
  Beside beside(rig);
  rig.harness->inline_tool("poll", "Polls", [&beside] {
    return std::string(name_of(beside.child.status().status)) +
           (beside.child.ended() ? " ended" : " under way");
  });
  rig.harness->tool("collect", "Waits", [&beside](const Context& ctx) -> Task<std::string> {
    auto waiting = beside.child.result({ctx.cancel()});
    const RunResult result = co_await std::move(waiting);
    co_return result.text;
  });
  const RunResult result = rig.run("go");
  ASSERT_EQ(result.tool_calls.size(), 4u);
  EXPECT_EQ(result.tool_calls[1].result.content, "running under way");
  EXPECT_EQ(result.tool_calls[2].result.content, "gold");
  EXPECT_EQ(result.tool_calls[3].result.content, "completed ended");
}

// C5
TEST(BackgroundCases, TheHandleSteersIt) {
  auto model = recording(
      scripted({by("main", calls("begin")), by("helper", naps(300)), by("main", calls("steer")),
                by("helper", says("silver")), by("main", says("done"))}));
  Rig rig(model);
  give_nap(rig);
  Beside beside(rig);
  rig.harness->inline_tool("steer", "Steers", [&beside] {
    beside.child.steer(Steer::inject("look for silver"));
    return "told";
  });
  const RunResult result = rig.run("go", {.steering = SteeringPolicy{SteerKind::inject}});
  EXPECT_EQ(result.text, "done");
  const RunResult child = beside.child.wait();
  EXPECT_EQ(texts_of(child.messages),
            (Trace{"dig", "(nap)", "[rested]", "look for silver", "silver"}));
  const Event* applied = rig.seen->find(Kind::steering_applied);
  ASSERT_TRUE(applied);
  EXPECT_EQ(applied->who->agent, "helper");
}

TEST(BackgroundCases, TheHandleCancelsItAloneAndThatIsAnEvent) {
  Rig rig(scripted({by("main", calls("begin")), by("helper", after_ms(60'000, says("late"))),
                    by("main", calls("stop")), by("main", says("done"))}));
  Beside beside(rig);
  rig.harness->inline_tool("stop", "Stops", [&beside] {
    beside.child.cancel("no need");
    return "told";
  });
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_LT(result.duration_ms, 1000);
  EXPECT_EQ(beside.child.wait().status, RunStatus::cancelled);
  const Event* failed = rig.seen->find(Kind::subagent_failed);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->data["stop_reason"].as_string(), "cancelled");
}

TEST(BackgroundCases, AFailureIsAnEventAndNothingElse) {
  Rig rig(scripted({by("main", calls("begin")), by("helper", fails(401)),
                    by("main", after_ms(100, says("done")))}));
  Beside beside(rig);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_TRUE(result.ok());
  const Event* failed = rig.seen->find(Kind::subagent_failed);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->who->run_id, result.id);
  EXPECT_EQ(failed->data["error"]["kind"].as_string(), "denied");
  EXPECT_EQ(beside.child.wait().stop, StopReason::provider_error);
}

TEST(BackgroundCases, CancellingTheParentCancelsIt) {
  Rig rig(scripted({by("main", calls("begin")), by("helper", after_ms(60'000, says("late"))),
                    by("main", after_ms(60'000, says("late")))}));
  Beside beside(rig);
  tug::Run run = start_on(rig, "go");
  rig.engine->advance(milliseconds(100));
  run.cancel("enough");
  EXPECT_EQ(run.wait().status, RunStatus::cancelled);
  EXPECT_EQ(beside.child.wait().status, RunStatus::cancelled);
  EXPECT_EQ(told_of(*rig.seen, {Kind::run_cancelled}),
            (Trace{"helper run.cancelled", "main run.cancelled"}));
}

TEST(BackgroundCases, WhatItUsesIsCountedWithItsParents) {
  Rig rig(scripted({by("main", used(calls("begin"), 10, 1)),
                    by("helper", after_ms(300, used(says("gold"), 100, 20))),
                    by("main", used(says("done"), 10, 1))}));
  Beside beside(rig);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.usage.total(), 142);
  EXPECT_EQ(result.own.usage.total(), 22);
}

TEST(BackgroundCases, OneThatWaitsForApprovalParksTheTreeOnceItsParentHasNothingElseToDo) {
  Rig rig(scripted({by("main", calls("begin")), by("helper", calls("pay")),
                    by("main", after_ms(200, says("done"))), by("helper", says("gold"))}));
  int paid = 0;
  rig.harness->inline_tool("pay", "Pays", [&paid] { return ++paid; }, {.requires_approval = true});
  Beside beside(rig);
  const RunResult parked = run_on(rig, "go");
  EXPECT_EQ(parked.status, RunStatus::parked);
  EXPECT_EQ(parked.stop, StopReason::approval_required);
  ASSERT_EQ(parked.pending.size(), 1u);
  EXPECT_EQ(parked.pending[0].agent, "helper");
  const RunResult result =
      rig.harness->approve(parked.root, decide_all(parked.pending, true)).wait();
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(paid, 1);
}

// --- while the parent waits for it to end ----------------------------------------------------

// The parent has answered at 100 ms, the child goes on at 300 and is done at 400.
struct Joining {
  Joining()
      : model(recording(
            scripted({by("main", calls("begin")), by("helper", naps(300)),
                      by("main", after_ms(100, says("done"))),
                      by("helper", after_ms(100, says("gold"))), by("main", says("done again"))}))),
        rig(model),
        beside((give_nap(rig), rig)) {
    run = start_on(rig, "go", {.steering = SteeringPolicy::allow_all()});
    rig.engine->advance(milliseconds(200));
    EXPECT_FALSE(run.ended());
    EXPECT_EQ(model->requests().size(), 3u);
  }
  std::shared_ptr<testkit::RecordingModel> model;
  Rig rig;
  Beside beside;
  tug::Run run;
};

TEST(BackgroundCases, WordsThatComeWhileAParentWaitsForItsChildrenAreAnswered) {
  for (const Steer& command : {Steer::inject("and you?"), Steer::follow_up("and you?")}) {
    Joining joining;
    joining.run.steer(command);
    const RunResult result = joining.run.wait();
    EXPECT_EQ(result.text, "done again") << name_of(command.kind);
    EXPECT_EQ(texts_of(result.messages),
              (Trace{"go", "(begin)", "[begun]", "done", "and you?", "done again"}));
    expect_journal_says(*joining.rig.store, result);
  }
}

TEST(BackgroundCases, APauseThatComesWhileAParentWaitsForItsChildrenHoldsThem) {
  Joining joining;
  joining.run.steer(Steer::pause("lunch"));
  const RunResult parked = joining.run.wait();
  EXPECT_EQ(parked.stop, StopReason::paused);
  EXPECT_EQ(joining.model->requests().size(), 3u) << "the child has not asked again";
  const RunResult result = resume_on(joining.rig, parked);
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(joining.model->requests().size(), 4u);
  expect_journal_says(*joining.rig.store, result);
}

}  // namespace
}  // namespace tug
