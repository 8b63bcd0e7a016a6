// Calls that somebody must agree to, in one run: the cases of the references. TH: ThinHarness, C:
// the table of the seeds.
#include "agent/approval_testing.h"
#include "tug/middleware/hooks.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using testkit::calls;
using testkit::recording;
using testkit::says;
using testkit::scripted;

// --- TH 45, 27: the pause --------------------------------------------------------------------

TEST(ApprovalCases, NothingOfABatchRunsWhileOneOfItsCallsIsAskedAbout) {
  Trace trace;
  ScriptTurn turn = looks_and_pays(5);
  turn.text = "I will pay.";
  Rig rig(scripted({turn, says("done")}));
  Till till(rig);
  rig.harness->use(probe("watch", &trace));
  const RunResult parked = run_on(rig, "go");
  expect_parked(rig, parked);
  EXPECT_EQ(till.paid, std::vector<int>{});
  EXPECT_EQ(till.looked, 0);
  for (const std::string& step : trace) EXPECT_FALSE(contains(step, "tool")) << step;
  EXPECT_EQ(parked.counts.tool_calls, 3) << "counted when it is asked about";
  EXPECT_EQ(parked.counts.model_calls, 1);
  EXPECT_EQ(parked.responses.size(), 1u);
  ASSERT_EQ(parked.pending.size(), 1u);
  const PendingApproval& pending = parked.pending[0];
  EXPECT_EQ(pending.call, parked.messages.back()->tool_calls().at(1)->id);
  EXPECT_EQ(pending.tool, "pay");
  EXPECT_EQ(pending.arguments, Json::object({{"amount", 5}}));
  EXPECT_EQ(pending.run, parked.id);
  EXPECT_EQ(pending.agent, "main");
  EXPECT_FALSE(pending.reason.empty());
  EXPECT_EQ(pending.digest, approval_digest("pay", pending.arguments).hex());
  EXPECT_EQ(rig.seen->count(Kind::tool_started), 0u);
  ASSERT_EQ(rig.seen->count(Kind::approval_requested), 1u);
  const Event* asked = rig.seen->find(Kind::approval_requested);
  EXPECT_EQ(asked->data["call_id"].as_string(), pending.call.text());
  EXPECT_EQ(asked->data["hold"].as_string(), "batch");
  EXPECT_EQ(asked->data["digest"].as_string(), pending.digest);
  EXPECT_EQ(rig.seen->kinds().back(), "run.paused");
  EXPECT_EQ(rig.seen->events.back().data["result"], to_json(parked));
}

// TH 46
TEST(ApprovalCases, ABatchThatPassesALimitIsTheLimitAndNobodyIsAsked) {
  Rig rig(scripted({looks_and_pays(5), says("never")}));
  Till till(rig);
  const RunResult result = rig.run("go", {.limits = {.max_tool_calls = 2}});
  EXPECT_EQ(result.stop, StopReason::limit_reached);
  EXPECT_EQ(limit_of(result), LimitKind::tool_calls);
  EXPECT_EQ(rig.seen->count(Kind::approval_requested), 0u);
}

// --- TH 28 to 30, 51: what comes of it -----------------------------------------------------

TEST(ApprovalCases, AnApprovedCallRunsOnceOnTheWholeNormalWay) {
  Trace trace;
  auto model = recording(scripted({pays(5), says("done")}));
  Rig rig(model);
  Till till(rig);
  rig.harness->use(probe("watch", &trace));
  const RunResult parked = run_on(rig, "go");
  trace.clear();
  const RunResult result = approve_on(rig, parked, all_yes(parked));
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.id, parked.id);
  EXPECT_EQ(till.paid, std::vector<int>{5});
  EXPECT_EQ(trace, (Trace{"watch run in", "watch tool in", "watch tool out", "watch model in",
                          "watch model out", "watch run out"}));
  EXPECT_EQ(result.counts.tool_calls, 1) << "and not counted again";
  EXPECT_EQ(result.counts.model_calls, 2);
  EXPECT_EQ(result.responses.size(), 2u) << "of both halves";
  ASSERT_EQ(result.tool_calls.size(), 1u);
  EXPECT_EQ(result.tool_calls[0].approved, true);
  EXPECT_TRUE(result.pending.empty());
  EXPECT_EQ(told(*model, 1).at(0)->content, "paid 5");
  const Event* decided = rig.seen->find(Kind::approval_decided);
  EXPECT_TRUE(decided->data["approved"].as_bool());
  EXPECT_EQ(decided->data["digest"].as_string(), parked.pending[0].digest);
  EXPECT_EQ(decided->data["by"].as_string(), "owner");
  expect_gap_free(*rig.seen);
  expect_journal_says(*rig.store, result);
}

