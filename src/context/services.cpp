#include "tug/context/services.h"
#include "tug/version.h"

#include <algorithm>
#include <cstdio>

#include "context/log_ring.h"

namespace tug {

Services::Services() = default;
Services::~Services() = default;

const std::shared_ptr<void>& Services::find(TypeKey key) const noexcept {
  static const std::shared_ptr<void> kNone;
  const auto slot = std::ranges::find(slots_, key, &Slot::key);
  return slot == slots_.end() ? kNone : slot->service;
}

std::shared_ptr<Reporter> Services::reporter(std::string_view name) const noexcept {
  for (const auto& [known, reporter] : reporters_) {
    if (known == name) return reporter;
  }
  return nullptr;
}

std::vector<std::string> Services::reporter_names() const {
  std::vector<std::string> names;
  for (const auto& [name, reporter] : reporters_) names.push_back(name);
  return names;
}

Services::Builder::Builder(std::uint64_t seed) : made_(new Services) {
  made_->seed_ = seed;
  made_->stores_ = std::make_shared<Stores>();
  made_->shared_ = std::make_unique<Shared>();
  made_->log_defaults_ = std::make_unique<detail::LogDefaults>();
  made_->config_ = Json::object(
      {{"cwd", ""}, {"library", "tugline " + std::string(kVersion)}, {"runtime", "c++"}});
  reporter("console", make_console_reporter(stderr));
}
Services::Builder::Builder(Builder&&) noexcept = default;
Services::Builder::~Builder() = default;

void Services::Builder::replace(TypeKey key, std::shared_ptr<void> service) {
  const auto slot = std::ranges::find(made_->slots_, key, &Slot::key);
  if (slot != made_->slots_.end()) {
    slot->service = std::move(service);
  } else {
    made_->slots_.push_back({key, std::move(service)});
  }
}

Services::Builder& Services::Builder::stores(std::shared_ptr<Stores> stores) {
  made_->stores_ = std::move(stores);
  return *this;
}

Services::Builder& Services::Builder::ids(std::shared_ptr<Ids> ids) {
  made_->ids_ = std::move(ids);
  return *this;
}

Services::Builder& Services::Builder::config(const Json& members) {
  for (const Json::Member& member : members.members()) {
    made_->config_.set(member.key(), member.value);
  }
  return *this;
}

Services::Builder& Services::Builder::reporter(std::string name,
                                               std::shared_ptr<Reporter> reporter) {
  for (auto& [known, kept] : made_->reporters_) {
    if (known != name) continue;
    kept = std::move(reporter);
    return *this;
  }
  made_->reporters_.emplace_back(std::move(name), std::move(reporter));
  return *this;
}

Services::Builder& Services::Builder::log(LogSettings settings) {
  made_->log_defaults_->replace(std::move(settings));
  return *this;
}

ServicesPtr Services::Builder::build() {
  if (!made_->ids_) made_->ids_ = make_time_ordered_ids(made_->seed_);
  return ServicesPtr(std::move(made_));
}

}  // namespace tug
