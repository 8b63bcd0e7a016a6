#include "tug/middleware/hooks.h"

#include "middleware/hook_testing.h"

namespace tug {
namespace {

using Reply = Result<HookReply>;

RunResult ended(RunStatus status, StopReason stop, std::optional<Error> error = {}) {
  RunResult result;
  result.status = status;
  result.stop = stop;
  result.error = std::move(error);
  return result;
}
RunResult completed() { return ended(RunStatus::completed, StopReason::end_turn); }

class EightHooks : public HookTest {
 protected:
  // Leaves its name in the trace and answers with `reply`.
  Hook hook(HookEvent event, std::string name, HookReply reply = {}) {
    return {.event = event,
            .handler = HookFunction([this, name, reply](const HookInput&) {
              trace.push_back(name);
              return Reply(reply);
            }),
            .name = name};
  }
  Hook failing(HookEvent event, bool strict) {
    return {.event = event,
            .handler = HookFunction(
                [](const HookInput&) -> Reply { return fail(ErrorKind::unsupported, "no idea"); }),
            .strict = strict,
            .name = "bad"};
  }
  // One for each event, in the order of the enum.
  std::vector<Hook> all() {
    std::vector<Hook> hooks;
    for (int event = 0; event < 8; ++event) {
      hooks.push_back(
          hook(static_cast<HookEvent>(event), std::string(name_of(static_cast<HookEvent>(event)))));
    }
    return hooks;
  }
  static Middlewares made(std::vector<Hook> hooks) {
    auto link = make_hooks(std::move(hooks));
    EXPECT_TRUE(link) << to_string(link.error());
    return {*link};
  }
  static std::string refusal(Hook hook) {
    auto link = make_hooks({std::move(hook)});
    return link ? "made" : to_string(link.error());
  }

  // How a run of these hooks ends when the run itself ends with `result`.
  Result<RunResult> end(std::vector<Hook> hooks, RunResult result, RunInput input = {}) {
    return run(made(std::move(hooks)), std::move(input), [&](RunInput given) {
      ++runs;
      told = given.context;
      return Result<RunResult>(result);
    });
  }
  Result<ToolResult> call_tool(std::vector<Hook> hooks, std::string tool, ToolResult result) {
    return call(made(std::move(hooks)), tool_named(std::move(tool)), [&](ToolInput) {
      ++runs;
      return Result<ToolResult>(result);
    });
  }

  Trace trace;
  Trace told;
  int runs = 0;
};

TEST_F(EightHooks, ARunHasItsEventsInOrder) {
  ASSERT_TRUE(end(all(), completed(), {.prompt = "hi"}));
  EXPECT_EQ(trace, (Trace{"run_start", "user_prompt_submit", "run_end"}));
}

TEST_F(EightHooks, AChildRunHasTwoMoreAroundThem) {
  ASSERT_TRUE(child_run(made(all()), "helper", {.prompt = "hi"},
                        [](RunInput) { return Result<RunResult>(completed()); }));
  EXPECT_EQ(trace, (Trace{"before_subagent_run", "run_start", "user_prompt_submit", "run_end",
                          "after_subagent_run"}));
}

TEST_F(EightHooks, AChildRunThatParksHasNotEnded) {
  ASSERT_TRUE(child_run(made(all()), "helper", {.resumed = true}, [](RunInput) {
    return Result<RunResult>(ended(RunStatus::parked, StopReason::paused));
  }));
  EXPECT_EQ(trace, (Trace{"run_start", "run_end"}));
}

TEST_F(EightHooks, AResumedSegmentSubmitsAPromptOnlyWhenThereIsOne) {
  ASSERT_TRUE(end(all(), completed(), {.resumed = true}));
  ASSERT_TRUE(end(all(), completed(), {.prompt = "go on", .resumed = true}));
  EXPECT_EQ(trace, (Trace{"run_start", "run_end", "run_start", "user_prompt_submit", "run_end"}));
}

TEST_F(EightHooks, ADeniedPromptEndsTheRunBeforeItBegins) {
  std::string seen;
  Hook last = hook(HookEvent::run_end, "end");
  last.handler = [&](const HookInput& input) -> Reply {
    seen = input.stop_reason + ": " + input.error->message();
    return HookReply{};
  };
  const auto result = end({hook(HookEvent::user_prompt_submit, "guard", deny("no swearing")),
                           hook(HookEvent::user_prompt_submit, "later"), last},
                          completed(), {.prompt = "damn"});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, RunStatus::cancelled);
  EXPECT_EQ(result->stop, StopReason::cancelled_by_hook);
  EXPECT_EQ(result->error->message(), "the prompt was refused by the hook \"guard\": no swearing");
  EXPECT_EQ(result->id.text(), "run-1");
  EXPECT_EQ(seen, "cancelled_by_hook: " + result->error->message());
  EXPECT_EQ(trace, Trace{"guard"});
  EXPECT_EQ(runs, 0);
}

TEST_F(EightHooks, AddedContextIsToldAfterThePromptInOneBlock) {
  ASSERT_TRUE(end({hook(HookEvent::user_prompt_submit, "a", {.context = "it rains"}),
                   hook(HookEvent::user_prompt_submit, "b", {.context = "it is Monday"})},
                  completed(), {.prompt = "hi", .context = {"earlier"}}));
  EXPECT_EQ(told, (Trace{"earlier", "<hook_context>\nit rains\nit is Monday\n</hook_context>"}));
}

TEST_F(EightHooks, ADeniedChildRunSaysSubAgentCancelledAndHasNoOtherEvents) {
  std::vector<Hook> hooks = all();
  hooks[4] = hook(HookEvent::before_subagent_run, "guard", deny("too deep"));
  const auto result = child_run(made(hooks), "helper", {}, [&](RunInput) {
    ++runs;
    return Result<RunResult>(completed());
  });
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stop, StopReason::cancelled_by_hook);
  EXPECT_EQ(result->error->message(),
            "SubAgentCancelled: the run of helper was refused by the hook \"guard\": too deep");
  EXPECT_EQ(trace, Trace{"guard"});
  EXPECT_EQ(runs, 0);
}

