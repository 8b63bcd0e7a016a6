// A run that is told things while it works: the cases of the references. TA: TinyAgents, C: the
// table of the seeds.
#include "agent/tree_testing.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using testkit::calls;
using testkit::recording;
using testkit::says;
using testkit::scripted;

RunOptions steerable() { return {.steering = SteeringPolicy::allow_all()}; }

// A run that naps, is told something at 100 ms, and answers at 300.
struct Told {
  explicit Told(std::vector<ScriptTurn> turns, RunOptions options = steerable())
      : model(recording(scripted(std::move(turns)))), rig(model) {
    give_nap(rig);
    run = start_on(rig, "go", std::move(options));
    rig.engine->advance(milliseconds(100));
  }
  // What the model was told in its n-th request.
  Trace request(std::size_t nth) const { return texts_of(model->requests().at(nth).transcript); }

  std::shared_ptr<testkit::RecordingModel> model;
  Rig rig;
  tug::Run run;
};
std::vector<ScriptTurn> nap_then(ScriptTurn turn) { return {naps(300), std::move(turn)}; }

// --- TA 64, 19: what the model is told -----------------------------------------------------

TEST(SteeringCases, WordsThatComeDuringCallsStandBehindTheResultsInTheNextRequest) {
  Told told(nap_then(says("done")));
  told.run.steer(Steer::inject("be quick"));
  const RunResult result = told.run.wait();
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(told.request(1), (Trace{"go", "(nap)", "[rested]", "be quick"}));
  EXPECT_EQ(result.messages[3]->role(), Role::user);
  expect_legal(result.messages);
  expect_journal_says(*told.rig.store, result);
}

TEST(SteeringCases, CommandsAreTakenInTheOrderTheyCame) {
  Told told(nap_then(says("done")));
  told.run.steer(Steer::inject("a"));
  told.run.steer({Steer::inject("b"), Steer::inject("c")});
  const tug::Run copy = told.run;
  copy.steer(Steer::inject("d"));
  (void)told.run.wait();
  EXPECT_EQ(told.request(1), (Trace{"go", "(nap)", "[rested]", "a", "b", "c", "d"}));
  EXPECT_EQ(told.rig.seen->count(Kind::steering_applied), 4u);
}

TEST(SteeringCases, EachCommandThatIsTakenIsARecordThatReadsBackAsTheCommand) {
  Told told(nap_then(says("done")));
  const std::vector<Steer> batch = {Steer::inject("a"), Steer::redirect("b"),
                                    Steer::set_metadata(Json::object({{"k", 1}}))};
  told.run.steer(batch);
  (void)told.run.wait();
  std::vector<Steer> recorded;
  for (const Event* event : events_of(*told.rig.seen, Kind::steering_applied)) {
    recorded.push_back(steer_from(event->data["command"]).value());
    EXPECT_EQ(event->data["sender"].as_string(), "owner");
  }
  EXPECT_EQ(recorded, batch);
}

TEST(SteeringCases, ARedirectIsAnInstructionThatSaysWhatItIs) {
  Told told(nap_then(says("done")));
  told.run.steer(Steer::redirect("use the other file"));
  (void)told.run.wait();
  EXPECT_EQ(told.request(1).back(), "[steering:redirect] use the other file");
}

TEST(SteeringCases, WordsThatComeDuringTheFinalAnswerAreAnsweredToo) {
  Told told({after_ms(300, says("done")), says("done again")});
  told.run.steer(Steer::inject("one more thing"));
  const RunResult result = told.run.wait();
  EXPECT_EQ(result.text, "done again");
  EXPECT_EQ(told.request(1), (Trace{"go", "done", "one more thing"}));
}

