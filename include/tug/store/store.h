// A named store of JSON values in namespaces: what an app, a tool or a memory keeps beside the
// journal.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/error.h"
#include "tug/core/json.h"

namespace tug {

// Thread-safe. A namespace and a key are any non-empty text of at most kMaxStoreName bytes;
// anything else is `invalid`, naming it.
class Store {
 public:
  static constexpr std::size_t kMaxStoreName = 1024;

  virtual ~Store() = default;
  virtual Result<std::optional<Json>> get(std::string_view space, std::string_view key) = 0;
  virtual Result<void> put(std::string_view space, std::string_view key, Json value) = 0;
  // Deleting what is not there is fine.
  virtual Result<void> remove(std::string_view space, std::string_view key) = 0;
  // The keys of a namespace that start with `prefix`, sorted.
  virtual Result<std::vector<std::string>> list(std::string_view space,
                                                std::string_view prefix = {}) = 0;
};

std::unique_ptr<Store> make_memory_kv_store();

// Stores by name; "default" is always there, in memory unless another was put in its place.
// Thread-safe.
class Stores {
 public:
  Stores();
  ~Stores();
  Stores(const Stores&) = delete;
  Stores& operator=(const Stores&) = delete;

  void put(std::string name, std::shared_ptr<Store> store);
  // Null when there is no store of that name.
  std::shared_ptr<Store> get(std::string_view name) const;
  std::shared_ptr<Store> standard() const;
  std::vector<std::string> names() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tug