TEST_F(EightHooks, AnAgentFilterLetsOnlyItsAgentsThrough) {
  Hook guard = hook(HookEvent::before_subagent_run, "guard", deny("no"));
  guard.agents = std::vector<std::string>{"writer", "helper"};
  const auto go = [&](std::string agent) {
    const auto result = child_run(made({guard}), std::move(agent), {},
                                  [](RunInput) { return Result<RunResult>(completed()); });
    return std::string(name_of(result->status));
  };
  EXPECT_EQ(go("helper"), "cancelled");
  EXPECT_EQ(go("reader"), "completed");
}

TEST_F(EightHooks, ALimitIsToldBeforeTheEnd) {
  std::vector<Hook> hooks = all();
  std::string seen;
  hooks[6].handler = [&](const HookInput& input) -> Reply {
    trace.push_back("limit_reached");
    seen = input.limit + " " + std::to_string(input.limit_value) + " " +
           std::to_string(input.current_count);
    return HookReply{};
  };
  const Error spent(ErrorKind::exhausted, "3 calls are made", "",
                    Limit{.kind = LimitKind::tool_calls, .limit = 3, .used = 4});
  ASSERT_TRUE(end(hooks, ended(RunStatus::completed, StopReason::limit_reached, spent)));
  EXPECT_EQ(trace, (Trace{"run_start", "user_prompt_submit", "limit_reached", "run_end"}));
  EXPECT_EQ(seen, "tool_calls 3 4");
  trace.clear();
  ASSERT_TRUE(end(hooks, ended(RunStatus::failed, StopReason::provider_error, spent)));
  EXPECT_EQ(trace, (Trace{"run_start", "user_prompt_submit", "run_end"}));
}

TEST_F(EightHooks, TheEndIsToldOnceWhenAMiddlewareInsideFails) {
  std::string seen;
  Hook last = hook(HookEvent::run_end, "end");
  last.handler = [&](const HookInput& input) -> Reply {
    seen += input.stop_reason + " " + input.error->message();
    return HookReply{};
  };
  const auto result = run(made({last}), {}, [](RunInput) -> Result<RunResult> {
    return fail(ErrorKind::internal, "inside");
  });
  EXPECT_EQ(result.error().message(), "inside");
  EXPECT_EQ(seen, "error inside");
}

TEST_F(EightHooks, ADeniedCallIsAnsweredAndLaterHooksOfTheEventAreNotCalled) {
  const auto result = call_tool(
      {hook(HookEvent::before_tool_call, "guard", deny("not here")),
       hook(HookEvent::before_tool_call, "later"), hook(HookEvent::after_tool_call, "after")},
      "t", ToolResult::text("x"));
  ASSERT_TRUE(result);
  EXPECT_EQ(shown(*result),
            "error the call was cancelled by the hook \"guard\": not here "
            R"({"error_type":"ToolCallCancelled","cancelled":true})");
  EXPECT_EQ(result->tool, "t");
  EXPECT_EQ(trace, Trace{"guard"});
  EXPECT_EQ(runs, 0);
}

TEST_F(EightHooks, AToolFilterLetsOnlyItsToolsThrough) {
  Hook guard = hook(HookEvent::before_tool_call, "guard", deny("no"));
  guard.tools = std::vector<std::string>{"a"};
  EXPECT_FALSE(call_tool({guard}, "a", ToolResult::text("x"))->ok);
  EXPECT_TRUE(call_tool({guard}, "b", ToolResult::text("x"))->ok);
}

