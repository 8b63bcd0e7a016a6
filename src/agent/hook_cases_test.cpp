// Hooks as users of a harness know them: the cases of the seeds, against the public face.
#include <filesystem>

#include "agent/cases_testing.h"
#include "tug/core/sync.h"
#include "tug/middleware/command_hook.h"
#include "tug/middleware/control.h"
#include "tug/middleware/hooks.h"
#include "tug/middleware/lifecycle.h"

namespace tug {
namespace {

using testkit::calls;
using testkit::recording;
using testkit::says;
using testkit::scripted;
using Trace = std::vector<std::string>;
using Reply = Result<HookReply>;
using Ok = Result<void>;

struct None {};

MiddlewarePtr hooks(std::vector<Hook> list) {
  auto made = make_hooks(std::move(list));
  EXPECT_TRUE(made) << to_string(made.error());
  return made ? *made : nullptr;
}
Hook on(HookEvent event, HookFunction handler) {
  return {.event = event, .handler = std::move(handler)};
}
Hook for_tool(Hook hook, std::string tool) {
  hook.tools = std::vector<std::string>{std::move(tool)};
  return hook;
}
Hook strict(Hook hook) {
  hook.strict = true;
  return hook;
}
Hook note(HookEvent event, Trace& trace) {
  return on(event, [&trace](const HookInput& input) -> Reply {
    trace.emplace_back(name_of(input.event));
    return HookReply{};
  });
}
std::vector<Hook> note_all(Trace& trace) {
  std::vector<Hook> list;
  for (int event = 0; event < 8; ++event) {
    list.push_back(note(static_cast<HookEvent>(event), trace));
  }
  return list;
}

ScriptTurn two_calls() { return calls({{"c1", "a", "{}"}, {"c2", "b", "{}"}}); }

// --- ThinHarness 20 to 26 ------------------------------------------------------------------

Result<ToolResult> always_wrong(const None&) { throw ModelRetry("give a city"); }

TEST(HookCases, ARewrittenOutputDoesNotChangeThatTheRetriesAreUsedUp) {
  auto model = recording(scripted({calls("a"), says("never")}));
  Rig rig(model);
  rig.harness->tool("a", "A", always_wrong, {.max_retries = 0});
  std::string seen;
  Trace limits;
  rig.harness->use(hooks({on(HookEvent::after_tool_call,
                             [&](const HookInput& input) -> Reply {
                               seen = input.envelope["metadata"]["error_type"].as_string();
                               return HookReply{.output = "all is well"};
                             }),
                          on(HookEvent::limit_reached, [&](const HookInput& input) -> Reply {
                            limits.push_back(input.limit);
                            return HookReply{};
                          })}));
  const RunResult result = rig.run("go");
  EXPECT_EQ(seen, "ModelRetry");
  EXPECT_EQ(result.stop, StopReason::tool_retries_exceeded);
  EXPECT_EQ(model->requests().size(), 1u);
  EXPECT_EQ(limits, Trace{"tool_retries"});
}

TEST(HookCases, ARewrittenErrorTypeDoesNotChangeTheAccounting) {
  auto model = recording(scripted({calls("a"), says("done")}));
  Rig rig(model);
  rig.harness->tool("a", "A", always_wrong, {.max_retries = 1});
  rig.harness->use(hooks({on(HookEvent::after_tool_call, [](const HookInput&) -> Reply {
    return HookReply{.envelope =
                         Json::object({{"ok", false},
                                       {"content", "hidden"},
                                       {"metadata", Json::object({{"error_type", "Exception"}})}})};
  })}));
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.counts.tool_retries, (std::map<std::string, std::int64_t>{{"a", 1}}));
  EXPECT_EQ(rig.seen->find(Kind::tool_failed)->data["error_type"].as_string(), "ModelRetry");
  EXPECT_EQ(model->requests().at(1).transcript.back()->tool_results().at(0)->content, "hidden");
}

TEST(HookCases, AddedContextEndsThePromptAndUsageIsToldAtTheEnd) {
  ScriptTurn turn = says("ok");
  turn.usage = {.input_tokens = 7, .output_tokens = 3};
  auto model = recording(scripted({turn}));
  Rig rig(model);
  Usage seen;
  rig.harness->use(hooks({on(HookEvent::user_prompt_submit,
                             [](const HookInput& input) -> Reply {
                               return HookReply{.context = "asked: " + input.prompt};
                             }),
                          on(HookEvent::run_end, [&](const HookInput& input) -> Reply {
                            seen = input.usage;
                            return HookReply{};
                          })}));
  EXPECT_EQ(rig.run("hi").text, "ok");
  const Transcript& sent = model->requests().at(0).transcript;
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0]->text(), "hi");
  EXPECT_EQ(sent[1]->text(), "<hook_context>\nasked: hi\n</hook_context>");
  EXPECT_EQ(seen, (Usage{.input_tokens = 7, .output_tokens = 3}));
  EXPECT_EQ(rig.seen->count(Kind::context_injected), 1u);
}

