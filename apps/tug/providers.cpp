#include "providers.h"

#include <algorithm>

#include "core/try.h"
#include "keys.h"
#include "tug/io/environment.h"

namespace tug::cli {
namespace {

Api api_from(std::string_view name) {
  for (const Api api : {Api::openai_responses, Api::anthropic, Api::gemini}) {
    if (name_of(api) == name) return api;
  }
  return Api::openai_chat;
}

// One table, "providers.mine.".
class Table {
 public:
  Table(const Config& config, const std::string& name)
      : config_(config), table_("providers." + name + ".") {}

  bool has(const char* key) const { return !config_.value(table_ + key).is_null(); }
  std::string text(const char* key) const { return config_.text(table_ + key); }
  std::string place(const char* key = "") const { return config_.source(table_ + key); }

  void apply(ProviderConfig& provider) const {
    if (has("api")) provider.api = api_from(text("api"));
    set(provider.base_url, "base_url");
    set(provider.key_env, "key_env");
    set(provider.key_header, "key_header");
    set(provider.api_version, "api_version");
    set(provider.thread_header, "thread_header");
    set(provider.thread_field, "thread_field");
    set(provider.thread_salt, "thread_salt");
    set(provider.cache_ttl, "cache_ttl");
    if (has("needs_key")) provider.needs_key = config_.value(table_ + "needs_key").as_bool();
    if (has("options")) provider.options = config_.value(table_ + "options");
    if (has("chain_responses"))
      provider.chain_responses = config_.value(table_ + "chain_responses").as_bool();
    if (has("quirks")) {
      provider.quirks.clear();
      for (const Json& word : config_.value(table_ + "quirks").items())
        provider.quirks.emplace_back(word.as_string());
    }
    for (const Json::Member& header : config_.value(table_ + "headers").members())
      provider.headers.push_back(
          {std::string(header.key()), std::string(header.value.as_string()), true});
    provider.rate.requests_per_minute = count("requests_per_minute");
    provider.rate.tokens_per_minute = count("tokens_per_minute");
    set_timeouts(provider.timeouts);
  }

 private:
  void set(std::string& to, const char* key) const {
    if (has(key)) to = text(key);
  }
  std::int64_t count(const char* key) const {
    return config_.value(table_ + key).as_int().value_or(0);
  }
  void set_timeouts(ProviderTimeouts& timeouts) const {
    const std::pair<const char*, Duration*> all[] = {
        {"connect_ms", &timeouts.connect},         {"first_byte_ms", &timeouts.first_byte},
        {"first_event_ms", &timeouts.first_event}, {"idle_ms", &timeouts.idle},
        {"byte_idle_ms", &timeouts.byte_idle},     {"total_ms", &timeouts.total}};
    for (const auto& [key, time] : all) {
      const std::string own = table_ + key;
      const Json& set = config_.value(has(key) ? own : "http." + std::string(key));
      *time = std::chrono::milliseconds(set.as_int().value_or(0));
    }
  }

  const Config& config_;
  std::string table_;
};

// A header of its own must be one: what cannot be sent is found here, not on the wire.
Result<void> check_headers(const ProviderConfig& provider, const Table& table) {
  for (const HttpHeader& header : provider.headers) {
    const bool name = !header.name.empty() && std::ranges::all_of(header.name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || c == '_';
    });
    const bool value = std::ranges::none_of(
        header.value, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; });
    if (name && value) continue;
    return fail(ErrorKind::invalid,
                table.place("headers") + ": headers of " + provider.name +
                    (name ? ": the value has a character that no header can carry"
                          : ": a name that no header can have"),
                "letters, digits and '-' for names, one line for values");
  }
  return {};
}

Result<void> set_key(ProviderConfig& provider, const Table& table) {
  const bool command = table.has("key_cmd");
  const bool file = table.has("key_file");
  if (command + file + table.has("key_env") > 1) {
    return fail(ErrorKind::invalid,
                table.place() + ": the provider " + provider.name + " has more than one key",
                "give one of key_env, key_cmd and key_file");
  }
  if (command) provider.reload_key = key_from_command(provider.name, table.text("key_cmd"));
  if (file) provider.reload_key = key_from_file(provider.name, table.text("key_file"));
  return {};
}

