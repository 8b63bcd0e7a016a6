// Agents as tools and as functions: the cases of the references. TA: TinyAgents, TH: ThinHarness,
// C: the table of the seeds.
#include "agent/tree_testing.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using testkit::calls;
using testkit::recording;
using testkit::says;
using testkit::scripted;

// One call of `helper`, and what it says.
std::vector<ScriptTurn> one_errand() {
  return {by("main", asks("helper", "dig")), by("helper", says("gold")), by("main", says("done"))};
}

// --- TA 60, 61, C2: the tool ---------------------------------------------------------------

TEST(SubagentCases, AnAgentIsAToolWithOneStringInput) {
  auto model = recording(scripted(one_errand()));
  Rig rig(model);
  rig.harness->agent("helper", "Helps.");
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  const auto& offered = *model->requests()[0].tools;
  ASSERT_EQ(offered.size(), 1u);
  EXPECT_EQ(offered[0]->name, "helper");
  EXPECT_EQ(offered[0]->description, "Helps.");
  EXPECT_EQ(offered[0]->parameters["properties"]["input"]["type"].as_string(), "string");
  EXPECT_EQ(offered[0]->parameters["required"], Json::array({"input"}));
  EXPECT_EQ(offered[0]->effect, Effect::pure);
  EXPECT_EQ(texts_of(model->requests()[1].transcript), Trace{"dig"});
  const ToolResult& told = result.tool_calls.at(0).result;
  EXPECT_TRUE(told.ok);
  EXPECT_EQ(told.content, "gold");
  EXPECT_EQ(told.metadata["agent"].as_string(), "helper");
  EXPECT_EQ(told.metadata["child_run_id"].as_string(), run_of(*rig.seen, "helper").text());
  EXPECT_EQ(told.metadata["model_calls"].as_int(), 1);
  EXPECT_EQ(told.metadata["tool_calls"].as_int(), 0);
  EXPECT_FALSE(told.metadata["structured"].as_bool());
}

TEST(SubagentCases, ABareJsonStringIsTheInput) {
  auto model = recording(scripted({by("main", calls("helper", R"("dig")")),
                                   by("helper", says("gold")), by("main", says("done"))}));
  Rig rig(model);
  rig.harness->agent("helper", "Helps.");
  EXPECT_EQ(rig.run("go").tool_calls.at(0).result.content, "gold");
  EXPECT_EQ(texts_of(model->requests()[1].transcript), Trace{"dig"});
}

TEST(SubagentCases, ArgumentsThatAreNoInputStartNoRun) {
  for (const char* arguments : {R"({"task":"dig"})", R"({"input":7})", "{}", "[1]"}) {
    Rig rig(scripted({by("main", calls("helper", arguments)), by("main", says("done"))}));
    rig.harness->agent("helper", "Helps.");
    const RunResult result = rig.run("go");
    EXPECT_EQ(result.text, "done") << arguments;
    EXPECT_FALSE(result.tool_calls.at(0).result.ok) << arguments;
    EXPECT_EQ(rig.seen->count(Kind::tool_invalid_args), 1u) << arguments;
    EXPECT_EQ(rig.seen->count(Kind::subagent_started), 0u) << arguments;
  }
}

struct Place {
  std::string city;
  int days = 1;
};

TEST(SubagentCases, AnInputStructGivesTheToolItsFields) {
  auto model = recording(
      scripted({by("main", calls("finder", R"({"city":"Oslo","days":2})")),
                by("finder", says("sun")), by("main", calls("guide", R"({"city":"Rome"})")),
                by("guide", says("left")), by("main", says("done"))}));
  Rig rig(model);
  rig.harness->agent<Place>("finder", "Finds.");
  AgentConfig guide;
  guide.prompt = [](const Json& args) {
    return "the way to " + std::string(args["city"].as_string());
  };
  rig.harness->agent<Place>("guide", "Guides.", guide);
  EXPECT_EQ(rig.run("go").text, "done");
  EXPECT_EQ((*model->requests()[0].tools)[0]->parameters, schema_of<Place>());
  const auto prompt = parse_json(model->requests()[1].transcript[0]->text());
  ASSERT_TRUE(prompt);
  EXPECT_EQ(*prompt, Json::object({{"city", "Oslo"}, {"days", 2}}));
  EXPECT_EQ(model->requests()[3].transcript[0]->text(), "the way to Rome");
}