TEST(HookCases, ADeniedPromptMakesNoRequestAndSaysWhy) {
  auto model = recording(scripted({says("never")}));
  Rig rig(model);
  Trace trace;
  std::vector<Hook> list = note_all(trace);
  list[1] = on(HookEvent::user_prompt_submit,
               [](const HookInput&) -> Reply { return deny("no politics"); });
  rig.harness->use(hooks(std::move(list)));
  const RunResult result = rig.run("vote");
  EXPECT_EQ(result.status, RunStatus::cancelled);
  EXPECT_EQ(result.stop, StopReason::cancelled_by_hook);
  ASSERT_TRUE(result.error);
  EXPECT_NE(result.error->message().find("no politics"), std::string::npos);
  EXPECT_EQ(exit_code(result), 130);
  EXPECT_TRUE(model->requests().empty());
  EXPECT_EQ(trace, (Trace{"run_start", "run_end"}));
  EXPECT_EQ(rig.seen->kinds(), (Trace{"run.started", "run.cancelled"}));
}

TEST(HookCases, ADeniedCallIsAnsweredAndItsSiblingRuns) {
  auto model = recording(scripted({two_calls(), says("done")}));
  Rig rig(model);
  bool ran = false;
  rig.harness->tool("a", "A", [&](const None&) {
    ran = true;
    return std::string("a");
  });
  rig.harness->tool("b", "B", [](const None&) { return std::string("from b"); });
  Trace places;
  rig.harness->use(hooks({for_tool(on(HookEvent::before_tool_call,
                                      [](const HookInput&) -> Reply { return deny("not a"); }),
                                   "a"),
                          on(HookEvent::after_tool_call, [&](const HookInput& input) -> Reply {
                            places.push_back(input.tool + " " + std::to_string(input.tool_index));
                            return HookReply{};
                          })}));
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_FALSE(ran);
  EXPECT_EQ(places, Trace{"b 1"});
  EXPECT_EQ(result.counts.tool_calls, 2);
  EXPECT_EQ(result.counts.cancelled_tool_calls, 1);
  EXPECT_EQ(result.counts.tool_retries, (std::map<std::string, std::int64_t>{}));
  const auto told = model->requests().at(1).transcript.back()->tool_results();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_FALSE(told[0]->ok);
  EXPECT_NE(told[0]->content.find("not a"), std::string::npos);
  EXPECT_EQ(told[1]->content, "from b");
  const Event* failed = rig.seen->find(Kind::tool_failed);
  EXPECT_EQ(failed->data["error_type"].as_string(), "ToolCallCancelled");
  EXPECT_TRUE(failed->data["cancelled"].as_bool());
  EXPECT_TRUE(failed->data["metadata"]["cancelled"].as_bool());
  EXPECT_EQ(failed->data["index"].as_int(), 0);
  expect_legal(result.messages);
}