TEST(SteeringCases, WordsThatComeBeforeTheFirstRequestAreInIt) {
  auto model = recording(scripted({says("done")}));
  Rig rig(model);
  auto slow_start = std::make_shared<Probe>("slow start");
  rig.harness->use(slow_start);
  tug::Run run;
  slow_start->before_run = [&run](Context&, RunInput&) { run.steer(Steer::inject("be quick")); };
  run = rig.harness->start("go", steerable());
  EXPECT_EQ(run.wait().text, "done");
  EXPECT_EQ(texts_of(model->requests().at(0).transcript), (Trace{"go", "be quick"}));
}

TEST(SteeringCases, AFollowUpWaitsUntilTheRunHasAnswered) {
  Told told({naps(300), calls("nap", R"({"ms":1})"), says("done"), says("more"), says("most")});
  told.run.steer(Steer::follow_up("and then?"));
  told.run.steer(Steer::follow_up("and at last?"));
  const RunResult result = told.run.wait();
  EXPECT_EQ(result.text, "most");
  EXPECT_EQ(texts_of(result.messages),
            (Trace{"go", "(nap)", "[rested]", "(nap)", "[rested]", "done", "and then?", "more",
                   "and at last?", "most"}));
  EXPECT_EQ(told.rig.seen->count(Kind::run_completed), 1u);
}

TEST(SteeringCases, MetadataOfTheRunIsReplacedAndWhatItInheritedStays) {
  Rig rig(scripted(nap_then(says("done"))));
  give_nap(rig);
  Trace seen;
  auto watch = probe("watch");
  watch->before_model = [&seen](Context& ctx, ModelRequest&) {
    seen.push_back(print_json(ctx.target().metadata()));
  };
  rig.harness->use(watch);
  RunOptions options = steerable();
  options.metadata = Json::object({{"old", 1}});
  options.inherited_metadata = Json::object({{"kept", 2}});
  tug::Run run = start_on(rig, "go", options);
  rig.engine->advance(milliseconds(100));
  run.steer(Steer::set_metadata(Json::object({{"new", 3}})));
  EXPECT_EQ(run.wait().text, "done");
  EXPECT_EQ(seen, (Trace{R"({"kept":2,"old":1})", R"({"kept":2,"new":3})"}));
}

// --- TA 19, C4: what is not permitted --------------------------------------------------------

TEST(SteeringCases, ABatchWithOneForbiddenCommandChangesNothingAndTheRunGoesOn) {
  Told told(nap_then(says("done")), {.steering = SteeringPolicy{SteerKind::inject}});
  told.run.steer({Steer::inject("x"), Steer::cancel("stop")});
  told.run.steer(Steer::inject("y"));
  const RunResult result = told.run.wait();
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(told.request(1), (Trace{"go", "(nap)", "[rested]", "y"}));
  const auto rejected = events_of(*told.rig.seen, Kind::steering_rejected);
  ASSERT_EQ(rejected.size(), 1u);
  const Json& batch = rejected[0]->data["command"];
  ASSERT_EQ(batch.items().size(), 2u);
  EXPECT_EQ(steer_from(batch[0]).value(), Steer::inject("x"));
  EXPECT_EQ(steer_from(batch[1]).value(), Steer::cancel("stop"));
  EXPECT_TRUE(contains(rejected[0]->data["reason"].as_string(), "cancel"))
      << print_json(rejected[0]->data);
  EXPECT_EQ(told.rig.seen->count(Kind::steering_applied), 1u);
  expect_journal_says(*told.rig.store, result);
}

TEST(SteeringCases, NothingIsPermittedWhereNobodySaysSo) {
  Told told(nap_then(says("done")), {});
  for (const Steer& command :
       {Steer::pause(), Steer::resume(), Steer::cancel(), Steer::inject("x"), Steer::redirect("x"),
        Steer::set_metadata(Json::object()), Steer::follow_up("x")}) {
    told.run.steer(command);
  }
  EXPECT_EQ(told.run.wait().text, "done");
  EXPECT_EQ(told.rig.seen->count(Kind::steering_rejected), 7u);
  EXPECT_EQ(told.rig.seen->count(Kind::steering_applied), 0u);
}

