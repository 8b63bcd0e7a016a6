// Tools called from code: the way of a model's call, without the model.
#include "tug/agent/invoke.h"

#include "agent/crash_testing.h"
#include "tug/journal/journal.h"
#include "tug/middleware/hooks.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::says;
using testkit::scripted;

class FromCode : public testing::Test {
 protected:
  // A run whose one tool call does what `body` does with its context.
  RunResult run(std::function<Task<std::string>(Context)> body, RunOptions options = {},
                ToolOptions tool = {}) {
    rig.harness->tool(
        "outer", "Calls others", [body](Context& ctx) { return body(ctx); }, std::move(tool));
    rig.harness->inline_tool("shout", "Shouts", [](const Words& words) { return words.text + "!"; },
                             {.visibility = Visibility::code});
    return rig.run("go", std::move(options));
  }
  std::vector<Json> starts() const {
    std::vector<Json> found;
    for (const Event& event : rig.seen->events) {
      if (event.kind == Kind::tool_started) found.push_back(event.data);
    }
    return found;
  }
  static Task<std::string> shout(Context ctx) {
    auto calling = invoke(ctx, "shout", Json::object({{"text", "hi"}}));
    const ToolResult result = co_await std::move(calling);
    co_return result.content;
  }

  Rig rig{scripted({calls("outer"), says("done")})};
};

TEST_F(FromCode, ACallIsRecordedCountedAndUnseenByTheModel) {
  const RunResult result = run(shout);
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.counts.tool_calls, 2);
  EXPECT_EQ(
      rig.seen->kinds(),
      (std::vector<std::string>{"run.started", "model.started", "model.completed", "tool.started",
                                "tool.started", "tool.completed", "tool.completed", "model.started",
                                "model.completed", "run.completed"}));
  const auto started = starts();
  ASSERT_EQ(started.size(), 2u);
  EXPECT_EQ(started[1]["tool"], Json("shout"));
  EXPECT_EQ(started[1]["called_by"], started[0]["call_id"]);
  EXPECT_NE(started[1]["call_id"], started[0]["call_id"]);
  ASSERT_EQ(result.messages.size(), 4u);
  EXPECT_EQ(result.messages[2]->tool_results()[0]->content, "hi!");
  EXPECT_EQ(result.messages[1]->tool_calls().size(), 1u);
  expect_legal(result.messages);
}

TEST_F(FromCode, AToolForCodeAloneIsNothingToTheModel) {
  Rig other(scripted({calls("shout", R"({"text":"x"})"), says("done")}));
  other.harness->inline_tool("shout", "Shouts", [](const Words& words) { return words.text; },
                             {.visibility = Visibility::code});
  EXPECT_EQ(other.run("go").text, "done");
  EXPECT_EQ(other.seen->count(Kind::tool_unknown), 1u);
}

TEST_F(FromCode, WhatGoesWrongIsAResult) {
  std::vector<std::string> said;
  const RunResult result = run(
      [&said](Context ctx) -> Task<std::string> {
        for (auto& [tool, args] : std::vector<std::pair<std::string, Json>>{
                 {"shot", Json::object()}, {"shout", Json::object({{"text", 1}})}}) {
          auto calling = invoke(ctx, tool, args);
          const ToolResult bad = co_await std::move(calling);
          said.emplace_back(bad.metadata["error_type"].as_string());
        }
        for (int i = 0; i < 2; ++i) {
          auto calling = invoke(ctx, "shout", Json::object({{"text", "a"}}));
          const ToolResult given = co_await std::move(calling);
          said.emplace_back(given.ok ? given.content : given.metadata["error_type"].as_string());
        }
        co_return "fine";
      },
      {.limits = {.max_tool_calls = 2}});
  EXPECT_EQ(said,
            (std::vector<std::string>{"UnknownTool", "ValidationError", "a!", "LimitReached"}));
  EXPECT_EQ(result.text, "done") << "the run itself goes on";
}

