#include "tug/tools/invoke.h"

#include <stdexcept>

#include "tools/envelope.h"
#include "tools/testing.h"
#include "tug/core/scope.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

using std::chrono::milliseconds;

class Invoke : public ToolTest {
 protected:
  template <class F>
  ToolResult result(F handler, ToolOptions options = {}) {
    return world.call(made(make_tool("t", "d", std::move(handler), std::move(options))));
  }
  template <class F>
  ToolResult inline_result(F handler) {
    return world.call(made(make_inline_tool("t", "d", std::move(handler))));
  }
};

TEST_F(Invoke, CallAndToolAreFilledInWhateverTheHandlerSays) {
  const auto wrong = [] {
    ToolResult result = ToolResult::text("x");
    result.call = CallId("9.9");
    result.tool = "another";
    return result;
  };
  for (const ToolResult& got : {result(wrong), inline_result(wrong)})
    EXPECT_EQ(got, (ToolResult{.call = CallId("1.0"), .tool = "t", .content = "x"}));
}

TEST_F(Invoke, WhatAHandlerThrowsIsAResult) {
  const auto throws = []() -> std::string { throw std::runtime_error("disk on fire"); };
  const auto task = []() -> Task<std::string> {
    co_await yield();
    throw std::runtime_error("disk on fire");
  };
  const auto no_coroutine = []() -> Task<std::string> { throw std::runtime_error("disk on fire"); };
  const std::string said = R"(error the tool failed: disk on fire {"error_type":"Exception"})";
  EXPECT_EQ(shown(result(throws)), said);
  EXPECT_EQ(shown(inline_result(throws)), said);
  EXPECT_EQ(shown(result(task)), said);
  EXPECT_EQ(shown(result(no_coroutine)), said);
  EXPECT_EQ(shown(result([] { throw 3; })),
            "error the tool failed: it threw something that is not a std::exception "
            R"({"error_type":"Exception"})");
  EXPECT_TRUE(is_utf8(result([] { throw std::runtime_error("\xff"); }).content));
}

TEST_F(Invoke, ModelRetryIsForTheModelToTryAgain) {
  const auto throws = [] { throw ModelRetry("use another city"); };
  const auto task = []() -> Task<void> {
    co_await yield();
    throw ModelRetry("use another city");
  };
  const std::string said =
      R"(error use another city {"error_type":"ModelRetry","retry":true,"retry_kind":"ModelRetry"})";
  EXPECT_EQ(shown(result(throws)), said);
  EXPECT_EQ(shown(inline_result(throws)), said);
  EXPECT_EQ(shown(result(task)), said);
}

TEST_F(Invoke, AHandlerMayAskForARetryAndItsOwnInvalidErrorIsAnOrdinaryFailure) {
  EXPECT_EQ(shown(result([] {
              ToolResult busy = ToolResult::error("no such city", "NotFound");
              busy.metadata.set("retry", true);
              return busy;
            })),
            R"(error no such city {"error_type":"NotFound","retry":true,"retry_kind":"NotFound"})");
  EXPECT_EQ(shown(result([]() -> Result<ToolResult> {
              return fail(ErrorKind::invalid, "the config is not what its schema asks for");
            })),
            R"(error the config is not what its schema asks for {"error_type":"Exception"})");
}

TEST_F(Invoke, AnErrorKeepsTheHandlersWordAndMetadata) {
  EXPECT_EQ(shown(result([] { return ToolResult::error("no such file", "NotFound"); })),
            R"(error no such file {"error_type":"NotFound"})");
  EXPECT_EQ(shown(result([] {
              return ToolResult{
                  .ok = false, .content = "bad", .metadata = Json::object({{"line", 3}})};
            })),
            R"(error bad {"line":3,"error_type":"Exception"})");
  EXPECT_EQ(shown(result([] {
              return ToolResult{.ok = false, .content = "bad", .metadata = Json::array({1})};
            })),
            R"(error bad {"metadata":[1],"error_type":"Exception"})");
}

TEST_F(Invoke, ACoroutineThatSleepsForeverTimesOut) {
  const ToolOptions options{.timeout = milliseconds(20)};
  const Instant begun = sim->now();
  const ToolResult got = result(
      [](Context& ctx) -> Task<Result<std::string>> {
        const Woken woken = co_await sleep_for(std::chrono::hours(1), {ctx.cancel()});
        if (woken != Woken::ready)
          co_return Failure(wait_error(woken, {ctx.cancel()}, "a long sleep"));
        co_return "woke";
      },
      options);
  EXPECT_EQ(shown(got), R"(error timed out after 20 ms {"error_type":"Timeout"})");
  EXPECT_EQ(sim->now() - begun, milliseconds(20));
}