TEST(ApprovalCases, AHookMayStillRefuseWhatWasApproved) {
  Rig rig(scripted({pays(5), says("done")}));
  Till till(rig);
  rig.harness->use(std::make_shared<Cancels>("pay"));
  const RunResult parked = run_on(rig, "go");
  const RunResult result = approve_on(rig, parked, all_yes(parked));
  EXPECT_EQ(result.text, "done");
  EXPECT_TRUE(till.paid.empty());
  EXPECT_EQ(error_type_of(result.tool_calls.at(0)), "ToolCallCancelled");
}

TEST(ApprovalCases, ADeniedCallIsAnsweredWithTheReasonAndNoHookSeesIt) {
  Trace trace;
  auto model = recording(scripted({pays(5), says("done")}));
  Rig rig(model);
  Till till(rig);
  rig.harness->use(probe("watch", &trace));
  const RunResult parked = run_on(rig, "go");
  trace.clear();
  const RunResult result = approve_on(rig, parked, all_no(parked, "too dear"));
  EXPECT_EQ(result.text, "done");
  EXPECT_TRUE(till.paid.empty());
  for (const std::string& step : trace) EXPECT_FALSE(contains(step, "tool")) << step;
  const ToolResult& answer = *told(*model, 1).at(0);
  EXPECT_FALSE(answer.ok);
  EXPECT_TRUE(contains(answer.content, "too dear")) << answer.content;
  EXPECT_EQ(error_type_of(result.tool_calls.at(0)), "ApprovalRejected");
  EXPECT_EQ(result.tool_calls[0].approved, false);
  EXPECT_EQ(result.denials, (std::vector<Denial>{{parked.pending[0].call, "pay", "too dear"}}));
  EXPECT_EQ(rig.seen->count(Kind::tool_denied), 1u);
  EXPECT_EQ(rig.seen->count(Kind::tool_started), 0u);
  EXPECT_EQ(result.counts.tool_calls, 1);
  expect_journal_says(*rig.store, result);
}

TEST(ApprovalCases, ResultsOfAMixedBatchKeepTheOrderOfTheCalls) {
  auto model = recording(scripted(
      {calls(
           {{"a", "pay", sum(1)}, {"b", "look", "{}"}, {"c", "pay", sum(3)}, {"d", "pay", sum(4)}}),
       says("done")}));
  Rig rig(model);
  Till till(rig);
  const RunResult parked = run_on(rig, "go");
  ASSERT_EQ(parked.pending.size(), 3u);
  std::vector<Decision> decisions = all_yes(parked);
  decisions[1] = Decision::deny(parked.pending[1].call, "no");
  std::ranges::reverse(decisions);
  const RunResult result = approve_on(rig, parked, decisions);
  const auto answers = told(*model, 1);
  ASSERT_EQ(answers.size(), 4u);
  EXPECT_EQ(answers[0]->content, "paid 1");
  EXPECT_EQ(answers[1]->content, "seen");
  EXPECT_FALSE(answers[2]->ok);
  EXPECT_EQ(answers[3]->content, "paid 4");
  EXPECT_EQ(result.counts.tool_calls, 4);
  expect_legal(result.messages);
}