TEST_F(FromCode, AToolCallsOnlyWhatItIsAllowedTo) {
  const RunResult result = run(shout, {}, {.allowed_tools = std::vector<std::string>{"read"}});
  EXPECT_EQ(result.messages[2]->tool_results()[0]->content, R"("outer" may not call "shout")");
  EXPECT_EQ(result.counts.tool_calls, 1);
}

TEST_F(FromCode, ADetachedCallIsNoWayAroundThat) {
  const RunResult result = run(
      [](Context ctx) -> Task<std::string> {
        const DetachedCall call = invoke_detached(ctx, "shout", Json::object({{"text", "hi"}}));
        auto waiting = call.result();
        const ToolResult given = co_await std::move(waiting);
        co_return given.content;
      },
      {}, {.allowed_tools = std::vector<std::string>{"read"}});
  EXPECT_EQ(result.messages[2]->tool_results()[0]->content, R"("outer" may not call "shout")");
  EXPECT_EQ(result.counts.tool_calls, 1);
}

TEST_F(FromCode, TheSeedReachesTheCallAndNothingElse) {
  Json seen;
  rig.harness->tool(
      "look", "Looks",
      [&seen](Context& ctx) -> Task<std::string> {
        seen = Json::array({ctx.get("locals.note"), ctx.get("inherited.colour"),
                            ctx.parent().get("inherited.colour"), ctx.id().call_id.text()});
        co_return "looked";
      },
      {.visibility = Visibility::code});
  run([](Context ctx) -> Task<std::string> {
    InvokeSeed seed{.locals = Json::object({{"note", "mine"}})};
    seed.inherit.values = Json::object({{"colour", "red"}});
    auto calling = invoke(ctx, "look", Json::object(), std::move(seed));
    const ToolResult result = co_await std::move(calling);
    co_return result.content;
  });
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[0], Json("mine"));
  EXPECT_EQ(seen[1], Json("red"));
  EXPECT_TRUE(seen[2].is_null());
  EXPECT_EQ(seen[3], starts()[1]["call_id"]);
}

TEST_F(FromCode, MiddlewareOfTheRunAndOfTheSeedStandsAroundIt) {
  struct Marks final : Middleware {
    Marks(std::string mark, std::vector<std::string>& all) : mark(std::move(mark)), all(all) {}
    std::string name() const override { return mark; }
    Task<Result<ToolResult>> around_tool(Context, ToolInput input, NextTool& next) override {
      all.push_back(mark + " " + input.tool->name());
      return next.run(std::move(input));
    }
    std::string mark;
    std::vector<std::string>& all;
  };
  std::vector<std::string> all;
  rig.harness->use(std::make_shared<Marks>("run", all));
  auto seeded = std::make_shared<Marks>("seed", all);
  run([seeded](Context ctx) -> Task<std::string> {
    auto calling = invoke(ctx, "shout", Json::object({{"text", "a"}}), {.middleware = {seeded}});
    const ToolResult result = co_await std::move(calling);
    co_return result.content;
  });
  EXPECT_EQ(all, (std::vector<std::string>{"run outer", "run shout", "seed shout"}));
}

Hook hook_on_shout(HookFunction handler) {
  Hook hook;
  hook.event = HookEvent::before_tool_call;
  hook.tools = std::vector<std::string>{"shout"};
  hook.handler = std::move(handler);
  return hook;
}

TEST_F(FromCode, ACallThatAHookDeniesCountsAsCancelled) {
  const auto no = [](const HookInput&) -> Result<HookReply> { return deny("not now"); };
  rig.harness->use(*make_hooks({hook_on_shout(no)}));
  const RunResult result = run(shout);
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.counts.cancelled_tool_calls, 1);
}

