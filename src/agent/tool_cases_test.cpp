// Calls of tools: the cases of the references. TA: TinyAgents, TH: ThinHarness.
#include <set>
#include <stdexcept>

#include "agent/cases_testing.h"
#include "tug/core/reflect.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using testkit::calls;
using testkit::says;
using testkit::scripted;

// TA 15
TEST(ToolCallCases, AnUnknownToolIsAnsweredWithTheNamesAndTakesOneSlot) {
  auto model = testkit::recording(scripted({calls("ghost", R"({"x":1})"), says("done")}));
  Rig rig(model);
  rig.harness->inline_tool("shout", "Shouts", shout);
  rig.harness->inline_tool("whisper", "Whispers", shout);
  const RunResult result = rig.run("go", {.limits = {.max_tool_calls = 1}});
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.counts.tool_calls, 1);
  const Event* unknown = rig.seen->find(Kind::tool_unknown);
  EXPECT_EQ(unknown->data["tool"].as_string(), "ghost");
  EXPECT_EQ(unknown->data["arguments"], Json::object({{"x", 1}}));
  for (const char* name : {"ghost", "shout", "whisper"}) {
    EXPECT_TRUE(contains(unknown->data["output"].as_string(), name));
  }
}

// TA 16
TEST(ToolCallCases, ArgumentsAreRepairedWhereNothingCanBeMisread) {
  const std::string fence = "```";
  const std::vector<std::string> texts = {
      R"("{\"text\":\"go\"}")",
      fence + "json\n" + kGo + "\n" + fence,
      R"({"properties":{"text":"go"}})",
      R"({"param":{"text":"go"}})",
  };
  for (const std::string& text : texts) {
    Rig rig(scripted({calls("shout", text), says("done")}));
    rig.harness->inline_tool("shout", "Shouts", shout);
    const RunResult result = rig.run("go");
    EXPECT_EQ(result.tool_calls.at(0).result.content, "go!") << text;
    const Event* started = rig.seen->find(Kind::tool_started);
    ASSERT_TRUE(started) << text;
    EXPECT_EQ(started->data["arguments"], Json::object({{"text", "go"}}));
    EXPECT_TRUE(started->data["repaired"].as_bool());
    const ToolCall* kept = result.messages[1]->tool_calls()[0];
    EXPECT_EQ(kept->arguments, text) << "the transcript has what the model wrote";
    EXPECT_TRUE(result.counts.tool_retries.empty());
  }
}

TEST(ToolCallCases, EmptyArgumentsAreAnEmptyObject) {
  Rig rig(scripted({calls("look", ""), says("done")}));
  rig.harness->inline_tool("look", "Looks", [] { return "seen"; });
  EXPECT_EQ(rig.run("go").tool_calls.at(0).result.content, "seen");
}

struct Declared {
  std::map<std::string, std::string> properties;
};

// TA 16
TEST(ToolCallCases, AToolThatDeclaresPropertiesGetsThemAsTheyAre) {
  Rig rig(scripted({calls("set", R"({"properties":{"a":"b"}})"), says("done")}));
  rig.harness->inline_tool("set", "Sets", [](const Declared& d) { return d.properties.at("a"); });
  EXPECT_EQ(rig.run("go").tool_calls.at(0).result.content, "b");
  EXPECT_FALSE(rig.seen->find(Kind::tool_started)->data.contains("repaired"));
}

