#include "tug/context/log.h"

#include <algorithm>

#include "context/log_ring.h"

namespace tug {
namespace {

constexpr LogLevel kLevels[] = {LogLevel::trace, LogLevel::debug, LogLevel::info, LogLevel::warning,
                                LogLevel::error};

bool has(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

bool matches(const LogEntry& entry, const TailFilter& filter) {
  if (!filter.tag.empty() && entry.tag != filter.tag) return false;
  return filter.types.empty() || has(filter.types, entry.type);
}

}  // namespace

std::string_view name_of(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::trace:
      return "trace";
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "error";
}

std::optional<LogLevel> log_level_from(std::string_view name) noexcept {
  for (LogLevel level : kLevels) {
    if (name == name_of(level)) return level;
  }
  return {};
}

Json to_json(const LogSettings& settings) {
  Json scope = Json::array();
  for (const std::string& tag : settings.scope) scope.push_back(tag);
  Json reporters = Json::array();
  for (const std::string& name : settings.reporters) reporters.push_back(name);
  return Json::object({{"level", name_of(settings.level)},
                       {"scope", std::move(scope)},
                       {"reporters", std::move(reporters)}});
}

namespace detail {

void LogRing::push(LogEntry entry) {
  if (entries_.size() < capacity_) {
    entries_.push_back(std::move(entry));
    return;
  }
  entries_[next_] = std::move(entry);
  next_ = (next_ + 1) % capacity_;
  ++dropped_;
}

Tail LogRing::tail(const TailFilter& filter) const {
  Tail tail{.entries = {}, .dropped = dropped_};
  const std::size_t most = filter.last.value_or(entries_.size());
  for (std::size_t age = 1; age <= entries_.size() && tail.entries.size() < most; ++age) {
    const LogEntry& entry = entries_[(next_ + entries_.size() - age) % entries_.size()];
    if (matches(entry, filter)) tail.entries.push_back(entry);
  }
  std::ranges::reverse(tail.entries);
  return tail;
}

LogSettings LogDefaults::get() const {
  std::lock_guard lock(mutex_);
  return settings_;
}

void LogDefaults::replace(LogSettings settings) {
  std::lock_guard lock(mutex_);
  settings_ = std::move(settings);
  version_.fetch_add(1, std::memory_order_release);
}

LogSettings LogDefaults::change(const LogOptions& options) {
  std::lock_guard lock(mutex_);
  if (options.level) settings_.level = *options.level;
  if (options.scope) settings_.scope = *options.scope;
  if (!options.reporter.empty() && !has(settings_.reporters, options.reporter)) {
    settings_.reporters.push_back(options.reporter);
  }
  version_.fetch_add(1, std::memory_order_release);
  return settings_;
}

}  // namespace detail
}  // namespace tug
