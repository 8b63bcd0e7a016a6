// Where models are asked over HTTP: the providers that are known, and those of a user's own.
//
//   ProviderConfig host{.name = "myhost", .api = Api::openai_chat,
//                       .base_url = "http://10.0.0.5:8000/v1"};
//   harness.provider(host);                    // then: "myhost/qwen3-32b"
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tug/core/json.h"
#include "tug/core/secret.h"
#include "tug/core/wire_profile.h"
#include "tug/io/http.h"
#include "tug/model/model.h"

namespace tug {

// How long the parts of one attempt may take; zero for no limit. All but the run's own deadline are
// errors that may be retried.
struct ProviderTimeouts {
  Duration connect = std::chrono::seconds(10);
  Duration first_byte = std::chrono::seconds(120);
  Duration first_event = std::chrono::seconds(300);
  Duration idle = std::chrono::seconds(120);  // bytes may come, but no event does
  Duration byte_idle = std::chrono::seconds(60);
  Duration total = std::chrono::seconds(600);
  friend bool operator==(const ProviderTimeouts&, const ProviderTimeouts&) = default;
};

struct ProviderConfig {
  std::string name;  // the first word of "name/model"
  Api api = Api::openai_chat;
  std::string base_url;  // OpenAI dialects with "/v1", the others without
  Secret key;
  std::string key_env;     // where the key comes from, for messages
  std::string key_header;  // "api-key"; empty: the dialect's own
  bool needs_key = true;   // a loopback address never does
  // Asked again once when the provider refuses the key; empty: the key stays.
  std::function<Result<Secret>()> reload_key;
  std::vector<HttpHeader> headers;  // sent with every request
  std::string api_version;          // anthropic-version, Azure's api-version; empty: the usual one
  std::vector<std::string> quirks;  // words that the dialect knows: "max_tokens", "no_stream_usage"
  Json options;                     // members of every request
  // Where the thread of a run goes, so that a provider's cache finds its way back: a header, or a
  // member ("user", "prompt_cache_key"); hashed with the salt when there is one.
  std::string thread_header;
  std::string thread_field;
  std::string thread_salt;
  bool chain_responses = false;  // Responses: send what is new behind previous_response_id
  std::string cache_ttl;         // of cache marks: "5m", "1h"; empty: the provider's own
  ProviderTimeouts timeouts;
  RateLimit rate;

  bool has_quirk(std::string_view quirk) const noexcept;
};

// The providers everybody knows: openai, openai-chat, anthropic, gemini, openrouter, groq, mistral,
// deepseek, xai, together, azure, ollama, vllm, llamacpp. Without keys.
std::vector<ProviderConfig> known_providers();
std::optional<ProviderConfig> known_provider(std::string_view name);

// The model of a provider that is taken when a key is all that is known; empty when there is none.
std::string_view default_model_of(std::string_view provider) noexcept;

// Another address: a loopback one needs no key, and a server that is not OpenAI's own is asked in
// the words that all of them know.
void set_base_url(ProviderConfig& config, std::string base_url);
bool is_loopback(std::string_view base_url) noexcept;

// Reads one variable; nothing when it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
// `config` with its key and base URL as the environment has them: NAME_API_KEY (or what `key_env`
// says; GOOGLE_API_KEY does for Gemini, too), NAME_BASE_URL. openai-chat has the variables of
// openai, azure those that begin with AZURE_OPENAI. A variable that is empty is not set; a key that
// is there already stays.
ProviderConfig from_env(ProviderConfig config, const Environment& environment);

// A model of a provider. `denied` without a key where one is needed, naming the variable; `invalid`
// for a base URL that is none.
Result<ModelPtr> make_http_model(ProviderConfig provider, ModelProfile profile, HttpClientPtr http);

// Makes every model of these providers findable as "provider/name", with what the catalogue knows.
// A model is made, and its key missed, when it is first asked for; a provider without a key asks
// `reload_key` for it then, once. Where cache marks last an hour,
// the price of writing to the cache is that of the hour.
class Catalogue;  // tug/model/catalogue.h
class Models;     // tug/model/models.h
using MakeHttpModel = std::function<Result<ModelPtr>(ProviderConfig, ModelProfile, HttpClientPtr)>;
void add_providers(Models& models, std::shared_ptr<Catalogue> catalogue, HttpClientPtr http,
                   std::vector<ProviderConfig> providers, MakeHttpModel make);
inline void add_providers(Models& models, std::shared_ptr<Catalogue> catalogue, HttpClientPtr http,
                          std::vector<ProviderConfig> providers) {
  add_providers(models, std::move(catalogue), std::move(http), std::move(providers),
                make_http_model);
}

// "NAME:EFFORT" in two; the effort is empty unless it is one (none minimal low medium high xhigh
// max).
struct NameAndEffort {
  std::string_view name;
  std::string_view effort;
};
NameAndEffort split_effort(std::string_view name) noexcept;

}  // namespace tug
