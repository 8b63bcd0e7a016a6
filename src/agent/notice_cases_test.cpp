// What a model is told when little is left: the cases of the references. TH: ThinHarness.
#include <set>

#include "agent/cases_testing.h"
#include "tug/middleware/control.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::fails;
using testkit::says;
using testkit::scripted;

// TH 4, 25
TEST(NoticeCases, TheLastModelCallIsToldToAnswerWithoutTools) {
  auto model = testkit::recording(scripted({says("done")}));
  Rig rig(model);
  const RunResult result = rig.run("go", {.limits = {.max_turns = 1}});
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(warnings_in(*rig.seen), (std::vector<std::string>{"model_calls:1"}));
  const auto told = notices_in(model->requests()[0].transcript);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].starts_with("<harness_notice kind=\"limit_warning\">\n")) << told[0];
  EXPECT_TRUE(told[0].ends_with("\n</harness_notice>")) << told[0];
  EXPECT_TRUE(contains(told[0], "call no tools")) << told[0];
  EXPECT_FALSE(contains(told[0], "final_result"));
  EXPECT_EQ(rig.seen->count(Kind::limit_reached), 0u)
      << "a warning is not a limit that was reached";
}

// TH 25
TEST(NoticeCases, TheLastModelCallIsToldToCallFinalResultWhereThatIsTheWayToAnswer) {
  auto model = testkit::recording(scripted({calls("final_result", R"({"n":1})")}));
  Rig rig(model);
  const Json schema = *parse_json(R"({"type":"object","properties":{"n":{"type":"integer"}}})");
  const RunResult result = rig.run("go", {.limits = {.max_turns = 1}, .output_schema = schema});
  EXPECT_EQ(result.output, Json::object({{"n", 1}}));
  const auto told = notices_in(model->requests()[0].transcript);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(contains(told[0], "final_result")) << told[0];
}

// TH 5, 27
TEST(NoticeCases, ModelCallsComeFirstAndEachThresholdIsToldOnce) {
  auto model = testkit::recording(scripted({calls("look"), says("done")}));
  Rig rig(model);
  give_look(rig);
  const RunResult result = rig.run("go", {.limits = {.max_turns = 2, .max_tool_calls = 1}});
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(warnings_in(*rig.seen),
            (std::vector<std::string>{"tool_calls:1", "model_calls:1", "tool_calls:0"}));
  EXPECT_EQ(notices_in(model->requests()[0].transcript).size(), 1u);
  const auto told = notices_in(model->requests()[1].transcript);
  ASSERT_EQ(told.size(), 3u);
  EXPECT_TRUE(contains(told[1], "last model call")) << told[1];
  EXPECT_TRUE(contains(told[2], "used up")) << told[2];
}

// TH 28
TEST(NoticeCases, ANoticeStandsAfterTheResultsAndStaysInTheTranscript) {
  Rig rig(scripted({calls("look"), calls("look"), says("done")}));
  give_look(rig);
  const RunResult result = rig.run("go", {.limits = {.max_tool_calls = 2}});
  ASSERT_EQ(result.messages.size(), 8u);
  EXPECT_EQ(result.messages[2]->tool_results().size(), 1u);
  EXPECT_TRUE(contains(result.messages[3]->text(), "One tool call is left"));
  EXPECT_TRUE(contains(result.messages[6]->text(), "used up"));
  expect_legal(result.messages);
}

// TH 6, 26: what a model is told when no tool call is left.
std::string told_without_calls(bool final_result, bool from_the_start) {
  const ScriptTurn end = final_result ? calls("final_result", "{}") : says("done");
  auto model = testkit::recording(
      scripted(from_the_start ? std::vector{end} : std::vector{calls("look"), end}));
  Rig rig(model);
  give_look(rig);
  RunOptions options{.limits = {.max_tool_calls = from_the_start ? 0 : 1}};
  if (final_result) options.output_schema = Json::object({{"type", "object"}});
  EXPECT_EQ(rig.run("go", options).stop, StopReason::end_turn);
  return notices_in(model->requests().back().transcript).back();
}

TEST(NoticeCases, NoCallLeftIsSaidInFourWays) {
  const std::string text_start = told_without_calls(false, true);
  const std::string text_later = told_without_calls(false, false);
  const std::string tool_start = told_without_calls(true, true);
  const std::string tool_later = told_without_calls(true, false);
  EXPECT_EQ((std::set<std::string>{text_start, text_later, tool_start, tool_later}).size(), 4u);
  for (const std::string& start : {text_start, tool_start}) {
    EXPECT_TRUE(contains(start, "not available in this run")) << start;
  }
  for (const std::string& later : {text_later, tool_later}) {
    EXPECT_TRUE(contains(later, "used up")) << later;
  }
  for (const std::string& text : {text_start, text_later}) {
    EXPECT_FALSE(contains(text, "final_result")) << text;
  }
  for (const std::string& tool : {tool_start, tool_later}) {
    EXPECT_TRUE(contains(tool, "final_result")) << tool;
  }
}