TEST(ApprovalCases, ARunThatWasResumedMayPauseAgain) {
  Rig rig(scripted({pays(1), pays(2), says("done")}));
  Till till(rig);
  const RunResult first = run_on(rig, "go");
  const RunResult second = approve_on(rig, first, all_yes(first));
  expect_parked(rig, second);
  EXPECT_NE(second.pending.at(0).call, first.pending.at(0).call);
  EXPECT_EQ(approve_on(rig, second, all_yes(second)).text, "done");
  EXPECT_EQ(till.paid, (std::vector<int>{1, 2}));
}

// --- TH 49, 31, C6: decisions that do not fit ------------------------------------------------

TEST(ApprovalCases, DecisionsThatDoNotFitAreRefusedBeforeAnythingIsWritten) {
  Rig rig(scripted({calls({{"a", "pay", sum(1)}, {"b", "look", "{}"}}), says("done")}));
  Till till(rig);
  const RunResult parked = run_on(rig, "go");
  const CallId paying = parked.pending.at(0).call;
  const CallId looking = parked.messages.back()->tool_calls().at(1)->id;
  Decision edited = Decision::approve(paying);
  edited.arguments = Json::object({{"amount", "much"}});
  Decision other = Decision::approve(paying);
  other.digest = approval_digest("pay", Json::object({{"amount", 2}})).hex();
  Decision elsewhere = Decision::approve(paying);
  elsewhere.run = RunId("somebody");
  const std::vector<std::pair<std::vector<Decision>, std::string>> cases = {
      {{Decision::approve(CallId("9.9"))}, "9.9"},
      {{Decision::approve(paying), Decision::deny(paying)}, paying.text()},
      {{Decision::approve(paying), Decision::approve(looking)}, looking.text()},
      {{edited}, "amount"},
      {{other}, paying.text()},
      {{elsewhere}, paying.text()},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const RunResult refused = approve_on(rig, parked, cases[i].first);
    ASSERT_TRUE(refused.error) << i;
    EXPECT_EQ(refused.error->kind(), ErrorKind::invalid) << i;
    EXPECT_TRUE(contains(to_string(*refused.error), cases[i].second)) << to_string(*refused.error);
    EXPECT_EQ(rig.store->info(parked.root)->last_seq, parked.last_seq) << i;
  }
  EXPECT_TRUE(till.paid.empty());
  EXPECT_EQ(approve_on(rig, parked, all_yes(parked)).text, "done") << "it is as it was";
}

TEST(ApprovalCases, DecisionsAreReadStrictly) {
  const Json good = to_json(Decision::deny(CallId("1.0"), "no"));
  ASSERT_TRUE(decision_from(good));
  for (const auto& [field, value] : std::vector<std::pair<std::string, Json>>{
           {"approved", "false"}, {"reason", 123}, {"call", 7}, {"unknown", 1}}) {
    Json bad = good;
    bad.set(field, value);
    const auto read = decision_from(bad);
    ASSERT_FALSE(read) << field;
    EXPECT_TRUE(contains(read.error().message(), field)) << read.error().message();
  }
}

// TH 32
TEST(ApprovalCases, AnApprovalIsForTheArgumentsThatWereShown) {
  Rig rig(scripted({pays(1), pays(1000), says("done")}));
  Till till(rig);
  const RunResult first = run_on(rig, "go");
  const RunResult second = approve_on(rig, first, all_yes(first));
  ASSERT_EQ(second.pending.size(), 1u);
  Decision stale = Decision::approve(second.pending[0].call);
  stale.digest = first.pending[0].digest;
  EXPECT_TRUE(approve_on(rig, second, {stale}).error);
  EXPECT_EQ(till.paid, std::vector<int>{1});
  EXPECT_TRUE(approve_on(rig, second, all_yes(first)).error) << "used up";
}

TEST(ApprovalCases, EditedArgumentsAreUsedAndRecordedAndTheModelsStayAsTheyWere) {
  auto model = recording(scripted({pays(500), says("done")}));
  Rig rig(model);
  Till till(rig);
  const RunResult parked = run_on(rig, "go");
  Decision edited = all_yes(parked).at(0);
  edited.arguments = Json::object({{"amount", 5}});
  const RunResult result = approve_on(rig, parked, {edited});
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(till.paid, std::vector<int>{5});
  EXPECT_EQ(told(*model, 1).at(0)->content, "paid 5");
  EXPECT_EQ(rig.seen->find(Kind::approval_decided)->data["arguments"],
            Json::object({{"amount", 5}}));
  EXPECT_EQ(rig.seen->find(Kind::tool_started)->data["arguments"], Json::object({{"amount", 5}}));
  EXPECT_EQ(result.tool_calls.at(0).arguments, Json::object({{"amount", 500}}));
  expect_journal_says(*rig.store, result);
}

