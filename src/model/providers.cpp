#include <algorithm>
#include <array>
#include <mutex>

#include "core/try.h"
#include "tug/model/catalogue.h"
#include "tug/model/faults.h"
#include "tug/model/models.h"
#include "tug/model/provider.h"

namespace tug {
namespace {

struct Known {
  std::string_view name;
  Api api;
  std::string_view base_url;
  std::string_view key_env;
  std::string_view quirks = {};  // words with spaces between
  std::string_view default_model = {};
  bool needs_key = true;
};

constexpr std::string_view kOpenAi = "https://api.openai.com/v1";
// Chat Completions has two names for the limit of an answer; this is the old one, which servers
// that are not OpenAI's know.
constexpr std::string_view kMaxTokens = "max_tokens";

// In the order in which a key makes one of them the default. Mistral refuses stream_options, and
// sends the usage without it; DeepSeek takes no schema, and wants its reasoning back.
constexpr std::array kKnown = std::to_array<Known>({
    {"openai", Api::openai_responses, kOpenAi, "OPENAI_API_KEY", "", "gpt-6-sol"},
    {"anthropic", Api::anthropic, "https://api.anthropic.com", "ANTHROPIC_API_KEY", "",
     "claude-sonnet-5-5"},
    {"gemini", Api::gemini, "https://generativelanguage.googleapis.com", "GEMINI_API_KEY", "",
     "gemini-3.8-flash"},
    {"openrouter", Api::openai_chat, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY",
     "max_tokens reasoning_object cache_control", "openrouter/auto"},
    {"groq", Api::openai_chat, "https://api.groq.com/openai/v1", "GROQ_API_KEY", "",
     "openai/gpt-oss-120b"},
    {"mistral", Api::openai_chat, "https://api.mistral.ai/v1", "MISTRAL_API_KEY",
     "max_tokens no_stream_usage", "devstral-2512"},
    {"deepseek", Api::openai_chat, "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY",
     "max_tokens json_object reasoning_content", "deepseek-chat"},
    {"xai", Api::openai_chat, "https://api.x.ai/v1", "XAI_API_KEY", "", "grok-4-fast"},
    {"together", Api::openai_chat, "https://api.together.xyz/v1", "TOGETHER_API_KEY", kMaxTokens,
     "openai/gpt-oss-120b"},
    {"openai-chat", Api::openai_chat, kOpenAi, "OPENAI_API_KEY"},
    {"azure", Api::openai_chat, "", "AZURE_OPENAI_API_KEY", "azure"},
    {"ollama", Api::openai_chat, "http://localhost:11434/v1", "OLLAMA_API_KEY", kMaxTokens, "",
     false},
    {"vllm", Api::openai_chat, "http://localhost:8000/v1", "VLLM_API_KEY", kMaxTokens, "", false},
    {"llamacpp", Api::openai_chat, "http://localhost:8080/v1", "LLAMACPP_API_KEY",
     "max_tokens no_named_tool", "", false},
});

constexpr std::string_view kAzureVersion = "2024-10-21";

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> list;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    list.emplace_back(text.substr(0, space));
    text = space == text.npos ? std::string_view() : text.substr(space + 1);
  }
  return list;
}

ProviderConfig config_of(const Known& known) {
  ProviderConfig config;
  config.name = known.name;
  config.api = known.api;
  config.base_url = known.base_url;
  config.key_env = known.key_env;
  config.quirks = words(known.quirks);
  config.needs_key = known.needs_key;
  if (known.name == "azure") {
    config.key_header = "api-key";
    config.api_version = kAzureVersion;
  }
  return config;
}

// "OPENAI" of "openai-chat": what the variables of a provider begin with.
std::string variable_prefix(std::string_view name) {
  if (name == "openai-chat") return "OPENAI";
  if (name == "azure") return "AZURE_OPENAI";
  std::string prefix;
  for (const char c : name) {
    const bool lower = c >= 'a' && c <= 'z';
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    prefix += lower ? static_cast<char>(c - 'a' + 'A') : plain ? c : '_';
  }
  return prefix;
}

std::string set_in(const Environment& environment, const std::string& variable) {
  auto value = environment(variable);
  return value ? *std::move(value) : std::string();
}

// The host of a URL: "localhost" of "http://me@localhost:80/v1".
std::string_view host_of(std::string_view url) {
  if (const std::size_t scheme = url.find("://"); scheme != url.npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  if (const std::size_t at = url.rfind('@'); at != url.npos) url.remove_prefix(at + 1);
  if (url.starts_with('[')) return url.substr(0, url.find(']') + 1);
  return url.substr(0, url.find(':'));
}

bool is_number_below_256(std::string_view text) {
  if (text.empty() || text.size() > 3) return false;
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + (c - '0');
  }
  return value < 256;
}

bool is_loopback_address(std::string_view host) {
  if (!host.starts_with("127.")) return false;
  for (int part = 0; part < 4; ++part) {
    const std::size_t dot = host.find('.');
    if ((dot == host.npos) != (part == 3) || !is_number_below_256(host.substr(0, dot)))
      return false;
    host = dot == host.npos ? std::string_view() : host.substr(dot + 1);
  }
  return true;
}

}  // namespace

