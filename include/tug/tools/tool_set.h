// The tools of a harness, and the snapshot of them that a run is frozen with.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tug/tools/tool.h"

namespace tug {

// A value: sorted by name, one tool per name. Copies share nothing that changes.
class ToolSet {
 public:
  // A tool of that name is replaced.
  void add(ToolPtr tool);
  // Whether there was one.
  bool remove(std::string_view name);
  // Null when there is none.
  const Tool* find(std::string_view name) const noexcept;
  ToolPtr share(std::string_view name) const noexcept;
  // The names that are nearest to one that nobody has; empty when none is near.
  std::string nearest(std::string_view name) const;
  const std::vector<ToolPtr>& all() const noexcept { return tools_; }
  std::size_t size() const noexcept { return tools_.size(); }
  // Those named; `invalid` for a name that is unknown (with the nearest) or there twice.
  Result<ToolSet> only(const std::vector<std::string>& names) const;

 private:
  std::vector<ToolPtr> tools_;
};

}  // namespace tug