TEST(ApprovalCases, DecidingSomeParksAgainAndNothingOfTheBatchRuns) {
  Rig rig(scripted({calls({{"a", "pay", sum(1)}, {"b", "pay", sum(2)}}), says("done")}));
  Till till(rig);
  const RunResult parked = run_on(rig, "go");
  const RunResult again = approve_on(rig, parked, {all_yes(parked).at(0)});
  expect_parked(rig, again);
  EXPECT_TRUE(till.paid.empty());
  ASSERT_EQ(again.pending.size(), 1u);
  EXPECT_EQ(again.pending[0], parked.pending.at(1));
  EXPECT_EQ(again.counts.tool_calls, 2);
  EXPECT_TRUE(approve_on(rig, again, {all_yes(parked).at(0)}).error) << "decided already";
  EXPECT_EQ(approve_on(rig, again, all_yes(again)).text, "done");
  EXPECT_EQ(till.paid, (std::vector<int>{1, 2}));
}

// --- TH 50, 52, 33, C7, C8: going on -------------------------------------------------------

TEST(ApprovalCases, AResumeWithoutDecisionsChangesNothingAndKeepsItsPromptForLater) {
  Rig rig(scripted({pays(5), says("done"), says("more")}));
  Till till(rig);
  const RunResult parked = run_on(rig, "go");
  const RunResult same = resume_on(rig, parked, "and then?");
  EXPECT_EQ(same.status, RunStatus::parked);
  EXPECT_EQ(same.stop, StopReason::approval_required);
  EXPECT_EQ(same.pending, parked.pending);
  EXPECT_EQ(same.last_seq, parked.last_seq);
  EXPECT_EQ(rig.store->info(parked.root)->last_seq, parked.last_seq);
  EXPECT_EQ(rig.store->inbox(parked.root)->size(), 1u);
  EXPECT_TRUE(till.paid.empty());
  const RunResult result = approve_on(rig, parked, all_yes(parked));
  EXPECT_EQ(result.text, "more");
  EXPECT_EQ(texts_of(result.messages),
            (Trace{"go", "(pay)", "[paid 5]", "done", "and then?", "more"}));
  EXPECT_TRUE(rig.store->inbox(parked.root)->empty());
}

TEST(ApprovalCases, AToolThatIsGoneOrAsksNoMoreIsDeniedWithTheReason) {
  const ModelPtr script = scripted({pays(5), says("done")});
  for (const bool gone : {true, false}) {
    Rig rig(script);
    Till till(rig);
    const RunResult parked = run_on(rig, "go");
    auto model = recording(script);
    Rig next = beside(rig, model);
    std::optional<Till> other;
    if (!gone) other.emplace(next, ToolOptions{});
    const RunResult result = approve_on(next, parked, all_yes(parked));
    EXPECT_EQ(result.text, "done") << (result.error ? to_string(*result.error) : "");
    if (other) EXPECT_TRUE(other->paid.empty());
    ASSERT_EQ(result.denials.size(), 1u);
    EXPECT_FALSE(result.denials[0].reason.empty());
    EXPECT_EQ(error_type_of(result.tool_calls.at(0)), "ApprovalRejected");
    EXPECT_TRUE(contains(told(*model, 0).at(0)->content, result.denials[0].reason));
    expect_legal(result.messages);
  }
}