TEST_F(Invoke, AnAnswerInSpiteOfTheTimeoutCounts) {
  const ToolResult got = result(
      [](Context& ctx) -> Task<std::string> {
        co_await sleep_for(std::chrono::hours(1), {ctx.cancel()});
        co_return "what I have so far";
      },
      {.timeout = milliseconds(20)});
  EXPECT_EQ(shown(got), "ok what I have so far");
}

TEST_F(Invoke, ATimeoutStopsTheCallAndNotTheRun) {
  auto tool = made(make_tool("t", "d",
                             [](Context& ctx) -> Task<Result<void>> {
                               co_await ctx.cancel().cancelled();
                               co_return fail(ErrorKind::cancelled, "stopped");
                             },
                             {.timeout = milliseconds(20)}));
  const auto body = [](Context root, ToolPtr called) -> Task<bool> {
    auto running = invoke(*called, ToolWorld::child(root, called, {}), {});
    const ToolResult result = co_await std::move(running);
    EXPECT_EQ(shown(result), R"(error timed out after 20 ms {"error_type":"Timeout"})");
    co_return root.cancelled();
  };
  auto stopped = world.run([&](Context root) { return body(root, tool); });
  ASSERT_TRUE(stopped);
  EXPECT_FALSE(*stopped);
}

TEST_F(Invoke, TheBudgetsDeadlineStopsACallToo) {
  auto tool = made(make_tool("t", "d",
                             [](Context& ctx) -> Task<Result<void>> {
                               co_await ctx.cancel().cancelled();
                               co_return fail(ErrorKind::cancelled, "stopped");
                             },
                             {.timeout = milliseconds(500)}));
  const auto body = [](Context root, ToolPtr called) -> Task<ToolResult> {
    auto child = root.child({.call = CallId("1.0"),
                             .tool = called->shared_spec(),
                             .limits = {.wall_clock = milliseconds(30)}});
    auto running = invoke(*called, *child, {});
    ToolResult result = co_await std::move(running);
    co_return result;
  };
  auto got = world.run([&](Context root) { return body(root, tool); });
  EXPECT_EQ(shown(*got),
            "error timed out after 30 ms, when the time of the run was over "
            R"({"error_type":"Timeout"})");
}

TEST_F(Invoke, ACancelledCallSaysWhoStoppedIt) {
  auto waits = made(make_tool("t", "d", [](Context& ctx) -> Task<Result<void>> {
    co_await ctx.cancel().cancelled();
    co_return fail(ErrorKind::cancelled, "stopped");
  }));
  const auto cancel_soon = [](Context root) -> Task<void> {
    co_await sleep_for(milliseconds(5));
    root.cancel().request({CancelReason::Why::user, "enough"});
  };
  const auto body = [cancel_soon](Context root, ToolPtr called) -> Task<ToolResult> {
    auto both =
        when_all(invoke(*called, ToolWorld::child(root, called, {}), {}), cancel_soon(root));
    auto [result, none] = co_await std::move(both);
    co_return result;
  };
  const std::string said =
      "error the call was cancelled: enough "
      R"({"error_type":"Cancelled","cancelled":true})";
  EXPECT_EQ(shown(*world.run([&](Context root) { return body(root, waits); })), said);
  // One that is cancelled before it begins never does.
  int runs = 0;
  auto counts = made(make_tool("t", "d", [&runs] { ++runs; }));
  const ToolResult got = world.call(counts, "{}", [](Context& root) {
    root.cancel().request({CancelReason::Why::user, "enough"});
  });
  EXPECT_EQ(shown(got), said);
  EXPECT_EQ(runs, 0);
}

TEST_F(Invoke, AnEmptyTaskIsAnError) {
  const std::string said =
      R"(error the tool's handler gave an empty task {"error_type":"Exception"})";
  EXPECT_EQ(shown(result([]() -> Task<int> { return {}; })), said);
  ToolSpec spec;
  spec.name = "t";
  auto json = made(make_tool(spec, JsonLoopHandler([](Context, Json) { return LoopWork(); })));
  EXPECT_EQ(shown(world.call(json)), said);
}

TEST_F(Invoke, WithoutAnEnginePoolWorkIsAnError) {
  world.services = Services::Builder(1).build();
  EXPECT_EQ(shown(result([] {})),
            "error the tool needs the worker pool, and the services have no Engine "
            R"({"error_type":"Exception"})");
  EXPECT_EQ(shown(inline_result([] {})), "ok done");
}

TEST_F(Invoke, BadUtf8IsRepaired) {
  EXPECT_EQ(shown(result([] { return std::string("a\xff\xc3(z"); })),
            "ok a\xef\xbf\xbd\xef\xbf\xbd(z");
}

