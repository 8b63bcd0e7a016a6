#include "agent/testing.h"
#include "core/try.h"
#include "tug/core/scope.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::says;
using testkit::scripted;
using testkit::slow;

std::string shout(const Words& words) { return words.text + "!"; }

TEST(Harness, HelloWorldOnTheRealEngine) {
  Harness harness{scripted({calls("shout", R"({"text":"Oslo"})"), says("sun")})};
  harness.tool("shout", "Shouts", shout);
  const RunResult result = harness.run("weather?");
  EXPECT_EQ(result.text, "sun");
  EXPECT_EQ(result.tool_calls[0].result.content, "Oslo!");
}

TEST(Harness, AnyNumberOfRunsAtOnceFromManyThreads) {
  Harness harness{testkit::echo()};
  std::vector<tug::Run> runs;
  for (int i = 0; i < 200; ++i) runs.push_back(harness.start("run " + std::to_string(i)));
  for (int i = 0; i < 200; ++i) EXPECT_EQ(runs[i].wait().text, "run " + std::to_string(i));
}

TEST(Harness, EventsAreIteratedToTheTerminalOne) {
  Harness harness{scripted({calls("shout", R"({"text":"a"})"), says("b")})};
  harness.tool("shout", "Shouts", shout);
  tug::Run run = harness.start("go");
  std::vector<std::string> kinds;
  for (const Event& event : run.events()) {
    if (event.live == 0) kinds.emplace_back(event.name());
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"run.started", "model.started", "model.completed",
                                             "tool.started", "tool.completed", "model.started",
                                             "model.completed", "run.completed"}));
  EXPECT_EQ(run.wait().text, "b");
  EXPECT_EQ(run.status().status, RunStatus::completed);
  EXPECT_EQ(run.status().turn, 2u);
}

TEST(Harness, ALaggingReaderLosesLiveEventsAndNeverRecords) {
  Rig rig(testkit::streaming(std::string(3 * kEventBacklog, 'x'), 1, std::chrono::seconds(1)));
  tug::Run run = rig.harness->start("go");
  std::size_t records = 0;
  std::size_t live = 0;
  if (auto first = run.next_event()) ++records;
  (void)run.wait();
  while (auto event = run.next_event()) ++(event->live ? live : records);
  EXPECT_EQ(records, 4u);
  EXPECT_LE(live, kEventBacklog);
  EXPECT_GT(live, 0u);
}

TEST(Harness, NoDeltaIsLostHoweverLateTheReaderComes) {
  Rig rig(testkit::streaming("hello world", 4));
  tug::Run run = rig.harness->start("go");
  (void)run.wait();
  std::string text;
  for (const Event& event : run.events()) {
    if (event.kind == Kind::model_delta) text += event.data["text"].as_string();
  }
  EXPECT_EQ(text, "hello world");
}

TEST(Harness, EventsAskedForAfterTheEndAreReadBackFromTheJournal) {
  Rig rig(scripted({calls("shout", R"({"text":"a"})"), says("b")}));
  rig.harness->tool("shout", "Shouts", shout);
  tug::Run run = rig.harness->start("go", {.observers = {rig.seen}, .keep_events = false});
  (void)run.wait();
  std::vector<std::string> kinds;
  while (auto event = run.next_event()) kinds.emplace_back(event->name());
  EXPECT_EQ(kinds, rig.seen->kinds());
  EXPECT_FALSE(run.next_event());
}

TEST(Harness, EventsAskedForInTheMiddleStartWithTheFirst) {
  Rig rig(slow(std::chrono::seconds(5), says("late")));
  tug::Run run = rig.harness->start("go", {.keep_events = false});
  rig.engine->advance(std::chrono::seconds(1));
  std::vector<std::string> kinds;
  while (auto event = run.next_event()) {
    if (event->live == 0) kinds.emplace_back(event->name());
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"run.started", "model.started", "model.completed",
                                             "run.completed"}));
}

