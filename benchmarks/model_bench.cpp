// What one turn of a scripted model costs, as a run asks for it: reserve, ask, collect.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "core/manual_loop.h"
#include "tug/model/script.h"

namespace tug {
namespace {

Task<bool> turns(ModelPtr model, ModelRequest request, int count) {
  for (int i = 0; i < count; ++i) {
    ModelRequest asked = request;
    asked.reservation = model->reserve(asked);
    std::unique_ptr<ModelStream> stream = model->ask(std::move(asked), Until{});
    auto collecting = collect(*stream);
    Result<ModelTurn> turn = co_await std::move(collecting);
    if (!turn) co_return false;
    benchmark::DoNotOptimize(turn->message);
  }
  co_return true;
}

constexpr int kTurns = 1000;  // of one iteration

void serve(benchmark::State& state, std::vector<ScriptTurn> script, std::vector<Json> reserved) {
  ModelPtr model = make_script_model(std::move(script), {.provider = "script", .name = "b.jsonl"});
  ModelRequest request;
  if (!request.transcript.append_user(Message::user("go on"))) state.SkipWithError("no request");
  request.reserved = std::make_shared<const std::vector<Json>>(std::move(reserved));
  for (auto _ : state) {
    ManualLoop loop;
    if (!loop.run(turns(model, request, kTurns)).value_or(false)) state.SkipWithError("failed");
  }
  state.SetItemsProcessed(state.iterations() * kTurns);
}

// What a root has recorded after `count` attempts on lines 1, 2, 3, ...
std::vector<Json> attempts(int count) {
  std::vector<Json> out;
  for (int i = 1; i <= count; ++i) out.push_back(Json::object({{"line", i}}));
  return out;
}

void script_1000_turns_text(benchmark::State& state) {
  serve(state, {{.text = "The answer is forty-two, as always.", .repeat = true}}, {});
}
BENCHMARK(script_1000_turns_text);

void script_1000_turns_call(benchmark::State& state) {
  ScriptCall call{.id = "c1", .name = "read", .arguments = R"({"path":"README.md","limit":20})"};
  serve(state, {{.tool_calls = {call}, .repeat = true}}, {});
}
BENCHMARK(script_1000_turns_call);

// Late in a long script without conditions.
void script_1000_turns_after_10k(benchmark::State& state) {
  serve(state, std::vector<ScriptTurn>(20'000, {.text = "next"}), attempts(10'000));
}
BENCHMARK(script_1000_turns_after_10k);

// The same with a condition somewhere: what was used has to be looked up.
void script_1000_turns_after_10k_mixed(benchmark::State& state) {
  std::vector<ScriptTurn> script(20'000, {.text = "next"});
  script.back().when = "never said";
  serve(state, std::move(script), attempts(10'000));
}
BENCHMARK(script_1000_turns_after_10k_mixed);

}  // namespace
}  // namespace tug
