// Code around tool calls, and code that ends or parks the run it is in: the cases of the
// references.
// TA: TinyAgents, TH: ThinHarness.
#include <stdexcept>

#include "agent/cases_testing.h"
#include "agent/probe_testing.h"
#include "tug/middleware/control.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::fails;
using testkit::says;
using testkit::scripted;

// TH 25
TEST(ToolHookCases, AFailureEndsTheRunAndStopsTheOthersOfItsTurn) {
  Rig rig(scripted({calls({{"a", "look", "{}"}, {"b", "hang", "{}"}}), says("never")}));
  give_look(rig);
  rig.harness->tool("hang", "Hangs", [](const Context& ctx) -> Task<Result<std::string>> {
    const Until until{.cancel = ctx.cancel()};
    const Woken woken = co_await sleep_for(std::chrono::hours(9), until);
    co_return Failure(wait_error(woken, until, "nothing"));
  });
  auto strict = probe("strict");
  strict->before_tool = [](Context&, ToolInput& input) {
    if (input.tool->name() == "look") throw std::runtime_error("no looking");
  };
  rig.harness->use(strict);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_EQ(result.stop, StopReason::error);
  EXPECT_TRUE(contains(result.error->message(), "no looking")) << result.error->message();
  EXPECT_EQ(result.duration_ms, 0);
  EXPECT_EQ(result.counts.tool_calls, 2);
  EXPECT_EQ(result.counts.cancelled_tool_calls, 0);
  EXPECT_EQ(result.tool_calls[1].result.metadata["error_type"].as_string(), "Cancelled");
  expect_legal(result.messages);
}

// TH 20
TEST(ToolHookCases, WhatTheModelReadsCanBeRewrittenButNotHowItCounts) {
  for (const std::uint32_t budget : {0u, 1u}) {
    auto model = testkit::recording(scripted({calls("picky"), says("done")}));
    Rig rig(model, 1, {.defaults = {.tool_retries = budget}});
    rig.harness->inline_tool("picky", "Wants other arguments",
                             []() -> std::string { throw ModelRetry("other words"); });
    std::string seen;
    auto rewrites = probe("rewrites");
    rewrites->after_tool = [&seen](Context&, ToolResult& result) {
      seen = result.metadata["error_type"].as_string();
      result = ToolResult::text("all is well");
    };
    rig.harness->use(rewrites);
    const RunResult result = rig.run("go");
    EXPECT_EQ(seen, "ModelRetry");
    EXPECT_EQ(result.counts.tool_retries, (std::map<std::string, std::int64_t>{{"picky", 1}}));
    EXPECT_EQ(result.stop, budget ? StopReason::end_turn : StopReason::tool_retries_exceeded);
    ASSERT_EQ(model->requests().size(), budget ? 2u : 1u);
    if (budget) {
      EXPECT_EQ(model->requests()[1].transcript.back()->tool_results()[0]->content, "all is well");
    }
  }
}

TEST(ToolHookCases, ArgumentsAreSetOnceAndChangingThemChangesNothing) {
  Rig rig(scripted({calls("shout", R"({"text":"go"})"), says("done")}));
  rig.harness->inline_tool("shout", "Shouts", [](const Words& words) { return words.text + "!"; });
  auto meddles = probe("meddles");
  meddles->before_tool = [](Context&, ToolInput& input) {
    input.args = Json::object({{"text", "stop"}});
  };
  rig.harness->use(meddles);
  EXPECT_EQ(rig.run("go").tool_calls.at(0).result.content, "go!");
}

TEST(ToolHookCases, ARewrittenResultIsBoundedToo) {
  Rig rig(scripted({calls("look"), says("done")}));
  give_look(rig);
  auto talks = probe("talks");
  talks->after_tool = [](Context&, ToolResult& result) {
    result.content = std::string(3u << 20, 'x') + "\xff";
  };
  rig.harness->use(talks);
  EXPECT_LE(rig.run("go").tool_calls.at(0).result.content.size(), 1u << 20);
}

