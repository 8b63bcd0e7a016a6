// Calls that the model may repair: the cases of the references. TA: TinyAgents, TH: ThinHarness.
#include <stdexcept>

#include "agent/cases_testing.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::says;
using testkit::scripted;

// TH 11
TEST(ToolRetryCases, MalformedArgumentsAreToldToTheModelAndARightCallFollows) {
  auto model = testkit::recording(
      scripted({calls("shout", R"({"text": go)"), calls("shout", kGo), says("done")}));
  Rig rig(model);
  rig.harness->inline_tool("shout", "Shouts", shout);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  const ToolCallRecord& wrong = result.tool_calls.at(0);
  EXPECT_FALSE(wrong.result.ok);
  EXPECT_EQ(error_type_of(wrong), "InvalidArguments");
  EXPECT_TRUE(wrong.result.metadata["retry"].as_bool());
  EXPECT_EQ(wrong.retry_kind, "InvalidArguments");
  EXPECT_EQ(wrong.arguments, Json(R"({"text": go)")) << "as the model wrote them";
  EXPECT_EQ(result.counts.tool_retries, (std::map<std::string, std::int64_t>{{"shout", 1}}));
  const Event* event = rig.seen->find(Kind::tool_invalid_args);
  EXPECT_EQ(event->data["used"].as_int(), 1);
  EXPECT_EQ(event->data["budget"].as_int(), 1);
}

// TA 16
TEST(ToolRetryCases, AMissingFieldIsNamedWithTheSchemaAndTheToolIsNotRun) {
  int ran = 0;
  auto model = testkit::recording(scripted({calls("shout", "{}"), calls("shout", kGo), says("x")}));
  Rig rig(model);
  rig.harness->inline_tool("shout", "Shouts", [&ran](const Words&) { return ++ran; });
  const RunResult result = rig.run("go");
  EXPECT_EQ(ran, 1);
  EXPECT_TRUE(contains(told(*model, 1)[0]->content, "text"));
  EXPECT_TRUE(contains(told(*model, 1)[0]->content, "\"required\":[\"text\"]"))
      << told(*model, 1)[0]->content;
  EXPECT_EQ(error_type_of(result.tool_calls[0]), "ValidationError");
  const Json& errors = result.tool_calls[0].result.metadata["errors"];
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(contains(errors.items()[0]["message"].as_string(), "text")) << print_json(errors);
  EXPECT_EQ(rig.seen->find(Kind::tool_invalid_args)->data["errors"], errors);
  EXPECT_EQ(rig.seen->count(Kind::tool_started), 1u);
}

// TH 12
TEST(ToolRetryCases, ASecondRetryOverABudgetOfOneEndsTheRun) {
  auto model = testkit::recording(scripted({again(calls("picky"))}));
  Rig rig(model);
  give_picky(rig);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_EQ(result.stop, StopReason::tool_retries_exceeded);
  EXPECT_EQ(limit_of(result), LimitKind::tool_retries);
  EXPECT_EQ(result.counts.tool_retries, (std::map<std::string, std::int64_t>{{"picky", 2}}));
  EXPECT_EQ(model->requests().size(), 2u);
  EXPECT_EQ(exit_code(result), 1);
  EXPECT_EQ(result.tool_calls[0].retry_kind, "ModelRetry");
  EXPECT_TRUE(contains(told(*model, 1)[0]->content, "try something else"));
  const auto failed = events_of(*rig.seen, Kind::tool_failed);
  EXPECT_EQ(failed[1]->data["used"].as_int(), 2);
  EXPECT_EQ(failed[1]->data["budget"].as_int(), 1);
  expect_legal(result.messages);
}

// TH 13
TEST(ToolRetryCases, AToolWithoutRetriesEndsTheRunAtItsFirstAndNothingIsSentBack) {
  auto model = testkit::recording(scripted({again(calls("picky"))}));
  Rig rig(model);
  give_picky(rig, {.max_retries = 0});
  const RunResult result = rig.run("go", {.limits = {.tool_retries = 9}});
  EXPECT_EQ(result.stop, StopReason::tool_retries_exceeded);
  EXPECT_EQ(model->requests().size(), 1u);
}

TEST(ToolRetryCases, TheBudgetOfAToolWinsOverThatOfTheRun) {
  auto model = testkit::recording(scripted({again(calls("picky"))}));
  Rig rig(model);
  give_picky(rig, {.max_retries = 3});
  (void)rig.run("go", {.limits = {.tool_retries = 0}});
  EXPECT_EQ(model->requests().size(), 4u);
}

