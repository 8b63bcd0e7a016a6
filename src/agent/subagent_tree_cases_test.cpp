// What a child inherits, and how it ends: the cases of the references. TA: TinyAgents, TH:
// ThinHarness, C: the table of the seeds.
#include "agent/tree_testing.h"
#include "tug/middleware/hooks.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using testkit::calls;
using testkit::fails;
using testkit::recording;
using testkit::says;
using testkit::scripted;

// --- TA 63, 2.10: what is inherited --------------------------------------------------------

struct Account {
  std::string owner;
};

// What code sees in a call of the root, and in one of a child.
struct View {
  const Services* services = nullptr;
  const void* stores = nullptr;
  std::vector<std::string> tags;
  Json metadata;
  Json configurable;
  std::string owner;
  Json agent;
};

TEST(SubagentCases, StoresServicesTagsMetadataAndGivenValuesReachAChild) {
  Rig rig(
      scripted({by("main", calls("see")), by("main", asks("helper", "dig")),
                by("helper", calls("see")), by("helper", says("gold")), by("main", says("done"))}));
  std::map<std::string, View> seen;
  rig.harness->inline_tool("see", "Sees", [&seen](const Context& ctx) {
    const Account* account = ctx.get<Account>();
    seen[ctx.id().agent] = {.services = &ctx.services(),
                            .stores = &ctx.stores(),
                            .tags = ctx.tags(),
                            .metadata = ctx.inherited().metadata,
                            .configurable = ctx.inherited().configurable,
                            .owner = account ? account->owner : "",
                            .agent = ctx.get("inherited." + std::string(kAgentKey))};
    return "seen";
  });
  rig.harness->agent("helper", "Helps.");
  RunOptions options;
  options.tags = {"mine"};
  options.inherited_tags = {"ours"};
  options.inherited_metadata = Json::object({{"case", 7}});
  options.configurable = Json::object({{"colour", "red"}});
  options.give(Account{"Ada"});
  const RunResult result = rig.run("go", options);
  ASSERT_EQ(result.text, "done");
  const View& above = seen["main"];
  const View& below = seen["helper"];
  EXPECT_EQ(below.services, above.services);
  EXPECT_EQ(below.stores, above.stores);
  EXPECT_EQ(below.tags, std::vector<std::string>{"ours"}) << "what is the run's alone stays there";
  EXPECT_EQ(below.metadata, Json::object({{"case", 7}}));
  EXPECT_EQ(below.configurable, Json::object({{"colour", "red"}}));
  EXPECT_EQ(below.owner, "Ada");
}

TEST(SubagentCases, AnAgentIsNamedInWhatItsContextsInherit) {
  Rig rig(
      scripted({by("main", calls("see")), by("main", asks("helper", "dig for gold")),
                by("helper", calls("see")), by("helper", says("gold")), by("main", says("done"))}));
  std::map<std::string, Json> seen;
  rig.harness->inline_tool("see", "Sees", [&seen](const Context& ctx) {
    seen[ctx.id().agent] = ctx.get("inherited." + std::string(kAgentKey));
    return "seen";
  });
  rig.harness->agent("helper", "Helps.");
  const RunResult result = rig.run("go");
  ASSERT_EQ(result.text, "done");
  EXPECT_EQ(seen["helper"]["name"].as_string(), "helper");
  EXPECT_EQ(seen["helper"]["context_id"].as_string(), run_of(*rig.seen, "helper").text());
  EXPECT_EQ(seen["helper"]["ancestor_context_id"].as_string(), result.id.text());
  EXPECT_FALSE(seen["helper"]["topic"].as_string().empty());
}