// TA 20
TEST(ControlCases, StoppingWithAFinalTextAsksTheModelNoMore) {
  auto model = testkit::recording(scripted({calls("enough"), says("never")}));
  Rig rig(model);
  rig.harness->inline_tool("enough", "Ends the run", [](const Context& ctx) {
    stop_with_final(ctx, "that is all");
    return "stopping";
  });
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.stop, StopReason::end_turn);
  EXPECT_EQ(result.text, "that is all");
  EXPECT_EQ(model->requests().size(), 1u);
  EXPECT_EQ(result.tool_calls.at(0).result.content, "stopping");
  const Event* applied = rig.seen->find(Kind::control_applied);
  ASSERT_TRUE(applied);
  EXPECT_EQ(applied->data["control"].as_string(), "stop_with_final");
  EXPECT_EQ(applied->data["detail"].as_string(), "that is all");
  expect_legal(result.messages);
}

// TA 20
TEST(ControlCases, AnInterruptWinsOverAFinalText) {
  Rig rig(scripted({calls("both"), says("after all")}));
  rig.harness->inline_tool("both", "Wants both", [](const Context& ctx) {
    stop_with_final(ctx, "that is all");
    interrupt(ctx, "ask somebody");
    return "hm";
  });
  const RunResult parked = rig.run("go");
  EXPECT_EQ(parked.status, RunStatus::parked);
  EXPECT_EQ(parked.stop, StopReason::paused);
  EXPECT_EQ(exit_code(parked), 8);
  EXPECT_EQ(rig.seen->events.back().data["reason"].as_string(), "ask somebody");
  const RunResult result = rig.harness->resume(parked.id).wait();
  EXPECT_EQ(result.text, "after all");
}

TEST(ControlCases, TheFirstOfSeveralFinalTextsCounts) {
  Rig rig(scripted({calls("twice"), says("never")}));
  rig.harness->inline_tool("twice", "Says two things", [](const Context& ctx) {
    stop_with_final(ctx, "one");
    stop_with_final(ctx, "two");
    return "said";
  });
  EXPECT_EQ(rig.run("go").text, "one");
}

TEST(ControlCases, AFinalTextFromAroundTheModelAnswersTheCallsOfItsTurn) {
  Rig rig(scripted({calls("look"), says("never")}));
  give_look(rig);
  auto stops = probe("stops");
  stops->after_model = [](Context& ctx, ModelTurn&) { stop_with_final(ctx, "enough"); };
  rig.harness->use(stops);
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "enough");
  EXPECT_EQ(rig.seen->count(Kind::tool_started), 0u);
  expect_legal(result.messages);
}

TEST(ControlCases, AnInterruptDuringTheLastTurnParksTheRun) {
  auto model = testkit::recording(scripted({says("the answer"), says("never")}));
  Rig rig(model);
  auto parks = probe("parks");
  bool parked_before = false;
  parks->after_model = [&](Context& ctx, ModelTurn&) {
    if (!std::exchange(parked_before, true)) interrupt(ctx, "look at this first");
  };
  rig.harness->use(parks);
  const RunResult parked = rig.run("go");
  EXPECT_EQ(parked.status, RunStatus::parked);
  EXPECT_EQ(parked.text, "the answer");
  const RunResult result = rig.harness->resume(parked.id).wait();
  EXPECT_EQ(result.stop, StopReason::end_turn);
  EXPECT_EQ(result.text, "the answer") << "it is not asked for again";
  EXPECT_EQ(model->requests().size(), 1u);
}

TEST(ControlCases, AnInterruptBesideAStructuredAnswerParksTheRunWithIt) {
  auto model = testkit::recording(scripted({calls("final_result", R"({"n":1})"), says("never")}));
  Rig rig(model);
  auto parks = probe("parks");
  parks->after_model = [](Context& ctx, ModelTurn&) { interrupt(ctx, "look at this first"); };
  rig.harness->use(parks);
  const RunResult parked = rig.run("go", {.output_schema = Json::object({{"type", "object"}})});
  EXPECT_EQ(parked.status, RunStatus::parked);
  expect_legal(parked.messages);
  const RunResult result = rig.harness->resume(parked.id).wait();
  EXPECT_EQ(result.stop, StopReason::end_turn);
  EXPECT_EQ(result.output, Json::object({{"n", 1}}));
  EXPECT_EQ(model->requests().size(), 1u);
}

