// The one place for long-lived state that an app changes while runs go on: JSON by key, and one
// value per type. It belongs to the harness, is the same for all its roots, is not inherited by
// copying and is left out of snapshots unless asked for.
//
// Any thread. An update runs under a lock: it must be short and must not touch this object again.
// When it throws, the old value stays.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tug/context/type_key.h"
#include "tug/core/json.h"

namespace tug {

class Shared {
 public:
  Shared();
  ~Shared();
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  Json get(std::string_view key) const;  // null when there is none
  void set(std::string_view key, Json value);
  bool erase(std::string_view key);
  std::vector<std::string> keys() const;  // sorted
  Json all() const;                       // an object, keys sorted

  // change(Json&): reads and writes in one step. Gives the new value.
  template <class F>
  Json update(std::string_view key, F&& change) {
    return update_json(
        key, [](void* f, Json& value) { (*static_cast<std::remove_reference_t<F>*>(f))(value); },
        const_cast<void*>(static_cast<const void*>(std::addressof(change))));
  }

  // Null when no value of that type was put. What you hold never changes; a later put is another
  // value.
  template <class T>
  std::shared_ptr<const T> get() const {
    return std::static_pointer_cast<const T>(find(type_key<T>()));
  }
  template <class T>
  void put(T value) {
    replace(type_key<T>(), std::make_shared<const T>(std::move(value)));
  }
  // change(const T*) -> T, null when there was none: reads and writes in one step.
  template <class T, class F>
  std::shared_ptr<const T> update(F&& change) {
    auto made = update_slot(
        type_key<T>(),
        [](void* f, const void* old) -> std::shared_ptr<const void> {
          return std::make_shared<const T>(
              (*static_cast<std::remove_reference_t<F>*>(f))(static_cast<const T*>(old)));
        },
        const_cast<void*>(static_cast<const void*>(std::addressof(change))));
    return std::static_pointer_cast<const T>(made);
  }

 private:
  Json update_json(std::string_view key, void (*change)(void*, Json&), void* f);
  std::shared_ptr<const void> find(TypeKey key) const;
  void replace(TypeKey key, std::shared_ptr<const void> value);
  std::shared_ptr<const void> update_slot(TypeKey key,
                                          std::shared_ptr<const void> (*change)(void*, const void*),
                                          void* f);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tug