TEST(SubagentCases, UsageAndCostAreCountedAboveWhileTheChildStillRuns) {
  std::vector<ScriptTurn> turns = {
      by("main", used(asks("helper", "dig"), 10, 5)), by("helper", used(naps(1000), 100, 50)),
      by("helper", used(says("gold"), 200, 20)), by("main", used(says("done"), 30, 3))};
  ModelProfile profile{.name = "priced"};
  profile.price = Price{.input = 1'000'000, .output = 2'000'000};
  Rig rig(profiled(profile, turns));
  give_nap(rig);
  rig.harness->agent("helper", "Helps.");
  tug::Run run = start_on(rig, "go");
  rig.engine->advance(milliseconds(500));
  ASSERT_FALSE(run.ended());
  EXPECT_EQ(run.status().usage, (Usage{.input_tokens = 110, .output_tokens = 55}));
  const RunId child = run_of(*rig.seen, "helper");
  EXPECT_EQ(run.node(child).status().usage, (Usage{.input_tokens = 100, .output_tokens = 50}));
  const RunResult result = run.wait();
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.usage, (Usage{.input_tokens = 340, .output_tokens = 78}));
  EXPECT_EQ(result.own.usage, (Usage{.input_tokens = 40, .output_tokens = 8}));
  EXPECT_EQ(result.cost.nanos(), 340'000 + 156'000);
  EXPECT_EQ(result.own.cost.nanos(), 40'000 + 16'000);
  EXPECT_EQ(result.counts.model_calls, 2) << "counts are the run's own";
}

TEST(SubagentCases, ALimitOfTheCallerBindsTheChild) {
  auto model =
      recording(scripted({by("main", asks("helper", "dig")), by("helper", again(calls("look")))}));
  Rig rig(model);
  give_look(rig);
  rig.harness->agent("helper", "Helps.");
  const RunResult result = rig.run("go", {.limits = {.max_turns = 4}});
  EXPECT_EQ(result.stop, StopReason::limit_reached);
  EXPECT_EQ(limit_of(result), LimitKind::model_calls);
  EXPECT_EQ(model->requests().size(), 4u);
  EXPECT_EQ(error_type_of(result.tool_calls.at(0)), "SubAgentLimit");
}

TEST(SubagentCases, WhatTheCallerMayNotDoTheChildMayNotEither) {
  Rig rig(scripted({by("main", asks("helper", "dig")), by("helper", calls("look")),
                    by("helper", says("gold")), by("main", says("done"))}));
  int looked = 0;
  rig.harness->inline_tool("look", "Looks", [&looked] { return ++looked; });
  rig.harness->agent("helper", "Helps.");
  const RunResult result = rig.run("go", {.permissions = Permissions{.deny = {"look"}}});
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(looked, 0);
  const Event* denied = rig.seen->find(Kind::tool_denied);
  ASSERT_TRUE(denied);
  EXPECT_EQ(denied->who->agent, "helper");
}

TEST(SubagentCases, PermissionsOfAnAgentAreItsOwn) {
  AgentConfig config;
  config.permissions = Permissions{.deny = {"look"}};
  Rig rig(scripted({by("main", calls("look")), by("main", asks("helper", "dig")),
                    by("helper", calls("look")), by("helper", says("gold")),
                    by("main", says("done"))}));
  give_look(rig);
  rig.harness->agent("helper", "Helps.", config);
  const RunResult result = rig.run("go");
  EXPECT_TRUE(result.tool_calls.at(0).result.ok);
  EXPECT_EQ(told_of(*rig.seen, {Kind::tool_denied}), Trace{"helper tool.denied"});
}

// --- TA 61, 23: what goes wrong is a result ------------------------------------------------

TEST(SubagentCases, AChildThatReachesALimitIsAnErrorThatSaysSoAndItsParentFinishes) {
  const std::vector<RunLimits> cases = {
      {.max_turns = 1}, {.max_tool_calls = 0}, {.max_tokens = 200}, {.max_time = 0.5}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    auto model = recording(
        scripted({by("main", asks("helper", "dig")), by("helper", again(used(naps(1000), 150, 50))),
                  by("main", says("done"))}));
    Rig rig(model);
    give_nap(rig);
    rig.harness->agent("helper", "Helps.", {.limits = cases[i]});
    const RunResult result = rig.run("go");
    EXPECT_EQ(result.text, "done") << i;
    EXPECT_EQ(result.stop, StopReason::end_turn) << i;
    const ToolCallRecord& call = result.tool_calls.at(0);
    EXPECT_FALSE(call.result.ok) << i;
    EXPECT_EQ(error_type_of(call), "SubAgentLimit") << i;
    EXPECT_TRUE(contains(call.result.content, "a limit, not an answer")) << call.result.content;
    expect_legal(result.messages);
  }
}

