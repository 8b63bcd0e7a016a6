// The loop through the public face, in virtual time.
#include "agent/testing.h"
#include "tug/core/scope.h"
#include "tug/core/sync.h"
#include "tug/model/models.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::fails;
using testkit::says;
using testkit::scripted;
using testkit::slow;

std::string shout(const Words& words) { return words.text + "!"; }

TEST(Run, ATextIsTheResult) {
  Rig rig(scripted({says("hello")}));
  const RunResult result = rig.run("hi");
  EXPECT_EQ(result.text, "hello");
  EXPECT_EQ(result.status, RunStatus::completed);
  EXPECT_EQ(result.stop, StopReason::end_turn);
  EXPECT_EQ(result.counts.model_calls, 1);
  EXPECT_EQ(result.responses.size(), 1u);
  EXPECT_FALSE(result.error);
  ASSERT_EQ(result.messages.size(), 2u);
  EXPECT_EQ(result.messages[0]->text(), "hi");
}

TEST(Run, ACallAndATextGiveTheEventsInOrder) {
  Rig rig(scripted({calls("shout", R"({"text":"go"})"), says("done")}));
  rig.harness->tool("shout", "Shouts", shout);
  const RunResult result = rig.run("shout go");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(rig.seen->kinds(),
            (std::vector<std::string>{"run.started", "model.started", "model.completed",
                                      "tool.started", "tool.completed", "model.started",
                                      "model.completed", "run.completed"}));
  ASSERT_EQ(result.tool_calls.size(), 1u);
  EXPECT_EQ(result.tool_calls[0].tool, "shout");
  EXPECT_EQ(result.tool_calls[0].result.content, "go!");
  EXPECT_EQ(result.tool_calls[0].arguments, Json::object({{"text", "go"}}));
  expect_legal(result.messages);
}

TEST(Run, AnEventIsNumberedWithoutGapsAndNamesItsRun) {
  Rig rig(scripted({calls("shout", R"({"text":"go"})"), says("done")}));
  rig.harness->tool("shout", "Shouts", shout);
  const RunResult result = rig.run("shout go");
  Seq seq = 0;
  for (const Event& event : rig.seen->events) {
    if (event.live == 0) EXPECT_EQ(event.seq, ++seq);
    EXPECT_EQ(event.who->run_id, result.id);
  }
  EXPECT_EQ(rig.seen->find(Kind::tool_started)->turn, 1u);
  EXPECT_EQ(rig.seen->events.back().turn, 2u);
  EXPECT_EQ(rig.seen->events.back().data["result"], to_json(result));
}

TEST(Run, ZeroTurnsEndBeforeAnyRequest) {
  auto model = testkit::recording(scripted({says("never")}));
  Rig rig(model);
  const RunResult result = rig.run("hi", {.limits = {.max_turns = 0}});
  EXPECT_EQ(result.status, RunStatus::completed);
  EXPECT_EQ(result.stop, StopReason::limit_reached);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->detail_if<Limit>()->kind, LimitKind::model_calls);
  EXPECT_TRUE(model->requests().empty());
  EXPECT_EQ(rig.seen->kinds(),
            (std::vector<std::string>{"run.started", "limit.reached", "run.completed"}));
  EXPECT_EQ(exit_code(result), 5);
}

TEST(Run, ABatchOverTheLimitOfCallsRunsNoneOfThem) {
  auto model = testkit::recording(scripted(
      {calls({{"a", "shout", R"({"text":"1"})"}, {"b", "shout", R"({"text":"2"})"}}), says("x")}));
  Rig rig(model);
  rig.harness->tool("shout", "Shouts", shout);
  const RunResult result = rig.run("hi", {.limits = {.max_tool_calls = 1}});
  EXPECT_EQ(result.stop, StopReason::limit_reached);
  EXPECT_EQ(result.error->detail_if<Limit>()->kind, LimitKind::tool_calls);
  EXPECT_EQ(rig.seen->count(Kind::tool_started), 0u);
  EXPECT_EQ(model->requests().size(), 1u);
  EXPECT_EQ(result.counts.tool_calls, 0);
  expect_legal(result.messages);
  EXPECT_EQ(result.messages.back()->tool_results().size(), 2u);
}

