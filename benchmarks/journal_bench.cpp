// The journal: what a record costs its run, and how many a disk takes.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>

#include "core/try.h"
#include "tug/core/scope.h"
#include "tug/io/engine.h"
#include "tug/journal/journal.h"
#include "tug/store/record_stores.h"

namespace tug {
namespace {

LineagePtr lineage(std::string id) {
  return std::make_shared<const Lineage>(
      Lineage{.run_id = RunId(id),
              .thread_id = ThreadId("01hzthread0000000000000000"),
              .root_run_id = RunId(id),
              .agent = "main"});
}

// A tool.started of ordinary size.
Event tool_started() {
  return {.kind = Kind::tool_started,
          .turn = 3,
          .data = Json::object(
              {{"call_id", "17.0"},
               {"provider_call_id", "toolu_01A09q90qw90lq917835lq9"},
               {"tool", "read"},
               {"index", 0},
               {"arguments", Json::object({{"path", "src/journal/root_log.cpp"}, {"limit", 200}})},
               {"effect", "pure"}})};
}

class Counter final : public Sink {
 public:
  void on_event(const Event& event) override { seen += event.live; }
  std::uint64_t seen = 0;
};

// Commits nothing and keeps nothing: what is measured is the side of the run.
class Void final : public RecordStore {
 public:
  std::vector<Result<void>> commit(std::span<const Batch> batches) override {
    return std::vector<Result<void>>(batches.size());
  }
  Result<RootInfo> claim(const RunId&, const Owner&, Time) override { return none<RootInfo>(); }
  Result<void> checkpoint() override { return {}; }
  Result<RootInfo> info(const RunId&) override { return none<RootInfo>(); }
  Result<std::vector<RunName>> find_runs(std::string_view, std::size_t) override {
    return std::vector<RunName>();
  }
  Result<std::vector<RootInfo>> list(std::size_t) override { return none<std::vector<RootInfo>>(); }
  Result<std::vector<Record>> read(const RunId&, Seq, std::size_t) override {
    return none<std::vector<Record>>();
  }
  Result<std::vector<Partial>> partials(const RunId&) override {
    return none<std::vector<Partial>>();
  }
  Result<void> send(const RunId&, InboxCommand) override { return {}; }
  Result<std::vector<InboxCommand>> inbox(const RunId&) override {
    return none<std::vector<InboxCommand>>();
  }
  Result<std::string> blob(const Digest&) override { return none<std::string>(); }
  Result<void> check_integrity() override { return {}; }
  std::string where() const override { return "nowhere"; }

 private:
  template <class T>
  static Result<T> none() {
    return fail(ErrorKind::invalid, "nothing is kept");
  }
};

Task<Result<void>> emit_records(Journal& journal, benchmark::State& state) {
  auto creating = journal.create({lineage("01hzroot00000000000000000a")});
  TUG_CO_TRY(log, co_await std::move(creating));
  const Event event = tool_started();
  std::uint64_t emitted = 0;
  for (auto _ : state) {
    log->emit(event);
    if (++emitted % 256 == 0) {
      state.PauseTiming();
      auto waiting = log->durable(log->last_seq());
      Result<void> durable = co_await std::move(waiting);
      state.ResumeTiming();
      if (!durable) co_return durable;
    }
  }
  co_return Result<void>();
}

void journal_emit_record(benchmark::State& state) {
  auto engine = make_engine({.loops = 1, .workers = 1});
  auto journal = make_journal(*engine, std::make_shared<Void>());
  auto done = engine->run(engine->loop(0), emit_records(*journal, state));
  if (!done) state.SkipWithError(done.error().message().c_str());
  journal.reset();
}
BENCHMARK(journal_emit_record)->UseRealTime();

Task<Result<void>> emit_live(Journal& journal, benchmark::State& state) {
  auto creating = journal.create({lineage("01hzroot00000000000000000b")});
  TUG_CO_TRY(log, co_await std::move(creating));
  auto counter = std::make_shared<Counter>();
  log->observe(counter);
  log->emit(tool_started());
  const Event delta{.kind = Kind::model_delta,
                    .turn = 1,
                    .data = Json::object({{"call", "1"}, {"text", "Hello"}})};
  for (auto _ : state) log->emit_live(delta);
  benchmark::DoNotOptimize(counter->seen);
  co_return Result<void>();
}

void journal_emit_live(benchmark::State& state) {
  auto engine = make_engine({.loops = 1, .workers = 1});
  auto journal = make_journal(*engine, std::make_shared<Void>());
  auto done = engine->run(engine->loop(0), emit_live(*journal, state));
  if (!done) state.SkipWithError(done.error().message().c_str());
  journal.reset();
}
BENCHMARK(journal_emit_live)->UseRealTime();

Task<Result<void>> one_root(Journal& journal, std::string id, int turns) {
  auto creating = journal.create({lineage(std::move(id))});
  TUG_CO_TRY(log, co_await std::move(creating));
  for (int turn = 0; turn < turns; ++turn) {
    // What a turn with one tool call writes between two acts.
    for (int i = 0; i < 4; ++i) log->emit(tool_started());
    auto waiting = log->durable(log->last_seq());
    TUG_CO_TRY(durable, co_await std::move(waiting));
  }
  auto closing = log->close();
  co_return co_await std::move(closing);
}

Task<Result<void>> many_roots(Journal& journal, std::string prefix, int roots, int turns) {
  Loop& loop = co_await this_loop();
  Scope scope(loop, {});
  for (int i = 0; i < roots; ++i) {
    scope.spawn("a root", one_root(journal, prefix + std::to_string(i), turns));
  }
  auto joining = scope.join();
  co_await std::move(joining);
  if (!scope.failures().empty()) co_return Failure(scope.failures().front());
  co_return Result<void>();
}

// SQLite, synchronous=FULL, 1,000 concurrent roots that wait for every turn.
void journal_sqlite_1000_roots(benchmark::State& state) {
  std::string pattern = (std::filesystem::current_path() / "bench-journal-XXXXXX").string();
  const std::string folder = mkdtemp(pattern.data());
  constexpr int kRoots = 1000;
  constexpr int kTurns = 10;
  std::uint64_t records = 0;
  {
    auto store = open_sqlite_record_store(folder);
    if (!store) return state.SkipWithError(store.error().message().c_str());
    auto engine = make_engine({.loops = 1, .workers = 1});
    auto journal = make_journal(*engine, *std::move(store));
    int round = 0;
    for (auto _ : state) {
      auto done = engine->run(
          engine->loop(0),
          many_roots(*journal, "round-" + std::to_string(round++) + "-root-", kRoots, kTurns));
      if (!done) state.SkipWithError(done.error().message().c_str());
      records += kRoots * kTurns * 4;
    }
    journal.reset();
  }
  std::filesystem::remove_all(folder);
  state.counters["records_per_s"] =
      benchmark::Counter(static_cast<double>(records), benchmark::Counter::kIsRate);
}
BENCHMARK(journal_sqlite_1000_roots)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tug
