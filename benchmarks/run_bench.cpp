// The loop itself: what a turn costs, and what a run that waits weighs.
#include <benchmark/benchmark.h>

#include "tug/agent/harness.h"
#include "tug/io/engine.h"
#include "tug/journal/sink.h"
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

}  // namespace
}  // namespace tug
