// What the configuration of an agent means for its runs: C3 of the seeds, TH 92.
#include "agent/tree_testing.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using testkit::calls;
using testkit::fails;
using testkit::recording;
using testkit::says;
using testkit::scripted;
using Names = std::vector<std::string>;

TEST(AgentConfigCases, RetriesAreTheAgentsOwn) {
  auto model = recording(scripted({by("main", asks("helper", "dig")),
                                   by("helper", again(fails(503))), by("main", says("done"))}));
  Rig rig(model);
  rig.harness->agent("helper", "Helps.", {.limits = {.retries = 0}});
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(error_type_of(result.tool_calls.at(0)), "SubAgentFailed");
  EXPECT_EQ(model->requests().size(), 3u) << "the child asked once";
}

TEST(AgentConfigCases, FallbackModelsAreTheAgentsOwn) {
  const ModelPtr spare = testkit::constant("spare gold");
  Rig rig(scripted({by("main", asks("helper", "dig")), by("helper", again(fails(503))),
                    by("main", says("done"))}));
  rig.models->add(spare);
  AgentConfig config;
  config.fallback_models = Names{spare->profile().id()};
  config.limits.retries = 0;
  rig.harness->agent("helper", "Helps.", config);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.tool_calls.at(0).result.content, "spare gold");
  EXPECT_EQ(told_of(*rig.seen, {Kind::model_fallback_selected}),
            Trace{"helper model.fallback_selected"});
}

TEST(AgentConfigCases, LimitsOfAnAgentBindWhatIsBelowItsRuns) {
  auto model = recording(scripted({by("main", asks("first", "a")), by("first", asks("second", "b")),
                                   by("second", again(calls("look"))), by("main", says("done"))}));
  Rig rig(model);
  give_look(rig);
  rig.harness->agent("first", "Goes first.", {.limits = {.max_turns = 4}});
  rig.harness->agent("second", "Goes second.");
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(error_type_of(result.tool_calls.at(0)), "SubAgentLimit");
  EXPECT_EQ(model->requests().size(), 6u) << "main twice, first once, second three times";
}

TEST(AgentConfigCases, LimitsOfAnAgentAreForEachOfItsRuns) {
  Rig rig(scripted({by("main", asks("helper", "a")), by("helper", says("x")),
                    by("main", asks("helper", "b")), by("helper", says("y")),
                    by("main", says("done"))}));
  rig.harness->agent("helper", "Helps.", {.limits = {.max_turns = 1}});
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.tool_calls.at(0).result.content, "x");
  EXPECT_EQ(result.tool_calls.at(1).result.content, "y");
}

TEST(AgentConfigCases, AnAgentThatMayCallNoneHasNoToolForIt) {
  auto model = recording(scripted(
      {by("main", asks("helper", "dig")), by("helper", says("gold")), by("main", says("done"))}));
  Rig rig(model);
  give_look(rig);
  rig.harness->subagents({.background = true});
  rig.harness->agent("helper", "Helps.", {.subagents = Names{}});
  EXPECT_EQ(rig.run("go").text, "done");
  EXPECT_EQ(tools_of(model->requests().at(1)), Trace{"look"});
}

TEST(AgentConfigCases, AnAgentMayNameOneThatComesLater) {
  Rig rig(scripted({by("main", asks("first", "a")), by("first", asks("second", "b")),
                    by("second", says("c")), by("first", says("d")), by("main", says("done"))}));
  rig.harness->agent("first", "Goes first.", {.subagents = Names{"second"}});
  rig.harness->agent("second", "Goes second.", {.subagents = Names{"first"}});
  EXPECT_EQ(rig.run("go").text, "done");
}

TEST(AgentConfigCases, ARemovedAgentIsNoToolAnyMore) {
  auto model = recording(scripted({says("done")}));
  Rig rig(model);
  give_look(rig);
  rig.harness->agent("helper", "Helps.", {.tools = Names{"nowhere"}});
  EXPECT_TRUE(rig.harness->remove("helper"));
  EXPECT_EQ(rig.run("go").text, "done") << "and what it named is not missed";
  EXPECT_EQ(tools_of(model->requests().at(0)), Trace{"look"});
}

TEST(AgentConfigCases, AnEmptyInputIsAFailedResultAndNoRun) {
  auto model = recording(scripted({by("main", asks("helper", "  ")), by("main", says("done"))}));
  Rig rig(model);
  rig.harness->agent("helper", "Helps.");
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_FALSE(result.tool_calls.at(0).result.ok);
  EXPECT_EQ(rig.seen->count(Kind::subagent_started), 0u);
}

TEST(AgentConfigCases, APromptFunctionThatThrowsIsAFailedResultAndNoRun) {
  AgentConfig config;
  config.prompt = [](const Json&) -> std::string { throw std::runtime_error("no words"); };
  Rig rig(scripted({by("main", asks("helper", "dig")), by("main", says("done"))}));
  rig.harness->agent("helper", "Helps.", config);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_FALSE(result.tool_calls.at(0).result.ok);
  EXPECT_TRUE(contains(result.tool_calls[0].result.content, "no words"))
      << result.tool_calls[0].result.content;
}

// --- handles to nodes ------------------------------------------------------------------------

TEST(AgentConfigCases, AHandleToANodeHasItsResult) {
  Rig rig(scripted({by("main", asks("helper", "dig")), by("helper", after_ms(300, says("gold"))),
                    by("main", says("done"))}));
  rig.harness->agent("helper", "Helps.");
  tug::Run run = start_on(rig, "go");
  rig.engine->advance(milliseconds(100));
  const tug::Run node = run.node(run_of(*rig.seen, "helper"));
  ASSERT_TRUE(node);
  EXPECT_FALSE(node.ended());
  EXPECT_EQ(node.status().agent, "helper");
  EXPECT_EQ(node.status().parent, run.id());
  EXPECT_EQ(node.tree().size(), 1u);
  EXPECT_EQ(node.wait().text, "gold");
  EXPECT_FALSE(run.ended());
  EXPECT_EQ(run.wait().text, "done");
  EXPECT_TRUE(node.ended());
  EXPECT_FALSE(run.node(node.id())) << "it is not under way any more";
}

}  // namespace
}  // namespace tug