TEST(HookCases, AnUnknownToolBesideADeniedOneUsesUpNoRetries) {
  Rig rig(scripted({calls({{"c1", "nobody", "{}"}, {"c2", "b", "{}"}}), says("done")}));
  rig.harness->tool("b", "B", [](const None&) { return std::string("b"); });
  rig.harness->use(
      hooks({on(HookEvent::before_tool_call, [](const HookInput&) -> Reply { return deny(""); })}));
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_EQ(result.counts.cancelled_tool_calls, 1);
  EXPECT_TRUE(result.counts.tool_retries.empty());
}

TEST(HookCases, AnEnvelopeThatIsNoneIsAFailedOneToTheNextHookAndTheModel) {
  auto model = recording(scripted({calls("a"), says("done")}));
  Rig rig(model);
  rig.harness->tool("a", "A", [](const None&) { return std::string("fine"); });
  Json seen;
  rig.harness->use(
      hooks({on(HookEvent::after_tool_call,
                [](const HookInput&) -> Reply { return HookReply{.envelope = "not JSON"}; }),
             on(HookEvent::after_tool_call, [&](const HookInput& input) -> Reply {
               seen = input.envelope;
               return HookReply{};
             })}));
  EXPECT_EQ(rig.run("go").text, "done");
  EXPECT_FALSE(seen["ok"].as_bool(true));
  EXPECT_EQ(seen["metadata"]["error_type"].as_string(), "InvalidToolOutput");
  const auto told = model->requests().at(1).transcript.back()->tool_results();
  EXPECT_FALSE(told.at(0)->ok);
  EXPECT_NE(told.at(0)->content.find("not JSON"), std::string::npos);
}

Task<Result<std::string>> wait_for_ever(Context ctx) {
  const Until until{.cancel = ctx.cancel()};
  const Woken woken = co_await sleep_for(std::chrono::hours(1), until);
  if (woken != Woken::ready) co_return Failure(wait_error(woken, until, "the end of time"));
  co_return std::string("slept");
}

TEST(HookCases, AStrictHookThatThrowsStopsTheSiblingsAndIsTheErrorOfTheRun) {
  auto model = recording(scripted({two_calls(), says("never")}));
  Rig rig(model);
  rig.harness->tool("a", "A", [](Context ctx) { return wait_for_ever(ctx); });
  rig.harness->tool("b", "B", [](const None&) { return std::string("b"); });
  std::shared_ptr<const RunResult> seen;
  rig.harness->use(hooks(
      {strict(for_tool(on(HookEvent::before_tool_call,
                          [](const HookInput&) -> Reply { throw std::runtime_error("kaput"); }),
                       "b")),
       on(HookEvent::run_end, [&](const HookInput& input) -> Reply {
         seen = input.result;
         return HookReply{};
       })}));
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_EQ(result.stop, StopReason::error);
  ASSERT_TRUE(result.error);
  EXPECT_NE(result.error->message().find("kaput"), std::string::npos) << result.error->message();
  EXPECT_EQ(result.error->kind(), ErrorKind::internal);
  EXPECT_LT(rig.engine->now().time_since_epoch(), std::chrono::minutes(1));
  EXPECT_EQ(result.counts.tool_calls, 2);
  EXPECT_EQ(result.counts.cancelled_tool_calls, 0);
  EXPECT_EQ(model->requests().size(), 1u);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->stop, StopReason::error);
  EXPECT_EQ(seen->counts, result.counts);
  EXPECT_EQ(rig.seen->count(Kind::hook_failed), 1u);
  EXPECT_EQ(rig.seen->count(Kind::run_failed), 1u);
  expect_legal(result.messages);
}

TEST(HookCases, AHookThatThrowsIsRecordedAndTheRunIsNotTouched) {
  Rig rig(scripted({calls("a"), says("done")}));
  rig.harness->tool("a", "A", [](const None&) { return std::string("a"); });
  const auto throws = [](const HookInput&) -> Reply { throw std::runtime_error("kaput"); };
  std::vector<Hook> list;
  for (int event = 0; event < 8; ++event) {
    list.push_back(on(static_cast<HookEvent>(event), throws));
  }
  rig.harness->use(hooks(std::move(list)));
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.text, "done");
  EXPECT_TRUE(result.ok());
  Trace failed;
  for (const Event& event : rig.seen->events) {
    if (event.kind == Kind::hook_failed) failed.emplace_back(event.data["event"].as_string());
  }
  EXPECT_EQ(failed, (Trace{"run_start", "user_prompt_submit", "before_tool_call", "after_tool_call",
                           "run_end"}));
}

