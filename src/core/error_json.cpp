#include "tug/core/error_json.h"

#include "tug/core/enum_names.h"

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
    Json json =
        Json::object({{"type", "overflow"}, {"window", overflow.window}, {"by_owner", owners}});
    if (overflow.prompt_tokens != 0) json.set("prompt_tokens", overflow.prompt_tokens);
    if (overflow.from_output) json.set("from_output", true);
    if (!overflow.provider.empty()) json.set("provider", overflow.provider);
    if (!overflow.model.empty()) json.set("model", overflow.model);
    if (overflow.status != 0) json.set("status", overflow.status);
    if (!overflow.request_id.empty()) json.set("request_id", overflow.request_id);
    return json;
  }
  Json operator()(const Provider& provider) const {
    Json json = Json::object({{"type", "provider"},
                              {"provider", provider.provider},
                              {"model", provider.model},
                              {"fault", provider.fault},
                              {"status", provider.status},
                              {"code", provider.code}});
    if (provider.retry_after_ms) json.set("retry_after_ms", *provider.retry_after_ms);
    if (provider.should_retry) json.set("should_retry", *provider.should_retry);
    if (!provider.request_id.empty()) json.set("request_id", provider.request_id);
    if (!provider.body.empty()) json.set("body", provider.body);
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

std::string text_of(const Json& json, std::string_view key) {
  return std::string(json[key].as_string());
}
std::int64_t int_of(const Json& json, std::string_view key) {
  return json[key].as_int().value_or(0);
}

ErrorDetail detail_from(const Json& json) {
  const std::string_view type = json["type"].as_string();
  if (type == "limit") {
    const auto kind = enum_value<LimitKind>(json["kind"].as_string());
    if (!kind) return {};
    return Limit{*kind, int_of(json, "limit"), int_of(json, "used"), text_of(json, "scope")};
  }
  if (type == "overflow") {
    Overflow overflow;
    overflow.window = int_of(json, "window");
    overflow.prompt_tokens = int_of(json, "prompt_tokens");
    overflow.from_output = json["from_output"].as_bool();
    overflow.provider = text_of(json, "provider");
    overflow.model = text_of(json, "model");
    overflow.status = static_cast<int>(int_of(json, "status"));
    overflow.request_id = text_of(json, "request_id");
    for (const auto& owner : json["by_owner"].members()) {
      overflow.by_owner.emplace_back(owner.key(), owner.value.as_int().value_or(0));
    }
    return overflow;
  }
  if (type == "provider") {
    Provider provider{.provider = text_of(json, "provider"),
                      .model = text_of(json, "model"),
                      .fault = text_of(json, "fault"),
                      .status = static_cast<int>(int_of(json, "status")),
                      .code = text_of(json, "code"),
                      .retry_after_ms = json["retry_after_ms"].as_int()};
    if (json["should_retry"].is_bool()) provider.should_retry = json["should_retry"].as_bool();
    provider.request_id = text_of(json, "request_id");
    provider.body = text_of(json, "body");
    return provider;
  }
  if (type == "denied") return Denied{text_of(json, "what"), text_of(json, "by")};
  if (type == "damage") {
    return Damage{text_of(json, "file"), text_of(json, "root"), json["seq"].as_uint().value_or(0)};
  }
  if (type == "outcome_unknown") return OutcomeUnknown{text_of(json, "what")};
  return {};
}

}  // namespace

Error error_from_json(const Json& json) {
  const auto kind = enum_value<ErrorKind>(json["kind"].as_string());
  return Error(kind.value_or(ErrorKind::internal), text_of(json, "message"), text_of(json, "fix"),
               detail_from(json["detail"]));
}

bool is_retryable(const Error& error) noexcept {
  const Provider* provider = error.detail_if<Provider>();
  if (provider && provider->should_retry) return *provider->should_retry;
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