TEST(SubagentCases, TwoCallsAreTwoRuns) {
  Rig rig(scripted({by("main", calls({{"a", "helper", R"({"input":"one"})"},
                                      {"b", "helper", R"({"input":"two"})"}})),
                    by("helper", says("x")), by("helper", says("x")), by("main", says("done"))}));
  rig.harness->agent("helper", "Helps.");
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  const FoldedRoot tree = folded(rig, result.id);
  ASSERT_EQ(tree.runs.size(), 3u);
  EXPECT_NE(tree.runs[1].who->run_id, tree.runs[2].who->run_id);
  EXPECT_EQ(tree.runs[0].children, (std::vector<std::size_t>{1, 2}));
  expect_gap_free(*rig.seen);
}

TEST(SubagentCases, StartedAndCompletedAreRecordsOfTheParentAroundTheChild) {
  Rig rig(scripted(one_errand()));
  rig.harness->agent("helper", "Helps.");
  const RunResult result = rig.run("go");
  EXPECT_EQ(told_of(*rig.seen, {Kind::subagent_started, Kind::subagent_completed, Kind::run_started,
                                Kind::run_completed, Kind::tool_started, Kind::tool_completed}),
            (Trace{"main run.started", "main tool.started", "main subagent.started",
                   "helper run.started", "helper run.completed", "main subagent.completed",
                   "main tool.completed", "main run.completed"}));
  for (const Kind kind : {Kind::subagent_started, Kind::subagent_completed}) {
    const Event* event = rig.seen->find(kind);
    EXPECT_EQ(event->data["name"].as_string(), "helper");
    EXPECT_EQ(event->data["child_run_id"].as_string(), run_of(*rig.seen, "helper").text());
    EXPECT_EQ(event->data["call_id"].as_string(), result.tool_calls[0].id.text());
  }
}

// --- C1: the function ----------------------------------------------------------------------

TEST(SubagentCases, AToolCallsAnAgentAsAFunctionAndTheRunIsAChildLikeAnyOther) {
  auto model =
      recording(scripted({by("main", calls("errand")), by("helper", used(says("gold"), 7, 3)),
                          by("main", used(says("done"), 20, 10))}));
  Rig rig(model);
  const Agent helper = rig.harness->agent("helper", "Helps.");
  RunResult child;
  rig.harness->tool("errand", "Sends somebody",
                    [helper, &child](const Context& ctx) -> Task<std::string> {
                      auto running = helper.run(ctx, "dig");
                      child = co_await std::move(running);
                      co_return child.text + " found";
                    });
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.tool_calls.at(0).result.content, "gold found");
  const FoldedRoot tree = folded(rig, result.id);
  ASSERT_EQ(tree.runs.size(), 2u);
  EXPECT_EQ(*tree.runs[1].who, (Lineage{.run_id = child.id,
                                        .thread_id = result.thread,
                                        .root_run_id = result.id,
                                        .parent_run_id = result.id,
                                        .parent_call_id = result.tool_calls[0].id,
                                        .depth = 1,
                                        .agent = "helper"}));
  EXPECT_EQ(child.usage.total(), 10);
  EXPECT_EQ(result.usage.total(), 40);
  EXPECT_EQ(result.own.usage.total(), 30);
  EXPECT_EQ(rig.seen->count(Kind::subagent_started), 1u);
  EXPECT_EQ(rig.seen->count(Kind::subagent_completed), 1u);
}

