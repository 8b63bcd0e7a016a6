#include <benchmark/benchmark.h>

#include "core/manual_loop.h"
#include "no_log.h"
#include "tug/context/context.h"
#include "tug/context/transcript.h"

namespace tug {
namespace {

struct Tree {
  ManualLoop loop;
  Context root;
  Tree() {
    Inherited inherit;
    for (int i = 0; i < 16; ++i) inherit.values.set("key" + std::to_string(i), i);
    root = *Context::root({.services = Services::Builder(1).build(),
                           .loop = &loop,
                           .log = std::make_shared<NoLog>(),
                           .run = {.inherit = std::move(inherit)}});
  }
};

void context_child_16_inherited_keys(benchmark::State& state) {
  const Tree tree;
  for (auto _ : state) {
    auto child = tree.root.child({.kind = NodeKind::tool});
    benchmark::DoNotOptimize(child);
  }
}
BENCHMARK(context_child_16_inherited_keys);

void context_child_run(benchmark::State& state) {
  const Tree tree;
  for (auto _ : state) {
    auto child = tree.root.child({.kind = NodeKind::run});
    benchmark::DoNotOptimize(child);
  }
}
BENCHMARK(context_child_run);

// A child that asks for its token and changes one of sixteen inherited values.
void context_child_cancel_and_write(benchmark::State& state) {
  const Tree tree;
  for (auto _ : state) {
    auto child = tree.root.child({.kind = NodeKind::tool});
    benchmark::DoNotOptimize(child->cancel().requested());
    (void)child->set("inherited.key7", 0);
  }
}
BENCHMARK(context_child_cancel_and_write);

Transcript of_length(int messages) {
  Transcript transcript;
  const MessagePtr message = Message::user("words");
  for (int i = 0; i < messages; ++i) (void)transcript.append_user(message);
  return transcript;
}

void transcript_fork_10k(benchmark::State& state) {
  const Transcript transcript = of_length(10'000);
  for (auto _ : state) {
    Transcript fork = transcript;
    benchmark::DoNotOptimize(fork);
  }
}
BENCHMARK(transcript_fork_10k);

void transcript_append(benchmark::State& state) {
  const MessagePtr message = Message::user("words");
  Transcript transcript;
  for (auto _ : state) {
    (void)transcript.append_user(message);
    if (transcript.size() == 1'000) transcript = {};
  }
}
BENCHMARK(transcript_append);

void transcript_fork_and_append_10k(benchmark::State& state) {
  Transcript transcript = of_length(10'000);
  const MessagePtr message = Message::user("words");
  (void)Transcript(transcript).append_user(message);  // the shared chunk's next slot is taken
  for (auto _ : state) {
    Transcript fork = transcript;
    (void)fork.append_user(message);
  }
}
BENCHMARK(transcript_fork_and_append_10k);

void transcript_read_10k(benchmark::State& state) {
  const Transcript transcript = of_length(10'000);
  for (auto _ : state) {
    std::size_t bytes = 0;
    for (const MessagePtr& message : transcript.messages()) bytes += message->size();
    benchmark::DoNotOptimize(bytes);
  }
}
BENCHMARK(transcript_read_10k);

void budget_hold_settle_depth_4(benchmark::State& state) {
  Budget at = Budget::root(
      {.scope = RunId("r"), .limits = {.model_calls = INT64_MAX, .tokens = INT64_MAX}}, Instant{});
  for (int i = 0; i < 4; ++i) at = *at.child_run({.scope = RunId("c")}, Instant{});
  for (auto _ : state) {
    auto hold = at.hold({.model_calls = 1, .tokens = 1000});
    hold->settle({.model_calls = 1, .tokens = 900});
  }
}
BENCHMARK(budget_hold_settle_depth_4);

}  // namespace
}  // namespace tug