TEST(ControlCases, AnInterruptBesideCallsParksTheRunOnceTheyAreAnswered) {
  auto model = testkit::recording(scripted({calls("look"), says("done")}));
  Rig rig(model);
  give_look(rig);
  auto parks = probe("parks");
  bool parked_before = false;
  parks->after_model = [&](Context& ctx, ModelTurn&) {
    if (!std::exchange(parked_before, true)) interrupt(ctx, "wait");
  };
  rig.harness->use(parks);
  const RunResult parked = rig.run("go");
  EXPECT_EQ(parked.status, RunStatus::parked);
  EXPECT_EQ(parked.tool_calls.at(0).result.content, "seen");
  expect_legal(parked.messages);
  EXPECT_EQ(rig.harness->resume(parked.id).wait().text, "done");
}

TEST(ControlCases, BeforeTheFirstModelCallTheyWorkToo) {
  auto model = testkit::recording(scripted({says("done")}));
  Rig rig(model);
  auto first = probe("first");
  first->before_run = [](Context& ctx, RunInput&) { stop_with_final(ctx, "no need"); };
  const RunResult final = rig.run("go", {.middleware = {first}});
  EXPECT_EQ(final.text, "no need");
  EXPECT_TRUE(model->requests().empty());
  first->before_run = [](Context& ctx, RunInput& input) {
    if (!input.resumed) interrupt(ctx, "not yet");
  };
  const RunResult parked = rig.harness->run("go", {.middleware = {first}});
  EXPECT_EQ(parked.status, RunStatus::parked);
  EXPECT_TRUE(model->requests().empty());
  EXPECT_EQ(rig.harness->resume(parked.id).wait().text, "done");
}

TEST(ControlCases, AChildThatIsStoppedWithAFinalTextDoesNotStopItsParent) {
  Rig rig(scripted({calls("child"), calls("enough"), says("outer")}));
  give_child(rig);
  rig.harness->inline_tool("enough", "Ends its run", [](const Context& ctx) {
    stop_with_final(ctx, "inner");
    return "stopping";
  });
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "outer");
  EXPECT_EQ(result.tool_calls.at(0).result.content, "inner");
}

TEST(ControlCases, AnInterruptBelowParksTheRootOnceTheChildHasEnded) {
  Rig rig(scripted({calls("child"), calls("wait"), says("inner"), says("outer")}));
  give_child(rig);
  rig.harness->inline_tool("wait", "Parks the tree", [](const Context& ctx) {
    interrupt(ctx, "a person must look");
    return "soon";
  });
  const RunResult parked = rig.run("go");
  EXPECT_EQ(parked.status, RunStatus::parked);
  EXPECT_EQ(parked.tool_calls.at(0).result.content, "inner") << "nothing of the child is lost";
  EXPECT_EQ(rig.harness->resume(parked.id).wait().text, "outer");
}

TEST(ControlCases, APauseLetsRunsBelowEndFirst) {
  Rig rig(scripted({calls("child"), says("inner"), says("outer")}));
  std::optional<tug::Run> run;
  rig.harness->tool("child", "Runs a child", [&](const Context& ctx) -> Task<std::string> {
    run->pause("later");
    auto running = rig.harness->run_async(ctx, "go on");
    RunResult result = co_await std::move(running);
    co_return result.text;
  });
  run = rig.harness->start("go");
  const RunResult parked = run->wait();
  EXPECT_EQ(parked.status, RunStatus::parked);
  EXPECT_EQ(parked.tool_calls.at(0).result.content, "inner");
  EXPECT_EQ(rig.harness->resume(parked.id).wait().text, "outer");
}

}  // namespace
}  // namespace tug