TEST(Run, AProviderErrorIsAResultWithEverythingSoFar) {
  Rig rig(scripted({calls("shout", R"({"text":"go"})"), fails(500, "down")}));
  rig.harness->tool("shout", "Shouts", shout);
  const RunResult result = rig.run("hi", {.limits = {.retries = 0}});
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_EQ(result.stop, StopReason::provider_error);
  EXPECT_EQ(result.messages.size(), 3u);
  EXPECT_EQ(result.counts.model_calls, 1);
  EXPECT_EQ(result.counts.attempts, 2);
  EXPECT_EQ(rig.seen->kinds().back(), "run.failed");
  EXPECT_EQ(rig.seen->count(Kind::model_failed), 1u);
  EXPECT_EQ(exit_code(result), 3);
  const RunResult again = rig.harness->run("again");
  EXPECT_EQ(again.stop, StopReason::provider_error) << "its own script position";
}

TEST(Run, AnExhaustedScriptIsNotRetryable) {
  Rig rig(scripted({}));
  const RunResult result = rig.run("hi");
  EXPECT_EQ(result.stop, StopReason::provider_error);
  EXPECT_EQ(exit_code(result), 1);
}

TEST(Run, AnUnknownToolIsReportedToTheModelNotToTheCaller) {
  auto model = testkit::recording(scripted({calls("shuot"), says("sorry")}));
  Rig rig(model);
  rig.harness->tool("shout", "Shouts", shout);
  const RunResult result = rig.run("hi");
  EXPECT_EQ(result.text, "sorry");
  EXPECT_EQ(rig.seen->kinds()[3], "tool.unknown");
  EXPECT_EQ(rig.seen->find(Kind::tool_unknown)->data["nearest"].as_string(), "shout");
  EXPECT_EQ(result.counts.tool_calls, 1);
  const ToolResult& told = *model->requests()[1].transcript.back()->tool_results()[0];
  EXPECT_FALSE(told.ok);
  EXPECT_NE(told.content.find("shout"), std::string::npos);
  EXPECT_NE(told.content.find("shuot"), std::string::npos);
}

TEST(Run, AToolThatRequiresApprovalIsDeniedAndNeverRunWhereNobodyCanBeAsked) {
  int ran = 0;
  auto model = testkit::recording(
      scripted({calls({{"a", "pay", "{}"}, {"b", "shout", R"({"text":"x"})"}}), says("done")}));
  Rig rig(model);
  rig.harness->tool("shout", "Shouts", shout);
  rig.harness->inline_tool("pay", "Pays", [&ran] { return ++ran; }, {.requires_approval = true});
  const RunResult result = rig.run("hi", {.permissions = Permissions{.on_ask = OnAsk::deny}});
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(result.text, "done");
  ASSERT_EQ(result.denials.size(), 1u);
  EXPECT_EQ(result.denials[0].tool, "pay");
  EXPECT_EQ(rig.seen->kinds()[3], "tool.denied");
  const auto told = model->requests()[1].transcript.back()->tool_results();
  EXPECT_FALSE(told[0]->ok);
  EXPECT_NE(told[0]->content.find("nobody can be asked"), std::string::npos);
  EXPECT_EQ(told[1]->content, "x!");
}

TEST(Run, ArgumentsThatAreMissingOrNoJsonAreShownToTheModelAndTheToolIsNotRun) {
  int ran = 0;
  Rig rig(scripted({calls({{"a", "shout", "{}"}, {"b", "shout", "not json"}}),
                    calls("shout", R"({"text":"now"})"), says("done")}));
  rig.harness->inline_tool("shout", "Shouts", [&ran](const Words& words) {
    ++ran;
    return words.text;
  });
  const RunResult result = rig.run("hi", {.limits = {.tool_retries = 2}});
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(rig.seen->count(Kind::tool_invalid_args), 2u);
  ASSERT_EQ(result.tool_calls.size(), 3u);
  EXPECT_EQ(result.tool_calls[1].arguments, Json("not json"));
  EXPECT_EQ(result.tool_calls[0].result.metadata["error_type"].as_string(), "ValidationError");
  EXPECT_EQ(result.tool_calls[1].result.metadata["error_type"].as_string(), "InvalidArguments");
  EXPECT_EQ(result.counts.tool_retries, (std::map<std::string, std::int64_t>{{"shout", 2}}));
  expect_legal(result.messages);
}