TEST_F(EightHooks, AToolHookIsToldAllAboutTheCall) {
  Json seen;
  Hook after = hook(HookEvent::after_tool_call, "after");
  after.handler = [&](const HookInput& input) -> Reply {
    seen = to_json(input);
    EXPECT_EQ(input.tool_spec->name, "t");
    return HookReply{};
  };
  ASSERT_TRUE(call_tool({after}, "t", ToolResult::error("bad", "ModelRetry")));
  EXPECT_EQ(print_json(seen),
            R"({"event":"after_tool_call","run_id":"run-1","thread_id":"thread-1",)"
            R"("root_run_id":"run-1","agent":"main","depth":0,"turn":0,"resumed":false,)"
            R"("metadata":{},"call_id":"1.0","tool":"t","tool_index":3,"arguments":{"n":1},)"
            R"("original_output":"bad","output":"bad","envelope":{"ok":false,"content":"bad",)"
            R"("metadata":{"error_type":"ModelRetry"}},"duration_ms":0})");
}

TEST_F(EightHooks, AReplacedOutputIsWhatTheNextHookAndTheModelSee) {
  struct Case {
    HookReply reply;
    std::string shown;
  };
  const std::vector<Case> cases{
      {{.output = "redacted"}, R"(ok redacted {"kept":1})"},
      {{.output = R"({"ok":false,"content":"no"})"}, R"(error no {"error_type":"Exception"})"},
      {{.output = R"({"n":1})"}, R"(ok {"n":1} {"kept":1})"},
      {{.envelope = Json::object({{"ok", true}, {"content", "whole"}})}, "ok whole"},
      {{.envelope = R"({"ok":true,"content":"text"})"}, "ok text"},
      {{.envelope = "no JSON"},
       "error a hook replaced the output with something that is no envelope: no JSON "
       R"({"error_type":"InvalidToolOutput"})"},
      {{.envelope = Json::object({{"ok", true}, {"content", 7}})},
       "error a hook replaced the output with something that is no envelope: "
       R"({"ok":true,"content":7} {"error_type":"InvalidToolOutput"})"},
  };
  for (const Case& each : cases) {
    Json second;
    Hook last = hook(HookEvent::after_tool_call, "last");
    last.handler = [&](const HookInput& input) -> Reply {
      second = input.envelope;
      EXPECT_EQ(input.original_output, "x");
      EXPECT_EQ(input.output, input.envelope["content"].as_string());
      return HookReply{};
    };
    ToolResult original = ToolResult::text("x");
    original.metadata = Json::object({{"kept", 1}});
    const auto result =
        call_tool({hook(HookEvent::after_tool_call, "first", each.reply), last}, "t", original);
    ASSERT_TRUE(result);
    EXPECT_EQ(shown(*result), each.shown);
    EXPECT_EQ(second["ok"].as_bool(), result->ok);
    EXPECT_EQ(second["content"].as_string(), result->content);
  }
}

TEST_F(EightHooks, ACallThatWasStoppedWithItsRunHasNoAfterHook) {
  const auto after = [&] { return hook(HookEvent::after_tool_call, "after"); };
  ASSERT_TRUE(call_tool({after()}, "t", ToolResult::error("stopped", "Cancelled")));
  EXPECT_EQ(trace, Trace{});
  ASSERT_TRUE(call_tool({after()}, "t", ToolResult::error("threw", "Exception")));
  EXPECT_EQ(trace, Trace{"after"});
}

TEST_F(EightHooks, AFailureIsARecordAndNothingElse) {
  Hook throws = failing(HookEvent::before_tool_call, false);
  throws.handler = [](const HookInput&) -> Reply { throw std::runtime_error("boom"); };
  const auto result =
      call_tool({failing(HookEvent::before_tool_call, false), throws}, "t", ToolResult::text("x"));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->content, "x");
  const auto failed = records(Kind::hook_failed);
  ASSERT_EQ(failed.size(), 2u);
  EXPECT_EQ(print_json(failed[0].data),
            R"({"hook":"bad","event":"before_tool_call","error":"no idea"})");
  EXPECT_NE(failed[1].data["error"].as_string().find("boom"), std::string_view::npos);
}

TEST_F(EightHooks, AStrictFailureEndsTheRun) {
  for (HookEvent event : {HookEvent::before_tool_call, HookEvent::after_tool_call}) {
    const auto result = call_tool({failing(event, true)}, "t", ToolResult::text("x"));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message(), "the hook \"bad\": no idea");
  }
  for (HookEvent event :
       {HookEvent::run_start, HookEvent::user_prompt_submit, HookEvent::run_end}) {
    trace.clear();
    const auto result = end({failing(event, true), hook(HookEvent::run_end, "end")}, completed());
    ASSERT_FALSE(result) << name_of(event);
    EXPECT_EQ(result.error().kind(), ErrorKind::unsupported);
    EXPECT_EQ(trace, event == HookEvent::run_end ? Trace{} : Trace{"end"});
  }
}

