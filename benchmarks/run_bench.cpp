// The loop itself: what a turn costs, and what a run that waits weighs.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <cstdio>

#include "resident.h"
#include "tug/agent/harness.h"
#include "tug/io/engine.h"
#include "tug/journal/sink.h"
#include "tug/middleware/lifecycle.h"
#include "tug/model/models.h"
#include "tug/store/record_stores.h"
#include "tug/testkit/models.h"

namespace tug {
namespace {

class Counting final : public Sink {
 public:
  void on_event(const Event& event) override { events += event.live == 0; }
  std::uint64_t events = 0;
};

struct Words {
  std::string text;
};

Harness harness_with(ModelPtr model) {
  HarnessOptions options{.model = model->profile().id(),
                         .engine = make_engine({.loops = 1, .workers = 1}),
                         .models = make_models()};
  options.models->add(std::move(model));
  return Harness(std::move(options));
}

constexpr int kTurns = 1000;

std::vector<ScriptTurn> long_story() {
  std::vector<ScriptTurn> turns(kTurns, testkit::calls("shout", R"({"text":"go"})"));
  turns.push_back(testkit::says("done"));
  return turns;
}

// One run of a thousand turns, each with one inline tool: a turn is a call and its result.
void loop_turn(benchmark::State& state) {
  Harness harness = harness_with(testkit::scripted(long_story()));
  harness.inline_tool("shout", "Shouts", [](const Words& words) { return words.text + "!"; },
                      {.effect = Effect::pure});
  auto seen = std::make_shared<Counting>();
  const RunOptions options{.limits = {.max_turns = kTurns + 1, .max_tool_calls = kTurns},
                           .observers = {seen}};
  for (auto _ : state) {
    const RunResult result = harness.run("go", options);
    if (!result.ok()) state.SkipWithError(to_string(*result.error).c_str());
  }
  state.counters["turn_us"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * (kTurns + 1),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(loop_turn)->UseRealTime();

// A turn goes through each of ten hooks four times: before and after the model, before and after
// the tool.
MiddlewarePtr counting_hooks(std::uint64_t& calls) {
  const auto count = [&calls](const Context&, auto&) -> Result<void> {
    ++calls;
    return {};
  };
  return make_lifecycle({.name = "counting",
                         .before_model = count,
                         .after_model = count,
                         .before_tool = count,
                         .after_tool = count});
}

double run_seconds(Harness& harness, benchmark::State& state) {
  const RunOptions options{.limits = {.max_turns = kTurns + 1, .max_tool_calls = kTurns},
                           .observers = {std::make_shared<Counting>()}};
  const auto begun = std::chrono::steady_clock::now();
  const RunResult result = harness.run("go", options);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  if (!result.ok()) state.SkipWithError(to_string(*result.error).c_str());
  return took.count();
}

// What ten hooks add to a turn: the same run with and without them, one after the other.
void hook_chain(benchmark::State& state) {
  std::uint64_t calls = 0;
  const auto shout = [](const Words& words) { return words.text + "!"; };
  Harness plain = harness_with(testkit::scripted(long_story()));
  Harness hooked = harness_with(testkit::scripted(long_story()));
  for (Harness* harness : {&plain, &hooked}) {
    harness->inline_tool("shout", "Shouts", shout, {.effect = Effect::pure});
  }
  for (int i = 0; i < 10; ++i) hooked.use(counting_hooks(calls));
  double added = 0;
  for (auto _ : state) {
    added -= run_seconds(plain, state);
    added += run_seconds(hooked, state);
  }
  const double turns = static_cast<double>(state.iterations()) * kTurns;
  if (calls < 40 * static_cast<std::uint64_t>(turns)) state.SkipWithError("hooks were left out");
  state.counters["added_s"] = added / turns;
}
BENCHMARK(hook_chain)->UseRealTime();

// Runs that are parked: a parked run is state in the journal, here in memory, and nothing else.
void parked_runs(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    Harness harness =
        harness_with(testkit::slow(std::chrono::milliseconds(20), testkit::calls("noop")));
    harness.inline_tool("noop", "Does nothing", [] { return "done"; }, {.effect = Effect::pure});
    const std::size_t before = resident_bytes();
    std::size_t parked = 0;
    for (std::size_t i = 0; i < count; i += 100) {
      std::vector<Run> some;
      for (int k = 0; k < 100; ++k) {
        some.push_back(harness.start("wait for it"));
        some.back().pause("for the benchmark");
      }
      for (const Run& run : some) parked += run.wait().status == RunStatus::parked;
    }
    if (parked != count) state.SkipWithError("not all of them are parked");
    state.counters["rss_mb"] = static_cast<double>(resident_bytes() - before) / 1e6;
  }
  malloc_trim(0);
}
BENCHMARK(parked_runs)->Arg(100'000)->Iterations(1)->Unit(benchmark::kMillisecond);

// Runs in the middle of a model call, each with its journal in memory and a handle.
void waiting_runs(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    Harness harness = harness_with(testkit::slow(std::chrono::hours(1), testkit::says("late")));
    const std::size_t before = resident_bytes();
    std::vector<Run> runs;
    runs.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      runs.push_back(harness.start("wait for it", {.keep_events = false}));
    for (const Run& run : runs) {
      while (run.status().activity != RunActivity::model) {
      }
    }
    state.counters["rss_mb"] = static_cast<double>(resident_bytes() - before) / 1e6;
    for (const Run& run : runs) run.detach();
    harness.close();
  }
  malloc_trim(0);
}
BENCHMARK(waiting_runs)->Arg(100'000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tug