// C10
TEST(SubagentCases, DepthUpToTheLimitIsAllowedAndOneMoreIsRefusedBeforeAnyModelCall) {
  auto model =
      recording(scripted({by("main", asks("helper", "one")), by("helper", asks("helper", "two")),
                          by("helper", asks("helper", "three")), by("helper", says("inner")),
                          by("helper", says("outer")), by("main", says("done"))}));
  Rig rig(model);
  rig.harness->agent("helper", "Helps.");
  const RunResult result = rig.run("go", {.limits = {.max_depth = 2}});
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(model->requests().size(), 6u) << "the third level was never asked";
  EXPECT_EQ(rig.seen->count(Kind::run_started), 3u);
  const FoldedRoot tree = folded(rig, result.id);
  ASSERT_EQ(tree.runs.size(), 3u);
  const ToolCallRecord& refused = tree.runs[2].result.tool_calls.at(0);
  EXPECT_EQ(error_type_of(refused), "SubAgentLimit");
  EXPECT_TRUE(contains(refused.result.content, "a limit, not an answer")) << refused.result.content;
  EXPECT_TRUE(contains(refused.result.content, "3 levels")) << refused.result.content;
}

TEST(SubagentCases, ARunThatIsTooDeepIsAnErrorToCode) {
  auto model = recording(scripted({by("main", calls("errand")), by("main", says("done"))}));
  Rig rig(model);
  const Agent helper = rig.harness->agent("helper", "Helps.");
  RunResult child;
  rig.harness->tool("errand", "Sends somebody",
                    [helper, &child](const Context& ctx) -> Task<std::string> {
                      auto running = helper.run(ctx, "dig");
                      child = co_await std::move(running);
                      co_return "so";
                    });
  EXPECT_EQ(rig.run("go", {.limits = {.max_depth = 0}}).text, "done");
  EXPECT_EQ(child.status, RunStatus::failed);
  EXPECT_EQ(limit_of(child), LimitKind::depth);
  EXPECT_EQ(child.counts.attempts, 0);
  EXPECT_EQ(model->requests().size(), 2u);
}

TEST(SubagentCases, AProviderThatFailsBelowIsAFailedResultAndTheParentGoesOn) {
  auto model = recording(scripted({by("main", asks("helper", "dig")),
                                   by("helper", fails(401, "no key")), by("main", says("done"))}));
  Rig rig(model);
  rig.harness->agent("helper", "Helps.");
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  const ToolCallRecord& call = result.tool_calls.at(0);
  EXPECT_FALSE(call.result.ok);
  EXPECT_EQ(error_type_of(call), "SubAgentFailed");
  EXPECT_TRUE(contains(call.result.content, "no key")) << call.result.content;
  const Event* failed = rig.seen->find(Kind::subagent_failed);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->data["stop_reason"].as_string(), "provider_error");
  EXPECT_EQ(failed->data["error"]["kind"].as_string(), "denied");
  EXPECT_EQ(failed->who->agent, "main");
  EXPECT_EQ(rig.seen->count(Kind::subagent_completed), 0u);
}

TEST(SubagentCases, CancellingTheRootReachesEveryLevelAndNothingIsAskedAfterwards) {
  auto model =
      recording(scripted({by("main", asks("first", "a")), by("first", asks("second", "b")),
                          by("second", after_ms(1000, says("late"))), again(says("never"))}));
  Rig rig(model);
  rig.harness->agent("first", "Goes first.");
  rig.harness->agent("second", "Goes second.");
  tug::Run run = start_on(rig, "go");
  rig.engine->advance(milliseconds(500));
  run.cancel("enough");
  const RunResult result = run.wait();
  EXPECT_EQ(result.status, RunStatus::cancelled);
  EXPECT_EQ(told_of(*rig.seen, {Kind::run_cancelled, Kind::subagent_failed}),
            (Trace{"second run.cancelled", "first subagent.failed", "first run.cancelled",
                   "main subagent.failed", "main run.cancelled"}));
  EXPECT_EQ(model->requests().size(), 3u);
  EXPECT_LT(result.duration_ms, 1000);
  expect_legal(result.messages);
}