TEST_F(FromCode, AStrictHookThatFailsEndsTheRunWhoeverMadeTheCall) {
  Hook strict = hook_on_shout(
      [](const HookInput&) -> Result<HookReply> { return fail(ErrorKind::internal, "broken"); });
  strict.strict = true;
  rig.harness->use(*make_hooks({strict}));
  const RunResult result = run(shout);
  EXPECT_EQ(result.stop, StopReason::error);
  EXPECT_EQ(result.counts.model_calls, 1);
  EXPECT_TRUE(result.error->message().find("broken") != std::string::npos)
      << to_string(*result.error);
  expect_legal(result.messages);
}

TEST_F(FromCode, ADetachedCallBelongsToTheRunAndIsJoinedBeforeItEnds) {
  rig.harness->tool("slow", "Slow",
                    [](Context& ctx) -> Task<std::string> {
                      const Woken woken =
                          co_await sleep_for(std::chrono::seconds(5), {ctx.cancel()});
                      co_return woken == Woken::ready ? "slept" : "woken";
                    },
                    {.visibility = Visibility::code});
  const RunResult result = run([](Context ctx) -> Task<std::string> {
    const DetachedCall kept = invoke_detached(ctx, "slow", Json::object());
    const DetachedCall stopped = invoke_detached(ctx, "slow", Json::object());
    stopped.cancel("enough");
    auto waiting = stopped.result();
    const ToolResult woken = co_await std::move(waiting);
    co_return woken.content + (kept.ended() ? "" : ", the other goes on");
  });
  EXPECT_EQ(result.messages[2]->tool_results()[0]->content,
            "the call was cancelled: enough, the other goes on");
  EXPECT_EQ(result.text, "done");
  const auto kinds = rig.seen->kinds();
  EXPECT_EQ(kinds.back(), "run.completed");
  EXPECT_EQ(kinds[kinds.size() - 2], "tool.completed");
  EXPECT_GE(result.duration_ms, 5000);
}

TEST_F(FromCode, OutsideOfARunThereIsNobodyToCallFor) {
  auto root = rig.engine->run(rig.engine->loop(0), [](Rig& rig) -> Task<std::string> {
    Loop& loop = co_await this_loop();
    auto journal = make_journal(*rig.engine, rig.store);
    Lineage who{.run_id = RunId("r"), .thread_id = ThreadId("t"), .root_run_id = RunId("r")};
    auto creating = journal->create({.who = std::make_shared<const Lineage>(who)});
    auto log = co_await std::move(creating);
    RootSpec spec{.services = rig.harness->services(),
                  .loop = &loop,
                  .log = std::shared_ptr<RootLog>(std::move(*log))};
    auto ctx = Context::root(std::move(spec));
    auto calling = invoke(*ctx, "shout", Json::object());
    const ToolResult result = co_await std::move(calling);
    co_return result.content;
  }(rig));
  EXPECT_EQ(root.value(), "this context belongs to no run that is under way");
}

TEST_F(FromCode, AfterACrashAnOpenCallIsUnknownAndItsCallerRunsAgain) {
  const auto model = scripted({calls("outer"), says("done")});
  const auto add_tools = [](Rig& on) {
    on.harness->tool("outer", "Calls", [](Context& ctx) { return shout(ctx); },
                     {.effect = Effect::pure});
    on.harness->inline_tool("shout", "Shouts", [](const Words& words) { return words.text + "!"; },
                            {.visibility = Visibility::code});
  };
  Rig first(model);
  add_tools(first);
  const RunResult whole = first.run("go");
  for (std::size_t count = 3; count <= 7; ++count) {  // from the turn to the end of its call
    SCOPED_TRACE(count);
    Rig next = rig_after_crash(first, model, whole.id, count);
    add_tools(next);
    const RunResult result = next.harness->resume(whole.id).wait();
    EXPECT_EQ(result.text, "done") << (result.error ? to_string(*result.error) : "");
    EXPECT_EQ(result.messages.size(), whole.messages.size());
    expect_legal(result.messages);
  }
}

}  // namespace
}  // namespace tug