TEST(ApprovalCases, WithTheLastModelCallUsedTheSideEffectHappensAndThenTheLimit) {
  auto model = recording(scripted({pays(5), says("never")}));
  Rig rig(model);
  Till till(rig);
  const RunResult parked = run_on(rig, "go", {.limits = {.max_turns = 1}});
  expect_parked(rig, parked);
  const RunResult result = approve_on(rig, parked, all_yes(parked));
  EXPECT_EQ(till.paid, std::vector<int>{5});
  EXPECT_EQ(result.stop, StopReason::limit_reached);
  EXPECT_EQ(limit_of(result), LimitKind::model_calls);
  EXPECT_EQ(model->requests().size(), 1u);
  expect_legal(result.messages);
}

TEST(ApprovalCases, ARunThatParkedIsTheRunItWouldHaveBeenWithoutAsking) {
  const std::vector<ScriptTurn> turns = {used(pays(1), 100, 10), used(looks_and_pays(2), 100, 10),
                                         used(pays(3), 100, 10), used(says("done"), 100, 10)};
  const RunLimits limits{.max_turns = 5, .max_tool_calls = 6, .max_tokens = 5000};
  Rig free(scripted(turns));
  Till all(free);
  const RunResult plain =
      free.run("go", {.limits = limits, .permissions = Permissions{.mode = PermissionMode::yolo}});
  Rig rig(scripted(turns));
  Till till(rig);
  RunResult result = run_on(rig, "go", {.limits = limits});
  for (int pauses = 0; result.status == RunStatus::parked; ++pauses) {
    ASSERT_LT(pauses, 3);
    result = approve_on(rig, result, all_yes(result));
  }
  EXPECT_EQ(texts_of(result.messages), texts_of(plain.messages)) << "notices included";
  EXPECT_EQ(warnings_in(*rig.seen), warnings_in(*free.seen));
  EXPECT_FALSE(warnings_in(*rig.seen).empty());
  EXPECT_EQ(result.counts, plain.counts);
  EXPECT_EQ(result.usage, plain.usage);
  EXPECT_EQ(result.stop, plain.stop);
  EXPECT_EQ(till.paid, all.paid);
}

TEST(ApprovalCases, TimeThatARunIsParkedIsNotTimeAlive) {
  Rig rig(scripted({after_ms(600, pays(5)), after_ms(300, says("done"))}));
  Till till(rig);
  const RunResult parked = run_on(rig, "go", {.limits = {.max_time = 1}});
  rig.engine->advance(std::chrono::hours(24 * 7));
  const RunResult result = approve_on(rig, parked, all_yes(parked));
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.duration_ms, 900);
}

// TH 52: a new prompt is submitted, a decision is not.
TEST(ApprovalCases, HooksOfTheRunKnowThatItGoesOnWithoutANewPrompt) {
  Trace trace;
  Rig rig(scripted({pays(5), says("done")}));
  Till till(rig);
  std::vector<Hook> hooks;
  for (const HookEvent event : {HookEvent::run_start, HookEvent::user_prompt_submit}) {
    hooks.push_back({.event = event, .handler = HookFunction([&trace](const HookInput& input) {
                                       trace.push_back(std::string(name_of(input.event)) +
                                                       (input.resumed ? " resumed" : ""));
                                       return Result<HookReply>(HookReply{});
                                     })});
  }
  rig.harness->use(make_hooks(std::move(hooks)).value());
  RunOptions options;
  options.metadata = Json::object({{"k", 1}});
  const RunResult parked = run_on(rig, "go", options);
  EXPECT_EQ(approve_on(rig, parked, all_yes(parked)).text, "done");
  EXPECT_EQ(trace, (Trace{"run_start", "user_prompt_submit", "run_start resumed"}));
}

TEST(ApprovalCases, OnlyARootThatWaitsCanBeDecidedAbout) {
  Rig rig(scripted({says("done")}));
  const RunResult result = rig.run("go");
  for (const RunId& root : {result.id, RunId("nobody")}) {
    const RunResult refused = rig.harness->approve(root, {Decision::approve(CallId("1.0"))}).wait();
    ASSERT_TRUE(refused.error);
    EXPECT_EQ(refused.error->kind(), ErrorKind::invalid) << to_string(*refused.error);
  }
  EXPECT_EQ(rig.store->info(result.id)->last_seq, result.last_seq);
}

}  // namespace
}  // namespace tug
