// What the tests of this area stand on: a log that remembers, a loop turned by hand, a tree to
// grow.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/manual_loop.h"
#include "tug/context/context.h"
#include "tug/journal/journal.h"

namespace tug {

class RememberingLog final : public RootLog {
 public:
  explicit RememberingLog(Lineage who) : who_(std::make_shared<const Lineage>(std::move(who))) {}

  Seq emit(Event event) noexcept override {
    event.seq = ++seq_;
    show(event);
    records.push_back(std::move(event));
    return seq_;
  }
  void emit_live(Event event) noexcept override {
    event.seq = seq_;
    show(event);
    live.push_back(std::move(event));
  }
  bool wants_live() const noexcept override { return listens; }
  bool wants_steps() const noexcept override { return listens; }
  Task<Result<void>> durable(Seq, Until) override { co_return Result<void>(); }
  void keep_blob(Blob) noexcept override {}
  void keep_partial(CallId, std::string) noexcept override {}
  void drop_partial(CallId) noexcept override {}
  void took(std::vector<std::int64_t>) noexcept override {}
  void set_status(RootStatus, Json) noexcept override {}
  void observe(std::shared_ptr<Sink> sink) override { sinks.push_back(std::move(sink)); }
  void forget(const Sink& gone) noexcept override {
    std::erase_if(sinks, [&](const auto& sink) { return sink.get() == &gone; });
  }
  Seq last_seq() const noexcept override { return seq_; }
  Seq durable_seq() const noexcept override { return seq_; }
  Digest last_hash() const noexcept override { return {}; }
  const LineagePtr& lineage() const noexcept override { return who_; }
  std::uint64_t epoch() const noexcept override { return 1; }
  std::uint64_t removed_sinks() const noexcept override { return 0; }
  Task<Result<void>> close(Until) override { co_return Result<void>(); }

  std::vector<Event> records;
  std::vector<Event> live;
  std::vector<std::shared_ptr<Sink>> sinks;
  bool listens = false;

 private:
  void show(const Event& event) {
    for (const auto& sink : sinks) sink->on_event(event);
  }
  LineagePtr who_;
  Seq seq_ = 0;
};

// One root on a loop turned by hand. Run ids are "run-1", "run-2", ...
class ContextTest : public testing::Test {
 protected:
  Services::Builder services(std::uint64_t seed = 1) {
    Services::Builder builder(seed);
    builder.ids(make_counting_ids("run")).config(Json::object({{"cwd", "/work"}}));
    return builder;
  }
  Context grow(RootSpec spec = {}) {
    if (!spec.services) spec.services = bundle;
    if (!spec.loop) spec.loop = &loop;
    if (!spec.log) {
      Lineage who{.run_id = spec.run.run_id.empty() ? RunId(spec.services->ids().next({}))
                                                    : spec.run.run_id,
                  .thread_id = spec.run.thread_id,
                  .agent = spec.run.agent};
      who.root_run_id = who.run_id;
      if (who.thread_id.empty()) who.thread_id = ThreadId(who.run_id.text());
      log = std::make_shared<RememberingLog>(std::move(who));
      spec.log = log;
    }
    auto root = Context::root(std::move(spec));
    EXPECT_TRUE(root) << to_string(root.error());
    return *root;
  }
  static Context below(const Context& parent, ChildSpec spec = {}) {
    auto child = parent.child(std::move(spec));
    EXPECT_TRUE(child) << to_string(child.error());
    return *child;
  }
  static Context run_below(const Context& parent, ChildSpec spec = {}) {
    spec.kind = NodeKind::run;
    return below(parent, std::move(spec));
  }

  ManualLoop loop;
  std::shared_ptr<RememberingLog> log;  // of the newest root
  ServicesPtr bundle = services().build();
};

template <class T>
std::string error_of(const Result<T>& result) {
  return result ? "no error" : result.error().message();
}

}  // namespace tug
