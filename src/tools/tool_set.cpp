#include "tug/tools/tool_set.h"

#include <algorithm>

#include "tug/core/nearest.h"

namespace tug {
namespace {

auto place_of(const std::vector<ToolPtr>& tools, std::string_view name) {
  return std::ranges::lower_bound(
      tools, name, {}, [](const ToolPtr& tool) -> std::string_view { return tool->name(); });
}

}  // namespace

void ToolSet::add(ToolPtr tool) {
  const auto place = tools_.begin() + (place_of(tools_, tool->name()) - tools_.begin());
  if (place != tools_.end() && (*place)->name() == tool->name()) {
    *place = std::move(tool);
  } else {
    tools_.insert(place, std::move(tool));
  }
}

bool ToolSet::remove(std::string_view name) {
  return std::erase_if(tools_, [&](const ToolPtr& tool) { return tool->name() == name; }) > 0;
}

const Tool* ToolSet::find(std::string_view name) const noexcept {
  const auto place = place_of(tools_, name);
  return place != tools_.end() && (*place)->name() == name ? place->get() : nullptr;
}

ToolPtr ToolSet::share(std::string_view name) const noexcept {
  const auto place = place_of(tools_, name);
  return place != tools_.end() && (*place)->name() == name ? *place : nullptr;
}

std::string ToolSet::nearest(std::string_view name) const {
  std::vector<std::string_view> names;
  names.reserve(tools_.size());
  for (const ToolPtr& tool : tools_) names.push_back(tool->name());
  return std::string(nearest_name(name, names));
}

Result<ToolSet> ToolSet::only(const std::vector<std::string>& names) const {
  ToolSet chosen;
  for (const std::string& name : names) {
    const auto place = place_of(tools_, name);
    if (place == tools_.end() || (*place)->name() != name) {
      const std::string near = nearest(name);
      std::string shown;
      print_json_string(std::string_view(name).substr(0, 128), shown);
      return fail(
          ErrorKind::invalid, "no tool is called " + shown,
          near.empty() ? "name tools that are registered" : "did you mean \"" + near + "\"?");
    }
    if (chosen.find(name)) {
      return fail(ErrorKind::invalid, "the tool \"" + name + "\" is named twice", "name it once");
    }
    chosen.add(*place);
  }
  return chosen;
}

}  // namespace tug