bool ProviderConfig::has_quirk(std::string_view quirk) const noexcept {
  return std::ranges::find(quirks, quirk) != quirks.end();
}

std::vector<ProviderConfig> known_providers() {
  std::vector<ProviderConfig> list;
  for (const Known& known : kKnown) list.push_back(config_of(known));
  return list;
}

std::optional<ProviderConfig> known_provider(std::string_view name) {
  const auto* known = std::ranges::find(kKnown, name, &Known::name);
  if (known == kKnown.end()) return std::nullopt;
  return config_of(*known);
}

std::string_view default_model_of(std::string_view provider) noexcept {
  const auto* known = std::ranges::find(kKnown, provider, &Known::name);
  return known == kKnown.end() ? std::string_view() : known->default_model;
}

bool is_loopback(std::string_view base_url) noexcept {
  const std::string_view host = host_of(base_url);
  return host == "localhost" || host == "[::1]" || is_loopback_address(host);
}

void set_base_url(ProviderConfig& config, std::string base_url) {
  config.base_url = std::move(base_url);
  const bool openai = host_of(config.base_url) == host_of(kOpenAi);
  if (config.name == "openai-chat" && !openai && !config.has_quirk(kMaxTokens))
    config.quirks.emplace_back(kMaxTokens);
  if (is_loopback(config.base_url)) config.needs_key = false;
}

ProviderConfig from_env(ProviderConfig config, const Environment& environment) {
  const std::string prefix = variable_prefix(config.name);
  if (config.key_env.empty()) config.key_env = prefix + "_API_KEY";
  if (config.key.empty()) {
    std::string key = set_in(environment, config.key_env);
    if (key.empty() && config.name == "gemini" && config.key_env == "GEMINI_API_KEY") {
      key = set_in(environment, "GOOGLE_API_KEY");
      if (!key.empty()) config.key_env = "GOOGLE_API_KEY";
    }
    if (!key.empty()) config.key = Secret(std::move(key));
  }
  std::string address = set_in(environment, prefix + "_BASE_URL");
  if (config.name == "azure") {
    if (address.empty()) address = set_in(environment, "AZURE_OPENAI_ENDPOINT");
    if (std::string version = set_in(environment, "AZURE_OPENAI_API_VERSION"); !version.empty())
      config.api_version = std::move(version);
  }
  if (!address.empty()) config.base_url = std::move(address);
  set_base_url(config, std::move(config.base_url));
  return config;
}

NameAndEffort split_effort(std::string_view name) noexcept {
  constexpr std::string_view kEfforts[] = {"none", "minimal", "low", "medium",
                                           "high", "xhigh",   "max"};
  const std::size_t colon = name.rfind(':');
  if (colon == name.npos || colon == 0) return {name, {}};
  const std::string_view effort = name.substr(colon + 1);
  if (std::ranges::find(kEfforts, effort) == std::end(kEfforts)) return {name, {}};
  return {name.substr(0, colon), effort};
}

namespace {

// What no header can carry would end up in an error, or split the request in two.
Result<void> check_key(const ProviderConfig& config, std::string_view model) {
  const bool plain = std::ranges::all_of(config.key.reveal(), [](char c) {
    return static_cast<unsigned char>(c) > ' ' && static_cast<unsigned char>(c) < 0x7f;
  });
  if (plain) return {};
  return Failure(fault_error({.provider = config.name, .model = model}, Fault::auth,
                             "its key has a character that no key has",
                             config.key_env.empty() ? "" : "set " + config.key_env + " again"));
}

// A provider whose models are made. A key that somebody has to be asked for is asked for once.
class Source {
 public:
  Source(ProviderConfig config, std::shared_ptr<Catalogue> catalogue, HttpClientPtr http,
         MakeHttpModel make)
      : config_(std::move(config)),
        catalogue_(std::move(catalogue)),
        http_(std::move(http)),
        make_(std::move(make)) {}

  Result<ModelPtr> model(std::string_view name) {
    TUG_TRY(config, with_key());
    TUG_TRY(fine, check_key(config, name));
    config.api = catalogue_->api(config.name, name).value_or(config.api);
    ModelProfile profile = catalogue_->profile(config.name, name);
    if (config.cache_ttl == "1h" && profile.price && profile.price->cache_write_1h)
      profile.price->cache_write = profile.price->cache_write_1h;
    return make_(config, std::move(profile), http_);
  }

 private:
  Result<ProviderConfig> with_key() {
    const std::scoped_lock hold(lock_);
    if (config_.key.empty() && config_.reload_key) {
      TUG_TRY(key, guarded("the key of " + config_.name, config_.reload_key));
      config_.key = std::move(key);
    }
    return config_;
  }

  std::mutex lock_;
  ProviderConfig config_;
  const std::shared_ptr<Catalogue> catalogue_;
  const HttpClientPtr http_;
  const MakeHttpModel make_;
};

}  // namespace

void add_providers(Models& models, std::shared_ptr<Catalogue> catalogue, HttpClientPtr http,
                   std::vector<ProviderConfig> providers, MakeHttpModel make) {
  for (ProviderConfig& provider : providers) {
    std::string name = provider.name;
    auto source = std::make_shared<Source>(std::move(provider), catalogue, http, make);
    models.add(std::move(name), [source](std::string_view model) { return source->model(model); });
  }
}

}  // namespace tug
