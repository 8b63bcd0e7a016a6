#include "tug/tools/typed_tool.h"

#include "tools/testing.h"

namespace tug {
namespace {

struct Where {
  std::string city;
  std::optional<int> days;
};
struct Account {
  std::string owner;
};
struct Paid {
  int amount;
  Injected<Account> account;
};
struct Outer {
  Paid inner;
  std::string note;
};

std::string free_function(const Where& where) { return "free " + where.city; }
std::string quiet_function(Where where) noexcept { return "quiet " + where.city; }

class TypedTool : public ToolTest {
 protected:
  static constexpr const char* kOslo = R"({"city":"Oslo"})";
  template <class F>
  std::string answer(F handler, const std::string& args = kOslo) {
    return shown(world.call(made(make_tool("t", "d", std::move(handler))), args));
  }
  template <class F>
  std::string inline_answer(F handler, const std::string& args = kOslo) {
    return shown(world.call(made(make_inline_tool("t", "d", std::move(handler))), args));
  }
};

TEST_F(TypedTool, TheSchemaIsThatOfTheStruct) {
  auto tool = made(make_tool("t", "d", [](const Paid& paid) { return paid.amount; }));
  EXPECT_EQ(print_json(tool->spec().parameters),
            R"({"type":"object","properties":{"amount":{"type":"integer"}},)"
            R"("required":["amount"],"additionalProperties":false})");
  EXPECT_EQ(tool->injected(), std::vector<std::string>{"account"});
  auto none = made(make_tool("t", "d", [] { return 1; }));
  EXPECT_EQ(print_json(none->spec().parameters),
            R"({"type":"object","properties":{},"additionalProperties":false})");
}

TEST_F(TypedTool, HandlersAreFunctionsLambdasAndCallables) {
  EXPECT_EQ(answer(free_function), "ok free Oslo");
  EXPECT_EQ(answer(&quiet_function), "ok quiet Oslo");
  EXPECT_EQ(answer([](const Where& where) { return where.city; }), "ok Oslo");
  EXPECT_EQ(answer([](Where where) { return std::move(where.city); }), "ok Oslo");
  EXPECT_EQ(answer([](Where&& where) { return std::move(where.city); }), "ok Oslo");
  std::string captured = "captured ";
  EXPECT_EQ(answer([captured](const Where& where) { return captured + where.city; }),
            "ok captured Oslo");
  EXPECT_EQ(answer(std::function<std::string(const Where&)>(free_function)), "ok free Oslo");
}

struct Weather {
  std::string name = "weather ";
  int calls = 0;
  std::string forecast(const Where& where) {
    ++calls;
    return name + where.city;
  }
  std::string remember(Invocation& call, const Where& where) const {
    return name + call.call_id().text() + where.city;
  }
  Task<std::string> later(Context& ctx, const Where& where) {
    co_await yield();
    co_return name + ctx.id().agent + where.city;
  }
};

TEST_F(TypedTool, AMemberFunctionKnowsItsObject) {
  Weather weather;
  auto by_pointer = made(make_tool("t", "d", &Weather::forecast, &weather));
  EXPECT_EQ(shown(world.call(by_pointer, kOslo)), "ok weather Oslo");
  auto by_reference = made(make_tool("t", "d", &Weather::forecast, weather));
  EXPECT_EQ(shown(world.call(by_reference, kOslo)), "ok weather Oslo");
  EXPECT_EQ(weather.calls, 2);
  auto shared = std::make_shared<Weather>();
  auto by_share = made(make_tool("t", "d", &Weather::forecast, shared));
  EXPECT_EQ(shown(world.call(by_share, kOslo)), "ok weather Oslo");
  EXPECT_EQ(shared->calls, 1);
  auto kept = made(make_tool("t", "d", &Weather::remember, Weather{.name = "kept "}));
  EXPECT_EQ(shown(world.call(kept, kOslo)), "ok kept 1.0Oslo");
  const Weather constant;
  auto by_const = made(make_inline_tool("t", "d", &Weather::remember, constant));
  EXPECT_EQ(shown(world.call(by_const, kOslo)), "ok weather 1.0Oslo");
  auto task = made(make_tool("t", "d", &Weather::later, &weather, {.effect = Effect::pure}));
  EXPECT_EQ(shown(world.call(task, kOslo)), "ok weather mainOslo");
  EXPECT_EQ(task->spec().effect, Effect::pure);
}

TEST_F(TypedTool, TheFirstParameterMayBeWhereItRuns) {
  EXPECT_EQ(answer([](Invocation& call) { return call.agent(); }, "{}"), "ok main");
  EXPECT_EQ(answer([](Invocation& call, const Where& w) { return call.agent() + w.city; }),
            "ok mainOslo");
  EXPECT_EQ(answer([](const Invocation& call) { return call.agent(); }, "{}"), "ok main");
  EXPECT_EQ(inline_answer([](Context& ctx, const Where& w) { return ctx.id().agent + w.city; }),
            "ok mainOslo");
  EXPECT_EQ(inline_answer([](const Context& ctx) { return ctx.id().agent; }, "{}"), "ok main");
  EXPECT_EQ(inline_answer([](Context ctx) { return ctx.id().agent; }, "{}"), "ok main");
  EXPECT_EQ(inline_answer([](Invocation& call, Where w) { return call.agent() + w.city; }),
            "ok mainOslo");
  EXPECT_EQ(inline_answer([] { return "at once"; }, "{}"), "ok at once");
}

TEST_F(TypedTool, ATaskMayTakeEverythingByReferenceAndCapture) {
  std::string captured = "a captured string that is too long to be kept inside ";
  EXPECT_EQ(answer([captured](Context& ctx, const Where& where) -> Task<std::string> {
              co_await sleep_for(std::chrono::milliseconds(3), {ctx.cancel()});
              co_return captured + where.city + ctx.id().agent;
            }),
            "ok a captured string that is too long to be kept inside Oslomain");
  EXPECT_EQ(answer([](const Where& where) -> Task<std::string> {
              co_await yield();
              co_return where.city;
            }),
            "ok Oslo");
  EXPECT_EQ(answer([](Context ctx, Where where) -> Task<Result<std::string>> {
              co_await yield();
              co_return where.city + ctx.id().agent;
            }),
            "ok Oslomain");
}

TEST_F(TypedTool, AnAnswerOfAnyKindBecomesTheEnvelope) {
  const auto none = [this](auto handler) { return answer(handler, "{}"); };
  EXPECT_EQ(none([] { return "literal"; }), "ok literal");
  EXPECT_EQ(none([] { return std::string_view("view"); }), "ok view");
  EXPECT_EQ(none([]() -> const char* { return nullptr; }), "ok ");
  EXPECT_EQ(none([] {}), "ok done");
  EXPECT_EQ(none([] { return 42; }), "ok 42");
  EXPECT_EQ(none([] { return true; }), "ok true");
  EXPECT_EQ(none([] { return std::vector<int>{1, 2}; }), "ok [1,2]");
  EXPECT_EQ(none([] { return Where{"Oslo", 3}; }), R"(ok {"city":"Oslo","days":3})");
  EXPECT_EQ(none([] { return Json::object({{"a", 1}}); }), R"(ok {"a":1})");
  EXPECT_EQ(none([] {
              ToolResult result = ToolResult::text("own");
              result.metadata = Json::object({{"rows", 3}});
              return result;
            }),
            R"(ok own {"rows":3})");
  EXPECT_EQ(none([]() -> Result<int> { return 7; }), "ok 7");
  EXPECT_EQ(none([]() -> Result<void> { return {}; }), "ok done");
  EXPECT_EQ(none([]() -> Result<int> { return fail(ErrorKind::denied, "no", "ask"); }),
            R"(error no (ask) {"error_type":"Exception"})");
  EXPECT_EQ(none([]() -> Task<void> { co_return; }), "ok done");
  EXPECT_EQ(none([]() -> Task<int> { co_return 5; }), "ok 5");
  EXPECT_EQ(none([]() -> Task<Result<void>> { co_return Result<void>(); }), "ok done");
  EXPECT_EQ(none([]() -> Task<Result<Where>> { co_return fail(ErrorKind::invalid, "bad"); }),
            R"(error bad {"error_type":"Exception"})");
}

TEST_F(TypedTool, InjectedFieldsComeFromTheContextAndNeverFromTheModel) {
  const auto owner = [](const Outer& outer) {
    return outer.inner.account->owner + std::to_string(outer.inner.amount);
  };
  auto tool = made(make_tool("t", "d", owner));
  const std::string args = R"({"inner":{"amount":1,"account":{"owner":"eve"}},"note":""})";
  EXPECT_EQ(shown(world.call(tool, args, [](Context& root) { root.inherit(Account{"ann"}); })),
            "ok ann1");
  EXPECT_EQ(tool->injected(), std::vector<std::string>{"inner.account"});
  EXPECT_EQ(check_arguments(*tool, args)->forged, std::vector<std::string>{"$.inner.account"});

  const ToolResult missing = world.call(tool, args);
  EXPECT_EQ(missing.metadata, Json::object({{"error_type", "InjectedValueMissing"}}));
  EXPECT_NE(missing.content.find("Account"), std::string::npos) << missing.content;
  EXPECT_NE(missing.content.find("\"account\""), std::string::npos) << missing.content;
}

TEST_F(TypedTool, OptionsReachTheSpec) {
  const ToolOptions options{.effect = Effect::idempotent,
                            .lane = "disk",
                            .sequential = true,
                            .requires_approval = true,
                            .needs_terminal = true,
                            .visibility = Visibility::code,
                            .tags = {"a"},
                            .max_retries = 2,
                            .timeout = std::chrono::seconds(1),
                            .metadata = Json::object({{"k", 1}})};
  auto tool = made(make_tool("name", "text", [] {}, options));
  const ToolSpec& spec = tool->spec();
  EXPECT_EQ(spec.name, "name");
  EXPECT_EQ(spec.description, "text");
  EXPECT_EQ(spec.effect, Effect::idempotent);
  EXPECT_EQ(spec.lane, "disk");
  EXPECT_TRUE(spec.sequential && spec.requires_approval && spec.needs_terminal);
  EXPECT_EQ(spec.visibility, Visibility::code);
  EXPECT_EQ(spec.tags, std::vector<std::string>{"a"});
  EXPECT_EQ(spec.max_retries, 2);
  EXPECT_EQ(spec.timeout, std::chrono::seconds(1));
  EXPECT_EQ(spec.metadata, Json::object({{"k", 1}}));
}

TEST_F(TypedTool, WhatIsNoObjectIsNoArgumentStruct) {
  auto tool = make_tool("t", "d", [](const Json& any) { return any; });
  ASSERT_FALSE(tool);
  EXPECT_EQ(tool.error().message(),
            "the parameters of the tool \"t\" are not a schema of an object");
}

}  // namespace
}  // namespace tug
