// A process that died after some record of a run, and the one that comes after it.
#pragma once

#include "agent/testing.h"

namespace tug {

// A store as a process leaves it that dies after its first `count` records.
inline std::shared_ptr<RecordStore> crashed_after(RecordStore& whole, const RunId& root,
                                                  std::size_t count) {
  std::shared_ptr<RecordStore> part = make_memory_record_store();
  Batch batch{.root = root};
  batch.create = NewRoot{.who = whole.info(root)->who};
  batch.records = *whole.read(root, 0, count);
  batch.status = RootStatus::running;
  batch.release = true;
  EXPECT_TRUE(part->commit({&batch, 1})[0]);
  return part;
}

// A new rig on what a crash after `count` records of `root` leaves of the old one.
inline Rig rig_after_crash(const Rig& old, const ModelPtr& model, const RunId& root,
                           std::size_t count) {
  Rig next(model, count);
  next.store = crashed_after(*old.store, root, count);
  HarnessOptions options{.model = model->profile().id(),
                         .seed = 8,  // ids of its own
                         .engine = next.engine,
                         .store = next.store,
                         .models = make_models()};
  options.models->add(model);
  next.harness = std::make_unique<Harness>(std::move(options));
  return next;
}

}  // namespace tug