TEST(ToolCallCases, TwoLevelsOfEncodingAreRefused) {
  Rig rig(scripted({calls("shout", R"("\"{\\\"text\\\":\\\"go\\\"}\"")"), says("done")}));
  rig.harness->inline_tool("shout", "Shouts", shout);
  EXPECT_EQ(error_type_of(rig.run("go").tool_calls.at(0)), "InvalidArguments");
}

// How many are in flight at once.
struct Traffic {
  int now = 0;
  int most = 0;
  std::vector<std::string> order;
};
struct Named {
  std::string name;
};

void give_nap(Rig& rig, Traffic& traffic, ToolOptions options = {}) {
  rig.harness->tool(
      "nap", "Sleeps 100 ms",
      [&traffic](const Context& ctx, const Named& named) -> Task<std::string> {
        traffic.order.push_back(named.name + " in");
        traffic.most = std::max(traffic.most, ++traffic.now);
        co_await sleep_for(milliseconds(100), Until{.cancel = ctx.cancel()});
        --traffic.now;
        traffic.order.push_back(named.name + " out");
        co_return named.name;
      },
      std::move(options));
}

ScriptTurn naps(int count) {
  std::vector<ScriptCall> list;
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    list.push_back({"c" + n, "nap", R"({"name":")" + n + "\"}"});
  }
  return calls(list);
}

// TA 17, TH 18
TEST(BatchCases, TwoIndependentCallsAreInFlightTogetherAndComeBackInCallOrder) {
  Traffic traffic;
  auto model = testkit::recording(scripted({naps(2), says("done")}));
  Rig rig(model);
  give_nap(rig, traffic);
  const RunResult result = rig.run("go");
  EXPECT_EQ(traffic.most, 2);
  EXPECT_EQ(result.duration_ms, 100);
  EXPECT_EQ(told(*model, 1)[0]->content, "0");
  EXPECT_EQ(told(*model, 1)[1]->content, "1");
}

TEST(BatchCases, MiddlewareAroundToolsDoesNotPutThemInARow) {
  Traffic traffic;
  Rig rig(scripted({naps(4), says("done")}));
  give_nap(rig, traffic);
  rig.harness->use(std::make_shared<Cancels>("nothing"));
  EXPECT_EQ(rig.run("go").duration_ms, 100);
  EXPECT_EQ(traffic.most, 4);
}

// TH 18
TEST(BatchCases, ASequentialToolPutsItsWholeBatchInCallOrder) {
  for (const bool by_tool : {true, false}) {
    Traffic traffic;
    Rig rig(scripted({naps(3), says("done")}));
    give_nap(rig, traffic, {.sequential = by_tool});
    RunOptions options;
    if (!by_tool) options.tool_execution = ToolExecution::sequential;
    EXPECT_EQ(rig.run("go", options).duration_ms, 300);
    EXPECT_EQ(traffic.order,
              (std::vector<std::string>{"0 in", "0 out", "1 in", "1 out", "2 in", "2 out"}));
  }
}

// TH 17
TEST(BatchCases, TwentyCallsRunSixteenAtATimeAndComeBackInOneTurn) {
  Traffic traffic;
  auto model = testkit::recording(scripted({naps(20), says("done")}));
  Rig rig(model);
  give_nap(rig, traffic);
  const RunResult result = rig.run("go");
  EXPECT_EQ(traffic.most, 16);
  EXPECT_EQ(result.duration_ms, 200);
  const auto results = told(*model, 1);
  ASSERT_EQ(results.size(), 20u);
  for (std::size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(results[i]->content, std::to_string(i));
}

TEST(BatchCases, MaxConcurrencyBoundsABatch) {
  Traffic traffic;
  Rig rig(scripted({naps(6), says("done")}));
  give_nap(rig, traffic);
  (void)rig.run("go", {.limits = {.max_concurrency = 2}});
  EXPECT_EQ(traffic.most, 2);
}

// TH 19
TEST(BatchCases, ACallThatThrowsDoesNotStopItsSiblings) {
  Traffic traffic;
  Rig rig(scripted({calls({{"a", "bad", "{}"}, {"b", "nap", R"({"name":"n"})"}}), says("done")}));
  give_nap(rig, traffic);
  rig.harness->tool("bad", "Throws", [](Context) -> Task<std::string> {
    co_await yield();
    throw std::runtime_error("boom");
  });
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_FALSE(result.tool_calls[0].result.ok);
  EXPECT_EQ(result.tool_calls[1].result.content, "n");
}

// TA 17
TEST(BatchCases, AResultWithAWrongCallIdGetsTheRightOne) {
  Rig rig(scripted({calls("liar"), says("done")}));
  rig.harness->inline_tool("liar", "Lies", [] {
    ToolResult result = ToolResult::text("hm");
    result.call = CallId("999.9");
    result.tool = "another";
    return result;
  });
  const RunResult result = rig.run("go");
  const ToolResult& kept = *result.messages[2]->tool_results()[0];
  EXPECT_EQ(kept.call, result.messages[1]->tool_calls()[0]->id);
  EXPECT_EQ(kept.tool, "liar");
}

// TA 18
TEST(BatchCases, AToolThatTakesTooLongIsAResultAndTheRunGoesOn) {
  Rig rig(scripted({calls("hang"), says("done")}));
  rig.harness->tool("hang", "Hangs",
                    [](const Context& ctx) -> Task<Result<std::string>> {
                      const Until until{.cancel = ctx.cancel()};
                      const Woken woken = co_await sleep_for(std::chrono::hours(9), until);
                      co_return Failure(wait_error(woken, until, "nothing"));
                    },
                    {.timeout = milliseconds(20)});
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.duration_ms, 20);
  EXPECT_EQ(result.tool_calls[0].result.content, "timed out after 20 ms");
  EXPECT_EQ(error_type_of(result.tool_calls[0]), "Timeout");
}

TEST(BatchCases, ACancelledRunHasAResultForEveryCall) {
  Traffic traffic;
  Rig rig(scripted({naps(3), says("never")}));
  give_nap(rig, traffic, {.sequential = true});
  tug::Run run = rig.harness->start("go", {.observers = {rig.seen}});
  rig.engine->advance(milliseconds(150));
  run.cancel("enough");
  const RunResult result = run.wait();
  EXPECT_EQ(result.status, RunStatus::cancelled);
  expect_legal(result.messages);
  ASSERT_EQ(result.tool_calls.size(), 3u);
  EXPECT_EQ(result.tool_calls[0].result.content, "0");
  EXPECT_EQ(error_type_of(result.tool_calls[2]), "Cancelled");
  EXPECT_EQ(result.counts.cancelled_tool_calls, 0) << "no hook cancelled one";
}

// Fails at once, as its options say.
void give_failing(Rig& rig, ToolOptions options) {
  rig.harness->inline_tool(
      "failing", "Fails",
      []() -> Result<std::string> { return fail(ErrorKind::internal, "disk on fire"); },
      std::move(options));
}

TEST(ErrorPolicyCases, TheModelIsToldByDefault) {
  auto model = testkit::recording(scripted({calls("failing"), says("done")}));
  Rig rig(model);
  give_failing(rig, {});
  EXPECT_EQ(rig.run("go").text, "done");
  EXPECT_TRUE(contains(told(*model, 1)[0]->content, "disk on fire"));
}

TEST(ErrorPolicyCases, AFixedTextCanBeToldInstead) {
  auto model = testkit::recording(scripted({calls("failing"), says("done")}));
  Rig rig(model);
  give_failing(rig, {.on_error = OnError::say, .error_text = "Not now."});
  EXPECT_EQ(rig.run("go").text, "done");
  EXPECT_EQ(told(*model, 1)[0]->content, "Not now.");
  EXPECT_FALSE(told(*model, 1)[0]->ok);
}

// TA 5
TEST(ErrorPolicyCases, AFatalToolEndsTheRunWithEverythingSoFar) {
  auto model = testkit::recording(
      scripted({used(calls("shout", kGo), 10, 2), used(calls("failing"), 20, 2), says("never")}));
  Rig rig(model);
  give_failing(rig, {.on_error = OnError::fail_run});
  rig.harness->inline_tool("shout", "Shouts", shout);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_EQ(result.stop, StopReason::error);
  EXPECT_TRUE(contains(result.error->message(), "failing"));
  EXPECT_TRUE(contains(result.error->message(), "disk on fire"));
  EXPECT_EQ(result.messages.size(), 5u);
  EXPECT_EQ(result.usage.total(), 34);
  EXPECT_EQ(model->requests().size(), 2u);
  expect_legal(result.messages);
}

TEST(ErrorPolicyCases, ARetryIsTheModelsAlsoWhereFailuresAreFatal) {
  Rig rig(scripted({calls("picky"), says("done")}));
  give_picky(rig, {.on_error = OnError::fail_run});
  EXPECT_EQ(rig.run("go").text, "done");
}

TEST(ErrorPolicyCases, ACancelledRunIsCancelledThoughItsToolIsFatal) {
  Rig rig(scripted({calls("hang"), says("never")}));
  rig.harness->tool("hang", "Hangs",
                    [](const Context& ctx) -> Task<Result<std::string>> {
                      const Until until{.cancel = ctx.cancel()};
                      const Woken woken = co_await sleep_for(std::chrono::hours(9), until);
                      co_return Failure(wait_error(woken, until, "nothing"));
                    },
                    {.on_error = OnError::fail_run});
  tug::Run run = rig.harness->start("go");
  rig.engine->advance(milliseconds(10));
  run.cancel();
  EXPECT_EQ(run.wait().stop, StopReason::cancelled);
}

TEST(ResultCases, ALongResultIsCutInTheMiddleAndSaysSo) {
  auto model = testkit::recording(scripted({calls("talk"), says("done")}));
  Rig rig(model);
  rig.harness->inline_tool("talk", "Talks",
                           [] { return "begin" + std::string(100'000, 'x') + "end"; },
                           {.result = {.max_bytes = 1000}});
  (void)rig.run("go");
  const ToolResult& kept = *told(*model, 1)[0];
  EXPECT_LE(kept.content.size(), 1000u);
  EXPECT_TRUE(kept.content.starts_with("begin"));
  EXPECT_TRUE(kept.content.ends_with("end"));
  EXPECT_TRUE(kept.metadata["truncated"].as_bool());
  EXPECT_EQ(kept.metadata["bytes"].as_int(), 100'008);
}

TEST(ResultCases, NoResultIsLongerThanAMegabyte) {
  Rig rig(scripted({calls("talk"), says("done")}));
  rig.harness->inline_tool("talk", "Talks", [] { return std::string(3u << 20, 'x'); });
  EXPECT_LE(rig.run("go").tool_calls.at(0).result.content.size(), 1u << 20);
}

TEST(ResultCases, BytesThatAreNoTextAreMadeOne) {
  Rig rig(scripted({calls("talk"), says("done")}));
  rig.harness->inline_tool("talk", "Talks", [] { return std::string("a\xff\xfe z"); });
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.tool_calls.at(0).result.content, "a\xef\xbf\xbd\xef\xbf\xbd z");
}

TEST(ProgressCases, AToolTellsHowFarItHasComeWhileItRuns) {
  Rig rig(scripted({calls("work"), says("done")}));
  rig.harness->tool("work", "Works", [](Invocation& call) {
    call.progress(Json::object({{"done", 1}}));
    call.progress(Json::object({{"done", 2}}));
    return "finished";
  });
  EXPECT_EQ(rig.run("go").text, "done");
  const auto steps = events_of(*rig.seen, Kind::tool_progress);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1]->data["progress"]["done"].as_int(), 2);
  EXPECT_EQ(steps[1]->data["tool"].as_string(), "work");
  EXPECT_EQ(steps[1]->data["call_id"], rig.seen->find(Kind::tool_started)->data["call_id"]);
  EXPECT_GT(steps[1]->live, 0u) << "it is not in the journal";
}

struct Account {
  std::string owner;
};
struct Payment {
  int amount = 0;
  Injected<Account> account;
};

TEST(InjectedCases, AModelNeitherSeesNorForgesWhatTheProgramFills) {
  auto model = testkit::recording(
      scripted({calls("pay", R"({"amount":5,"account":{"owner":"mallory"}})"), says("done")}));
  Rig rig(model);
  rig.harness->inline_tool("pay", "Pays", [](const Payment& payment) {
    return payment.account->owner + " pays " + std::to_string(payment.amount);
  });
  RunOptions options;
  options.give(Account{"alice"});
  const RunResult result = rig.run("go", options);
  EXPECT_EQ(result.tool_calls.at(0).result.content, "alice pays 5");
  EXPECT_FALSE(contains(print_json(model->requests()[0].tools->at(0)->parameters), "account"));
  const Event* forged = rig.seen->find(Kind::tool_forged_argument);
  ASSERT_TRUE(forged);
  EXPECT_EQ(forged->data["field"].as_string(), "$.account");
  EXPECT_EQ(rig.seen->find(Kind::tool_started)->data["arguments"], Json::object({{"amount", 5}}));
}

// TH 10
TEST(ToolListCases, AToolRemovedWhileARunGoesOnStaysWithIt) {
  auto model = testkit::recording(scripted({calls("drop"), calls("shout", kGo), says("done")}));
  Rig rig(model);
  Harness& harness = *rig.harness;
  harness.inline_tool("shout", "Shouts", shout);
  harness.inline_tool("drop", "Removes a tool", [&harness] { return harness.remove("shout"); });
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.tool_calls.at(1).result.content, "go!");
  for (const ModelRequest& request : model->requests()) EXPECT_EQ(request.tools->size(), 2u);
  (void)harness.run("again");
  EXPECT_EQ(model->requests().back().tools->size(), 1u);
  EXPECT_FALSE(harness.remove("shout"));
}

