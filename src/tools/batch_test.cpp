#include "tug/tools/batch.h"

#include <algorithm>
#include <stdexcept>

#include "tools/testing.h"
#include "tug/core/scope.h"
#include "tug/core/sync.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using Waits = std::vector<std::vector<std::size_t>>;

ToolSpec in_lane(std::string lane, Effect effect) {
  ToolSpec spec;
  spec.lane = std::move(lane);
  spec.effect = effect;
  return spec;
}

Waits waits(const std::vector<ToolSpec>& specs) {
  std::vector<const ToolSpec*> tools;
  for (const ToolSpec& spec : specs) tools.push_back(&spec);
  return waits_of(tools);
}

TEST(WaitsOf, SaysWhoGoesBeforeWhom) {
  const ToolSpec free = in_lane("", Effect::at_most_once);
  const ToolSpec read = in_lane("w", Effect::pure);
  const ToolSpec write = in_lane("w", Effect::at_most_once);
  const ToolSpec other = in_lane("x", Effect::idempotent);
  ToolSpec alone = free;
  alone.sequential = true;
  const std::pair<std::vector<ToolSpec>, Waits> cases[] = {
      {{}, {}},
      {{free, free, free}, {{}, {}, {}}},
      {{read, read, read}, {{}, {}, {}}},
      {{write, write, write}, {{}, {0}, {1}}},
      {{read, read, write, read, read, write}, {{}, {}, {0, 1}, {2}, {2}, {3, 4}}},
      {{write, read, write}, {{}, {0}, {1}}},
      {{write, other, write, other, free}, {{}, {}, {0}, {1}, {}}},
      {{free, alone, read, write}, {{}, {0}, {1}, {2}}},
      {{alone}, {{}}},
  };
  for (const auto& [specs, expected] : cases) EXPECT_EQ(waits(specs), expected);
}

struct Told : BatchObserver {
  void on_begin(std::size_t index) override { story.push_back("begin " + std::to_string(index)); }
  void on_end(std::size_t index, ToolResult result, Duration took) override {
    story.push_back("end " + std::to_string(index));
    if (results.size() <= index) results.resize(index + 1);
    if (times.size() <= index) times.resize(index + 1);
    results[index] = std::move(result);
    times[index] = took;
  }
  std::vector<std::string> story;
  std::vector<ToolResult> results;
  std::vector<Duration> times;
};

class Batch : public ToolTest {
 protected:
  struct Asked {
    ToolPtr tool;
    Json args = Json::object();
  };
  Told run(const std::vector<Asked>& asked, std::uint32_t cap = kMaxConcurrency,
           std::function<void(Context&)> prepare = {}) {
    Told told;
    auto ended = world.run([&](Context root) {
      if (prepare) prepare(root);
      std::vector<BatchCall> calls;
      for (std::size_t i = 0; i < asked.size(); ++i) {
        calls.push_back({asked[i].tool, ToolWorld::child(root, asked[i].tool, asked[i].args, i),
                         asked[i].args});
      }
      return run_batch(std::move(calls), told, root.cancel(), cap);
    });
    EXPECT_TRUE(ended) << to_string(ended.error());
    return told;
  }
};

struct Number {
  int number = 0;
};
Json number(int value) { return Json::object({{"number", value}}); }

// Two coroutines that go on only when both are there.
struct Barrier {
  std::size_t parties;
  std::size_t arrived = 0;
  Signal open{};
  Task<Result<std::string>> meet(Context& ctx) {
    if (++arrived == parties) open.set();
    const Woken woken =
        co_await open.wait({ctx.cancel(), later(ctx.loop().now(), milliseconds(50))});
    if (woken != Woken::ready) co_return fail(ErrorKind::exhausted, "nobody came");
    co_return "met";
  }
};

TEST_F(Batch, TwoCallsMeetAtABarrier) {
  Barrier barrier{2};
  auto tool = made(make_tool("meet", "d", &Barrier::meet, barrier));
  const Told told = run({{tool}, {tool}});
  EXPECT_EQ(shown(told.results[0]), "ok met");
  EXPECT_EQ(shown(told.results[1]), "ok met");
  EXPECT_EQ(told.results[1].call, CallId("1.1"));
  EXPECT_EQ((std::vector<std::string>{told.story[0], told.story[1]}),
            (std::vector<std::string>{"begin 0", "begin 1"}));
}

TEST_F(Batch, OneSequentialToolPutsAllInCallOrder) {
  Barrier barrier{2};
  auto tool = made(make_tool("meet", "d", &Barrier::meet, barrier));
  auto alone = made(make_tool("alone", "d", &Barrier::meet, barrier, {.sequential = true}));
  const Told told = run({{tool}, {alone}});
  EXPECT_EQ(shown(told.results[0]), R"(error nobody came {"error_type":"Exception"})");
  EXPECT_EQ(shown(told.results[1]), "ok met");
  EXPECT_EQ(told.story, (std::vector<std::string>{"begin 0", "end 0", "begin 1", "end 1"}));
}

TEST_F(Batch, TwoSlowCallsAreInFlightTogether) {
  auto slow = made(make_tool("slow", "d", [](Context& ctx) -> Task<std::string> {
    co_await sleep_for(milliseconds(100), {ctx.cancel()});
    co_return "slept";
  }));
  const Instant begun = sim->now();
  const Told told = run({{slow}, {slow}});
  EXPECT_EQ(sim->now() - begun, milliseconds(100));
  EXPECT_EQ(told.times, (std::vector<Duration>{milliseconds(100), milliseconds(100)}));
}

