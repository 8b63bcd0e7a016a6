// What the tests of this area stand on: a harness in virtual time, and eyes on what it records.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tug/agent/fold.h"
#include "tug/agent/harness.h"
#include "tug/context/context.h"
#include "tug/io/sim_engine.h"
#include "tug/journal/sink.h"
#include "tug/model/models.h"
#include "tug/store/record_stores.h"
#include "tug/testkit/models.h"

namespace tug {

class SeenEvents final : public Sink {
 public:
  void on_event(const Event& event) override { events.push_back(event); }
  std::vector<std::string> kinds() const {
    std::vector<std::string> names;
    for (const Event& event : events) {
      if (event.live == 0) names.emplace_back(event.name());
    }
    return names;
  }
  std::size_t count(Kind kind) const {
    std::size_t found = 0;
    for (const Event& event : events) found += event.kind == kind;
    return found;
  }
  const Event* find(Kind kind) const {
    for (const Event& event : events) {
      if (event.kind == kind) return &event;
    }
    return nullptr;
  }

  std::vector<Event> events;
};

// Whoever reads the journal comes to the same result as the caller.
inline void expect_journal_says(RecordStore& store, const RunResult& result) {
  const auto folded = fold_root(store, result.id);
  ASSERT_TRUE(folded) << to_string(folded.error());
  const RunResult& read = folded->runs[0].result;
  EXPECT_EQ(print_json(to_json(read)), print_json(to_json(result)));
  EXPECT_EQ(read.messages, result.messages);
  EXPECT_EQ(read.tool_calls, result.tool_calls);
  if (result.status != RunStatus::parked) EXPECT_FALSE(result.messages.has_open_calls());
}

// A harness on a simulated engine with a journal in memory.
struct Rig {
  explicit Rig(ModelPtr model, std::uint64_t seed = 1, HarnessOptions options = {})
      : engine(make_sim_engine({.seed = seed})), store(make_memory_record_store()) {
    options.seed = 7;
    options.engine = engine;
    options.store = store;
    options.models = models;
    options.model = model->profile().id();
    models->add(std::move(model));
    harness = std::make_unique<Harness>(std::move(options));
  }

  RunResult run(std::string prompt, RunOptions options = {}) {
    options.observers.push_back(seen);
    RunResult result = harness->run(std::move(prompt), std::move(options));
    if (!result.id.empty()) expect_journal_says(*store, result);
    return result;
  }

  std::shared_ptr<SimEngine> engine;
  std::shared_ptr<RecordStore> store;
  std::shared_ptr<Models> models = make_models();
  std::shared_ptr<SeenEvents> seen = std::make_shared<SeenEvents>();
  std::unique_ptr<Harness> harness;
};

struct Words {
  std::string text;
};

inline std::string text_of(const ToolResult& result) { return result.content; }

// Every call has exactly one result, in order: a transcript that any provider would take. That of a
// run that was parked may end in calls that wait.
inline void expect_legal(const Transcript& given, bool parked = false) {
  EXPECT_TRUE(parked || !given.has_open_calls());
  const Transcript transcript = given.settled();
  std::vector<const ToolCall*> open;
  for (const MessagePtr& message : transcript.messages()) {
    const auto results = message->tool_results();
    ASSERT_EQ(results.size(), open.size());
    for (std::size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i]->call, open[i]->id);
    open = message->tool_calls();
  }
  EXPECT_TRUE(open.empty());
}

}  // namespace tug
