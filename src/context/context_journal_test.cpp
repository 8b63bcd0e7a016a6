// The context on the real journal, on both engines.
#include <gtest/gtest.h>

#include "core/try.h"
#include "tug/context/context.h"
#include "tug/io/engine.h"
#include "tug/io/sim_engine.h"
#include "tug/journal/journal.h"
#include "tug/store/record_stores.h"

namespace tug {
namespace {

// Lambdas with captures must not be coroutines: what they need comes as arguments.
Task<Result<void>> live_a_little(Engine& engine, Journal& journal, ServicesPtr services) {
  NewRoot made{.who = std::make_shared<const Lineage>(Lineage{
                   .run_id = RunId("r"), .thread_id = ThreadId("t"), .root_run_id = RunId("r")})};
  auto creating = journal.create(made);
  TUG_CO_TRY(opened, co_await std::move(creating));
  std::shared_ptr<RootLog> log = std::move(opened);
  RootSpec spec{.services = std::move(services), .loop = &engine.loop(0), .log = log};
  spec.run.thread_id = ThreadId("t");
  TUG_CO_TRY(root, Context::root(std::move(spec)));
  EXPECT_EQ(*root.lineage(), *made.who);
  TUG_CO_TRY(call, root.child({.call = CallId("1.0")}));
  TUG_CO_TRY(child, call.child({.kind = NodeKind::run, .run_id = RunId("c"), .agent = "helper"}));
  root.set_turn(1);
  root.emit("begun", Json());
  child.log("from below");
  child.log({.level = LogLevel::debug, .text = "not kept"});
  const Seq last = root.emit("ended", Json::object({{"ok", true}}));
  auto durable = log->durable(last, {.cancel = root.cancel()});
  TUG_CO_TRY(written, co_await std::move(durable));
  auto closing = log->close();
  co_return co_await std::move(closing);
}

class ContextOnAJournal : public testing::TestWithParam<bool> {};

TEST_P(ContextOnAJournal, EventsOfAllNodesAreRecordsOfTheRoot) {
  std::unique_ptr<Engine> engine;
  if (GetParam()) {
    engine = make_engine({.loops = 1, .workers = 1});
  } else {
    engine = make_sim_engine({.seed = 3, .loops = 1});
  }
  std::shared_ptr<RecordStore> store = make_memory_record_store();
  auto journal = make_journal(*engine, store);
  auto done =
      engine->run(engine->loop(0), live_a_little(*engine, *journal, Services::Builder(1).build()));
  ASSERT_TRUE(done) << to_string(done.error());
  const auto records = store->read(RunId("r"), 0, 9);
  ASSERT_TRUE(records);
  std::vector<std::string> lines;
  for (const Record& record : *records) {
    const auto event = decode(record, *store);
    ASSERT_TRUE(event);
    lines.push_back(event->who->run_id.text() + " " + std::string(event->name()) + " " +
                    std::to_string(event->turn) + " " + print_json(event->data));
  }
  EXPECT_EQ(lines,
            (std::vector<std::string>{
                R"(r custom 1 {"name":"begun","data":null})",
                R"(c log 0 {"type":"message","tag":"user","level":"error","text":"from below"})",
                R"(r custom 1 {"name":"ended","data":{"ok":true}})",
            }));
  EXPECT_EQ((*records)[1].who->parent_call_id, CallId("1.0"));
  EXPECT_TRUE(verify_root(*store, RunId("r")));
  journal.reset();
  engine->shutdown();
}

INSTANTIATE_TEST_SUITE_P(Engines, ContextOnAJournal, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "Real" : "Simulated"; });

}  // namespace
}  // namespace tug
