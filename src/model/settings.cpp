#include "tug/model/model.h"

namespace tug {

CachePolicy CachePolicy::within(const CachePolicy& outer) const noexcept {
  CachePolicy both = *this;
  if (!both.responses) both.responses = outer.responses;
  if (!both.protect_prefix) both.protect_prefix = outer.protect_prefix;
  return both;
}

ModelSettings ModelSettings::within(const ModelSettings& outer) const {
  ModelSettings both = *this;
  if (!both.temperature) both.temperature = outer.temperature;
  if (!both.top_p) both.top_p = outer.top_p;
  if (both.stop.empty()) both.stop = outer.stop;
  if (!both.seed) both.seed = outer.seed;
  if (both.reasoning.empty()) both.reasoning = outer.reasoning;
  if (!both.stream) both.stream = outer.stream;
  if (!both.timeout) both.timeout = outer.timeout;
  for (const Json::Member& option : outer.provider_options.members()) {
    if (!both.provider_options.contains(option.key())) {
      both.provider_options.set(option.key(), option.value);
    }
  }
  for (const Json::Member& entry : outer.metadata.members()) {
    if (!both.metadata.contains(entry.key())) both.metadata.set(entry.key(), entry.value);
  }
  both.cache_policy = both.cache_policy.within(outer.cache_policy);
  if (both.hints.empty()) both.hints = outer.hints;
  if (both.required.empty()) both.required = outer.required;
  both.reuse_previous = both.reuse_previous || outer.reuse_previous;
  return both;
}

}  // namespace tug