TEST(SubagentCases, WithoutAContextAnAgentIsARootOfItsOwn) {
  auto model = recording(scripted({by("helper", says("gold"))}));
  Rig rig(model, 1, {.system_prompt = "of the harness"});
  const Agent helper = rig.harness->agent("helper", "Helps.", {.system_prompt = "Dig."});
  RunOptions options;
  options.observers = {rig.seen};
  const RunResult result = on_loop(rig, helper.run("dig", options));
  EXPECT_EQ(result.text, "gold");
  EXPECT_EQ(result.root, result.id);
  EXPECT_EQ(*model->requests().at(0).system, "Dig.");
  const FoldedRoot tree = folded(rig, result.id);
  ASSERT_EQ(tree.runs.size(), 1u);
  EXPECT_EQ(tree.runs[0].who->agent, "helper");
  EXPECT_EQ(tree.runs[0].who->depth, 0u);
  expect_journal_says(*rig.store, result);
}

struct Find {
  std::string what;
  int depth = 0;
};

TEST(SubagentCases, AskGivesATypedAnswer) {
  Rig rig(scripted({by("main", calls("errand")),
                    by("helper", calls("final_result", R"({"what":"gold","depth":3})")),
                    by("main", says("done"))}));
  const Agent helper = rig.harness->agent("helper", "Helps.");
  rig.harness->tool("errand", "Sends somebody", [helper](const Context& ctx) -> Task<std::string> {
    auto asking = helper.ask<Find>(ctx, "dig");
    const Result<Find> found = co_await std::move(asking);
    co_return found ? found->what + " at " + std::to_string(found->depth)
                    : to_string(found.error());
  });
  EXPECT_EQ(rig.run("go").tool_calls.at(0).result.content, "gold at 3");
}

TEST(SubagentCases, AskOfAChildThatFailsIsItsError) {
  Rig rig(scripted(
      {by("main", calls("errand")), by("helper", testkit::fails(401)), by("main", says("done"))}));
  const Agent helper = rig.harness->agent("helper", "Helps.");
  std::optional<ErrorKind> kind;
  rig.harness->tool("errand", "Sends somebody",
                    [helper, &kind](const Context& ctx) -> Task<std::string> {
                      auto asking = helper.ask<Find>(ctx, "dig");
                      const Result<Find> found = co_await std::move(asking);
                      if (!found) kind = found.error().kind();
                      co_return "so";
                    });
  EXPECT_EQ(rig.run("go").text, "done");
  EXPECT_EQ(kind, ErrorKind::denied);
}

TEST(SubagentCases, AHandleIsOfNoUseOnceItsHarnessIsGone) {
  Rig rig(scripted({says("gold")}));
  const Agent helper = rig.harness->agent("helper", "Helps.");
  EXPECT_EQ(helper.name(), "helper");
  EXPECT_EQ(helper.description(), "Helps.");
  EXPECT_EQ(helper.tool()->name(), "helper");
  rig.harness.reset();
  const RunResult result = on_loop(rig, helper.run("dig"));
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_TRUE(result.error);
}

TEST(SubagentCases, TheToolOfAnAgentWhoseHarnessIsGoneAnswersWithAnError) {
  Rig rig(scripted(one_errand()));
  {
    Rig other(scripted({says("never")}));
    rig.harness->tool(other.harness->agent("helper", "Helps.").tool());
  }
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_FALSE(result.tool_calls.at(0).result.ok);
}

// --- lineage -------------------------------------------------------------------------------