TEST_F(Invoke, AHugeResultIsCutInTheMiddle) {
  const std::size_t size = 100'000'000;
  const ToolResult got = result([] { return "<" + std::string(size - 2, '\xff') + ">"; });
  EXPECT_TRUE(got.ok);
  EXPECT_LE(got.content.size(), kMaxToolOutput);
  EXPECT_GT(got.content.size(), kMaxToolOutput - 200);
  EXPECT_TRUE(is_utf8(got.content));
  EXPECT_TRUE(got.content.starts_with("<\xef\xbf\xbd"));
  EXPECT_TRUE(got.content.ends_with("\xef\xbf\xbd>"));
  EXPECT_NE(got.content.find("\n[... the middle of 100000000 bytes was left out ...]\n"),
            std::string::npos);
  EXPECT_EQ(got.metadata, Json::object({{"truncated", true}, {"bytes", size}}));
}

TEST_F(Invoke, AToolMayAllowItselfLess) {
  const auto tool = make_tool("long", "Says much", [] { return std::string(5000, 'x'); },
                              {.result = {.max_bytes = 1000}});
  ASSERT_TRUE(tool);
  const ToolResult got = sealed(**tool, CallId("1.0"), ToolResult::text(std::string(5000, 'x')));
  EXPECT_LE(got.content.size(), 1000u);
  EXPECT_EQ(got.metadata, Json::object({{"truncated", true}, {"bytes", 5000}}));
}

TEST(BoundContent, KeepsWhatFitsAndCutsBetweenCodePoints) {
  std::string fits = "gr\xc3\xbc\xc3\x9f dich";
  EXPECT_FALSE(bound_content(fits, 100));
  EXPECT_EQ(fits, "gr\xc3\xbc\xc3\x9f dich");
  for (std::size_t limit = 200; limit < 260; ++limit) {
    std::string euros;
    for (int i = 0; i < 100; ++i) euros += "\xe2\x82\xac";
    ASSERT_TRUE(bound_content(euros, limit));
    EXPECT_LE(euros.size(), limit);
    EXPECT_TRUE(is_utf8(euros));
    EXPECT_EQ(euros.find("\xef\xbf\xbd"), std::string::npos) << limit;
    EXPECT_TRUE(euros.starts_with("\xe2\x82\xac") && euros.ends_with("\xe2\x82\xac"));
  }
  // Repair makes it longer than the limit.
  std::string grows(1000, '\xff');
  EXPECT_TRUE(bound_content(grows, 1000));
  EXPECT_LE(grows.size(), 1000u);
}

TEST_F(Invoke, WhatAToolPromisedToReturnIsChecked) {
  const auto answering = [this](std::string content, Json returns) {
    ToolSpec spec;
    spec.name = "t";
    spec.returns = std::move(returns);
    auto tool = made(make_tool(spec, JsonPoolHandler([content](const Json&, Invocation&) {
                                 return Result<ToolResult>(ToolResult::text(content));
                               })));
    return shown(world.call(tool));
  };
  const Json object = Json::object({{"type", "object"}, {"required", Json::array({"a"})}});
  EXPECT_EQ(answering(R"({"a":1})", object), R"(ok {"a":1})");
  EXPECT_EQ(answering("text", Json::object({{"type", "string"}})), "ok text");
  EXPECT_EQ(answering("text", object),
            "error the tool \"t\" ran, but its answer is not what its schema promises:\n"
            "- (root): expected object, got string \"text\"\nThe answer was: text "
            R"({"error_type":"InvalidToolOutput"})");
  EXPECT_NE(answering("{}", object).find("InvalidToolOutput"), std::string::npos);
}

TEST_F(Invoke, ANumberBeyondTheFieldsRangeIsAnInvalidArgument) {
  struct Small {
    std::int8_t number;
  };
  auto tool = made(make_tool("t", "d", [](const Small& small) { return int{small.number}; }));
  const ToolResult got = world.call(tool, R"({"number":300})");
  EXPECT_EQ(got.metadata["error_type"], Json("ValidationError")) << shown(got);
}

TEST_F(Invoke, JsonToolsGetCheckedArguments) {
  ToolSpec spec;
  spec.name = "t";
  spec.parameters = Json::object({{"type", "object"}, {"required", Json::array({"a"})}});
  auto on_loop = made(make_tool(spec, JsonLoopHandler([](Context ctx, Json args) -> LoopWork {
                                  co_await yield();
                                  co_return ToolResult::text(ctx.id().agent + print_json(args));
                                })));
  EXPECT_EQ(shown(world.call(on_loop, R"({"a":1})")), R"(ok main{"a":1})");
  auto on_pool =
      made(make_tool(spec, JsonPoolHandler([](const Json& args, Invocation& call) {
                       return Result<ToolResult>(ToolResult::text(call.agent() + print_json(args)));
                     })));
  EXPECT_EQ(shown(world.call(on_pool, R"({"a":1})")), R"(ok main{"a":1})");
  EXPECT_EQ(world.call(on_pool, "{}").metadata["error_type"], Json("ValidationError"));
}

}  // namespace
}  // namespace tug
