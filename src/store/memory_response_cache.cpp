#include <list>
#include <map>
#include <mutex>

#include "tug/store/response_cache.h"

namespace tug {
namespace {

class MemoryCache final : public ResponseCache {
 public:
  explicit MemoryCache(CacheBounds bounds) : bounds_(bounds) {}

  std::optional<std::string> get(const Digest& key, Time now) override {
    const std::scoped_lock hold(lock_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) {
      ++stats_.misses;
      return std::nullopt;
    }
    const auto entry = found->second;
    if (entry->until != Time{} && now >= entry->until) {
      drop(entry);
      ++stats_.misses;
      return std::nullopt;
    }
    newest_first_.splice(newest_first_.begin(), newest_first_, entry);
    ++stats_.hits;
    return entry->bytes;
  }

  void put(const Digest& key, std::string bytes, Duration ttl, Time now) override {
    const std::scoped_lock hold(lock_);
    if (const auto found = by_key_.find(key); found != by_key_.end()) drop(found->second);
    stats_.bytes += bytes.size();
    newest_first_.push_front({key, std::move(bytes), ttl > Duration::zero() ? now + ttl : Time{}});
    by_key_[key] = newest_first_.begin();
    while (newest_first_.size() > 1 &&
           (newest_first_.size() > bounds_.entries || stats_.bytes > bounds_.bytes)) {
      drop(std::prev(newest_first_.end()));
      ++stats_.evicted;
    }
  }

  void clear() override {
    const std::scoped_lock hold(lock_);
    newest_first_.clear();
    by_key_.clear();
    stats_.bytes = 0;
  }

  CacheStats stats() const override {
    const std::scoped_lock hold(lock_);
    CacheStats stats = stats_;
    stats.entries = newest_first_.size();
    return stats;
  }

 private:
  struct Entry {
    Digest key;
    std::string bytes;
    Time until{};  // the epoch: for ever
  };
  using Place = std::list<Entry>::iterator;

  void drop(Place entry) {
    stats_.bytes -= entry->bytes.size();
    by_key_.erase(entry->key);
    newest_first_.erase(entry);
  }

  const CacheBounds bounds_;
  mutable std::mutex lock_;
  std::list<Entry> newest_first_;
  std::map<Digest, Place> by_key_;
  CacheStats stats_;
};

}  // namespace

std::shared_ptr<ResponseCache> make_memory_response_cache(CacheBounds bounds) {
  return std::make_shared<MemoryCache>(bounds);
}

}  // namespace tug