TEST(SteeringCases, WhatTheHarnessPermitsCountsWhereTheRunSaysNothing) {
  auto model = recording(scripted(nap_then(says("done"))));
  Rig rig(model, 1, {.steering = {SteerKind::inject}});
  give_nap(rig);
  tug::Run open = start_on(rig, "go");
  rig.engine->advance(milliseconds(100));
  open.steer(Steer::inject("x"));
  (void)open.wait();
  tug::Run closed = start_on(rig, "go", {.steering = SteeringPolicy{}});
  rig.engine->advance(milliseconds(100));
  closed.steer(Steer::inject("x"));
  (void)closed.wait();
  EXPECT_EQ(rig.seen->count(Kind::steering_applied), 1u);
  EXPECT_EQ(rig.seen->count(Kind::steering_rejected), 1u);
}

TEST(SteeringCases, WordsThatAreNoneAreRejectedWithTheirBatch) {
  Told told(nap_then(says("done")));
  told.run.steer({Steer::inject("x"), Steer::inject("")});
  told.run.steer(Steer::set_metadata(Json::array({1})));
  told.run.steer(Steer::inject(std::string(kMaxSteerText + 1, 'x')));
  EXPECT_EQ(told.run.wait().text, "done");
  EXPECT_EQ(told.request(1), (Trace{"go", "(nap)", "[rested]"}));
  EXPECT_EQ(told.rig.seen->count(Kind::steering_rejected), 3u);
}

TEST(SteeringCases, ARunThatHasEndedHearsNothing) {
  Told told(nap_then(says("done")));
  const RunResult result = told.run.wait();
  told.run.steer(Steer::inject("too late"));
  told.rig.engine->run_until_idle();
  EXPECT_EQ(told.rig.store->info(result.id)->last_seq, result.last_seq);
}

// --- cancel --------------------------------------------------------------------------------

TEST(SteeringCases, ACancelWinsOverTheRestOfItsBatch) {
  Told told(nap_then(says("never")));
  told.run.steer(Steer::inject("earlier"));
  told.run.steer({Steer::inject("before"), Steer::cancel("enough"), Steer::inject("after")});
  const RunResult result = told.run.wait();
  EXPECT_EQ(result.status, RunStatus::cancelled);
  EXPECT_TRUE(contains(result.error->message(), "enough")) << result.error->message();
  const auto applied = events_of(*told.rig.seen, Kind::steering_applied);
  EXPECT_EQ(applied.back()->data["command"]["command"].as_string(), "cancel");
  EXPECT_EQ(told.model->requests().size(), 1u);
  for (const std::string& text : texts_of(result.messages)) {
    EXPECT_TRUE(text != "before" && text != "after") << text;
  }
  EXPECT_LT(result.duration_ms, 300) << "it does not wait for what is under way";
  expect_legal(result.messages);
}

// --- TA 65: pauses -------------------------------------------------------------------------

TEST(SteeringCases, APausedRunIsNeitherCompletedNorFailedAndGoesOnWhenResumed) {
  Told told(nap_then(says("done")));
  told.run.steer(Steer::pause("lunch"));
  const RunResult parked = told.run.wait();
  EXPECT_EQ(parked.status, RunStatus::parked);
  EXPECT_EQ(parked.stop, StopReason::paused);
  EXPECT_EQ(parked.text, "");
  EXPECT_EQ(exit_code(parked), 8);
  EXPECT_EQ(told.model->requests().size(), 1u);
  EXPECT_EQ(told.rig.seen->find(Kind::run_paused)->data["reason"].as_string(), "lunch");
  const RunResult result = resume_on(told.rig, parked);
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(told.rig.seen->count(Kind::tool_started), 1u);
  expect_journal_says(*told.rig.store, result);
}