// --- The rest of the hook table ------------------------------------------------------------

TEST(HookCases, TheLimitHookIsSilentWhenTheLastCallIsEnough) {
  Rig rig(scripted({says("done")}));
  Trace trace;
  rig.harness->use(hooks(note_all(trace)));
  EXPECT_TRUE(rig.run("go", {.limits = {.max_turns = 1}}).ok());
  EXPECT_EQ(trace, (Trace{"run_start", "user_prompt_submit", "run_end"}));
}

TEST(HookCases, ALimitIsToldWithItsNumbersBeforeTheEnd) {
  Rig rig(scripted({calls("a"), says("never")}));
  rig.harness->tool("a", "A", [](const None&) { return std::string("a"); });
  Trace trace;
  std::vector<Hook> list = note_all(trace);
  list.push_back(on(HookEvent::limit_reached, [&](const HookInput& input) -> Reply {
    trace.push_back(input.limit + " of " + std::to_string(input.limit_value));
    return HookReply{};
  }));
  rig.harness->use(hooks(std::move(list)));
  const RunResult result = rig.run("go", {.limits = {.max_turns = 1}});
  EXPECT_EQ(result.stop, StopReason::limit_reached);
  EXPECT_EQ(trace, (Trace{"run_start", "user_prompt_submit", "before_tool_call", "after_tool_call",
                          "limit_reached", "model_calls of 1", "run_end"}));
}

TEST(HookCases, TheEndOfARunThatWasCancelledIsToldOnce) {
  Rig rig(scripted({calls("a"), says("never")}));
  rig.harness->tool("a", "A", [](Context ctx) { return wait_for_ever(ctx); });
  Trace trace;
  std::vector<Hook> list = note_all(trace);
  list[7] = on(HookEvent::run_end, [&](const HookInput& input) -> Reply {
    trace.push_back("run_end " + input.stop_reason);
    return HookReply{};
  });
  rig.harness->use(hooks(std::move(list)));
  std::stop_source stop;
  rig.harness->use(
      make_lifecycle({.name = "stops", .before_tool = [&](const Context&, const ToolInput&) {
                        stop.request_stop();
                        return Ok();
                      }}));
  const RunResult result = rig.run("go", {.cancel = stop.get_token()});
  EXPECT_EQ(result.stop, StopReason::cancelled);
  EXPECT_EQ(trace,
            (Trace{"run_start", "user_prompt_submit", "before_tool_call", "run_end cancelled"}));
}

Task<std::string> ask_below(Harness* inner, Context ctx) {
  auto asking = inner->run_async(ctx, "inner prompt", {.agent = "helper"});
  RunResult result = co_await std::move(asking);
  co_return result.error ? to_string(*result.error) : result.text;
}

// An outer run that starts an inner one, both with the hooks.
struct Family {
  explicit Family(std::vector<Hook> list) : inner(scripted({says("from below")})) {
    model = recording(scripted({calls("ask"), says("done")}));
    outer = std::make_unique<Rig>(model);
    Harness* below = inner.harness.get();
    outer->harness->tool("ask", "Asks",
                         [below](Context ctx, None) { return ask_below(below, ctx); });
    result = outer->run("go", {.inherited_middleware = {hooks(std::move(list))}});
  }
  std::string told() const {
    return model->requests().at(1).transcript.back()->tool_results().at(0)->content;
  }

  Rig inner;
  std::shared_ptr<testkit::RecordingModel> model;
  std::unique_ptr<Rig> outer;
  RunResult result;
};

