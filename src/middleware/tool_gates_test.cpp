// What is hidden from a model, and refused when it is called all the same.
#include "middleware/testing.h"
#include "tug/core/utf8.h"
#include "tug/middleware/dynamic_prompt.h"
#include "tug/middleware/tool_allowlist.h"
#include "tug/middleware/tool_policy.h"
#include "tug/middleware/tool_selection.h"

namespace tug {
namespace {

class ToolGates : public BuiltIn {
 protected:
  void expect_refused(const Result<ToolResult>& result, const std::string& why) {
    ASSERT_TRUE(result);
    EXPECT_EQ(shown(*result), "error The call was not made: " + why +
                                  R"(. Do without it. {"error_type":"ToolCallCancelled"})");
    EXPECT_EQ(outcomes.ran, 0u);
  }
};

TEST_F(ToolGates, AnAllowlistHidesAndRefusesTheRest) {
  links = {make_tool_allowlist({"read", "list"})};
  ASSERT_TRUE(ask(shows({tool("list"), tool("read"), tool("write")})));
  EXPECT_EQ(names(model.asked[0]), "list read ");
  expect_refused(use(tool("write")), "\"write\" is not among the tools of this run");
  EXPECT_EQ(use(tool("read"))->content, "done");
  EXPECT_EQ(outcomes.ran, 1u);
}

TEST_F(ToolGates, ARequestThatLosesNothingKeepsItsList) {
  links = {make_tool_allowlist({"read"}), make_tool_policy(ToolPolicy::permissive())};
  const ModelRequest request = shows({tool("read")});
  ASSERT_TRUE(ask(request));
  EXPECT_EQ(model.asked[0].tools, request.tools);
  ASSERT_TRUE(ask({}));
  EXPECT_EQ(model.asked[1].tools, nullptr);
}

TEST_F(ToolGates, TheToolThatTakesTheAnswerIsNeverHidden) {
  ModelRequest request = shows({tool("read")});
  auto specs = std::make_shared<ToolSpecs>(*request.tools);
  auto answer = std::make_shared<ToolSpec>();
  answer->name = "final_result";
  specs->push_back(answer);
  request.tools = specs;
  links = {make_tool_allowlist({}), make_tool_policy()};
  ASSERT_TRUE(ask(request));
  EXPECT_EQ(names(model.asked[0]), "final_result ");
}

TEST_F(ToolGates, AStrictPolicyDeniesByTagAndWhatIsUnclassified) {
  const ToolPtr reads = tool("reads", {.effect = Effect::pure});
  const ToolPtr pays = tool("pays", {.effect = Effect::idempotent, .tags = {"x", "payment"}});
  const ToolPtr unsaid = tool("unsaid");
  const ToolPtr said = tool("said", {.metadata = Json::object({{"classified", true}})});
  const ToolPtr wipes = tool("wipes", {.effect = Effect::pure, .tags = {"destructive"}});
  links = {make_tool_policy()};
  ASSERT_TRUE(ask(shows({pays, reads, said, unsaid, wipes})));
  EXPECT_EQ(names(model.asked[0]), "reads said ");
  expect_refused(use(pays), "\"pays\" is tagged \"payment\", which the policy denies");
  expect_refused(use(unsaid),
                 "\"unsaid\" does not say what it does, which the policy asks of tools");
  links = {make_tool_policy(ToolPolicy::permissive())};
  EXPECT_TRUE(use(wipes)->ok);
  links = {make_tool_policy({.denied_effects = {Effect::pure}, .allowed = {"reads"}})};
  EXPECT_TRUE(use(reads)->ok);
  outcomes.ran = 0;
  expect_refused(use(wipes), "\"wipes\" has the effect pure, which the policy denies");
}

TEST_F(ToolGates, APolicyCutsResultsBetweenCharacters) {
  ToolPolicy policy = ToolPolicy::permissive();
  policy.max_result_bytes = 4;
  links = {make_tool_policy(policy)};
  outcomes.results = {ToolResult::text("abc\xc3\xa9z")};
  EXPECT_EQ(shown(*use(tool("t"))), R"(ok abc {"truncated":true,"bytes":6})");
  outcomes.results = {ToolResult::text("abcd")};
  EXPECT_EQ(shown(*use(tool("t"))), "ok abcd");
}

TEST_F(ToolGates, ASelectionNarrowsRequestByRequestAndRefusesWhatWasHidden) {
  const ToolPtr a = tool("a");
  const ToolPtr b = tool("b");
  const ModelRequest request = shows({a, b});
  std::string hidden = "b";
  links = {make_tool_selection([&](const Context& run, const ToolSpec& spec) {
    EXPECT_EQ(run.kind(), NodeKind::run);
    return spec.name != hidden;
  })};
  const auto first = go({request, calls(a), calls(b)});
  EXPECT_EQ(names(model.asked[0]), "a ");
  EXPECT_TRUE(std::get<1>(first[1])->ok);
  EXPECT_EQ(std::get<1>(first[2])->metadata["error_type"], Json("ToolCallCancelled"));
  EXPECT_EQ(events(Kind::state_set).size(), 1u);
  hidden.clear();
  EXPECT_TRUE(std::get<1>(go({request, calls(b)})[1])->ok);
  EXPECT_EQ(events(Kind::state_set).size(), 0u) << "nothing was hidden, nothing is remembered";
}

TEST_F(ToolGates, WhatASelectionHidIsRefusedAfterAResumeToo) {
  links = {make_tool_selection([](const Context&, const ToolSpec&) { return true; })};
  prepare = [](Context& run) {
    run.set_resumed(Json::object({{"tool_selection.hidden", Json::array({"b"})}}));
  };
  expect_refused(use(tool("b")), "\"b\" is not available at this point of the run");
}

TEST_F(ToolGates, OfSeveralSelectionsEveryOneMustSayYes) {
  const auto not_named = [](std::string name) {
    return make_tool_selection(
        [name](const Context&, const ToolSpec& spec) { return spec.name != name; }, "not " + name);
  };
  links = {not_named("a"), not_named("b")};
  const auto found = go({shows({tool("a"), tool("b"), tool("c")}), calls(tool("a")),
                         calls(tool("b")), calls(tool("c"))});
  EXPECT_EQ(names(model.asked[0]), "c ");
  EXPECT_FALSE(std::get<1>(found[1])->ok);
  EXPECT_FALSE(std::get<1>(found[2])->ok);
  EXPECT_TRUE(std::get<1>(found[3])->ok);
}

TEST_F(ToolGates, ADynamicPromptStandsBeforeTheSystemText) {
  std::string text = "Today is Monday.";
  links = {make_dynamic_prompt([&](const Context& run) {
    EXPECT_EQ(run.id().agent, "main");
    return text;
  })};
  ModelRequest request;
  request.system = std::make_shared<const std::string>("Be brief.");
  ASSERT_TRUE(ask(request));
  EXPECT_EQ(*model.asked[0].system, "Today is Monday.\n\nBe brief.");
  ASSERT_TRUE(ask({}));
  EXPECT_EQ(*model.asked[1].system, "Today is Monday.");
  text.clear();
  ASSERT_TRUE(ask(request));
  EXPECT_EQ(model.asked[2].system, request.system);
}

}  // namespace
}  // namespace tug