TEST(Harness, DroppingTheLastHandleCancelsAndTheHarnessRunsOn) {
  auto seen = std::make_shared<SeenEvents>();
  Rig rig(slow(std::chrono::hours(1), says("late")));
  {
    tug::Run run = rig.harness->start("go", {.observers = {seen}});
    tug::Run copy = run;
    rig.engine->advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(seen->kinds().back(), "run.cancelled");
  EXPECT_EQ(rig.harness->run("again").text, "late");
}

TEST(Harness, ADetachedRunGoesOn) {
  auto seen = std::make_shared<SeenEvents>();
  Rig rig(slow(std::chrono::seconds(5), says("late")));
  rig.harness->start("go", {.observers = {seen}}).detach();
  rig.engine->run_until_idle();
  EXPECT_EQ(seen->kinds().back(), "run.completed");
}

TEST(Harness, AClosedHarnessSaysSo) {
  auto seen = std::make_shared<SeenEvents>();
  Rig rig(slow(std::chrono::hours(1), says("late")));
  tug::Run run = rig.harness->start("go", {.observers = {seen}});
  run.detach();
  rig.engine->advance(std::chrono::seconds(1));
  rig.harness->close();
  EXPECT_EQ(run.wait().status, RunStatus::cancelled);
  EXPECT_NE(rig.harness->run("more").error->message().find("closed"), std::string::npos);
}

TEST(Harness, ABadToolNameIsTheErrorOfEveryRun) {
  Harness harness{scripted({says("x")})};
  harness.tool("no spaces", "Bad", shout);
  const RunResult result = harness.run("go");
  ASSERT_TRUE(result.error);
  EXPECT_NE(result.error->message().find("no spaces"), std::string::npos);
}

TEST(Harness, RunOnAThreadOfTheEngineNamesRunAsync) {
  Harness harness{scripted({calls("nested"), says("done")})};
  harness.inline_tool("nested", "Calls run()", [&harness] {
    const RunResult inner = harness.run("inner");
    return inner.error ? to_string(*inner.error) : inner.text;
  });
  const RunResult result = harness.run("go");
  EXPECT_NE(result.tool_calls[0].result.content.find("run_async"), std::string::npos);
}

TEST(Harness, ABlockingToolThatCallsRunIsToldToo) {
  Harness harness{scripted({calls("nested"), says("done")})};
  harness.tool("nested", "Calls run()", [&harness] {
    const RunResult inner = harness.run("inner");
    return inner.error ? to_string(*inner.error) : inner.text;
  });
  const RunResult result = harness.run("go");
  EXPECT_NE(result.tool_calls[0].result.content.find("run_async"), std::string::npos);
}

Task<std::string> ask_inner(Harness* inner, Context ctx) {
  auto asking = inner->run_async(ctx, "inner prompt");
  RunResult result = co_await std::move(asking);
  co_return result.error ? to_string(*result.error) : result.text;
}

TEST(Harness, ARunInsideAContextIsAChildOnTheSameJournalAndBudget) {
  ScriptTurn inner_turn = says("from below");
  inner_turn.usage = {.input_tokens = 7, .output_tokens = 3};
  ScriptTurn outer_turn = calls("ask");
  outer_turn.usage = {.input_tokens = 100, .output_tokens = 10};
  Rig inner(scripted({inner_turn}));
  Rig rig(scripted({outer_turn, says("done")}));
  Harness* below = inner.harness.get();
  rig.harness->tool("ask", "Asks another agent",
                    [below](Context& ctx) { return ask_inner(below, ctx); });
  const RunResult result = rig.run("outer prompt", {.inherited_tags = {"family"}});
  EXPECT_EQ(result.tool_calls[0].result.content, "from below");
  EXPECT_EQ(result.usage.input_tokens, 107);
  EXPECT_EQ(result.own.usage.input_tokens, 100);
  const Event* child = nullptr;
  for (const Event& event : rig.seen->events) {
    if (event.kind == Kind::run_started && event.who->depth == 1) child = &event;
  }
  ASSERT_TRUE(child);
  EXPECT_EQ(child->who->parent_run_id, result.id);
  EXPECT_EQ(child->who->root_run_id, result.id);
  EXPECT_EQ(child->who->thread_id, result.thread);
  EXPECT_EQ(child->who->parent_call_id, result.tool_calls[0].id);
  EXPECT_TRUE(inner.store->list(10)->empty()) << "nothing in the other harness's journal";
  auto folded = fold_root(*rig.store, result.id);
  ASSERT_TRUE(folded) << to_string(folded.error());
  ASSERT_EQ(folded->runs.size(), 2u);
  EXPECT_EQ(folded->runs[0].children, (std::vector<std::size_t>{1}));
  EXPECT_EQ(folded->runs[0].result.usage, result.usage);
  EXPECT_EQ(folded->runs[1].result.text, "from below");
  EXPECT_EQ(find_run(*rig.store, child->who->run_id.text())->root, result.id);
}

Task<std::string> start_inner(Harness* inner, Context ctx) {
  Run child = inner->start(ctx, "inner prompt");
  child.detach();
  co_return "started " + child.id().text();
}

TEST(Harness, AStartedChildIsJoinedBeforeItsParentEnds) {
  Rig inner(slow(std::chrono::seconds(30), says("late")));
  Rig rig(scripted({calls("begin"), says("done")}));
  Harness* below = inner.harness.get();
  rig.harness->tool("begin", "Starts another agent",
                    [below](Context& ctx) { return start_inner(below, ctx); });
  const RunResult result = rig.run("outer");
  EXPECT_EQ(result.text, "done");
  std::vector<std::string> ends;
  for (const Event& event : rig.seen->events) {
    if (event.kind == Kind::run_completed) {
      ends.push_back(std::to_string(event.who->depth));
    }
  }
  EXPECT_EQ(ends, (std::vector<std::string>{"1", "0"}));
  EXPECT_GE(result.duration_ms, 30'000);
}

TEST(Harness, CancellingTheParentReachesTheChildAndAwaitsIt) {
  Rig inner(slow(std::chrono::hours(1), says("late")));
  Rig rig(scripted({calls("ask"), says("done")}));
  Harness* below = inner.harness.get();
  rig.harness->tool("ask", "Asks another agent",
                    [below](Context& ctx) { return ask_inner(below, ctx); });
  tug::Run run = rig.harness->start("outer", {.observers = {rig.seen}});
  rig.engine->advance(std::chrono::seconds(1));
  run.cancel();
  EXPECT_EQ(run.wait().status, RunStatus::cancelled);
  EXPECT_EQ(rig.seen->count(Kind::run_cancelled), 2u);
}

TEST(Harness, ClosingAHarnessEndsItsRunsInsideOtherTrees) {
  auto inner = std::make_unique<Rig>(slow(std::chrono::hours(1), says("late")));
  Rig rig(scripted({calls("ask"), says("done")}));
  Harness* below = inner->harness.get();
  rig.harness->tool("ask", "Asks another agent",
                    [below](Context& ctx) { return ask_inner(below, ctx); });
  tug::Run run = rig.harness->start("outer", {.observers = {rig.seen}});
  rig.engine->advance(std::chrono::seconds(1));
  inner.reset();
  const RunResult result = run.wait();
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(rig.seen->count(Kind::run_cancelled), 1u);
}

TEST(Harness, RunAsyncRunsARootOnTheCallingLoop) {
  Rig rig(scripted({says("hello")}));
  auto asking = rig.harness->run_async("hi");
  auto result = rig.engine->run(rig.engine->loop(0), std::move(asking));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text, "hello");
  EXPECT_EQ(rig.store->info(result->id)->status, RootStatus::completed);
}

TEST(Resume, AFinishedRunGoesOnAsANewRunOfItsThread) {
  auto model = testkit::recording(scripted({calls("shout", R"({"text":"a"})"), says("first"),
                                            calls("shout", R"({"text":"b"})"), says("second")}));
  Rig rig(model);
  rig.harness->tool("shout", "Shouts", shout);
  const RunResult first = rig.run("one");
  tug::Run next = rig.harness->resume(first.id, "two");
  const RunResult second = next.wait();
  EXPECT_NE(second.id, first.id);
  EXPECT_EQ(next.id(), second.id);
  EXPECT_EQ(second.thread, first.thread);
  ASSERT_EQ(second.messages.size(), 8u);
  EXPECT_EQ(second.messages[3]->text(), "first");
  EXPECT_EQ(second.messages[4]->text(), "two");
  expect_legal(second.messages);
  EXPECT_NE(second.tool_calls[0].id, first.tool_calls[0].id) << "ids count on from the base";
  EXPECT_TRUE(verify_root(*rig.store, second.id));
  auto folded = fold_root(*rig.store, second.id);
  ASSERT_TRUE(folded) << to_string(folded.error());
  EXPECT_EQ(folded->runs[0].result.messages, second.messages);
  EXPECT_EQ(folded->info.base->root, first.id);
}

TEST(Resume, ALongThreadFoldsThroughAllItsBases) {
  Rig rig(testkit::echo());
  RunResult last = rig.run("prompt 0");
  for (int i = 1; i < 50; ++i) {
    last = rig.harness->resume(last.id, "prompt " + std::to_string(i)).wait();
    ASSERT_EQ(last.status, RunStatus::completed) << to_string(*last.error);
  }
  EXPECT_EQ(last.messages.size(), 100u);
  EXPECT_EQ(last.text, "prompt 49");
}

TEST(Resume, ACancelledRunGoesOnUnderItsOwnIdWhereItStood) {
  Rig rig(scripted({calls("shout", R"({"text":"a"})"), says("late")}));
  tug::Run run;
  rig.harness->inline_tool("shout", "Shouts and stops", [&run](const Words& words) {
    run.cancel();
    return words.text;
  });
  run = rig.harness->start("go");
  const RunResult cancelled = run.wait();
  ASSERT_EQ(cancelled.status, RunStatus::cancelled);
  tug::Run again = rig.harness->resume(cancelled.id, "", {.observers = {rig.seen}});
  const RunResult result = again.wait();
  EXPECT_EQ(result.id, cancelled.id);
  EXPECT_EQ(result.status, RunStatus::completed) << to_string(*result.error);
  EXPECT_EQ(result.text, "late");
  EXPECT_EQ(result.counts.model_calls, 2);
  EXPECT_EQ(result.counts.tool_calls, 1);
  EXPECT_EQ(rig.seen->count(Kind::run_resumed), 1u);
  EXPECT_TRUE(verify_root(*rig.store, result.id));
}

TEST(Resume, APausedRunGoesOnAndAPromptIsToldFirst) {
  auto model = testkit::recording(scripted({calls("pause"), says("after")}));
  Rig rig(model);
  tug::Run run;
  rig.harness->inline_tool("pause", "Pauses the run", [&run] {
    run.pause("shutdown");
    return "pausing";
  });
  run = rig.harness->start("go", {.observers = {rig.seen}});
  const RunResult paused = run.wait();
  EXPECT_EQ(paused.status, RunStatus::parked);
  EXPECT_EQ(paused.stop, StopReason::paused);
  EXPECT_EQ(exit_code(paused), 8);
  EXPECT_EQ(rig.seen->events.back().data["reason"].as_string(), "shutdown");
  EXPECT_EQ(rig.store->info(paused.id)->status, RootStatus::parked);
  const RunResult result = rig.harness->resume(paused.id, "and be quick").wait();
  EXPECT_EQ(result.id, paused.id);
  EXPECT_EQ(result.text, "after");
  EXPECT_EQ(model->requests().back().transcript.back()->text(), "and be quick");
}

TEST(Resume, EventsAreThoseOfItsOwnSegmentWheneverTheyAreAskedFor) {
  Rig rig(scripted({calls("pause"), says("after")}));
  tug::Run run;
  rig.harness->inline_tool("pause", "Pauses the run", [&run] {
    run.pause("shutdown");
    return "pausing";
  });
  run = rig.harness->start("go");
  ASSERT_EQ(run.wait().status, RunStatus::parked);
  // Kept by nobody: read back from the journal, which holds the earlier segment too.
  tug::Run again = rig.harness->resume(run.id(), "", {.keep_events = false});
  ASSERT_EQ(again.wait().status, RunStatus::completed);
  std::vector<std::string> kinds;
  while (auto event = again.next_event()) kinds.emplace_back(event->name());
  EXPECT_EQ(kinds, (std::vector<std::string>{"run.resumed", "model.started", "model.completed",
                                             "run.completed"}));
}

TEST(Resume, AFinishedRunWithNothingLeftNeedsAPrompt) {
  Rig rig(scripted({says("x")}));
  const RunResult first = rig.run("one");
  const RunResult result = rig.harness->resume(first.id).wait();
  ASSERT_TRUE(result.error);
  EXPECT_NE(result.error->fix().find("prompt"), std::string::npos);
}

TEST(Resume, LimitsAndSpendingStandAsTheyStood) {
  Rig rig(scripted({calls("pause"), calls("shout", R"({"text":"x"})"), says("never")}));
  tug::Run run;
  rig.harness->tool("shout", "Shouts", shout);
  rig.harness->inline_tool("pause", "Pauses the run", [&run] {
    run.pause("x");
    return "pausing";
  });
  run = rig.harness->start("go", {.limits = {.max_turns = 2}});
  ASSERT_EQ(run.wait().status, RunStatus::parked);
  const RunResult result = rig.harness->resume(run.id()).wait();
  EXPECT_EQ(result.stop, StopReason::limit_reached);
  EXPECT_EQ(result.counts.model_calls, 2);
}

TEST(Resume, WhatItWasToldAnewHoldsForTheNextSegmentsToo) {
  Rig rig(scripted({calls("pause"), calls("pause"), calls("pause"), says("done")}));
  tug::Run run;
  rig.harness->inline_tool("pause", "Pauses the run", [&run] {
    run.pause("x");
    return "pausing";
  });
  run = rig.harness->start("go", {.limits = {.max_turns = 2, .max_tool_calls = 9}});
  ASSERT_EQ(run.wait().status, RunStatus::parked);
  const RunId id = run.id();
  run = rig.harness->resume(id, "", {.limits = {.max_turns = 4}});
  ASSERT_EQ(run.wait().status, RunStatus::parked);
  run = rig.harness->resume(id);
  ASSERT_EQ(run.wait().status, RunStatus::parked) << "the third turn is within the new limit";
  run = rig.harness->resume(id);
  EXPECT_EQ(run.wait().text, "done");
}

TEST(Fork, SharesHistoryUpToTheNearestQuietRecord) {
  Rig rig(scripted({calls("shout", R"({"text":"a"})"), says("first"), says("other end")}));
  rig.harness->tool("shout", "Shouts", shout);
  const RunResult first = rig.run("one");
  // Record 4 is the tool's start: an open call. The nearest quiet one is run.started.
  const RunResult early = rig.harness->fork(first.id, 4, "instead").wait();
  ASSERT_GE(early.messages.size(), 2u);
  EXPECT_EQ(early.messages[0]->text(), "one");
  EXPECT_EQ(early.messages[1]->text(), "instead");
  EXPECT_NE(early.thread, first.thread);
  const RunResult late = rig.harness->fork(first.id, 5, "").wait();
  EXPECT_EQ(*late.messages[2], *first.messages[2]);
  EXPECT_TRUE(verify_root(*rig.store, late.id));
}

struct Account {
  std::string owner;
};
struct Payment {
  int amount = 0;
  Injected<Account> account;
};

TEST(Options, GivenValuesReachInjectedFieldsOfTheRunAndOfRunsBelow) {
  const auto pay = [](const Payment& payment) { return payment.account->owner; };
  Rig inner(scripted({calls("pay", R"({"amount":1})"), says("paid below")}));
  inner.harness->tool("pay", "Pays", pay);
  Rig rig(scripted({calls({{"", "pay", R"({"amount":1})"}, {"", "ask", "{}"}}), says("done")}));
  Harness* below = inner.harness.get();
  rig.harness->tool("pay", "Pays", pay);
  rig.harness->tool("ask", "Asks another agent",
                    [below](Context& ctx) { return ask_inner(below, ctx); });
  RunOptions options;
  options.give(Account{"nobody"}).give(Account{"Ada"});
  const RunResult result = rig.run("go", options);
  EXPECT_EQ(result.tool_calls[0].result.content, "Ada");
  auto folded = fold_root(*rig.store, result.id);
  ASSERT_TRUE(folded) << to_string(folded.error());
  ASSERT_EQ(folded->runs.size(), 2u);
  EXPECT_EQ(folded->runs[1].result.tool_calls[0].result.content, "Ada");
}

TEST(Options, AreDataWithALosslessForm) {
  RunOptions options{.run_id = "r",
                     .thread_id = "t",
                     .agent = "a",
                     .model = "m/n",
                     .system_prompt = "s",
                     .tools = std::vector<std::string>{"x"},
                     .tags = {"one"},
                     .inherited_tags = {"two"},
                     .metadata = Json::object({{"k", 1}}),
                     .inherited_metadata = Json::object({{"l", 2}}),
                     .configurable = Json::object({{"c", true}}),
                     .limits = {.max_turns = 3, .max_cost = 0.5, .max_time = 1.5},
                     .timeout = 2.5,
                     .output_schema = Json::object({{"type", "object"}}),
                     .interactive = true};
  const Json json = to_json(options);
  auto back = run_options_from(json);
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(print_json(to_json(*back)), print_json(json));
  EXPECT_EQ(to_json(RunOptions{}), Json::object());
  EXPECT_TRUE(run_options_from(Json::object()));
  auto unknown = run_options_from(Json::object({{"modle", "x"}}));
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("modle"), std::string::npos);
}