TEST(SubagentCases, EveryLevelKnowsItsRootItsParentAndTheCallThatStartedIt) {
  Rig rig(scripted({by("main", asks("first", "a")), by("first", asks("second", "b")),
                    by("second", says("c")), by("first", says("d")), by("main", says("e"))}));
  rig.harness->agent("first", "Goes first.");
  rig.harness->agent("second", "Goes second.");
  const RunResult result = rig.run("go", {.thread_id = "talk"});
  ASSERT_EQ(result.text, "e");
  const FoldedRoot tree = folded(rig, result.id);
  ASSERT_EQ(tree.runs.size(), 3u);
  const RunId first = run_of(*rig.seen, "first");
  EXPECT_EQ(*tree.runs[1].who, (Lineage{.run_id = first,
                                        .thread_id = ThreadId("talk"),
                                        .root_run_id = result.id,
                                        .parent_run_id = result.id,
                                        .parent_call_id = result.tool_calls[0].id,
                                        .depth = 1,
                                        .agent = "first"}));
  EXPECT_EQ(*tree.runs[2].who, (Lineage{.run_id = run_of(*rig.seen, "second"),
                                        .thread_id = ThreadId("talk"),
                                        .root_run_id = result.id,
                                        .parent_run_id = first,
                                        .parent_call_id = tree.runs[1].result.tool_calls.at(0).id,
                                        .depth = 2,
                                        .agent = "second"}));
  EXPECT_EQ(tree.runs[1].children, std::vector<std::size_t>{2});
  expect_gap_free(*rig.seen);
  for (const FoldedRun& run : tree.runs) expect_legal(run.result.messages);
}

// TA 23
TEST(SubagentCases, WhatAChildSaysComesOnItsParentsStreamWithItsOwnName) {
  ScriptTurn piecemeal = by("helper", says("a b c d"));
  piecemeal.chunks = 4;
  Rig rig(scripted({by("main", asks("helper", "dig")), piecemeal, by("main", says("done"))}));
  rig.harness->agent("helper", "Helps.");
  tug::Run run = rig.harness->start("go");
  std::string heard;
  for (const Event& event : run.events()) {
    if (event.who->agent != "helper") continue;
    EXPECT_EQ(event.who->depth, 1u);
    if (event.kind == Kind::model_delta) heard += event.data["text"].as_string();
  }
  EXPECT_EQ(heard, "a b c d");
}

// --- C3: what a child gets -----------------------------------------------------------------

// The tools that a child of this kind is offered.
Trace tools_given(AgentConfig config) {
  auto model = recording(scripted(one_errand()));
  Rig rig(model);
  give_look(rig);
  rig.harness->inline_tool("peek", "Peeks", [] { return "seen"; });
  ToolSpec remote = tool_spec("remote", "Elsewhere", {}, {});
  remote.origin.uri = "mcp://server/remote";
  rig.harness->add(make_tool(remote, [](const Json&, Invocation&) -> Result<ToolResult> {
    return ToolResult::text("far");
  }));
  rig.harness->agent("other", "Another one.");
  rig.harness->agent("helper", "Helps.", std::move(config));
  EXPECT_EQ(rig.run("go").text, "done");
  return tools_of(model->requests().at(1));
}

TEST(SubagentCases, ToolsAreInheritedOrExactlyThoseListedAndThoseOfAnMcpServerNeverInherited) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(tools_given({}), (Trace{"helper", "look", "other", "peek"}));
  EXPECT_EQ(tools_given({.subagents = Names{}}), (Trace{"look", "peek"}));
  EXPECT_EQ(tools_given({.subagents = Names{"other"}}), (Trace{"look", "other", "peek"}));
  EXPECT_EQ(tools_given({.tools = Names{"peek"}, .subagents = Names{}}), Trace{"peek"});
  EXPECT_EQ(tools_given({.tools = Names{}, .subagents = Names{}}), Trace{});
  EXPECT_EQ(tools_given({.tools = Names{"remote"}, .subagents = Names{}}), Trace{"remote"});
}

TEST(SubagentCases, AnAgentThatNamesWhatIsNotThereIsAnErrorOfEveryRun) {
  using Names = std::vector<std::string>;
  const std::vector<std::pair<AgentConfig, std::string>> cases = {
      {{.tools = Names{"nowhere"}}, "nowhere"}, {{.subagents = Names{"nobody"}}, "nobody"}};
  for (const auto& [config, name] : cases) {
    Rig rig(scripted({says("never")}));
    rig.harness->agent("helper", "Helps.", config);
    const RunResult result = rig.harness->run("go");
    ASSERT_TRUE(result.error);
    EXPECT_EQ(result.error->kind(), ErrorKind::invalid);
    EXPECT_TRUE(contains(result.error->message(), name)) << result.error->message();
    EXPECT_TRUE(contains(result.error->message(), "helper")) << result.error->message();
  }
  Rig twice(scripted({says("never")}));
  give_look(twice);
  twice.harness->agent("look", "Has the name of a tool.");
  EXPECT_EQ(twice.harness->run("go").status, RunStatus::failed);
}

