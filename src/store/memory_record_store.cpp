#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "core/try.h"
#include "store/fence.h"
#include "tug/store/record_stores.h"

namespace tug {
namespace {

struct MemoryRoot {
  RootInfo info;
  std::uint64_t order = 0;     // of creation
  std::deque<Record> records;  // grows without leaving half of itself empty
  std::set<RunId> children;
  std::map<std::pair<CallId, std::uint32_t>, std::string> partials;
  std::vector<InboxCommand> inbox;
};

class MemoryRecordStore final : public RecordStore {
 public:
  std::vector<Result<void>> commit(std::span<const Batch> batches) override {
    std::scoped_lock lock(mutex_);
    std::vector<Result<void>> verdicts;
    verdicts.reserve(batches.size());
    for (const Batch& batch : batches) verdicts.push_back(apply(batch));
    return verdicts;
  }

  Result<RootInfo> claim(const RunId& root, const Owner& owner, Time now) override {
    std::scoped_lock lock(mutex_);
    TUG_TRY(found, find(root));
    TUG_TRY(free, may_claim(found->info, owner));
    found->info.epoch += 1;
    found->info.owner = owner;
    found->info.updated = now;
    return found->info;
  }

  Result<void> checkpoint() override { return {}; }

  Result<RootInfo> info(const RunId& root) override {
    std::scoped_lock lock(mutex_);
    TUG_TRY(found, find(root));
    return found->info;
  }

  Result<std::vector<RootInfo>> list(std::size_t limit) override {
    std::scoped_lock lock(mutex_);
    std::vector<const MemoryRoot*> newest;
    for (const auto& [id, root] : roots_) newest.push_back(&root);
    std::sort(newest.begin(), newest.end(),
              [](const auto* a, const auto* b) { return a->order > b->order; });
    if (newest.size() > limit) newest.resize(limit);
    std::vector<RootInfo> infos;
    for (const MemoryRoot* root : newest) infos.push_back(root->info);
    return infos;
  }

  Result<std::vector<RunName>> find_runs(std::string_view part, std::size_t limit) override {
    std::scoped_lock lock(mutex_);
    const auto fits = [part](const RunId& run) {
      return run.text().starts_with(part) || run.text().ends_with(part);
    };
    std::vector<std::pair<std::uint64_t, std::vector<RunName>>> found;
    for (const auto& [id, root] : roots_) {
      std::vector<RunName> names;
      if (fits(id)) names.push_back({id, id});
      for (const RunId& run : root.children) {
        if (fits(run)) names.push_back({run, id});
      }
      if (!names.empty()) found.emplace_back(root.order, std::move(names));
    }
    std::ranges::sort(found, std::greater<>());
    std::vector<RunName> names;
    for (auto& [order, of_root] : found) {
      for (RunName& name : of_root) {
        if (names.size() < limit) names.push_back(std::move(name));
      }
    }
    return names;
  }

  Result<std::vector<Record>> read(const RunId& root, Seq after, std::size_t limit) override {
    std::scoped_lock lock(mutex_);
    TUG_TRY(found, find(root));
    const std::size_t size = found->records.size();
    const std::size_t from = after < size ? static_cast<std::size_t>(after) : size;
    const std::size_t count = std::min(limit, size - from);
    auto first = found->records.begin() + static_cast<std::ptrdiff_t>(from);
    return std::vector<Record>(first, first + static_cast<std::ptrdiff_t>(count));
  }

  Result<std::string> blob(const Digest& digest) override {
    std::scoped_lock lock(mutex_);
    auto found = blobs_.find(digest);
    if (found == blobs_.end()) return no_such_blob(digest, where());
    return found->second;
  }

  Result<std::vector<Partial>> partials(const RunId& root) override {
    std::scoped_lock lock(mutex_);
    TUG_TRY(found, find(root));
    std::vector<Partial> partials;
    for (const auto& [key, bytes] : found->partials) {
      partials.push_back({key.first, key.second, bytes});
    }
    return partials;
  }

  Result<void> send(const RunId& root, InboxCommand command) override {
    std::scoped_lock lock(mutex_);
    TUG_TRY(found, find(root));
    command.id = ++last_command_;
    found->inbox.push_back(std::move(command));
    return {};
  }

  Result<std::vector<InboxCommand>> inbox(const RunId& root) override {
    std::scoped_lock lock(mutex_);
    TUG_TRY(found, find(root));
    return found->inbox;
  }

  Result<std::vector<RunId>> addressed() override {
    std::scoped_lock lock(mutex_);
    std::vector<RunId> roots;
    for (const auto& [id, root] : roots_) {
      if (!root.inbox.empty()) roots.push_back(RunId(id));
    }
    return roots;
  }

  Result<void> check_integrity() override { return {}; }
  bool commits_at_once() const noexcept override { return true; }
  std::string where() const override { return "memory"; }

 private:
  Result<MemoryRoot*> find(const RunId& root) {
    auto found = roots_.find(root);
    if (found == roots_.end()) return no_such_root(root, where());
    return &found->second;
  }

  Result<MemoryRoot*> target(const Batch& batch) {
    if (!batch.create) {
      TUG_TRY(found, find(batch.root));
      TUG_TRY(fenced, check_fence(found->info, batch));
      return found;
    }
    if (roots_.contains(batch.root)) return already_exists(batch.root);
    const std::optional<Base>& base = batch.create->base;
    if (base) {
      TUG_TRY(origin, find(base->root));
      if (base->seq == 0 || base->seq > origin->records.size() ||
          origin->records[base->seq - 1].hash != base->hash) {
        return no_such_base(*base);
      }
    }
    MemoryRoot root{.info = first_info(batch), .order = ++last_order_};
    return &roots_.emplace(batch.root, std::move(root)).first->second;
  }

  Result<void> apply(const Batch& batch) {
    TUG_TRY(root, target(batch));
    for (const Record& record : batch.records) {
      if (record.who->depth > 0) root->children.insert(record.who->run_id);
      root->records.push_back(record);
      root->info.last_seq = record.seq;
      root->info.last_hash = record.hash;
    }
    for (const Blob& blob : batch.blobs) blobs_.try_emplace(blob.digest, blob.bytes);
    for (const Partial& part : batch.partials) root->partials[{part.call, part.n}] = part.bytes;
    for (const CallId& call : batch.finished_partials) {
      std::erase_if(root->partials, [&](const auto& entry) { return entry.first.first == call; });
    }
    for (std::int64_t taken : batch.taken_commands) {
      std::erase_if(root->inbox, [&](const InboxCommand& command) { return command.id == taken; });
    }
    if (batch.status) root->info.status = *batch.status;
    if (batch.summary) root->info.summary = *batch.summary;
    if (batch.release) root->info.owner.reset();
    root->info.updated = batch.now;
    return {};
  }

  std::mutex mutex_;
  std::map<RunId, MemoryRoot> roots_;
  std::map<Digest, std::string> blobs_;
  std::uint64_t last_order_ = 0;
  std::int64_t last_command_ = 0;
};

}  // namespace

std::unique_ptr<RecordStore> make_memory_record_store() {
  return std::make_unique<MemoryRecordStore>();
}

}  // namespace tug
