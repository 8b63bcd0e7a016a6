// Where a run stands to what is around it: what it hands in, and what it takes from it.
#include "agent/testing.h"
#include "tug/middleware/control.h"
#include "tug/middleware/hooks.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::says;
using testkit::scripted;
using Trace = std::vector<std::string>;
using Reply = Result<HookReply>;

MiddlewarePtr hooks(std::vector<Hook> list) {
  auto made = make_hooks(std::move(list));
  EXPECT_TRUE(made) << to_string(made.error());
  return made ? *made : nullptr;
}
Hook on(HookEvent event, HookFunction handler) {
  return {.event = event, .handler = std::move(handler)};
}
Hook note(HookEvent event, Trace& trace) {
  return on(event, [&trace](const HookInput& input) -> Reply {
    trace.emplace_back(name_of(input.event));
    return HookReply{};
  });
}

struct None {};

TEST(HookCases, AResumedSegmentHasAStartAndAnEndAndAPromptOnlyWhenToldOne) {
  Rig rig(scripted({calls("a"), says("one"), says("two")}));
  rig.harness->tool("a", "A", [](Context ctx, None) -> Task<std::string> {
    interrupt(ctx, "a break");
    co_return "a";
  });
  Trace trace;
  rig.harness->use(hooks({note(HookEvent::run_start, trace),
                          on(HookEvent::user_prompt_submit,
                             [&](const HookInput& input) -> Reply {
                               trace.push_back("prompt " + input.prompt);
                               return HookReply{};
                             }),
                          note(HookEvent::run_end, trace)}));
  const RunResult first = rig.run("go");
  ASSERT_EQ(first.status, RunStatus::parked);
  EXPECT_EQ(trace, (Trace{"run_start", "prompt go", "run_end"}));
  trace.clear();
  const RunResult second = rig.harness->resume(first.id).wait();
  EXPECT_EQ(second.text, "one");
  EXPECT_EQ(trace, (Trace{"run_start", "run_end"}));
}

TEST(HookCases, AResumedSegmentThatIsToldSomethingSubmitsThat) {
  Rig rig(scripted({calls("a"), says("one")}));
  rig.harness->tool("a", "A", [](Context ctx, None) -> Task<std::string> {
    interrupt(ctx, "a break");
    co_return "a";
  });
  Trace trace;
  rig.harness->use(hooks({on(HookEvent::user_prompt_submit, [&](const HookInput& input) -> Reply {
    trace.push_back(input.prompt);
    return HookReply{};
  })}));
  const RunResult first = rig.run("go");
  ASSERT_EQ(first.status, RunStatus::parked);
  ASSERT_TRUE(rig.harness->resume(first.id, "and hurry").wait().ok());
  EXPECT_EQ(trace, (Trace{"go", "and hurry"}));
}

TEST(HookCases, TheTerminalEventOfADeniedRunSaysWhatTheResultSays) {
  Rig rig(scripted({says("never")}));
  rig.harness->use(hooks(
      {on(HookEvent::user_prompt_submit, [](const HookInput&) -> Reply { return deny("no"); })}));
  const RunResult result = rig.run("vote");
  EXPECT_EQ(pretty_json(rig.seen->events.back().data["result"]), pretty_json(to_json(result)));
}

TEST(HookCases, ACallThatTheModelMayRepairIsKnownAsOne) {
  Rig rig(scripted({calls("a"), says("done")}));
  rig.harness->tool("a", "A",
                    [](const None&) -> Result<ToolResult> { throw ModelRetry("give a city"); });
  EXPECT_EQ(rig.run("go").tool_calls.at(0).retry_kind, "ModelRetry");
}

TEST(HookCases, AnErrorAroundAToolEndsTheRunAsItIs) {
  Rig rig(scripted({calls("a"), says("never")}));
  rig.harness->tool("a", "A", [](const None&) { return std::string("a"); });
  Hook guard = on(HookEvent::before_tool_call, [](const HookInput&) -> Reply {
    return fail(ErrorKind::denied, "not today", "ask tomorrow");
  });
  guard.strict = true;
  guard.name = "guard";
  rig.harness->use(hooks({guard}));
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.stop, StopReason::error);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->kind(), ErrorKind::denied);
  EXPECT_EQ(to_string(*result.error), "the hook \"guard\": not today (ask tomorrow)");
}

}  // namespace
}  // namespace tug