TEST(SubagentCases, AChildIsCancelledWithoutItsParentAndItsSibling) {
  Rig rig(scripted(
      {by("main", calls({{"a", "idle", R"({"input":"x"})"}, {"b", "busy", R"({"input":"y"})"}})),
       by("idle", after_ms(60'000, says("late"))), by("busy", after_ms(200, says("ready"))),
       by("main", says("done"))}));
  rig.harness->agent("idle", "Takes its time.");
  rig.harness->agent("busy", "Does not.");
  tug::Run run = start_on(rig, "go");
  rig.engine->advance(milliseconds(100));
  const std::vector<RunStatusRecord> tree = run.tree();
  ASSERT_EQ(tree.size(), 3u);
  EXPECT_EQ(tree[0].id, run.id());
  const auto idle = std::ranges::find(tree, "idle", &RunStatusRecord::agent);
  ASSERT_NE(idle, tree.end());
  EXPECT_EQ(idle->parent, run.id());
  const tug::Run node = run.node(idle->id);
  ASSERT_TRUE(node);
  EXPECT_EQ(node.id(), idle->id);
  node.cancel("too slow");
  const RunResult result = run.wait();
  EXPECT_EQ(result.text, "done");
  EXPECT_LT(result.duration_ms, 1000);
  EXPECT_EQ(error_type_of(result.tool_calls.at(0)), "SubAgentCancelled");
  EXPECT_TRUE(contains(result.tool_calls[0].result.content, "too slow"))
      << result.tool_calls[0].result.content;
  EXPECT_EQ(result.tool_calls.at(1).result.content, "ready");
  EXPECT_FALSE(run.node(RunId("nobody")));
}

TEST(SubagentCases, AHandleToANodeThatIsDroppedLeavesItsRunAsItIs) {
  Rig rig(scripted({by("main", asks("helper", "dig")), by("helper", after_ms(500, says("gold"))),
                    by("main", says("done"))}));
  rig.harness->agent("helper", "Helps.");
  tug::Run run = start_on(rig, "go");
  rig.engine->advance(milliseconds(100));
  EXPECT_TRUE(run.node(run_of(*rig.seen, "helper")));
  EXPECT_EQ(run.wait().tool_calls.at(0).result.content, "gold");
}

// --- hooks ---------------------------------------------------------------------------------

TEST(SubagentCases, HooksOfAnAgentAreAroundItsRunsAlone) {
  Trace trace;
  AgentConfig config;
  config.hooks = {probe("own", &trace)};
  Rig rig(
      scripted({by("main", calls("look")), by("main", asks("helper", "dig")),
                by("helper", calls("look")), by("helper", asks("other", "more")),
                by("other", says("less")), by("helper", says("gold")), by("main", says("done"))}));
  give_look(rig);
  rig.harness->agent("helper", "Helps.", config);
  rig.harness->agent("other", "Another one.");
  EXPECT_EQ(rig.run("go").text, "done");
  EXPECT_EQ(trace, (Trace{"own run in", "own model in", "own model out", "own tool in",
                          "own tool out", "own model in", "own model out", "own tool in",
                          "own tool out", "own model in", "own model out", "own run out"}));
}

TEST(SubagentCases, AHookThatRefusesAChildIsAnsweredToTheModel) {
  auto model = recording(scripted({by("main", asks("helper", "dig")), by("main", says("done"))}));
  Rig rig(model);
  rig.harness->agent("helper", "Helps.");
  rig.harness->use(make_hooks({{.event = HookEvent::before_subagent_run,
                                .handler = HookFunction([](const HookInput& input) {
                                  EXPECT_EQ(input.prompt, "dig");
                                  return Result<HookReply>(deny("not on Sundays"));
                                }),
                                .agents = std::vector<std::string>{"helper"}}})
                       .value());
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(error_type_of(result.tool_calls.at(0)), "SubAgentCancelled");
  EXPECT_TRUE(contains(result.tool_calls[0].result.content, "not on Sundays"))
      << result.tool_calls[0].result.content;
  EXPECT_EQ(model->requests().size(), 2u);
  EXPECT_EQ(rig.seen->count(Kind::subagent_failed), 1u);
}

// --- the issue: many at once ---------------------------------------------------------------

TEST(SubagentCases, SixtyFourAgentsOfOneBatchAreAllInFlightAtOnce) {
  std::vector<ScriptCall> batch;
  for (int i = 0; i < 64; ++i) {
    batch.push_back({"c" + std::to_string(i), "helper", R"({"input":"dig"})"});
  }
  Rig rig(scripted({by("main", calls(batch)), by("helper", again(after_ms(100, says("gold")))),
                    by("main", says("done"))}));
  rig.harness->agent("helper", "Helps.");
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.tool_calls.size(), 64u);
  EXPECT_EQ(result.duration_ms, 100) << "calls of agents take no place among the calls of a batch";
}

}  // namespace
}  // namespace tug