TEST(Run, AToolThatThrowsIsAResultForTheModelAndItsSiblingIsDelivered) {
  Rig rig(scripted({calls({{"a", "bad", "{}"}, {"b", "shout", R"({"text":"x"})"}}), says("ok")}));
  rig.harness->tool("bad", "Throws", []() -> std::string { throw std::runtime_error("boom"); });
  rig.harness->tool("shout", "Shouts", shout);
  const RunResult result = rig.run("hi");
  EXPECT_EQ(result.text, "ok");
  ASSERT_EQ(result.tool_calls.size(), 2u);
  EXPECT_FALSE(result.tool_calls[0].result.ok);
  EXPECT_NE(result.tool_calls[0].result.content.find("boom"), std::string::npos);
  EXPECT_EQ(result.tool_calls[1].result.content, "x!");
  EXPECT_EQ(rig.seen->count(Kind::tool_failed), 1u);
}

TEST(Run, TwentyCallsComeBackInOneTurnInCallOrder) {
  std::vector<ScriptCall> twenty;
  for (int i = 0; i < 20; ++i) {
    twenty.push_back(
        {"c" + std::to_string(i), "shout", R"({"text":")" + std::to_string(i) + "\"}"});
  }
  auto model = testkit::recording(scripted({calls(twenty), says("done")}));
  Rig rig(model, 5);
  rig.harness->tool("shout", "Shouts", shout);
  const RunResult result = rig.run("hi");
  EXPECT_EQ(model->requests().size(), 2u);
  const auto results = result.messages[2]->tool_results();
  ASSERT_EQ(results.size(), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(results[i]->content, std::to_string(i) + "!");
}

TEST(Run, DuplicateCallIdsOfAProviderEachHaveTheirOwnResult) {
  Rig rig(
      scripted({calls({{"same", "shout", R"({"text":"1"})"}, {"same", "shout", R"({"text":"2"})"}}),
                says("done")}));
  rig.harness->tool("shout", "Shouts", shout);
  const RunResult result = rig.run("hi");
  ASSERT_EQ(result.tool_calls.size(), 2u);
  EXPECT_NE(result.tool_calls[0].id, result.tool_calls[1].id);
  EXPECT_EQ(result.tool_calls[0].result.content, "1!");
  EXPECT_EQ(result.tool_calls[1].result.content, "2!");
  expect_legal(result.messages);
}

TEST(Run, CallsOfATurnThatWasCutAreAnsweredAndNeverRun) {
  ScriptTurn cut = calls("shout", R"({"text":"x"})");
  cut.finish = Finish::length;
  Rig rig(scripted({cut, says("smaller")}));
  rig.harness->tool("shout", "Shouts", shout);
  const RunResult result = rig.run("hi");
  EXPECT_EQ(result.text, "smaller");
  EXPECT_EQ(rig.seen->count(Kind::tool_started), 0u);
  EXPECT_NE(result.messages[2]->tool_results()[0]->content.find("again, smaller"),
            std::string::npos);
}

TEST(Run, ATextThatWasCutGoesOnAndItsPartsAreJoined) {
  ScriptTurn first = says("one ");
  first.finish = Finish::length;
  ScriptTurn second = says("two ");
  second.finish = Finish::length;
  Rig rig(scripted({first, second, says("three")}));
  const RunResult result = rig.run("count");
  EXPECT_EQ(result.text, "one two three");
  EXPECT_EQ(result.stop, StopReason::end_turn);
}

TEST(Run, AnAnswerCutForEverEndsWithADiagnostic) {
  ScriptTurn cut = says("x");
  cut.finish = Finish::length;
  Rig rig(testkit::cycling({cut}));
  const RunResult result = rig.run("count");
  EXPECT_EQ(result.text, "xxxx");
  EXPECT_EQ(result.counts.model_calls, 4);
  EXPECT_EQ(rig.seen->count(Kind::context_diagnostic), 1u);
}

TEST(Run, AnEmptyAnswerIsAskedForOnceMoreAndThenAnError) {
  Rig once(scripted({says(""), says("better")}));
  EXPECT_EQ(once.run("hi").text, "better");
  Rig twice(scripted({says(""), says(" ")}));
  const RunResult result = twice.run("hi");
  EXPECT_EQ(result.stop, StopReason::error);
  EXPECT_EQ(result.counts.model_calls, 2);
  EXPECT_EQ(result.messages.size(), 1u) << "blank turns are not kept";
}

