// Trees of runs: what a sub-agent costs, how fast a tree is cancelled, what a fork weighs.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <time.h>

#include <chrono>

#include "tug/agent/harness.h"
#include "tug/io/engine.h"
#include "tug/model/models.h"
#include "tug/model/script.h"
#include "tug/testkit/models.h"

namespace tug {
namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ScriptTurn call_many(const std::string& agent, int count, std::string of) {
  ScriptTurn turn;
  for (int i = 0; i < count; ++i) {
    turn.tool_calls.push_back({"", agent, R"({"input":"part )" + std::to_string(i) + "\"}"});
  }
  turn.agent = std::move(of);
  return turn;
}

ScriptTurn said_by(std::string agent, std::int64_t delay_ms = 0) {
  ScriptTurn turn = testkit::says("done");
  turn.agent = std::move(agent);
  turn.delay_ms = delay_ms;
  turn.repeat = true;
  return turn;
}

Harness harness_with(std::vector<ScriptTurn> turns, ModelPtr other = nullptr) {
  ModelPtr model = make_script_model(std::move(turns), {.provider = "script", .name = "tree"});
  HarnessOptions options{.model = model->profile().id(),
                         .engine = make_engine({.loops = 1, .workers = 1}),
                         .models = make_models()};
  options.models->add(std::move(model));
  if (other) options.models->add(std::move(other));
  return Harness(std::move(options));
}

constexpr int kChildren = 1000;
constexpr std::int64_t kHour = 3'600'000;

// A thousand sub-agents of one batch, one model call each, all in flight together.
void subagents_1000(benchmark::State& state) {
  double spent = 0;
  for (auto _ : state) {
    Harness harness =
        harness_with({call_many("worker", kChildren, "main"), said_by("worker"), said_by("main")});
    harness.agent("worker", "Works.");
    const double before = cpu_seconds();
    const RunResult result =
        harness.run("go", {.limits = {.max_turns = 3 * kChildren, .max_tool_calls = kChildren}});
    spent += cpu_seconds() - before;
    if (result.text != "done") state.SkipWithError("it did not end well");
  }
  state.counters["cpu_us_each"] = spent / static_cast<double>(state.iterations()) / kChildren * 1e6;
}
BENCHMARK(subagents_1000)->Unit(benchmark::kMillisecond);

constexpr int kDepth = 10;

std::string link(int depth) { return "link" + std::to_string(depth); }

// A chain of nine agents, the last of which has a thousand sub-agents in their model calls.
void cancel_tree(benchmark::State& state) {
  double took = 0;
  for (auto _ : state) {
    std::vector<ScriptTurn> turns{call_many(link(1), 1, "main")};
    for (int depth = 1; depth < kDepth - 1; ++depth) {
      turns.push_back(call_many(link(depth + 1), 1, link(depth)));
    }
    turns.push_back(call_many("leaf", kChildren, link(kDepth - 1)));
    turns.push_back(said_by("leaf", kHour));
    Harness harness = harness_with(std::move(turns));
    for (int depth = 1; depth < kDepth; ++depth) {
      harness.agent(link(depth), "Passes it on.", {.limits = {.max_tool_calls = 3 * kChildren}});
    }
    harness.agent("leaf", "Waits.");
    const Run run = harness.start("go", {.limits = {.max_turns = 3 * kChildren,
                                                    .max_tool_calls = 3 * kChildren,
                                                    .max_depth = kDepth},
                                         .keep_events = false});
    const auto all_wait = [&] {
      std::size_t waiting = 0;
      for (const RunStatusRecord& one : run.tree()) waiting += one.activity == RunActivity::model;
      return waiting == kChildren;
    };
    while (!all_wait() && !run.ended()) {
    }
    const double before = wall_seconds();
    run.cancel("enough");
    const RunResult result = run.wait();
    took += wall_seconds() - before;
    if (result.status != RunStatus::cancelled) {
      state.SkipWithError((result.error ? to_string(*result.error) : result.text).c_str());
    }
  }
  state.counters["cancel_ms"] = took / static_cast<double>(state.iterations()) * 1e3;
}
BENCHMARK(cancel_tree)->Unit(benchmark::kMillisecond)->Iterations(5);

constexpr int kTurns = 5000;

// Children that start from a parent of 10,000 messages, up to the moment their model is asked; or,
// for comparison, from nothing.
void fork_child(benchmark::State& state) {
  const bool fork = state.range(0) == 1;
  double spent = 0;
  double bytes = 0;
  for (auto _ : state) {
    std::vector<ScriptTurn> turns(kTurns, testkit::calls("noop"));
    turns.push_back(testkit::calls("split"));
    // The children ask a model of their own: a script looks through all that was said before.
    const ModelPtr waits = testkit::slow(std::chrono::hours(1), testkit::says("late"));
    Harness harness = harness_with(std::move(turns), waits);
    harness.inline_tool("noop", "Does nothing", [] { return "done"; }, {.effect = Effect::pure});
    const Agent half =
        harness.agent("half", "Goes its own way.", {.model = waits->profile().id(), .fork = fork});
    const auto split = [&](Context ctx) -> Task<std::string> {
      const std::size_t heap = mallinfo2().uordblks;
      const double before = cpu_seconds();
      for (int i = 0; i < kChildren; ++i) half.start(ctx, "go on").detach();
      co_await yield();
      co_await yield();
      spent += cpu_seconds() - before;
      bytes += static_cast<double>(mallinfo2().uordblks) - static_cast<double>(heap);
      ctx.cancel().request({CancelReason::Why::user, "measured"});
      co_return "split";
    };
    harness.tool("split", "Splits", split, {.effect = Effect::pure});
    const RunResult result = harness.run(
        "go",
        {.limits = {.max_turns = 2 * kTurns, .max_tool_calls = 2 * kTurns}, .keep_events = false});
    if (result.messages.size() < 2 * kTurns) state.SkipWithError("the parent was short");
  }
  const double all = static_cast<double>(state.iterations()) * kChildren;
  state.counters["us_each"] = spent / all * 1e6;
  state.counters["bytes_each"] = bytes / all;
}
BENCHMARK(fork_child)->Arg(1)->Arg(0)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tug
