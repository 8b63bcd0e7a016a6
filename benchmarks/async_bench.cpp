// What tasks, waits, cancellation and engines cost. Times are per operation unless named otherwise.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <cstdio>

#include <memory>
#include <vector>

#include "core/manual_loop.h"
#include "resident.h"
#include "tug/core/cancel.h"
#include "tug/core/scope.h"
#include "tug/core/sync.h"
#include "tug/io/engine.h"
#include "tug/io/sim_engine.h"

namespace tug {
namespace {

std::size_t heap_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

Task<void> park(WaitList& list, Until until) { co_await list.wait(until); }

// A million tasks, each parked in a wait with a token; with a deadline too if range(1) is 1.
void parked_tasks(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    const std::size_t resident = resident_bytes();
    const std::size_t before = heap_in_use();
    ManualLoop loop;
    WaitList list;
    const CancelToken token = CancelToken::root();
    const Instant deadline = state.range(1) ? loop.now() + std::chrono::hours(1) : kNever;
    for (std::size_t i = 0; i < count; ++i) loop.start(park(list, {token, deadline}));
    loop.settle();
    state.counters["bytes_per_task"] = static_cast<double>(heap_in_use() - before) / count;
    state.counters["rss_mb"] = static_cast<double>(resident_bytes() - resident) / 1e6;
    list.wake_all();
    loop.settle();
  }
  malloc_trim(0);
}
BENCHMARK(parked_tasks)
    ->Args({1'000'000, 0})
    ->Args({1'000'000, 1})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

// Marks a tree of 100,000 nodes; range(0) is how many children a node has.
void cancel_100k_tree(benchmark::State& state) {
  constexpr int kNodes = 100'000;
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<CancelToken> nodes{CancelToken::root()};
    for (int i = 1; i < kNodes; ++i) nodes.push_back(nodes[(i - 1) / state.range(0)].child());
    state.ResumeTiming();
    nodes[0].request({CancelReason::Why::user, "stop"});
    benchmark::DoNotOptimize(nodes.back().requested());
    state.PauseTiming();
    nodes.clear();
    state.ResumeTiming();
  }
}
BENCHMARK(cancel_100k_tree)->Arg(1)->Arg(10)->Arg(100'000)->Unit(benchmark::kMillisecond);

// The same with a parked task at every node, until all of them have ended.
void cancel_100k_parked_tasks(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    auto loop = std::make_unique<ManualLoop>();
    WaitList list;
    const CancelToken root = CancelToken::root();
    for (int i = 0; i < 100'000; ++i) loop->start(park(list, {root.child(), kNever}));
    loop->settle();
    state.ResumeTiming();
    root.request({CancelReason::Why::user, "stop"});
    loop->settle();
  }
}
BENCHMARK(cancel_100k_parked_tasks)->Unit(benchmark::kMillisecond);

void cancel_child(benchmark::State& state) {
  const CancelToken root = CancelToken::root();
  for (auto _ : state) benchmark::DoNotOptimize(root.child());
}
BENCHMARK(cancel_child);

void cancel_check(benchmark::State& state) {
  const CancelToken token = CancelToken::root().child();
  for (auto _ : state) benchmark::DoNotOptimize(token.requested());
}
BENCHMARK(cancel_check);

Task<int> number() { co_return 1; }
Task<long> sum_children(int times) {
  long total = 0;
  for (int i = 0; i < times; ++i) {
    auto task = number();
    total += co_await std::move(task);
  }
  co_return total;
}
void call_and_return(benchmark::State& state) {
  ManualLoop loop;
  for (auto _ : state) benchmark::DoNotOptimize(loop.run(sum_children(10'000)));
  state.SetItemsProcessed(state.iterations() * 10'000);
}
BENCHMARK(call_and_return);

Task<void> switch_often(int times) {
  for (int i = 0; i < times; ++i) co_await yield();
}
void switch_manual(benchmark::State& state) {
  ManualLoop loop;
  for (auto _ : state) {
    loop.start(switch_often(10'000));
    loop.start(switch_often(10'000));
    loop.settle();
  }
  state.SetItemsProcessed(state.iterations() * 20'000);
}
BENCHMARK(switch_manual);

void switch_real_loop(benchmark::State& state) {
  auto engine = make_engine({.loops = 1, .workers = 1, .slow_step = Duration::zero()});
  for (auto _ : state)
    benchmark::DoNotOptimize(engine->run(engine->loop(0), switch_often(100'000)));
  state.SetItemsProcessed(state.iterations() * 100'000);
}
BENCHMARK(switch_real_loop)->UseRealTime();

void switch_sim_loop(benchmark::State& state) {
  auto engine = make_sim_engine();
  for (auto _ : state)
    benchmark::DoNotOptimize(engine->run(engine->loop(0), switch_often(100'000)));
  state.SetItemsProcessed(state.iterations() * 100'000);
}
BENCHMARK(switch_sim_loop);

Task<void> sleep_often(int times, Until until) {
  for (int i = 0; i < times; ++i) co_await sleep_for(Duration(1), until);
}
// A cancellable wait with a deadline: park, fire, resume.
void sleep_virtual(benchmark::State& state) {
  ManualLoop loop;
  const CancelToken token = CancelToken::root();
  for (auto _ : state) benchmark::DoNotOptimize(loop.run(sleep_often(10'000, {token})));
  state.SetItemsProcessed(state.iterations() * 10'000);
}
BENCHMARK(sleep_virtual);

Task<void> send_numbers(Channel<int>& channel, int times) {
  for (int i = 0; i < times; ++i) {
    Result<void> sent = co_await channel.send(i);
    benchmark::DoNotOptimize(sent);
  }
  channel.close();
}
Task<void> receive_numbers(Channel<int>& channel) {
  while (true) {
    Result<std::optional<int>> item = co_await channel.receive();
    if (!item || !*item) co_return;
  }
}
void channel_item(benchmark::State& state) {
  ManualLoop loop;
  for (auto _ : state) {
    Channel<int> channel(static_cast<std::size_t>(state.range(0)));
    loop.start(send_numbers(channel, 10'000));
    loop.start(receive_numbers(channel));
    loop.settle();
  }
  state.SetItemsProcessed(state.iterations() * 10'000);
}
BENCHMARK(channel_item)->Arg(0)->Arg(16);

Task<void> offload_often(Engine& engine, int times) {
  for (int i = 0; i < times; ++i) {
    auto task = engine.offload([](std::stop_token) { return 1; }, {});
    Result<int> answer = co_await std::move(task);
    benchmark::DoNotOptimize(answer);
  }
}
void offload_round_trip(benchmark::State& state) {
  auto engine = make_engine({.loops = 1, .workers = 1, .slow_step = Duration::zero()});
  for (auto _ : state)
    benchmark::DoNotOptimize(engine->run(engine->loop(0), offload_often(*engine, 1'000)));
  state.SetItemsProcessed(state.iterations() * 1'000);
}
BENCHMARK(offload_round_trip)->UseRealTime();

// From a thread that is not the loop's, to an idle loop and back.
void run_round_trip(benchmark::State& state) {
  auto engine = make_engine({.loops = 1, .workers = 1, .slow_step = Duration::zero()});
  for (auto _ : state) benchmark::DoNotOptimize(engine->run(engine->loop(0), number()));
}
BENCHMARK(run_round_trip)->UseRealTime();

}  // namespace
}  // namespace tug