TEST(Run, ARefusalIsAFailure) {
  ScriptTurn no = says("I will not");
  no.finish = Finish::refusal;
  Rig rig(scripted({no}));
  const RunResult result = rig.run("hi");
  EXPECT_EQ(result.stop, StopReason::refusal);
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_EQ(result.text, "I will not");
}

TEST(Run, ACancelBeforeTheStartMakesNoModelCall) {
  auto model = testkit::recording(scripted({says("never")}));
  Rig rig(model);
  std::stop_source stop;
  stop.request_stop();
  const RunResult result = rig.run("hi", {.cancel = stop.get_token()});
  EXPECT_EQ(result.status, RunStatus::cancelled);
  EXPECT_EQ(result.stop, StopReason::cancelled);
  EXPECT_TRUE(model->requests().empty());
  EXPECT_EQ(exit_code(result), 130);
}

TEST(Run, ACancelInsideTheFirstToolMakesNoSecondModelCall) {
  tug::Run run;
  auto model = testkit::recording(scripted({calls("stop"), says("never")}));
  Rig rig(model);
  rig.harness->inline_tool("stop", "Stops the run", [&run] {
    run.cancel("from inside");
    return "stopped";
  });
  run = rig.harness->start("hi", {.observers = {rig.seen}});
  const RunResult result = run.wait();
  EXPECT_EQ(result.status, RunStatus::cancelled);
  EXPECT_EQ(model->requests().size(), 1u);
  expect_legal(result.messages);
  EXPECT_EQ(rig.seen->kinds().back(), "run.cancelled");
}

TEST(Run, ACancelWhileTheModelHangsEndsAtOnceAndTheHarnessRunsAgain) {
  Rig rig(slow(std::chrono::hours(1), says("late")));
  tug::Run run = rig.harness->start("hi");
  rig.engine->advance(std::chrono::seconds(1));
  EXPECT_FALSE(run.ended());
  EXPECT_EQ(run.status().activity, RunActivity::model);
  run.cancel("enough");
  const RunResult result = run.wait();
  EXPECT_EQ(result.status, RunStatus::cancelled);
  EXPECT_NE(result.error->message().find("enough"), std::string::npos);
  EXPECT_LT(result.duration_ms, 2000);
  const RunResult again = rig.harness->run("again");
  EXPECT_EQ(again.text, "late");
}

TEST(Run, ADeadlineIsALimitAndNotACancel) {
  Rig rig(slow(std::chrono::seconds(10), says("late")));
  const RunResult result = rig.run("hi", {.timeout = 0.5});
  EXPECT_EQ(result.stop, StopReason::limit_reached);
  EXPECT_EQ(result.error->detail_if<Limit>()->kind, LimitKind::wall_clock);
  EXPECT_EQ(rig.seen->count(Kind::model_failed), 1u);
}

TEST(Run, AToolAddedWhileItRunsIsSeenByTheNextRunOnly) {
  auto model = testkit::recording(scripted({calls("grow"), calls("late"), says("done")}));
  Rig rig(model);
  Harness& harness = *rig.harness;
  harness.inline_tool("grow", "Adds a tool", [&harness] {
    harness.inline_tool("late", "Came late", [] { return "here"; });
    return "added";
  });
  const RunResult result = rig.run("hi");
  EXPECT_EQ(result.text, "done");
  for (const ModelRequest& request : model->requests()) EXPECT_EQ(request.tools->size(), 1u);
  EXPECT_EQ(rig.seen->count(Kind::tool_unknown), 1u);
  (void)harness.run("next");
  EXPECT_EQ(model->requests().back().tools->size(), 2u);
}

TEST(Run, UsageIsAddedUpAndTheWindowIsKnown) {
  ScriptTurn first = calls("shout", R"({"text":"x"})");
  first.usage = {.input_tokens = 100, .output_tokens = 10};
  ScriptTurn second = says("done");
  second.usage = {.input_tokens = 150, .output_tokens = 20};
  Rig rig(scripted({first, second}));
  rig.harness->tool("shout", "Shouts", shout);
  const RunResult result = rig.run("hi");
  EXPECT_EQ(result.usage.input_tokens, 250);
  EXPECT_EQ(result.usage.output_tokens, 30);
  EXPECT_EQ(result.own.usage, result.usage);
  EXPECT_EQ(result.window.prompt_tokens, 150);
  EXPECT_EQ(result.window.source, "provider");
  EXPECT_FALSE(result.cost.complete());
}

