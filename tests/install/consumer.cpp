// An outside program: a task on an engine writes to a journal, a struct becomes a schema.
#include <cstdio>
#include <string>

#include <tug/core/codec.h>
#include <tug/io/engine.h>
#include <tug/journal/journal.h>
#include <tug/store/record_stores.h>

struct Where {
  std::string city;
  int days = 3;
};

// Named tasks, one co_await a statement: g++ 12 needs it so.
tug::Task<tug::Result<tug::Seq>> write_one(tug::Journal& journal) {
  auto who = std::make_shared<tug::Lineage>();
  who->run_id = tug::RunId("r1");
  who->root_run_id = who->run_id;
  tug::NewRoot root;
  root.who = who;
  auto creating = journal.create(std::move(root));
  auto log = co_await std::move(creating);
  if (!log) co_return tug::Failure(log.error());
  tug::Event event;
  event.data = tug::write_json(Where{"Oslo"});
  const tug::Seq seq = (*log)->emit(std::move(event));
  auto waiting = (*log)->durable(seq);
  auto durable = co_await std::move(waiting);
  if (!durable) co_return tug::Failure(durable.error());
  co_return seq;
}

int main() {
  auto engine = tug::make_engine();
  std::shared_ptr<tug::RecordStore> store = tug::make_memory_record_store();
  auto journal = tug::make_journal(*engine, store);
  auto seq = engine->run(engine->loop(0), write_one(*journal));
  if (!seq) {
    std::printf("%s\n", tug::to_string(seq.error()).c_str());
    return 1;
  }
  const bool whole = tug::verify_root(*store, tug::RunId("r1")).has_value();
  std::printf("%s %llu %d\n", tug::print_json(tug::schema_of<Where>()["required"]).c_str(),
              static_cast<unsigned long long>(*seq), whole);
  return whole ? 0 : 1;
}
