// A record store for the journal's own tests, which may not look down at the backends: it keeps
// everything in memory, counts commits and fails on demand.
#pragma once

#include <map>
#include <mutex>

#include "tug/journal/record_store.h"

namespace tug {

class FlakyStore final : public RecordStore {
 public:
  void fail_commits(Result<void> verdict) {
    std::scoped_lock lock(mutex_);
    verdict_ = std::move(verdict);
  }
  int commits() const {
    std::scoped_lock lock(mutex_);
    return commits_;
  }

  std::vector<Result<void>> commit(std::span<const Batch> batches) override {
    std::scoped_lock lock(mutex_);
    ++commits_;
    std::vector<Result<void>> verdicts;
    for (const Batch& batch : batches) verdicts.push_back(verdict_ ? apply(batch) : verdict_);
    return verdicts;
  }
  Result<RootInfo> claim(const RunId& root, const Owner& owner, Time) override {
    std::scoped_lock lock(mutex_);
    auto found = roots_.find(root);
    if (found == roots_.end()) return fail(ErrorKind::invalid, "no " + root.text());
    found->second.info.epoch += 1;
    found->second.info.owner = owner;
    return found->second.info;
  }
  Result<void> checkpoint() override { return {}; }
  Result<RootInfo> info(const RunId& root) override {
    std::scoped_lock lock(mutex_);
    auto found = roots_.find(root);
    if (found == roots_.end()) return fail(ErrorKind::invalid, "no " + root.text());
    return found->second.info;
  }
  Result<std::vector<RunName>> find_runs(std::string_view, std::size_t) override {
    return std::vector<RunName>();
  }
  Result<std::vector<RootInfo>> list(std::size_t) override { return std::vector<RootInfo>(); }
  Result<std::vector<Record>> read(const RunId& root, Seq after, std::size_t limit) override {
    std::scoped_lock lock(mutex_);
    std::vector<Record> records;
    for (const Record& record : roots_[root].records) {
      if (record.seq > after && records.size() < limit) records.push_back(record);
    }
    return records;
  }
  Result<std::vector<Partial>> partials(const RunId& root) override {
    std::scoped_lock lock(mutex_);
    return roots_[root].partials;
  }
  Result<void> send(const RunId&, InboxCommand) override { return {}; }
  Result<std::vector<InboxCommand>> inbox(const RunId&) override {
    return std::vector<InboxCommand>();
  }
  Result<std::string> blob(const Digest& digest) override {
    std::scoped_lock lock(mutex_);
    return blobs_[digest];
  }
  Result<void> check_integrity() override { return {}; }
  std::string where() const override { return "a test"; }

 private:
  struct Root {
    RootInfo info;
    std::vector<Record> records;
    std::vector<Partial> partials;
  };

  Result<void> apply(const Batch& batch) {
    if (batch.create) {
      if (roots_.contains(batch.root)) return fail(ErrorKind::denied, "it exists");
      RootInfo info{.who = batch.create->who, .base = batch.create->base, .owner = batch.owner};
      info.genesis =
          genesis_of(info.who->run_id, info.who->thread_id, info.base ? &*info.base : nullptr);
      info.last_hash = info.genesis;
      roots_[batch.root].info = info;
    }
    Root& root = roots_[batch.root];
    if (root.info.epoch != batch.epoch) return fail(ErrorKind::denied, "taken over");
    if (root.info.last_seq != batch.after) return fail(ErrorKind::internal, "a gap");
    for (const Record& record : batch.records) {
      root.records.push_back(record);
      root.info.last_seq = record.seq;
      root.info.last_hash = record.hash;
    }
    for (const Blob& blob : batch.blobs) blobs_[blob.digest] = blob.bytes;
    for (const Partial& part : batch.partials) root.partials.push_back(part);
    for (const CallId& call : batch.finished_partials) {
      std::erase_if(root.partials, [&](const Partial& part) { return part.call == call; });
    }
    if (batch.release) root.info.owner.reset();
    return {};
  }

  mutable std::mutex mutex_;
  std::map<RunId, Root> roots_;
  std::map<Digest, std::string> blobs_;
  Result<void> verdict_;
  int commits_ = 0;
};

}  // namespace tug