// B18
TEST(ToolListCases, TwoToolsOfOneNameAreAnErrorThatShowsBothOrigins) {
  Rig rig(scripted({says("never")}));
  ToolSpec spec{.name = "shout", .description = "From a file"};
  spec.origin.uri = "file:///tools/shout.json";
  rig.harness->inline_tool("shout", "Shouts", shout);
  rig.harness->add(make_tool(std::move(spec), [](const Json&, Invocation&) -> Result<ToolResult> {
    return ToolResult::text("x");
  }));
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_TRUE(contains(result.error->message(), "\"shout\""));
  EXPECT_TRUE(contains(result.error->message(), "file:///tools/shout.json"));
  EXPECT_TRUE(contains(result.error->message(), "built in"));
  EXPECT_TRUE(rig.seen->events.empty()) << "nothing was started";
}

TEST(ToolListCases, ARemovedNameMayBeUsedAgain) {
  Rig rig(scripted({calls("shout", kGo), says("done")}));
  rig.harness->inline_tool("shout", "Shouts", shout);
  EXPECT_TRUE(rig.harness->remove("shout"));
  rig.harness->inline_tool("shout", "Whispers", [](const Words& words) { return words.text; });
  EXPECT_EQ(rig.run("go").tool_calls.at(0).result.content, "go");
}