// TH 26
TEST(NoticeCases, OneCallLeftMentionsThatFinalResultDoesNotCountWhereThereIsOne) {
  for (const bool structured : {false, true}) {
    auto model =
        testkit::recording(scripted({structured ? calls("final_result", "{}") : says("done")}));
    Rig rig(model);
    RunOptions options{.limits = {.max_tool_calls = 1}};
    if (structured) options.output_schema = Json::object({{"type", "object"}});
    (void)rig.run("go", options);
    const auto told = notices_in(model->requests()[0].transcript);
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(contains(told[0], "final_result does not count"), structured) << told[0];
  }
}

// TH 27
TEST(NoticeCases, ACorrectionIsNoReasonForANotice) {
  Rig rig(scripted({says("no json"), says("{}")}));
  const RunResult result = rig.run("go", {.limits = {.output_retries = 1},
                                          .output_schema = Json::object({{"type", "object"}}),
                                          .output_mode = OutputMode::prompted});
  EXPECT_EQ(result.stop, StopReason::end_turn);
  EXPECT_EQ(warnings_in(*rig.seen), std::vector<std::string>{});
}

TEST(NoticeCases, ARetriedAttemptDoesNotRepeatIt) {
  auto model = testkit::recording(scripted({fails(503), fails(503), says("done")}));
  Rig rig(model);
  EXPECT_EQ(rig.run("go", {.limits = {.max_turns = 1}}).text, "done");
  EXPECT_EQ(rig.seen->count(Kind::limit_warning), 1u);
  EXPECT_EQ(notices_in(model->requests()[2].transcript).size(), 1u);
}

// TH 27
TEST(NoticeCases, WhatWasToldBeforeAPauseIsNotToldAgainAfterIt) {
  auto model = testkit::recording(scripted({cut(says("one ")), calls("look"), says("two")}));
  Rig rig(model);
  give_look(rig);
  auto pause = std::make_shared<PauseAt>(Kind::output_retry);
  const RunResult parked = run_to_pause(rig, pause, {.limits = {.max_tool_calls = 1}});
  ASSERT_EQ(parked.status, RunStatus::parked);
  EXPECT_EQ(warnings_in(*rig.seen), (std::vector<std::string>{"tool_calls:1"}));
  const RunResult result = rig.harness->resume(parked.id, "", {.observers = {rig.seen}}).wait();
  EXPECT_EQ(result.text, "two");
  EXPECT_EQ(warnings_in(*rig.seen), (std::vector<std::string>{"tool_calls:1", "tool_calls:0"}));
  EXPECT_EQ(notices_in(result.messages).size(), 2u);
  EXPECT_EQ(notices_in(model->requests()[1].transcript).size(), 1u);
}

TEST(NoticeCases, WhatWasToldBeforeAnInterruptIsNotToldAgainAfterIt) {
  Rig rig(scripted({calls("park"), says("done")}));
  rig.harness->inline_tool("park", "Parks the run", [](const Context& ctx) {
    interrupt(ctx, "wait for me");
    return "parked";
  });
  const RunResult parked = rig.run("go", {.limits = {.max_turns = 2, .max_tool_calls = 1}});
  ASSERT_EQ(parked.status, RunStatus::parked);
  const RunResult result = rig.harness->resume(parked.id, "", {.observers = {rig.seen}}).wait();
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(warnings_in(*rig.seen),
            (std::vector<std::string>{"tool_calls:1", "model_calls:1", "tool_calls:0"}));
}

// TH 29
TEST(NoticeCases, AChildIsToldOfItsOwnLimits) {
  auto model = testkit::recording(scripted({calls("child"), says("inner"), says("outer")}));
  Rig rig(model);
  give_child(rig, {.limits = {.max_turns = 1}});
  EXPECT_EQ(rig.run("go").text, "outer");
  EXPECT_TRUE(notices_in(model->requests()[0].transcript).empty());
  EXPECT_EQ(notices_in(model->requests()[1].transcript).size(), 1u);
  EXPECT_TRUE(notices_in(model->requests()[2].transcript).empty());
}

}  // namespace
}  // namespace tug