TEST(SteeringCases, APauseStaysThroughLaterBatchesAndTheFirstReasonCounts) {
  Told told(nap_then(says("done")));
  told.run.steer(Steer::pause("lunch"));
  told.run.steer(Steer::inject("eat well"));
  told.run.steer(Steer::pause("tea"));
  const RunResult parked = told.run.wait();
  EXPECT_EQ(parked.stop, StopReason::paused);
  EXPECT_EQ(told.rig.seen->find(Kind::run_paused)->data["reason"].as_string(), "lunch");
  EXPECT_EQ(told.model->requests().size(), 1u);
  EXPECT_EQ(resume_on(told.rig, parked).text, "done");
  EXPECT_EQ(told.request(1), (Trace{"go", "(nap)", "[rested]", "eat well"}));
}

TEST(SteeringCases, PauseAndResumeInOneBatchComeToNothing) {
  Told told(nap_then(says("done")));
  told.run.steer({Steer::pause(), Steer::resume()});
  EXPECT_EQ(told.run.wait().text, "done");
  EXPECT_EQ(told.rig.seen->count(Kind::steering_applied), 2u);
  EXPECT_EQ(told.rig.seen->count(Kind::run_paused), 0u);
}

TEST(SteeringCases, AResumeThatComesBeforeTheCheckpointTakesThePauseBack) {
  Told told(nap_then(says("done")));
  told.run.steer(Steer::pause());
  told.rig.engine->advance(milliseconds(50));
  told.run.steer(Steer::resume());
  EXPECT_EQ(told.run.wait().text, "done");
}

TEST(SteeringCases, APauseThatComesWithTheFinalAnswerComesTooLate) {
  Told told({after_ms(300, says("done"))});
  told.run.steer(Steer::pause("lunch"));
  const RunResult result = told.run.wait();
  EXPECT_EQ(result.text, "done");
  EXPECT_TRUE(result.ok());
}

TEST(SteeringCases, MoreBatchesThanCanWaitAreRejectedOneByOne) {
  Told told({after_ms(300, says("done")), says("heard")});
  for (std::size_t i = 0; i < kMaxSteerBacklog + 10; ++i) told.run.steer(Steer::inject("x"));
  EXPECT_EQ(told.run.wait().text, "heard");
  EXPECT_EQ(told.rig.seen->count(Kind::steering_applied), kMaxSteerBacklog);
  EXPECT_EQ(told.rig.seen->count(Kind::steering_rejected), 10u);
}

TEST(SteeringCases, WhatWasToldBeforeAPauseIsKnownWhereTheRunGoesOn) {
  const ModelPtr script = scripted({naps(300), calls("see"), says("done"), says("more")});
  Rig rig(script);
  give_nap(rig);
  tug::Run run = start_on(rig, "go", steerable());
  rig.engine->advance(milliseconds(100));
  run.steer({Steer::inject("be quick"), Steer::set_metadata(Json::object({{"k", 1}})),
             Steer::follow_up("and then?"), Steer::pause("lunch")});
  const RunResult parked = run.wait();
  ASSERT_EQ(parked.stop, StopReason::paused);
  auto model = recording(script);
  Rig next = beside(rig, model);
  give_nap(next);
  next.harness->inline_tool("see", "Sees", [] { return "seen"; });
  Json seen;
  auto watch = probe("watch");
  watch->before_model = [&seen](Context& ctx, ModelRequest&) { seen = ctx.target().metadata(); };
  next.harness->use(watch);
  const RunResult result = resume_on(next, parked);
  EXPECT_EQ(result.text, "more");
  EXPECT_EQ(texts_of(result.messages), (Trace{"go", "(nap)", "[rested]", "be quick", "(see)",
                                              "[seen]", "done", "and then?", "more"}));
  EXPECT_EQ(seen, Json::object({{"k", 1}}));
  EXPECT_EQ(model->requests().size(), 3u);
  expect_journal_says(*next.store, result);
}

}  // namespace
}  // namespace tug