TEST(ToolListCases, RemovingANameThatWasTakenTwiceMakesTheHarnessUsableAgain) {
  Rig rig(scripted({calls("shout", kGo), says("done")}));
  const auto whisper = [](const Words& words) { return words.text; };
  rig.harness->inline_tool("shout", "Shouts", shout);
  rig.harness->inline_tool("shout", "Whispers", whisper);
  EXPECT_EQ(rig.run("go").status, RunStatus::failed);
  EXPECT_TRUE(rig.harness->remove("shout"));
  rig.harness->inline_tool("shout", "Whispers", whisper);
  EXPECT_EQ(rig.run("go").tool_calls.at(0).result.content, "go");
}

TEST(ToolListCases, FinalResultIsNoNameForATool) {
  Rig rig(scripted({says("never")}));
  rig.harness->inline_tool("final_result", "Takes the answer", shout);
  EXPECT_TRUE(contains(rig.run("go").error->message(), "final_result"));
}

TEST(ToolListCases, ARunMayHaveSomeOfTheToolsAndNoOthers) {
  auto model = testkit::recording(scripted({calls("shout", kGo), says("done")}));
  Rig rig(model);
  rig.harness->inline_tool("shout", "Shouts", shout);
  rig.harness->inline_tool("look", "Looks", [] { return "seen"; });
  const RunResult result = rig.run("go", {.tools = {{"look"}}});
  EXPECT_EQ(model->requests()[0].tools->size(), 1u);
  EXPECT_EQ(error_type_of(result.tool_calls.at(0)), "UnknownTool");
  const RunResult wrong = rig.harness->run("go", {.tools = {{"lok"}}});
  EXPECT_TRUE(contains(to_string(*wrong.error), "look"));
}

