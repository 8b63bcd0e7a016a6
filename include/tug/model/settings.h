// How a model is to answer, and how it is chosen: what a harness, an agent, a run and a request may
// say, the nearest counting most. Data only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tug/core/error.h"
#include "tug/core/json.h"
#include "tug/core/time.h"
#include "tug/model/profile.h"

namespace tug {

// How many requests and tokens a provider takes; zero for no limit of ours.
struct RateLimit {
  std::int64_t requests_per_minute = 0;
  std::int64_t tokens_per_minute = 0;
  friend bool operator==(const RateLimit&, const RateLimit&) = default;
};

// Which caches a request may use. What is not said is said by the run, then by the harness.
struct CachePolicy {
  std::optional<bool> responses;       // a kept answer may be served instead of asking
  std::optional<bool> protect_prefix;  // the beginning of the prompt must stay as it is
  // What this one leaves open, `outer` says.
  CachePolicy within(const CachePolicy& outer) const noexcept;
  friend bool operator==(const CachePolicy&, const CachePolicy&) = default;
};

// How a model is to answer. What is not said is the model's own.
struct ModelSettings {
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::vector<std::string> stop;
  std::optional<std::int64_t> seed;
  std::string reasoning;            // an effort: none minimal low medium high xhigh max
  std::optional<bool> stream;       // false: the answer in one piece
  std::optional<Duration> timeout;  // of one attempt
  Json provider_options;  // members of the request as they stand; they win over what we write
  Json metadata;          // an object of strings, where the provider takes one
  CachePolicy cache_policy;
  std::vector<ModelHint> hints;
  CapabilitySet required;
  bool reuse_previous = false;  // stay with the model that answered last
  // Whether the provider's own reply is kept beside the record; it is where nobody says otherwise.
  std::optional<bool> keep_reply;

  // What this one leaves open, `outer` says; provider options member by member.
  ModelSettings within(const ModelSettings& outer) const;
  bool empty() const { return *this == ModelSettings(); }
  friend bool operator==(const ModelSettings&, const ModelSettings&) = default;
};

// What was said, and nothing else; an unknown field is `invalid`, naming the nearest.
Json to_json(const ModelSettings& settings);
Result<ModelSettings> model_settings_from(const Json& json);

}  // namespace tug
