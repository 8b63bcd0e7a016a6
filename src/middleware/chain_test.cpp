// The onion: who is entered when, with what, and how a chain ends.
#include "middleware/chain.h"

#include "tools/testing.h"

namespace tug {
namespace {

using Trace = std::vector<std::string>;

class Named : public Middleware {
 public:
  Named(std::string name, Trace& trace) : name_(std::move(name)), trace_(trace) {}
  std::string name() const override { return name_; }
  Around around() const noexcept override { return {.run = false, .tool = true}; }
  Task<Result<ToolResult>> around_tool(Context ctx, ToolInput input, NextTool& next) override {
    trace_.push_back(name_ + " in");
    if (on_enter) on_enter(ctx, next);
    if (answer) co_return next.finish(*answer);
    if (error) co_return next.fail(*error);
    auto running = next.run(std::move(input));
    Result<ToolResult> result = co_await std::move(running);
    trace_.push_back(name_ + " out");
    co_return result;
  }

  std::function<void(Context&, NextTool&)> on_enter;
  std::optional<ToolResult> answer;
  std::optional<Error> error;

 private:
  std::string name_;
  Trace& trace_;
};

class Leaf final : public ToolCore {
 public:
  explicit Leaf(Trace& trace) : trace_(trace) {}
  Task<Result<ToolResult>> call(ToolInput input) override {
    trace_.push_back("leaf");
    co_return ToolResult::text("args " + print_json(input.args));
  }

 private:
  Trace& trace_;
};

class Chain : public ToolTest {
 protected:
  std::shared_ptr<Named> named(std::string name) {
    return std::make_shared<Named>(std::move(name), trace);
  }
  Result<ToolResult> go(Middlewares links) {
    Leaf leaf(trace);
    return world.run([&](Context root) { return through(links, root, leaf); });
  }
  static Task<Result<ToolResult>> through(const Middlewares& links, Context root, Leaf& leaf) {
    auto going = around_tool(links, root, ToolInput{.args = Json::object({{"n", 1}})}, leaf);
    Result<ToolResult> result = co_await std::move(going);
    co_return result;
  }

  Trace trace;
};

TEST_F(Chain, TheFirstIsOutermost) {
  const auto result = go({named("A"), named("B")});
  EXPECT_EQ(result->content, R"(args {"n":1})");
  EXPECT_EQ(trace, (Trace{"A in", "B in", "leaf", "B out", "A out"}));
}

TEST_F(Chain, AFinishSkipsTheRest) {
  auto a = named("A");
  auto b = named("B");
  b->answer = ToolResult::text("five");
  EXPECT_EQ(go({a, b, named("C")})->content, "five");
  EXPECT_EQ(trace, (Trace{"A in", "B in", "A out"}));
}

TEST_F(Chain, AFailureIsSeenOnTheWayOut) {
  auto b = named("B");
  b->error = Error(ErrorKind::denied, "no");
  const auto result = go({named("A"), b});
  EXPECT_EQ(result.error().message(), "no");
  EXPECT_EQ(trace, (Trace{"A in", "B in", "A out"}));
}

TEST_F(Chain, WhatIsInjectedComesRightAfterInTheOrderItCame) {
  auto a = named("A");
  a->on_enter = [&](Context&, NextTool& next) {
    next.inject(named("X"));
    next.inject(named("Y"));
  };
  ASSERT_TRUE(go({a, named("B")}));
  EXPECT_EQ(trace,
            (Trace{"A in", "X in", "Y in", "B in", "leaf", "B out", "Y out", "X out", "A out"}));
}

TEST_F(Chain, AMiddlewareHasAContextOfItsOwnThatServesAnother) {
  auto a = named("A");
  bool served = false;
  a->on_enter = [&](Context& ctx, NextTool&) {
    served = ctx.has_other_target() && ctx.kind() == NodeKind::middleware &&
             ctx.target().kind() == NodeKind::run;
    EXPECT_TRUE(ctx.set("locals.mine", 1));
    EXPECT_TRUE(ctx.target().locals()["mine"].is_null());
  };
  ASSERT_TRUE(go({a}));
  EXPECT_TRUE(served);
}

TEST_F(Chain, WhatAMiddlewareThrowsIsItsFailureAndARecord) {
  auto a = named("A");
  a->on_enter = [](Context&, NextTool&) { throw std::runtime_error("boom"); };
  const auto result = go({named("Z"), a});
  EXPECT_EQ(result.error().kind(), ErrorKind::internal);
  EXPECT_NE(result.error().message().find("boom"), std::string::npos);
  ASSERT_EQ(world.log->records.size(), 1u);
  EXPECT_EQ(world.log->records[0].kind, Kind::middleware_failed);
  EXPECT_EQ(trace, (Trace{"Z in", "A in", "Z out"}));
}

TEST_F(Chain, StepsAreBalancedForWhoWatchesThem) {
  world.listens = true;
  auto b = named("B");
  b->error = Error(ErrorKind::denied, "no");
  EXPECT_FALSE(go({named("A"), b}));
  Trace steps;
  for (const Event& event : world.log->live) {
    steps.push_back(std::string(event.name()) + " " + std::string(event.data["name"].as_string()));
  }
  EXPECT_EQ(steps, (Trace{"middleware.started A", "middleware.started B", "middleware.completed B",
                          "middleware.completed A"}));
}

TEST_F(Chain, HooksStandOutsideOfWhatWraps) {
  class Hooks final : public Named {
   public:
    using Named::Named;
    bool is_hooks() const noexcept override { return true; }
  };
  auto wrap = named("W");
  auto first = std::make_shared<Hooks>("H1", trace);
  auto second = std::make_shared<Hooks>("H2", trace);
  ASSERT_TRUE(go(in_order({wrap, first, second})));
  EXPECT_EQ(trace, (Trace{"H1 in", "H2 in", "W in", "leaf", "W out", "H2 out", "H1 out"}));
}

}  // namespace
}  // namespace tug