TEST(SubagentCases, ModelAndInstructionsAreTheCallersUnlessTheAgentHasItsOwn) {
  auto model = recording(scripted({by("main", asks("helper", "dig")), by("helper", says("gold")),
                                   by("main", asks("expert", "dig")), by("main", says("done"))}));
  auto other = recording(testkit::constant("platinum"));
  Rig rig(model, 1, {.system_prompt = "Be brief."});
  rig.models->add(other);
  rig.harness->agent("helper", "Helps.");
  rig.harness->agent("expert", "Knows.",
                     {.system_prompt = "Be exact.", .model = other->profile().id()});
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.tool_calls.at(1).result.content, "platinum");
  EXPECT_EQ(*model->requests().at(1).system, "Be brief.");
  EXPECT_EQ(*other->requests().at(0).system, "Be exact.");
}

TEST(SubagentCases, AStructuredAnswerIsTheResultAsJson) {
  AgentConfig config;
  config.output_schema = schema_of<Find>();
  Rig rig(scripted({by("main", asks("helper", "dig")),
                    by("helper", calls("final_result", R"({"what":"gold","depth":3})")),
                    by("main", says("done"))}));
  rig.harness->agent("helper", "Helps.", config);
  const ToolResult told = rig.run("go").tool_calls.at(0).result;
  EXPECT_TRUE(told.ok);
  EXPECT_EQ(parse_json(told.content).value(), Json::object({{"what", "gold"}, {"depth", 3}}));
  EXPECT_TRUE(told.metadata["structured"].as_bool());
}

// --- TH 92, C2: the tool `subagent` ----------------------------------------------------------

TEST(SubagentCases, WithoutANameTheToolSubagentRunsOneWithTheToolsAndTheModelOfItsCaller) {
  auto model = recording(
      scripted({by("main", calls("look")), by("main", calls("subagent", R"({"task":"dig"})")),
                by("default", says("gold")), by("main", says("done"))}));
  Rig rig(model);
  give_look(rig);
  rig.harness->subagents();
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.tool_calls.at(1).result.content, "gold");
  EXPECT_EQ(result.tool_calls.at(1).result.metadata["agent"].as_string(), "default");
  EXPECT_EQ(texts_of(model->requests().at(2).transcript), Trace{"dig"}) << "nothing but its task";
  EXPECT_EQ(std::ranges::count(tools_of(model->requests().at(2)), "look"), 1);
  EXPECT_EQ(rig.seen->find(Kind::subagent_started)->data["name"].as_string(), "default");
}

TEST(SubagentCases, TheToolSubagentRunsAnyAgentByItsName) {
  Rig rig(scripted({by("main", calls("subagent", R"({"task":"dig","agent":"helper"})")),
                    by("helper", says("gold")), by("main", says("done"))}));
  rig.harness->agent("helper", "Helps.");
  rig.harness->subagents();
  EXPECT_EQ(rig.run("go").tool_calls.at(0).result.content, "gold");
}

TEST(SubagentCases, AnUnknownNameIsAnsweredWithTheList) {
  Rig rig(scripted({by("main", calls("subagent", R"({"task":"dig","agent":"nobody"})")),
                    by("main", says("done"))}));
  rig.harness->agent("helper", "Helps.");
  rig.harness->agent("expert", "Knows.");
  rig.harness->subagents();
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  const ToolCallRecord& call = result.tool_calls.at(0);
  EXPECT_EQ(error_type_of(call), "UnknownSubAgent");
  for (const char* name : {"nobody", "helper", "expert"}) {
    EXPECT_TRUE(contains(call.result.content, name)) << call.result.content;
  }
  EXPECT_EQ(rig.seen->count(Kind::subagent_started), 0u);
}

}  // namespace
}  // namespace tug