TEST(HookCases, AChildRunIsToldOfBeforeAndAfter) {
  Trace trace;
  const auto noted = [&](const HookInput& input) -> Reply {
    trace.push_back(std::string(name_of(input.event)) + " " + input.agent + " " + input.prompt +
                    " " + input.stop_reason);
    EXPECT_FALSE(input.parent_run_id.empty());
    EXPECT_FALSE(input.parent_call_id.empty());
    return HookReply{};
  };
  const Family family(
      {on(HookEvent::before_subagent_run, noted), on(HookEvent::after_subagent_run, noted)});
  EXPECT_EQ(family.result.text, "done");
  EXPECT_EQ(family.told(), "from below");
  EXPECT_EQ(trace, (Trace{"before_subagent_run helper inner prompt ",
                          "after_subagent_run helper inner prompt end_turn"}));
}

TEST(HookCases, ADeniedChildRunSaysSubAgentCancelledToItsParent) {
  Hook guard = on(HookEvent::before_subagent_run,
                  [](const HookInput&) -> Reply { return deny("alone, please"); });
  guard.agents = std::vector<std::string>{"helper"};
  const Family family({guard});
  EXPECT_EQ(family.result.text, "done");
  EXPECT_NE(family.told().find("SubAgentCancelled"), std::string::npos) << family.told();
  EXPECT_NE(family.told().find("alone, please"), std::string::npos);
}

TEST(HookCases, MetadataIsACopy) {
  Rig rig(scripted({says("done")}));
  Json seen;
  rig.harness->use(hooks({{.event = HookEvent::run_start,
                           .handler = HookTask([](Context, HookInput input) -> Task<Reply> {
                             input.metadata.set("mine", true);
                             co_return HookReply{};
                           })},
                          on(HookEvent::run_start, [&](const HookInput& input) -> Reply {
                            seen = input.metadata;
                            return HookReply{};
                          })}));
  EXPECT_TRUE(rig.run("go", {.metadata = Json::object({{"k", 1}})}).ok());
  EXPECT_EQ(seen, Json::object({{"k", 1}}));
}

TEST(HookCases, AShellCommandGuardsATool) {
  HarnessOptions options{.seed = 7, .models = make_models()};
  auto model = recording(scripted({calls("a"), says("done")}));
  options.model = model->profile().id();
  options.models->add(model);
  Harness harness(std::move(options));
  harness.tool("a", "A", [](const None&) { return std::string("a"); });
  harness.use(hooks({make_command_hook({.event = HookEvent::before_tool_call,
                                        .command = "grep -q '\"tool\":\"a\"' || exit 1; "
                                                   "echo 'guarded' >&2; exit 2"})}));
  const RunResult result = harness.run("go");
  EXPECT_EQ(result.text, "done");
  const auto told = model->requests().at(1).transcript.back()->tool_results();
  EXPECT_NE(told.at(0)->content.find("guarded"), std::string::npos) << told.at(0)->content;
}

