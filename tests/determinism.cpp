// Runs a small world on the simulated engine, seed after seed, and prints a digest of each journal.
//   determinism            one line a seed
//   determinism --check    every seed twice; exit 1 when a journal differs
#include <cstdio>
#include <cstring>
#include <string>

#include "tug/agent/harness.h"
#include "tug/core/scope.h"
#include "tug/core/sync.h"
#include "tug/io/sim_engine.h"
#include "tug/journal/journal.h"
#include "tug/model/models.h"
#include "tug/store/record_stores.h"
#include "tug/testkit/models.h"

namespace {

using namespace tug;

constexpr int kSeeds = 50;
constexpr int kRoots = 6;

Event note(std::string name, std::int64_t n) {
  return {.kind = Kind::custom, .data = Json::object({{"name", name}, {"n", n}})};
}

// One root: children that race for a semaphore, wait, compute on the pool and pass items on, all
// noted in the log.
struct World {
  Engine& engine;
  Journal& journal;
  RootLog* log = nullptr;
};

Task<void> worker(World& world, Semaphore& permits, Channel<std::int64_t>& items, int number) {
  Result<Permit> permit = co_await permits.acquire();
  if (!permit) co_return;
  world.log->emit(note("has a permit", number));
  co_await sleep_for(std::chrono::microseconds(100 * (number % 3)));
  auto computing =
      world.engine.offload("square", [number](std::stop_token) { return number * number; }, {});
  Result<int> square = co_await std::move(computing);
  world.log->emit(note("computed", square.value_or(-1)));
  (void)co_await items.send(square.value_or(-1));
}

Task<void> root(World world, int number) {
  Loop& loop = co_await this_loop();
  const std::string id = "root-" + std::to_string(number);
  auto who = std::make_shared<const Lineage>(
      Lineage{.run_id = RunId(id), .thread_id = ThreadId("t"), .root_run_id = RunId(id)});
  auto creating = world.journal.create({who});
  auto created = co_await std::move(creating);
  if (!created) co_return;
  world.log = created->get();
  Semaphore permits(2);
  Channel<std::int64_t> items(4);
  Scope scope(loop, {});
  for (int i = 0; i < 5; ++i) scope.spawn(worker(world, permits, items, i));
  for (int i = 0; i < 5; ++i) {
    Result<std::optional<std::int64_t>> item = co_await items.receive();
    world.log->emit(note("received", item ? **item : -1));
  }
  co_await scope.join();
  auto closing = (*created)->close();
  (void)co_await std::move(closing);
}

std::string journal_of(std::uint64_t seed) {
  std::shared_ptr<RecordStore> store = make_memory_record_store();
  auto engine = make_sim_engine({.seed = seed, .loops = 3});
  {
    auto journal = make_journal(*engine, store);
    for (int i = 0; i < kRoots; ++i) engine->start(engine->place(), root({*engine, *journal}, i));
    engine->run_until_idle();
  }
  Sha256 digest;
  for (int i = 0; i < kRoots; ++i) {
    auto records = store->read(RunId("root-" + std::to_string(i)), 0, 1000);
    if (!records || records->size() != 15) return "root " + std::to_string(i) + " is not whole";
    for (const Record& record : *records) {
      digest.update_field(record.body);
      digest.update(record.hash.view());
    }
  }
  return digest.finish().hex();
}

struct Words {
  std::string text;
};

ModelPtr story() {
  return testkit::scripted({testkit::calls({{"a", "slowly", R"({"text":"1"})"},
                                            {"b", "slowly", R"({"text":"2"})"},
                                            {"c", "ghost", "{}"},
                                            {"d", "slowly", "not json"}}),
                            testkit::calls("slowly", R"({"text":"3"})"), testkit::says("the end")});
}

// Whole runs beside each other: loop, tools on the pool, journal.
std::string runs_of(std::uint64_t seed) {
  std::shared_ptr<RecordStore> store = make_memory_record_store();
  const ModelPtr model = story();
  HarnessOptions options{.model = model->profile().id(),
                         .seed = seed,
                         .engine = make_sim_engine({.seed = seed, .loops = 2}),
                         .store = store,
                         .models = make_models()};
  options.models->add(model);
  Harness harness(std::move(options));
  harness.tool("slowly", "On the pool", [](const Words& words) { return words.text; });
  std::vector<Run> runs;
  for (int i = 0; i < kRoots; ++i) runs.push_back(harness.start("tell a story"));
  Sha256 digest;
  for (const Run& run : runs) {
    if (run.wait().text != "the end") return "a run went wrong";
    auto records = store->read(run.id(), 0, 1000);
    if (!records) return "a run is gone";
    for (const Record& record : *records) {
      digest.update_field(record.body);
      digest.update(record.hash.view());
    }
  }
  return digest.finish().hex();
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc > 1 && std::strcmp(argv[1], "--check") == 0;
  int wrong = 0;
  std::string first;
  bool all_equal = true;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::string digest = journal_of(seed);
    const std::string runs = runs_of(seed);
    const bool whole = digest.size() == 64 && runs.size() == 64;
    if (!whole || (check && (journal_of(seed) != digest || runs_of(seed) != runs))) {
      std::printf("seed %llu: %s %s\n", static_cast<unsigned long long>(seed), digest.c_str(),
                  runs.c_str());
      ++wrong;
    }
    if (seed == 1) first = digest;
    all_equal &= digest == first;
    if (!check) {
      std::printf("%llu %s %s\n", static_cast<unsigned long long>(seed), digest.c_str(),
                  runs.c_str());
    }
  }
  // A scheduler that draws nothing would pass every comparison.
  return wrong != 0 || all_equal;
}