TEST(Options, ReachTheContextOfTools) {
  Rig rig(scripted({calls("look"), says("done")}));
  rig.harness->inline_tool("look", "Looks at its context", [](Context& ctx) {
    Json tags = Json::array();
    for (const std::string& tag : ctx.tags()) tags.push_back(tag);
    return Json::object({{"tags", tags},
                         {"set", ctx.inherited().configurable},
                         {"interactive", ctx.interactive()},
                         {"tool", ctx.tool()->name},
                         {"turn", ctx.id().turn}});
  });
  const RunResult result = rig.run(
      "go",
      {.tags = {"mine"}, .inherited_tags = {"ours"}, .configurable = Json::object({{"k", 1}})});
  EXPECT_EQ(result.tool_calls[0].result.content,
            R"({"tags":["ours"],"set":{"k":1},"interactive":false,"tool":"look","turn":1})");
}

TEST(Options, AToolThatNeedsATerminalIsNotThereWithoutOne) {
  auto model = testkit::recording(scripted({calls("ask"), says("done")}));
  Rig rig(model);
  rig.harness->inline_tool("ask", "Asks a person", [] { return "asked"; },
                           {.needs_terminal = true});
  const RunResult result = rig.run("go");
  EXPECT_TRUE(model->requests()[0].tools->empty());
  EXPECT_EQ(rig.seen->count(Kind::tool_unknown), 1u);
  EXPECT_EQ(result.text, "done");
}

}  // namespace
}  // namespace tug
