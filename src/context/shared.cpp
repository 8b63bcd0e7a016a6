#include "tug/context/shared.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace tug {

struct Shared::State {
  struct Slot {
    TypeKey key;
    std::shared_ptr<const void> value;
  };

  mutable std::mutex mutex;
  std::map<std::string, Json, std::less<>> values;
  std::vector<Slot> slots;

  std::shared_ptr<const void>* find(TypeKey key) noexcept {
    const auto slot = std::ranges::find(slots, key, &Slot::key);
    return slot == slots.end() ? nullptr : &slot->value;
  }
  // Gives the old value, to be destroyed outside the lock: its destructor is not our code.
  std::shared_ptr<const void> put(TypeKey key, std::shared_ptr<const void> value) {
    if (auto* old = find(key)) return std::exchange(*old, std::move(value));
    slots.push_back({key, std::move(value)});
    return nullptr;
  }
};

Shared::Shared() : state_(std::make_unique<State>()) {}
Shared::~Shared() = default;

Json Shared::get(std::string_view key) const {
  std::lock_guard lock(state_->mutex);
  const auto found = state_->values.find(key);
  return found == state_->values.end() ? Json() : found->second;
}

void Shared::set(std::string_view key, Json value) {
  std::lock_guard lock(state_->mutex);
  state_->values.insert_or_assign(std::string(key), std::move(value));
}

bool Shared::erase(std::string_view key) {
  std::lock_guard lock(state_->mutex);
  const auto found = state_->values.find(key);
  if (found == state_->values.end()) return false;
  state_->values.erase(found);
  return true;
}

std::vector<std::string> Shared::keys() const {
  std::lock_guard lock(state_->mutex);
  std::vector<std::string> keys;
  for (const auto& [key, value] : state_->values) keys.push_back(key);
  return keys;
}

Json Shared::all() const {
  std::lock_guard lock(state_->mutex);
  Json all = Json::object();
  for (const auto& [key, value] : state_->values) all.set(key, value);
  return all;
}

Json Shared::update_json(std::string_view key, void (*change)(void*, Json&), void* f) {
  std::lock_guard lock(state_->mutex);
  const auto found = state_->values.find(key);
  Json value = found == state_->values.end() ? Json() : found->second;
  change(f, value);
  state_->values.insert_or_assign(std::string(key), value);
  return value;
}

std::shared_ptr<const void> Shared::find(TypeKey key) const {
  std::lock_guard lock(state_->mutex);
  const auto* value = state_->find(key);
  return value ? *value : nullptr;
}

void Shared::replace(TypeKey key, std::shared_ptr<const void> value) {
  std::shared_ptr<const void> old;
  std::lock_guard lock(state_->mutex);
  old = state_->put(key, std::move(value));
}

std::shared_ptr<const void> Shared::update_slot(
    TypeKey key, std::shared_ptr<const void> (*change)(void*, const void*), void* f) {
  std::shared_ptr<const void> old;
  std::lock_guard lock(state_->mutex);
  const auto* before = state_->find(key);
  std::shared_ptr<const void> made = change(f, before ? before->get() : nullptr);
  old = state_->put(key, made);
  return made;
}

}  // namespace tug