TEST_F(EightHooks, AStrictFailureAtTheEndDoesNotHideWhyARunFailed) {
  const auto result =
      end({failing(HookEvent::run_end, true)},
          ended(RunStatus::failed, StopReason::error, Error(ErrorKind::internal, "first")));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->error->message(), "first");
}

TEST_F(EightHooks, AReplyThatTheEventDoesNotAllowIsAFailure) {
  HookReply context{.context = "more"};
  HookReply output{.output = "x"};
  ASSERT_TRUE(
      end({hook(HookEvent::run_start, "a", deny("no")), hook(HookEvent::run_end, "b", context),
           hook(HookEvent::user_prompt_submit, "c", output)},
          completed()));
  Trace errors;
  for (const Event& event : records(Kind::hook_failed)) {
    errors.emplace_back(event.data["error"].as_string());
  }
  EXPECT_EQ(errors, (Trace{"a hook on run_start cannot deny",
                           "a hook on user_prompt_submit cannot replace an output",
                           "a hook on run_end cannot add context"}));
  EXPECT_EQ(runs, 1);
}

Task<Reply> slow_denial(Context ctx, HookInput input) {
  const Woken woken = co_await sleep_for(std::chrono::seconds(3), Until{.cancel = ctx.cancel()});
  if (woken != Woken::ready) co_return Failure(wait_error(woken, {.cancel = ctx.cancel()}, "it"));
  co_return deny("slowly: " + input.tool);
}

TEST_F(EightHooks, ACoroutineMayTakeItsTime) {
  const Hook slow{.event = HookEvent::before_tool_call, .handler = HookTask(slow_denial)};
  const auto result = call_tool({slow}, "t", ToolResult::text("x"));
  EXPECT_EQ(result->content,
            "the call was cancelled by the hook \"before_tool_call#1\": slowly: t");
  EXPECT_EQ(sim->now().time_since_epoch(), std::chrono::seconds(3));
}

TEST_F(EightHooks, ACallWhoseHookWasStoppedWithTheRunIsNotMade) {
  const Hook slow{.event = HookEvent::before_tool_call,
                  .handler = HookTask([](Context ctx, HookInput input) {
                    ctx.cancel().request({.text = "enough"});
                    return slow_denial(ctx, std::move(input));
                  }),
                  .strict = true};
  const auto result = call_tool({slow}, "t", ToolResult::text("x"));
  ASSERT_TRUE(result);
  EXPECT_EQ(
      shown(*result),
      R"(error the run was stopped before the call {"error_type":"Cancelled","cancelled":true})");
  EXPECT_EQ(runs, 0);
  EXPECT_TRUE(records(Kind::hook_failed).empty());
}

TEST_F(EightHooks, MistakesAreToldWhenTheyAreMade) {
  Hook no_handler;
  no_handler.name = "empty";
  EXPECT_EQ(refusal(no_handler), "hook \"empty\": it has no handler");
  Hook tools = hook(HookEvent::before_tool_call, "h");
  tools.tools.emplace();
  EXPECT_EQ(refusal(tools),
            "hook \"h\": its filter by tool is empty (name at least one, or leave the filter out)");
  tools.tools->emplace_back();
  EXPECT_NE(refusal(tools).find("has an empty name in it"), std::string::npos);
  Hook wrong = hook(HookEvent::run_start, "h");
  wrong.tools = std::vector<std::string>{"read"};
  EXPECT_NE(refusal(wrong).find("it has a filter by tool (leave it out"), std::string::npos);
  wrong.tools.reset();
  wrong.agents = std::vector<std::string>{"helper"};
  EXPECT_NE(refusal(wrong).find("it has a filter by agent (leave it out"), std::string::npos);
  wrong.event = HookEvent::after_subagent_run;
  EXPECT_EQ(refusal(wrong), "made");
}

TEST(HookEventName, IsReadBackAndAnUnknownOneIsRefused) {
  for (int event = 0; event < 8; ++event) {
    const auto known = static_cast<HookEvent>(event);
    EXPECT_EQ(hook_event_from(name_of(known)).value(), known);
  }
  const auto unknown = hook_event_from("before_tool_cal");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(to_string(unknown.error()),
            "there is no hook event \"before_tool_cal\" (did you mean before_tool_call? the events "
            "are run_start, user_prompt_submit, before_tool_call, after_tool_call, "
            "before_subagent_run, after_subagent_run, limit_reached, run_end)");
}

}  // namespace
}  // namespace tug
