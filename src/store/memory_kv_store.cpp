#include <map>
#include <mutex>

#include "core/try.h"
#include "tug/store/store.h"

namespace tug {
namespace {

Result<void> check_name(std::string_view what, std::string_view name) {
  if (!name.empty() && name.size() <= Store::kMaxStoreName) return {};
  return fail(ErrorKind::invalid,
              name.empty()
                  ? "store: the " + std::string(what) + " is empty"
                  : "store: the " + std::string(what) + " \"" + std::string(name.substr(0, 32)) +
                        "...\" has " + std::to_string(name.size()) + " bytes",
              "use 1 to " + std::to_string(Store::kMaxStoreName) + " bytes");
}

class MemoryKvStore final : public Store {
 public:
  Result<std::optional<Json>> get(std::string_view space, std::string_view key) override {
    TUG_TRY(named, check_names(space, key));
    std::scoped_lock lock(mutex_);
    auto found = spaces_.find(space);
    if (found == spaces_.end()) return std::optional<Json>();
    auto entry = found->second.find(key);
    if (entry == found->second.end()) return std::optional<Json>();
    return std::optional<Json>(entry->second);
  }

  Result<void> put(std::string_view space, std::string_view key, Json value) override {
    TUG_TRY(named, check_names(space, key));
    std::scoped_lock lock(mutex_);
    spaces_[std::string(space)].insert_or_assign(std::string(key), std::move(value));
    return {};
  }

  Result<void> remove(std::string_view space, std::string_view key) override {
    TUG_TRY(named, check_names(space, key));
    std::scoped_lock lock(mutex_);
    auto found = spaces_.find(space);
    if (found == spaces_.end()) return {};
    if (auto entry = found->second.find(key); entry != found->second.end()) {
      found->second.erase(entry);
    }
    if (found->second.empty()) spaces_.erase(found);
    return {};
  }

  Result<std::vector<std::string>> list(std::string_view space, std::string_view prefix) override {
    TUG_TRY(named, check_name("namespace", space));
    std::scoped_lock lock(mutex_);
    std::vector<std::string> keys;
    auto found = spaces_.find(space);
    if (found == spaces_.end()) return keys;
    for (auto entry = found->second.lower_bound(prefix);
         entry != found->second.end() && entry->first.starts_with(prefix); ++entry) {
      keys.push_back(entry->first);
    }
    return keys;
  }

 private:
  static Result<void> check_names(std::string_view space, std::string_view key) {
    TUG_TRY(named, check_name("namespace", space));
    return check_name("key", key);
  }

  std::mutex mutex_;
  std::map<std::string, std::map<std::string, Json, std::less<>>, std::less<>> spaces_;
};

}  // namespace

std::unique_ptr<Store> make_memory_kv_store() { return std::make_unique<MemoryKvStore>(); }

struct Stores::State {
  mutable std::mutex mutex;
  std::map<std::string, std::shared_ptr<Store>, std::less<>> by_name;
};

Stores::Stores() : state_(std::make_unique<State>()) {
  state_->by_name.emplace("default", make_memory_kv_store());
}
Stores::~Stores() = default;

void Stores::put(std::string name, std::shared_ptr<Store> store) {
  std::scoped_lock lock(state_->mutex);
  state_->by_name.insert_or_assign(std::move(name), std::move(store));
}

std::shared_ptr<Store> Stores::get(std::string_view name) const {
  std::scoped_lock lock(state_->mutex);
  auto found = state_->by_name.find(name);
  return found == state_->by_name.end() ? nullptr : found->second;
}

std::shared_ptr<Store> Stores::standard() const { return get("default"); }

std::vector<std::string> Stores::names() const {
  std::scoped_lock lock(state_->mutex);
  std::vector<std::string> names;
  for (const auto& [name, store] : state_->by_name) names.push_back(name);
  return names;
}

}  // namespace tug