TEST(ToolRetryCases, EveryToolHasABudgetOfItsOwn) {
  Rig rig(scripted({calls("picky"), calls("shout", "{}"), says("done")}));
  give_picky(rig);
  rig.harness->inline_tool("shout", "Shouts", shout);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.counts.tool_retries,
            (std::map<std::string, std::int64_t>{{"picky", 1}, {"shout", 1}}));
}

// TH 14
TEST(ToolRetryCases, TwoWrongCallsOfOneBatchBothCount) {
  auto model = testkit::recording(
      scripted({calls({{"a", "picky", "{}"}, {"b", "picky", "{}"}}), says("never")}));
  Rig rig(model);
  give_picky(rig);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.stop, StopReason::tool_retries_exceeded);
  EXPECT_EQ(result.counts.tool_retries, (std::map<std::string, std::int64_t>{{"picky", 2}}));
  EXPECT_EQ(model->requests().size(), 1u);
}

TEST(ToolRetryCases, TheOthersOfABatchThatUsedUpABudgetStillRun) {
  int ran = 0;
  Rig rig(scripted({calls({{"a", "picky", "{}"}, {"b", "count", "{}"}}), says("never")}));
  give_picky(rig, {.max_retries = 0});
  rig.harness->inline_tool("count", "Counts", [&ran] { return ++ran; });
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.stop, StopReason::tool_retries_exceeded);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(result.tool_calls[1].result.content, "1");
}

// TH 15
TEST(ToolRetryCases, AnErrorInsideAHandlerIsNoRetryWhateverItsKind) {
  Rig rig(scripted({calls({{"a", "refuses", "{}"}, {"b", "throws", "{}"}}), says("done")}));
  const ToolOptions strict{.max_retries = 0};
  rig.harness->inline_tool(
      "refuses", "Fails",
      []() -> Result<std::string> { return fail(ErrorKind::invalid, "not this way"); }, strict);
  rig.harness->inline_tool(
      "throws", "Throws", []() -> std::string { throw std::invalid_argument("bad"); }, strict);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_TRUE(result.counts.tool_retries.empty());
  for (const ToolCallRecord& record : result.tool_calls) {
    EXPECT_EQ(error_type_of(record), "Exception") << record.tool;
    EXPECT_FALSE(record.result.metadata.contains("retry")) << record.tool;
  }
}

TEST(ToolRetryCases, AResultMayAskForTheRetryItself) {
  Rig rig(scripted({calls("asks"), says("done")}));
  rig.harness->inline_tool("asks", "Asks for a retry", [] {
    ToolResult result = ToolResult::error("other words, please", "ModelRetry");
    result.metadata.set("retry", true);
    return result;
  });
  EXPECT_EQ(rig.run("go").counts.tool_retries, (std::map<std::string, std::int64_t>{{"asks", 1}}));
}

// TH 16, 23
TEST(ToolRetryCases, UnknownAndCancelledCallsUseNoRetriesAndTheRunGoesOn) {
  int paid = 0;
  auto model = testkit::recording(scripted(
      {calls({{"a", "ghost", "{}"}, {"b", "pay", "{}"}, {"c", "shout", kGo}}), says("done")}));
  Rig rig(model, 1, {.defaults = {.tool_retries = 0}});
  rig.harness->inline_tool("pay", "Pays", [&paid] { return ++paid; });
  rig.harness->inline_tool("shout", "Shouts", shout);
  rig.harness->use(std::make_shared<Cancels>("pay"));
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(paid, 0);
  EXPECT_EQ(result.counts.tool_calls, 3);
  EXPECT_EQ(result.counts.cancelled_tool_calls, 1);
  EXPECT_TRUE(result.counts.tool_retries.empty());
  const auto results = told(*model, 1);
  EXPECT_EQ(results[0]->metadata["error_type"].as_string(), "UnknownTool");
  EXPECT_EQ(results[1]->metadata["error_type"].as_string(), "ToolCallCancelled");
  EXPECT_EQ(results[2]->content, "go!");
  EXPECT_EQ(rig.seen->find(Kind::tool_completed)->data["index"].as_int(), 2);
}

TEST(ToolRetryCases, BudgetsSpanAPause) {
  Rig rig(scripted({again(calls("picky"))}));
  give_picky(rig);
  auto pause = std::make_shared<PauseAt>(Kind::tool_failed);
  const RunResult parked = run_to_pause(rig, pause);
  ASSERT_EQ(parked.status, RunStatus::parked);
  const RunResult result = rig.harness->resume(parked.id).wait();
  EXPECT_EQ(result.stop, StopReason::tool_retries_exceeded);
  EXPECT_EQ(result.counts.tool_retries, (std::map<std::string, std::int64_t>{{"picky", 2}}));
  EXPECT_EQ(result.counts.model_calls, 2);
}

}  // namespace
}  // namespace tug
