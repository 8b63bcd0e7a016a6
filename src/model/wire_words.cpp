#include "model/wire_words.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "tug/core/digest.h"

namespace tug {
namespace {

constexpr std::size_t kMaxNameLength = 64;
constexpr std::array<std::string_view, 7> kEfforts = {"none", "minimal", "low", "medium",
                                                      "high", "xhigh",   "max"};

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_name_char(char c) noexcept { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; }

template <class List>
bool holds(const List& list, std::string_view word) noexcept {
  return std::ranges::find(list, word) != list.end();
}

}  // namespace

std::string wire_tool_name(std::string_view name) {
  if (!name.empty() && name.size() <= kMaxNameLength && is_letter(name.front()) &&
      std::ranges::all_of(name, is_name_char)) {
    return std::string(name);
  }
  const std::string mark = "_" + sha256(name).hex().substr(0, 8);
  std::string legal = !name.empty() && is_letter(name.front()) ? "" : "_";
  for (const char c : name.substr(0, kMaxNameLength - mark.size() - legal.size()))
    legal += is_name_char(c) ? c : '_';
  return legal + mark;
}

std::string tool_named(const ModelRequest& request, std::string_view name) {
  if (request.tools) {
    for (const auto& tool : *request.tools) {
      if (tool->name == name) return tool->name;
    }
    for (const auto& tool : *request.tools) {
      if (wire_tool_name(tool->name) == name) return tool->name;
    }
  }
  return std::string(name);
}

std::string_view nearest_effort(const ModelProfile& profile, std::string_view wanted) noexcept {
  const auto place = std::ranges::find(kEfforts, wanted);
  if (place == kEfforts.end()) return {};
  if (profile.efforts.empty()) return *place;
  for (auto at = place + 1; at-- != kEfforts.begin();) {
    if (holds(profile.efforts, *at) && (*at != "none" || wanted == "none")) return *at;
  }
  for (auto at = place; at != kEfforts.end(); ++at) {
    if (holds(profile.efforts, *at)) return *at;
  }
  return {};
}

std::string wire_thread(const WireCall& call) {
  if (call.request.thread.empty() || call.provider.thread_salt.empty()) return call.request.thread;
  Sha256 hash;
  hash.update_field(call.provider.thread_salt);
  hash.update_field(call.request.thread);
  return hash.finish().hex();
}

bool has_quirk(const WireCall& call, std::string_view quirk) noexcept {
  return holds(call.provider.quirks, quirk) || holds(call.profile.quirks, quirk);
}

FaultSource fault_source(const WireCall& call) noexcept {
  return {.provider = call.provider.name,
          .model = call.profile.name,
          .key = &call.provider.key,
          .key_env = call.provider.key_env,
          .context_tokens = call.profile.context_tokens};
}

std::string arguments_object(std::string_view arguments) {
  if (arguments.find_first_not_of(" \t\r\n") == arguments.npos) return "{}";
  Result<Json> parsed = parse_json(arguments);
  if (parsed && parsed->is_string()) {
    Result<Json> inner = parse_json(parsed->as_string());
    if (inner && inner->is_object()) parsed = std::move(inner);
  }
  if (parsed && parsed->is_object()) return print_json(*parsed);
  return print_json(Json::object({{"unparsed_arguments", arguments}}));
}

}  // namespace tug
