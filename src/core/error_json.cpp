#include "tug/core/error_json.h"

namespace tug {
namespace {

struct DetailWriter {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(const Limit& limit) const {
    return Json::object({{"type", "limit"},
                         {"kind", name_of(limit.kind)},
                         {"limit", limit.limit},
                         {"used", limit.used},
                         {"scope", limit.scope}});
  }
  Json operator()(const Overflow& overflow) const {
    Json owners = Json::object();
    for (const auto& [owner, tokens] : overflow.by_owner) owners.set(owner, tokens);
    return Json::object({{"type", "overflow"}, {"window", overflow.window}, {"by_owner", owners}});
  }
  Json operator()(const Provider& provider) const {
    Json json = Json::object({{"type", "provider"},
                              {"provider", provider.provider},
                              {"model", provider.model},
                              {"fault", provider.fault},
                              {"status", provider.status},
                              {"code", provider.code}});
    if (provider.retry_after_ms) json.set("retry_after_ms", *provider.retry_after_ms);
    return json;
  }
  Json operator()(const Denied& denied) const {
    return Json::object({{"type", "denied"}, {"what", denied.what}, {"by", denied.by}});
  }
  Json operator()(const Damage& damage) const {
    return Json::object(
        {{"type", "damage"}, {"file", damage.file}, {"root", damage.root}, {"seq", damage.seq}});
  }
  Json operator()(const OutcomeUnknown& unknown) const {
    return Json::object({{"type", "outcome_unknown"}, {"what", unknown.what}});
  }
};

}  // namespace

bool is_retryable(const Error& error) noexcept {
  return error.kind() == ErrorKind::overloaded || error.kind() == ErrorKind::disconnected;
}

Json to_json(const Error& error) {
  return Json::object({{"kind", name_of(error.kind())},
                       {"message", error.message()},
                       {"detail", std::visit(DetailWriter{}, error.detail())},
                       {"fix", error.fix().empty() ? Json() : Json(error.fix())},
                       {"retryable", is_retryable(error)}});
}

}  // namespace tug