TEST(HookCases, AShellCommandDoesNotOutlastTheTimeOfTheRun) {
  for (const bool strict : {false, true}) {
    HarnessOptions options{.seed = 7, .models = make_models()};
    auto model = scripted({calls("a"), says("done")});
    options.model = model->profile().id();
    options.models->add(model);
    Harness harness(std::move(options));
    int ran = 0;
    harness.inline_tool("a", "A", [&ran] { return ++ran; });
    harness.use(hooks({make_command_hook(
        {.event = HookEvent::before_tool_call, .command = "sleep 30", .strict = strict})}));
    const RunResult result = harness.run("go", {.limits = {.max_time = 0.2}});
    EXPECT_EQ(limit_of(result), LimitKind::wall_clock) << name_of(result.stop);
    EXPECT_EQ(ran, 0) << "nobody has agreed to the call";
    EXPECT_LT(result.duration_ms, 20'000);
    expect_legal(result.messages);
  }
}

// --- TinyAgents 21, B10, B19 ---------------------------------------------------------------

Lifecycle traced(std::string name, Trace& trace) {
  const auto say = [name, &trace](const char* hook) {
    trace.push_back(name + "." + hook);
    return Ok();
  };
  Lifecycle hooks{.name = name};
  hooks.before_agent = [say](const Context&, RunInput&) { return say("before_agent"); };
  hooks.after_agent = [say](const Context&, RunResult&) { return say("after_agent"); };
  hooks.before_model = [say](const Context&, ModelRequest&) { return say("before_model"); };
  hooks.after_model = [say](const Context&, ModelTurn&) { return say("after_model"); };
  hooks.before_tool = [say](const Context&, const ToolInput&) { return say("before_tool"); };
  hooks.after_tool = [say](const Context&, ToolResult&) { return say("after_tool"); };
  hooks.on_error = [say](const Context&, const Error&) { say("on_error").value(); };
  return hooks;
}

TEST(LifecycleCases, BeforeGoesDownAndAfterComesUp) {
  Rig rig(scripted({calls("a"), says("done")}));
  rig.harness->tool("a", "A", [](const None&) { return std::string("a"); });
  Trace trace;
  rig.harness->use(make_lifecycle(traced("A", trace))).use(make_lifecycle(traced("B", trace)));
  EXPECT_TRUE(rig.run("go").ok());
  EXPECT_EQ(trace, (Trace{"A.before_agent", "B.before_agent", "A.before_model", "B.before_model",
                          "B.after_model", "A.after_model", "A.before_tool", "B.before_tool",
                          "B.after_tool", "A.after_tool", "A.before_model", "B.before_model",
                          "B.after_model", "A.after_model", "B.after_agent", "A.after_agent"}));
}

class Steps final : public Sink {
 public:
  void on_event(const Event& event) override {
    started += event.kind == Kind::middleware_started;
    completed += event.kind == Kind::middleware_completed;
  }
  bool wants_steps() const noexcept override { return true; }
  int started = 0;
  int completed = 0;
};

TEST(LifecycleCases, AFailingBeforeModelIsTheErrorAndEveryoneIsToldOnce) {
  auto model = recording(scripted({says("never")}));
  Rig rig(model);
  Trace trace;
  Lifecycle failing = traced("A", trace);
  failing.before_model = [](const Context&, ModelRequest&) -> Ok {
    return fail(ErrorKind::denied, "not today", "ask tomorrow");
  };
  rig.harness->use(make_lifecycle(failing)).use(make_lifecycle(traced("B", trace)));
  auto steps = std::make_shared<Steps>();
  const RunResult result = rig.run("go", {.observers = {steps}});
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_EQ(result.stop, StopReason::error);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->kind(), ErrorKind::denied);
  EXPECT_EQ(to_string(*result.error), "not today (ask tomorrow)");
  EXPECT_EQ(trace, (Trace{"A.before_agent", "B.before_agent", "A.on_error", "B.on_error"}));
  EXPECT_EQ(steps->started, 3);
  EXPECT_EQ(steps->completed, steps->started);
  EXPECT_TRUE(model->requests().empty());
}

TEST(LifecycleCases, OnErrorComesAfterTheTerminalEventAndBeforeTheResult) {
  Rig rig(scripted({}));
  Trace trace;
  Lifecycle hooks{.name = "A"};
  hooks.on_error = [&](const Context& ctx, const Error& error) {
    trace.push_back(rig.seen->kinds().back() + " " + ctx.id().run_id.text() + " " +
                    error.message());
  };
  rig.harness->use(make_lifecycle(hooks));
  const RunResult result = rig.run("go");
  ASSERT_TRUE(result.error);
  EXPECT_EQ(trace, Trace{"run.failed " + result.id.text() + " " + result.error->message()});
}

