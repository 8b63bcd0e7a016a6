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

void serve(benchmark::State& state, ScriptTurn turn, std::size_t reserved) {
  constexpr int kTurns = 1000;
  ModelPtr model = make_script_model({std::move(turn)}, {.provider = "script", .name = "b.jsonl"});
  ModelRequest request;
  if (!request.transcript.append_user(Message::user("go on"))) state.SkipWithError("no request");
  std::vector<Json> before(reserved, Json::object({{"line", 0}}));
  request.reserved = std::make_shared<const std::vector<Json>>(std::move(before));
  for (auto _ : state) {
    ManualLoop loop;
    if (!loop.run(turns(model, request, kTurns)).value_or(false)) state.SkipWithError("failed");
  }
  state.SetItemsProcessed(state.iterations() * kTurns);
}

void script_turn_text(benchmark::State& state) {
  serve(state, {.text = "The answer is forty-two, as always.", .repeat = true}, 0);
}
BENCHMARK(script_turn_text);

void script_turn_call(benchmark::State& state) {
  ScriptCall call{.id = "c1", .name = "read", .arguments = R"({"path":"README.md","limit":20})"};
  serve(state, {.tool_calls = {call}, .repeat = true}, 10'000);
}
BENCHMARK(script_turn_call);

}  // namespace
}  // namespace tug