TEST(Run, DeltasAreLiveAndVanishFromTheJournal) {
  Rig rig(testkit::streaming("hello world", 4));
  const RunResult result = rig.run("hi");
  EXPECT_EQ(result.text, "hello world");
  std::string text;
  for (const Event& event : rig.seen->events) {
    if (event.kind == Kind::model_delta) text += event.data["text"].as_string();
  }
  EXPECT_EQ(text, "hello world");
  for (const Record& record : *rig.store->read(result.id, 0, 100)) {
    EXPECT_EQ(record.body.find("model.delta"), std::string::npos);
  }
  EXPECT_TRUE(rig.store->partials(result.id)->empty());
}

TEST(Run, WhatItWasFrozenWithIsABlobThatRunStartedNames) {
  Rig rig(scripted({says("x")}));
  rig.harness->tool("shout", "Shouts", shout).system_prompt("Be brief.");
  const RunResult result = rig.run("hi");
  const auto digest = Digest::from_hex(rig.seen->events[0].data["constants"].as_string());
  ASSERT_TRUE(digest);
  auto blob = rig.store->blob(*digest);
  ASSERT_TRUE(blob) << to_string(blob.error());
  const Json constants = *parse_json(*blob);
  EXPECT_EQ(constants["system"].as_string(), "Be brief.");
  EXPECT_EQ(constants["tools"][0]["name"].as_string(), "shout");
  EXPECT_EQ(result.status, RunStatus::completed);
}

TEST(Run, AnEmptyPromptAndAnUnknownModelStartNothing) {
  Rig rig(scripted({says("x")}));
  const RunResult empty = rig.harness->run(" \n");
  EXPECT_EQ(empty.status, RunStatus::failed);
  EXPECT_EQ(empty.error->kind(), ErrorKind::invalid);
  EXPECT_TRUE(empty.id.empty());
  const RunResult unknown = rig.harness->run("hi", {.model = "ofline/demo"});
  EXPECT_NE(to_string(*unknown.error).find("offline"), std::string::npos);
  EXPECT_TRUE(rig.store->list(10)->empty());
}

TEST(Run, AnIdWithControlBytesOrWithoutEndIsRefused) {
  Rig rig(scripted({says("x")}));
  for (const std::string& bad : {std::string("a\nb"), std::string("a\0b", 3), std::string("\xff"),
                                 std::string(1000, 'x'), std::string("\x1b[2J")}) {
    EXPECT_EQ(rig.harness->run("hi", {.run_id = bad}).error->kind(), ErrorKind::invalid);
    EXPECT_EQ(rig.harness->run("hi", {.thread_id = bad}).error->kind(), ErrorKind::invalid);
  }
  EXPECT_EQ(rig.harness->run("hi", {.run_id = "gr\xc3\xbc\xc3\x9f"}).id.text(),
            "gr\xc3\xbc\xc3\x9f");
}

TEST(Run, DamagedStateIsUnusableAndOtherErrorsAreFailures) {
  RunResult result;
  result.error = Error(ErrorKind::invalid, "x", "", Damage{"journal.db", "r", 1});
  EXPECT_EQ(exit_code(result), 2);
  result.error = Error(ErrorKind::internal, "x");
  EXPECT_EQ(exit_code(result), 1);
}

TEST(Run, ASchemaThatIsNoneIsRefusedBeforeAnythingIsWritten) {
  Rig rig(scripted({says("x")}));
  const RunResult result =
      rig.harness->run("hi", {.output_schema = Json::object({{"type", "wish"}})});
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->kind(), ErrorKind::invalid);
  EXPECT_NE(result.error->message().find("output_schema"), std::string::npos);
  EXPECT_TRUE(rig.store->list(10)->empty());
}

TEST(Run, AMaximumCostWithoutAPriceIsAnErrorUnlessTokensAreLimitedToo) {
  Rig rig(scripted({says("x"), says("y")}));
  const RunResult refused = rig.harness->run("hi", {.limits = {.max_cost = 1.0}});
  EXPECT_EQ(refused.error->kind(), ErrorKind::invalid);
  EXPECT_NE(refused.error->message().find("max_cost"), std::string::npos);
  const RunResult ran =
      rig.harness->run("hi", {.limits = {.max_tokens = 100'000, .max_cost = 1.0}});
  EXPECT_EQ(ran.status, RunStatus::completed);
}

}  // namespace
}  // namespace tug
