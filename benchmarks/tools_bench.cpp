#include <benchmark/benchmark.h>

#include "no_log.h"
#include "tug/context/context.h"
#include "tug/io/sim_engine.h"
#include "tug/tools/batch.h"
#include "tug/tools/invoke.h"
#include "tug/tools/typed_tool.h"

namespace tug {
namespace {

struct Where {
  std::string city;
  std::optional<int> days;
};
constexpr std::string_view kArguments = R"({"city":"Oslo","days":3})";

struct LastResult : BatchObserver {
  void on_end(std::size_t, ToolResult result, Duration) override { last = std::move(result); }
  ToolResult last;
};

Context root_on(Loop& loop) {
  return *Context::root(
      {.services = Services::Builder(1).build(), .loop = &loop, .log = std::make_shared<NoLog>()});
}

// From the model's text to the envelope.
Task<void> call_again_and_again(benchmark::State& state, ToolPtr tool) {
  Loop& loop = co_await this_loop();
  Context root = root_on(loop);
  LastResult observer;
  for (auto _ : state) {
    auto checked = check_arguments(*tool, kArguments);
    auto ctx =
        root.child({.call = CallId("1.0"), .args = checked->args, .tool = tool->shared_spec()});
    std::vector<BatchCall> calls;
    calls.push_back({tool, *std::move(ctx), std::move(checked->args)});
    auto running = run_batch(std::move(calls), observer, root.cancel());
    co_await std::move(running);
    benchmark::DoNotOptimize(observer.last);
  }
}

void tool_call_inline(benchmark::State& state) {
  auto tool = *make_inline_tool("t", "d", [](const Where& where) { return where.city; });
  auto engine = make_sim_engine();
  (void)engine->run(engine->loop(0), call_again_and_again(state, tool));
}
BENCHMARK(tool_call_inline);

void tool_call_coroutine(benchmark::State& state) {
  auto tool =
      *make_tool("t", "d", [](const Where& where) -> Task<std::string> { co_return where.city; });
  auto engine = make_sim_engine();
  (void)engine->run(engine->loop(0), call_again_and_again(state, tool));
}
BENCHMARK(tool_call_coroutine);

void tool_check_arguments(benchmark::State& state) {
  auto tool = *make_inline_tool("t", "d", [](const Where& where) { return where.city; });
  for (auto _ : state) {
    auto checked = check_arguments(*tool, kArguments);
    benchmark::DoNotOptimize(checked);
  }
}
BENCHMARK(tool_check_arguments);

Task<void> batches_of_sixteen(benchmark::State& state, ToolPtr tool) {
  Loop& loop = co_await this_loop();
  Context root = root_on(loop);
  LastResult observer;
  const Json args = *parse_json(kArguments);
  for (auto _ : state) {
    std::vector<BatchCall> calls;
    for (std::uint32_t i = 0; i < 16; ++i) {
      auto ctx =
          root.child({.call = make_call_id(1, i), .args = args, .tool = tool->shared_spec()});
      calls.push_back({tool, *std::move(ctx), args});
    }
    auto running = run_batch(std::move(calls), observer, root.cancel());
    co_await std::move(running);
  }
}

void tool_batch_of_16_inline(benchmark::State& state) {
  auto tool = *make_inline_tool("t", "d", [](const Where& where) { return where.city; });
  auto engine = make_sim_engine();
  (void)engine->run(engine->loop(0), batches_of_sixteen(state, tool));
}
BENCHMARK(tool_batch_of_16_inline);

}  // namespace
}  // namespace tug