TEST(ToolListCases, AToolForCodeAloneIsUnknownToAModel) {
  auto model = testkit::recording(scripted({calls("inner"), says("done")}));
  Rig rig(model);
  rig.harness->inline_tool("inner", "For code", [] { return "x"; },
                           {.visibility = Visibility::code});
  const RunResult result = rig.run("go");
  EXPECT_TRUE(model->requests()[0].tools->empty());
  EXPECT_EQ(error_type_of(result.tool_calls.at(0)), "UnknownTool");
}

TEST(HostileCases, ArgumentsThatAreNotUtf8AreMadeSo) {
  Rig rig(scripted({calls("shout", "{\"text\":\"\xff\"}"), says("done")}));
  rig.harness->inline_tool("shout", "Shouts", shout);
  EXPECT_EQ(rig.run("go").tool_calls.at(0).result.content, "\xef\xbf\xbd!");
}

TEST(HostileCases, NamesAndArgumentsThatAreNoTextAreAnsweredAndRecorded) {
  const std::vector<ScriptCall> bad = {
      {"a", "sh\xff\x1b[2J", "{}"},
      {"c", "shout", std::string(100'000, '[')},
      {"d", "shout", std::string(9u << 20, ' ')},
      {"e", std::string(5000, 'x'), "{}"},
      {"f", "", ""},
  };
  for (const ScriptCall& call : bad) {
    Rig rig(scripted({calls({call}), says("done")}));
    rig.harness->inline_tool("shout", "Shouts", shout);
    const RunResult result = rig.run("go");
    EXPECT_EQ(result.text, "done") << call.id << (result.error ? to_string(*result.error) : "");
    EXPECT_EQ(rig.seen->count(Kind::tool_started), 0u) << call.id;
    ASSERT_EQ(result.tool_calls.size(), 1u) << call.id;
    EXPECT_LT(result.tool_calls[0].result.content.size(), 40'000u) << call.id;
    expect_legal(result.messages);
  }
}

TEST(ToolListCases, FinalResultIsUnknownWhereNoAnswerIsStructured) {
  Rig rig(scripted({calls("final_result", "{}"), says("done")}));
  EXPECT_EQ(error_type_of(rig.run("go").tool_calls.at(0)), "UnknownTool");
}

TEST(StreamCases, ReasoningAndArgumentsAreSeenAsTheyComeUnderTheIdOfTheirCall) {
  ScriptTurn turn = calls("shout", kGo);
  turn.reasoning = "let me think";
  Rig rig(scripted({turn, says("done")}));
  rig.harness->inline_tool("shout", "Shouts", shout);
  (void)rig.run("go");
  std::string reasoning;
  std::string arguments;
  const Json& id = rig.seen->find(Kind::tool_started)->data["call_id"];
  for (const Event* delta : events_of(*rig.seen, Kind::model_delta)) {
    reasoning += delta->data["reasoning"].as_string();
    if (!delta->data.contains("tool_call")) continue;
    EXPECT_EQ(delta->data["tool_call"]["call_id"], id);
    arguments += delta->data["tool_call"]["arguments"].as_string();
  }
  EXPECT_EQ(reasoning, "let me think");
  EXPECT_EQ(arguments, kGo);
}

}  // namespace
}  // namespace tug
