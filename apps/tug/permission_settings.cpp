#include "permission_settings.h"

#include <algorithm>
#include <utility>

#include "core/try.h"
#include "stored_run.h"
#include "tug/core/nearest.h"

namespace tug::cli {
namespace {

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> all;
  for (const Json& item : list.items()) all.emplace_back(item.as_string());
  return all;
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

bool is_given(const ConfigFlags& flags, const char* key) {
  const auto found = flags.by_key.find(key);
  return found != flags.by_key.end() && found->second.has_value();
}

OnAsk usual_answer(Asked asked) {
  switch (asked) {
    case Asked::person:
      return OnAsk::wait;
    case Asked::nobody:
      return OnAsk::deny;
    case Asked::later:
      break;
  }
  return OnAsk::park;
}

}  // namespace

Result<Permissions> configured_permissions(const Config& config, const ConfigFlags& flags,
                                           Asked asked,
                                           const std::optional<Permissions>& recorded) {
  Permissions out;
  if (recorded) {
    out = *recorded;
    append(out.allow, flags.allow);
    append(out.ask, flags.ask);
    append(out.deny, flags.deny);
  } else {
    out.allow = texts(config.value("permissions.allow"));
    out.ask = texts(config.value("permissions.ask"));
    out.deny = texts(config.value("permissions.deny"));
    if (config.text("permissions.hold") == name_of(HoldScope::call)) out.hold = HoldScope::call;
  }
  if (!recorded || is_given(flags, "permissions.mode")) {
    TUG_TRY(mode, permission_mode_from(config.text("permissions.mode")));
    out.mode = mode;
  }
  const std::string on_ask = config.text("permissions.on_ask");
  out.on_ask = on_ask.empty() ? usual_answer(asked) : on_ask == "deny" ? OnAsk::deny : OnAsk::park;
  // Too many of them would be found out when the run is resumed.
  return permissions_from(to_json(out));
}

Result<void> check_pattern_flags(const ConfigFlags& flags,
                                 const std::vector<std::shared_ptr<const ToolSpec>>& tools) {
  std::vector<std::string_view> known;
  for (const auto& tool : tools) known.push_back(tool->name);
  const std::pair<const char*, const std::vector<std::string>&> given[] = {
      {"--allow", flags.allow}, {"--ask", flags.ask}, {"--deny", flags.deny}};
  for (const auto& [flag, patterns] : given) {
    for (const std::string& pattern : patterns) {
      const std::string_view tool = std::string_view(pattern).substr(0, pattern.find('('));
      if (std::ranges::find(known, tool) != known.end()) continue;
      const std::string_view near = nearest_name(tool, known);
      return fail(
          ErrorKind::invalid,
          std::string(flag) + " " + pattern + ": there is no tool \"" + std::string(tool) + "\"",
          near.empty() ? "`tug tools` lists the tools"
                       : "did you mean \"" + std::string(near) + "\"?");
    }
  }
  return {};
}

Result<std::optional<Permissions>> recorded_permissions(RecordStore& store, const RunId& root) {
  std::optional<Json> newest;
  const auto look = [&](const Event& event) {
    const bool tells = event.kind == Kind::run_started || event.kind == Kind::run_resumed;
    if (!tells || !event.who || event.who->run_id != root) return;
    if (const Json* given = event.data["options"].find("permissions")) newest = *given;
  };
  TUG_TRY(read, for_each_event(store, root, look));
  if (!newest) return std::optional<Permissions>();
  TUG_TRY(permissions, permissions_from(*newest));
  return std::optional(std::move(permissions));
}

}  // namespace tug::cli