TEST(LifecycleCases, AfterAgentRunsWhenTheRunIsParkedOrHitsALimit) {
  Trace trace;
  Rig rig(scripted({calls("a")}));
  rig.harness->tool("a", "A", [](Context ctx, None) -> Task<std::string> {
    interrupt(ctx, "a break");
    co_return "a";
  });
  Lifecycle hooks{.name = "A"};
  hooks.after_agent = [&](const Context&, RunResult& result) {
    trace.emplace_back(name_of(result.stop));
    return Ok();
  };
  hooks.on_error = [&](const Context&, const Error&) { trace.emplace_back("on_error"); };
  rig.harness->use(make_lifecycle(hooks));
  EXPECT_EQ(rig.run("go").status, RunStatus::parked);
  EXPECT_EQ(rig.run("go", {.limits = {.max_turns = 0}}).stop, StopReason::limit_reached);
  EXPECT_EQ(trace, (Trace{"paused", "limit_reached"}));
}

TEST(LifecycleCases, AWrapThatAnswersIsFollowedByAfterModel) {
  class Answers final : public Middleware {
   public:
    std::string name() const override { return "answers"; }
    Task<Result<ModelTurn>> around_model(Context, ModelRequest, NextModel& next) override {
      co_return next.finish(ModelTurn{.message = Message::assistant("from the wrap")});
    }
  };
  auto model = recording(scripted({says("never")}));
  Rig rig(model);
  Trace trace;
  rig.harness->use(std::make_shared<Answers>());
  rig.harness->use(make_lifecycle(traced("A", trace)));
  EXPECT_EQ(rig.run("go").text, "from the wrap");
  EXPECT_TRUE(model->requests().empty());
  EXPECT_EQ(trace, (Trace{"A.before_agent", "A.before_model", "A.after_model", "A.after_agent"}));
}

TEST(LifecycleCases, AModelDeltaIsEditedBeforeAnyoneSeesIt) {
  Rig rig(testkit::streaming("the secret is 42", 4));
  Lifecycle hooks{.name = "A"};
  hooks.on_model_delta = [](const Context&, ModelEvent& delta) -> Result<DeltaFate> {
    auto* text = std::get_if<TextDelta>(&delta);
    if (text && text->text.contains("42")) return DeltaFate::drop;
    return DeltaFate::keep;
  };
  rig.harness->use(make_lifecycle(hooks));
  EXPECT_EQ(rig.run("go").text, "the secret i");
  std::string streamed;
  for (const Event& event : rig.seen->events) {
    if (event.kind == Kind::model_delta) streamed += event.data["text"].as_string();
  }
  EXPECT_EQ(streamed, "the secret i");
}

TEST(LifecycleCases, AFailingDeltaHookEndsTheRunWithItsError) {
  Rig rig(testkit::streaming("the secret is 42", 4));
  Lifecycle hooks{.name = "A"};
  hooks.on_model_delta = [](const Context&, ModelEvent&) -> Result<DeltaFate> {
    return fail(ErrorKind::denied, "I will not hear this");
  };
  rig.harness->use(make_lifecycle(hooks));
  const RunResult result = rig.run("go");
  EXPECT_EQ(result.stop, StopReason::error);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->message(), "I will not hear this");
  EXPECT_EQ(rig.seen->count(Kind::retry_scheduled), 0u);
}

TEST(LifecycleCases, WhatAToolSaysOfItselfReachesTheHook) {
  Rig rig(scripted({calls("a"), says("done")}));
  rig.harness->tool("a", "A", [](Invocation& call) {
    call.progress("halfway");
    return std::string("a");
  });
  Trace trace;
  Lifecycle hooks{.name = "A"};
  hooks.on_tool_delta = [&](const Context& ctx, const Json& progress) {
    trace.push_back(ctx.tool()->name + " " + print_json(progress));
    return Ok();
  };
  auto counts = std::make_shared<HookCounts>();
  hooks.counts = counts;
  rig.harness->use(make_lifecycle(hooks));
  // Nobody else listens.
  EXPECT_TRUE(rig.harness->run("go", {.keep_events = false}).ok());
  EXPECT_EQ(trace, Trace{"a \"halfway\""});
  EXPECT_EQ(counts->all(), (HookCounts::Table{{"A", {{"on_tool_delta", 1}}}}));
}

}  // namespace
}  // namespace tug
