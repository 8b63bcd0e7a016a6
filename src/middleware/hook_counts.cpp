#include "tug/middleware/hook_counts.h"

namespace tug {

HookCounts::Counter& HookCounts::counter(std::string_view middleware, std::string_view hook) {
  const std::scoped_lock lock(mutex_);
  Row& row = rows_.try_emplace(std::string(middleware)).first->second;
  return row.try_emplace(std::string(hook), 0).first->second;
}

std::uint64_t HookCounts::of(std::string_view middleware, std::string_view hook) const {
  const std::scoped_lock lock(mutex_);
  const auto row = rows_.find(middleware);
  if (row == rows_.end()) return 0;
  const auto found = row->second.find(hook);
  return found == row->second.end() ? 0 : found->second.load(std::memory_order_relaxed);
}

HookCounts::Table HookCounts::all() const {
  const std::scoped_lock lock(mutex_);
  Table table;
  for (const auto& [middleware, row] : rows_) {
    for (const auto& [hook, count] : row) {
      table[middleware][hook] = count.load(std::memory_order_relaxed);
    }
  }
  return table;
}

}  // namespace tug
