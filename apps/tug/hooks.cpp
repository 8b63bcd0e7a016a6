#include "hooks.h"

#include "core/try.h"
#include "tug/middleware/command_hook.h"
#include "tug/middleware/hooks.h"

namespace tug::cli {
namespace {

std::optional<std::vector<std::string>> words(const Json& list) {
  if (list.is_null()) return std::nullopt;
  std::vector<std::string> names;
  for (const Json& name : list.items()) names.emplace_back(name.as_string());
  return names;
}

Result<Hook> hook_of(const Config& config, const std::string& row) {
  for (const char* needed : {"event", "command"}) {
    if (!config.text(row + needed).empty()) continue;
    return fail(ErrorKind::invalid, "the row of [[hooks]] has no " + std::string(needed),
                "add " + std::string(needed) + " = \"..\" to it");
  }
  TUG_TRY(event, hook_event_from(config.text(row + "event")));
  CommandHook hook{.event = event,
                   .command = config.text(row + "command"),
                   .tools = words(config.value(row + "tools")),
                   .agents = words(config.value(row + "agents")),
                   .strict = config.value(row + "strict").as_bool()};
  if (const auto seconds = config.value(row + "timeout").as_double()) {
    hook.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
    if (hook.timeout == Duration::zero()) {
      return fail(ErrorKind::invalid, "a timeout of 0 seconds ends every command at once",
                  "leave it out for a minute");
    }
  }
  return make_command_hook(std::move(hook));
}

}  // namespace

Result<MiddlewarePtr> configured_hooks(const Config& config, const std::string& list) {
  std::vector<Hook> hooks;
  for (std::size_t i = 0; i < config.rows(list); ++i) {
    const std::string row = list + "[" + std::to_string(i) + "].";
    auto hook = hook_of(config, row);
    if (!hook) return Failure(hook.error().within(config.source(row)));
    // Made alone first, so that what is wrong with it is said with its place.
    if (auto fine = make_hooks({*hook}); !fine)
      return Failure(fine.error().within(config.source(row)));
    hooks.push_back(*std::move(hook));
  }
  if (hooks.empty()) return MiddlewarePtr();
  return make_hooks(std::move(hooks));
}

}  // namespace tug::cli