TEST_F(Batch, TwentyCallsWithACapOfSixteenAllAnswer) {
  int running = 0;
  int most = 0;
  auto counted = made(make_tool("t", "d", [&](Context& ctx, const Number& n) -> Task<int> {
    most = std::max(most, ++running);
    // The later the call, the sooner it ends.
    co_await sleep_for(milliseconds(100 - n.number), {ctx.cancel()});
    --running;
    co_return n.number;
  }));
  std::vector<Asked> asked;
  for (int i = 0; i < 20; ++i) asked.push_back({counted, number(i)});
  const Told told = run(asked, 16);
  EXPECT_EQ(most, 16);
  ASSERT_EQ(told.results.size(), 20u);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(told.results[i].content, std::to_string(i));
    EXPECT_EQ(told.results[i].call, make_call_id(1, i));
  }
  EXPECT_EQ(std::ranges::count_if(told.story, [](auto& line) { return line.starts_with("end"); }),
            20);
  const Told one_by_one = run(asked, 0);
  EXPECT_EQ(one_by_one.story[1], "end 0");
  EXPECT_EQ(one_by_one.results[19].content, "19");
}

TEST_F(Batch, OneThatThrowsLeavesTheOthersAlone) {
  auto bad = made(make_tool("bad", "d", []() -> Task<void> {
    co_await yield();
    throw std::runtime_error("broken");
  }));
  auto bad_inline = made(
      make_inline_tool("bad_inline", "d", []() -> std::string { throw std::runtime_error("no"); }));
  auto good = made(make_tool("good", "d", [] { return "fine"; }));
  const Told told = run({{bad}, {good}, {bad_inline}});
  EXPECT_FALSE(told.results[0].ok);
  EXPECT_EQ(shown(told.results[1]), "ok fine");
  EXPECT_FALSE(told.results[2].ok);
}

TEST_F(Batch, ALaneKeepsCallOrderAndLetsReadersRunTogether) {
  const auto slow = [](Context& ctx) -> Task<void> {
    co_await sleep_for(milliseconds(10), {ctx.cancel()});
  };
  auto read = made(make_tool("read", "d", slow, {.effect = Effect::pure, .lane = "w"}));
  auto write = made(make_tool("write", "d", slow, {.lane = "w"}));
  auto free = made(make_tool("free", "d", slow));
  const Instant begun = sim->now();
  const Told told = run({{read}, {read}, {write}, {read}, {free}});
  EXPECT_EQ(sim->now() - begun, milliseconds(30));
  const auto at = [&](std::string_view line) { return std::ranges::find(told.story, line); };
  EXPECT_LT(at("end 0"), at("begin 2"));
  EXPECT_LT(at("end 1"), at("begin 2"));
  EXPECT_LT(at("end 2"), at("begin 3"));
  EXPECT_LT(at("begin 1"), at("end 0"));
  EXPECT_LT(at("begin 4"), at("end 0"));
}

TEST_F(Batch, WhatHasNotBegunWhenTheRunIsCancelledNeverDoes) {
  auto stops = made(make_tool("stops", "d",
                              [](Context& ctx) -> Task<std::string> {
                                co_await sleep_for(milliseconds(10), {ctx.cancel()});
                                co_return "ended all the same";
                              },
                              {.lane = "w"}));
  Told told;
  const auto cancel_soon = [](Context root) -> Task<void> {
    co_await sleep_for(milliseconds(5));
    root.cancel().request({CancelReason::Why::user, "enough"});
  };
  auto ended = world.run([&](Context root) {
    std::vector<BatchCall> calls;
    for (std::size_t i = 0; i < 3; ++i)
      calls.push_back({stops, ToolWorld::child(root, stops, {}, i), Json::object()});
    return when_all(run_batch(std::move(calls), told, root.cancel()), cancel_soon(root));
  });
  ASSERT_TRUE(ended);
  const std::string cancelled =
      "error the call was cancelled: enough "
      R"({"error_type":"Cancelled","cancelled":true})";
  EXPECT_EQ(shown(told.results[0]), "ok ended all the same");
  EXPECT_EQ(shown(told.results[1]), cancelled);
  EXPECT_EQ(shown(told.results[2]), cancelled);
  EXPECT_EQ(std::ranges::count(told.story, "begin 1"), 0);
  EXPECT_EQ(told.results[2].call, CallId("1.2"));
  EXPECT_EQ(told.results[2].tool, "stops");

  auto quick = made(make_inline_tool("quick", "d", [] {}));
  const auto cancel = [](Context& root) {
    root.cancel().request({CancelReason::Why::user, "enough"});
  };
  for (const std::vector<Asked>& asked : {std::vector<Asked>{{quick}}, {{quick}, {quick}}}) {
    const Told never = run(asked, 16, cancel);
    ASSERT_EQ(never.results.size(), asked.size());
    for (const ToolResult& result : never.results) EXPECT_EQ(shown(result), cancelled);
    EXPECT_EQ(std::ranges::count(never.story, "begin 0"), 0);
  }
}

TEST_F(Batch, NoCallsEndAtOnce) { EXPECT_TRUE(run({}).story.empty()); }

TEST_F(Batch, ManyCallsInOneSequenceUseNoStack) {
  auto quick = made(make_inline_tool("quick", "d", [](const Number& n) { return n.number; },
                                     {.sequential = true}));
  std::vector<Asked> asked;
  for (int i = 0; i < 20'000; ++i) asked.push_back({quick, number(i)});
  const Told told = run(asked);
  EXPECT_EQ(told.results[19'999].content, "19999");
}

}  // namespace
}  // namespace tug