Result<void> check_name(const std::string& name, const Table& table) {
  const bool plain = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  const bool ours = name == "script" || name == "offline";
  if (plain && !ours && name.size() <= 64) return {};
  return fail(ErrorKind::invalid,
              table.place() + ": [providers." + name.substr(0, 80) +
                  "]: " + (ours ? "that provider is built in" : "that is no name for a provider"),
              ours ? "give it another name" : "use 1 to 64 letters, digits, '_' and '-'");
}

Result<ProviderConfig> configured(const Config& config, ProviderConfig provider, bool of_model) {
  const Table table(config, provider.name);
  table.apply(provider);
  TUG_TRY(headers, check_headers(provider, table));
  TUG_TRY(key, set_key(provider, table));
  const bool told = of_model && !config.built_in("api_key_env");
  if (told) {
    provider.key_env = config.text("api_key_env");
    provider.reload_key = nullptr;
  }
  const bool by_variable = !provider.reload_key;
  provider = from_env(std::move(provider), environment_variable);
  if (!by_variable) provider.key = Secret();
  if (of_model && !config.built_in("base_url")) set_base_url(provider, config.text("base_url"));
  return provider;
}

}  // namespace

std::string_view provider_of(std::string_view model) {
  return model.substr(0, model.find_first_of("/:"));
}

Result<std::vector<ProviderConfig>> configured_providers(const Config& config,
                                                         std::string_view model) {
  const std::string_view asked = provider_of(model);
  std::vector<ProviderConfig> known = known_providers();
  for (const std::string& name : config.names("providers")) {
    const Table table(config, name);
    TUG_TRY(named, check_name(name, table));
    if (known_provider(name)) continue;
    // Servers that are not OpenAI's know the old name of the limit.
    known.push_back({.name = name, .api = Api::openai_chat, .quirks = {"max_tokens"}});
  }
  std::vector<ProviderConfig> providers;
  bool found = false;
  for (ProviderConfig& each : known) {
    const bool of_model = each.name == asked;
    found = found || of_model;
    TUG_TRY(provider, configured(config, std::move(each), of_model));
    if (provider.base_url.empty() && !known_provider(provider.name)) {
      return fail(ErrorKind::invalid,
                  Table(config, provider.name).place() + ": the provider " + provider.name +
                      " has no address",
                  "add base_url = \"https://..\" to [providers." + provider.name + "]");
    }
    providers.push_back(std::move(provider));
  }
  for (const char* key : {"base_url", "api_key_env"}) {
    const std::string source = config.source(key);
    if (found || !source.starts_with("--")) continue;
    return fail(ErrorKind::invalid,
                source + " says nothing about " + std::string(model) +
                    ", which is not asked over the network",
                "name another model with -m");
  }
  return providers;
}

void choose_model(Config& config) {
  if (!config.built_in("model")) return;
  for (const ProviderConfig& provider : known_providers()) {
    const std::string_view name = default_model_of(provider.name);
    if (name.empty()) continue;
    const Table table(config, provider.name);
    std::string key = table.has("key_cmd") ? "key_cmd" : table.has("key_file") ? "key_file" : "";
    if (!key.empty()) {
      key = "providers." + provider.name + "." + key;
    } else {
      ProviderConfig with_key = provider;
      if (table.has("key_env")) with_key.key_env = table.text("key_env");
      with_key = from_env(std::move(with_key), environment_variable);
      if (with_key.key.empty()) continue;
      key = with_key.key_env;
    }
    config.model_by_key = key;
    config.settings["model"] = {provider.name + "/" + std::string(name), key};
    return;
  }
}

CacheSettings configured_cache(const Config& config) {
  CacheSettings cache;
  const std::string kept = config.text("cache.responses");
  if (kept == "memory") cache.responses = CacheSettings::Responses::memory;
  if (kept == "sqlite") cache.responses = CacheSettings::Responses::sqlite;
  if (const auto seconds = config.value("cache.ttl").as_double())
    cache.ttl = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
  cache.protect_prefix = config.value("cache.protect_prefix").as_bool(true);
  return cache;
}

}  // namespace tug::cli
