// What the tests of the journal and its backends share.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/testing.h"
#include "tug/journal/record_store.h"

namespace tug {

inline Time at_second(std::int64_t seconds) { return Time(std::chrono::seconds(seconds)); }

inline Owner dead_owner() {
  ProcessIdentity process = this_process();
  process.boot = "an earlier boot";
  return {process, 1};
}

// Writes a root as its log would, without a loop.
class RootWriter {
 public:
  explicit RootWriter(const std::string& id, std::optional<Base> base = {})
      : base_(std::move(base)),
        who_(std::make_shared<const Lineage>(Lineage{
            .run_id = RunId(id), .thread_id = ThreadId("t-" + id), .root_run_id = RunId(id)})),
        chain_(genesis_of(who_->run_id, who_->thread_id, base_ ? &*base_ : nullptr)) {}

  // The next batch, with `count` small records.
  Batch batch(std::size_t count) {
    Batch batch{.root = who_->run_id, .after = seq_, .now = at_second(100)};
    if (fresh_) {
      batch.create = NewRoot{who_, base_, Json::object()};
      batch.owner = Owner{this_process(), 1};
      fresh_ = false;
    }
    for (std::size_t i = 0; i < count; ++i) add(batch, who_);
    return batch;
  }

  void add(Batch& batch, const LineagePtr& who) {
    Event event{.kind = Kind::custom, .who = who, .data = Json::object({{"n", seq_ + 1}})};
    add_event(batch, std::move(event));
  }

  void add_event(Batch& batch, Event event) {
    if (!event.who) event.who = who_;
    event.ts = at_second(static_cast<std::int64_t>(100 + seq_));
    Encoded encoded = encode(event);
    ++seq_;
    const Digest hash = chain_.next(event.who, seq_, event.ts, encoded.body);
    batch.records.push_back({seq_, event.who, event.ts, std::move(encoded.body), hash});
    if (encoded.blob) batch.blobs.push_back(std::move(*encoded.blob));
  }

  const LineagePtr& who() const { return who_; }
  Seq last_seq() const { return seq_; }

 private:
  std::optional<Base> base_;
  LineagePtr who_;
  Chain chain_;
  Seq seq_ = 0;
  bool fresh_ = true;
};

// Passes everything through but one thing of one record.
class LyingStore final : public RecordStore {
 public:
  static constexpr int kBody = 0, kHash = 1, kTime = 2, kAgent = 3, kBlob = 4;
  LyingStore(RecordStore& store, Seq seq, int what) : store_(store), seq_(seq), what_(what) {}

  Result<std::vector<Record>> read(const RunId& root, Seq after, std::size_t limit) override {
    auto records = store_.read(root, after, limit);
    for (Record& record : *records) {
      if (record.seq != seq_) continue;
      if (what_ == kBody) record.body[record.body.size() / 2] ^= 1;
      if (what_ == kHash) record.hash.bytes[7] ^= 1;
      if (what_ == kTime) record.ts += Duration(1);
      if (what_ == kAgent) {
        Lineage other = *record.who;
        other.agent += "x";
        record.who = std::make_shared<const Lineage>(other);
      }
    }
    return records;
  }
  Result<std::string> blob(const Digest& digest) override {
    auto bytes = store_.blob(digest);
    if (bytes && what_ == kBlob) bytes->back() ^= 1;
    return bytes;
  }

  std::vector<Result<void>> commit(std::span<const Batch> batches) override {
    return store_.commit(batches);
  }
  Result<RootInfo> claim(const RunId& r, const Owner& o, Time t) override {
    return store_.claim(r, o, t);
  }
  Result<void> checkpoint() override { return store_.checkpoint(); }
  Result<RootInfo> info(const RunId& root) override { return store_.info(root); }
  Result<std::vector<RunName>> find_runs(std::string_view part, std::size_t limit) override {
    return store_.find_runs(part, limit);
  }
  Result<std::vector<RootInfo>> list(std::size_t limit) override { return store_.list(limit); }
  Result<std::vector<Partial>> partials(const RunId& root) override {
    return store_.partials(root);
  }
  Result<void> send(const RunId& r, InboxCommand c) override {
    return store_.send(r, std::move(c));
  }
  Result<std::vector<InboxCommand>> inbox(const RunId& root) override { return store_.inbox(root); }
  Result<void> check_integrity() override { return store_.check_integrity(); }
  std::string where() const override { return store_.where(); }

 private:
  RecordStore& store_;
  Seq seq_;
  int what_;
};

}  // namespace tug
