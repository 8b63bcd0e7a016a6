// The providers of the configuration: those that everybody knows and the user's own, with their
// keys and addresses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config.h"
#include "tug/model/provider.h"

namespace tug::cli {

// All of them. `base_url` and `api_key_env` count for the provider of `model`. `invalid`, naming
// the place, for a provider without an address, one that names its key twice, one that cannot be.
// No command is run and no file is read before a model of the provider is asked for.
Result<std::vector<ProviderConfig>> configured_providers(const Config& config,
                                                         std::string_view model);

// "openai" of "openai/gpt-5" and of "openai:gpt-5".
std::string_view provider_of(std::string_view model);

// Where no model is named: one of the first provider whose key is there.
void choose_model(Config& config);

// [cache]: which answers are kept, how long, and whether the beginning of a prompt stays as it is.
struct CacheSettings {
  enum class Responses : std::uint8_t { off, memory, sqlite };
  Responses responses = Responses::off;
  std::optional<Duration> ttl;  // nothing: for ever
  bool protect_prefix = true;
};
CacheSettings configured_cache(const Config& config);

}  // namespace tug::cli
