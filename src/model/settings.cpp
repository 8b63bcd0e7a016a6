#include "tug/model/settings.h"

#include "core/try.h"
#include "tug/core/codec.h"
#include "tug/core/enum_names.h"

namespace tug {
namespace {

// Settings as they stand in JSON.
struct Required {
  std::optional<std::vector<std::string>> caps;
  std::optional<std::int64_t> context_tokens;
  std::optional<std::vector<std::string>> input;
  std::optional<std::vector<std::string>> output;
};
struct Hint {
  std::string model;
  int priority = 0;
};
struct Plain {
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<std::vector<std::string>> stop;
  std::optional<std::int64_t> seed;
  std::optional<std::string> reasoning;
  std::optional<bool> stream;
  std::optional<std::int64_t> timeout_ms;
  std::optional<Json> provider_options;
  std::optional<Json> metadata;
  std::optional<bool> cache_responses;
  std::optional<bool> protect_prefix;
  std::optional<std::vector<Hint>> hints;
  std::optional<Required> required;
  std::optional<bool> reuse_previous;
  std::optional<bool> keep_reply;
};

struct Cap {
  std::string_view name;
  bool CapabilitySet::* flag;
};
constexpr Cap kCaps[] = {
    {"tools", &CapabilitySet::tools},         {"parallel_tools", &CapabilitySet::parallel_tools},
    {"streaming", &CapabilitySet::streaming}, {"structured", &CapabilitySet::structured},
    {"vision", &CapabilitySet::vision},       {"reasoning", &CapabilitySet::reasoning}};

std::optional<std::vector<std::string>> names_of(const std::vector<Modality>& list) {
  if (list.empty()) return std::nullopt;
  std::vector<std::string> names;
  for (const Modality each : list) names.emplace_back(name_of(each));
  return names;
}

Result<std::vector<Modality>> modalities(const std::optional<std::vector<std::string>>& names) {
  std::vector<Modality> list;
  if (!names) return list;
  for (const std::string& name : *names) {
    const auto modality = enum_value<Modality>(name);
    if (!modality) {
      return fail(ErrorKind::invalid, "$.required: \"" + name + "\" is no modality",
                  "they are text, image, audio, video, document");
    }
    list.push_back(*modality);
  }
  return list;
}

Required plain(const CapabilitySet& set) {
  Required out;
  std::vector<std::string> caps;
  for (const Cap& cap : kCaps) {
    if (set.*cap.flag) caps.emplace_back(cap.name);
  }
  if (!caps.empty()) out.caps = std::move(caps);
  if (set.context_tokens > 0) out.context_tokens = set.context_tokens;
  out.input = names_of(set.input);
  out.output = names_of(set.output);
  return out;
}

Result<CapabilitySet> capabilities(const Required& plain) {
  CapabilitySet set;
  for (const std::string& name : plain.caps.value_or(std::vector<std::string>())) {
    const Cap* found = nullptr;
    for (const Cap& cap : kCaps) {
      if (cap.name == name) found = &cap;
    }
    if (!found) {
      return fail(ErrorKind::invalid, "$.required: \"" + name + "\" is no capability",
                  "they are tools, parallel_tools, streaming, structured, vision, reasoning");
    }
    set.*found->flag = true;
  }
  set.context_tokens = plain.context_tokens.value_or(0);
  TUG_TRY(input, modalities(plain.input));
  TUG_TRY(output, modalities(plain.output));
  set.input = std::move(input);
  set.output = std::move(output);
  return set;
}

}  // namespace

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
  if (!both.keep_reply) both.keep_reply = outer.keep_reply;
  return both;
}

Json to_json(const ModelSettings& settings) {
  // Binding all of them: a field that is added must be decided about here.
  const auto& [temperature, top_p, stop, seed, reasoning, stream, timeout, provider_options,
               metadata, cache_policy, hints, required, reuse_previous, keep_reply] = settings;
  Plain plain_form;
  plain_form.temperature = temperature;
  plain_form.top_p = top_p;
  if (!stop.empty()) plain_form.stop = stop;
  plain_form.seed = seed;
  if (!reasoning.empty()) plain_form.reasoning = reasoning;
  plain_form.stream = stream;
  if (timeout) plain_form.timeout_ms = *timeout / std::chrono::milliseconds(1);
  if (!provider_options.is_null()) plain_form.provider_options = provider_options;
  if (!metadata.is_null()) plain_form.metadata = metadata;
  plain_form.cache_responses = cache_policy.responses;
  plain_form.protect_prefix = cache_policy.protect_prefix;
  if (!hints.empty()) {
    plain_form.hints.emplace();
    for (const ModelHint& hint : hints) plain_form.hints->push_back({hint.model, hint.priority});
  }
  if (!required.empty()) plain_form.required = plain(required);
  if (reuse_previous) plain_form.reuse_previous = true;
  plain_form.keep_reply = keep_reply;
  return write_json(plain_form);
}

Result<ModelSettings> model_settings_from(const Json& json) {
  TUG_TRY(read, read_json<Plain>(json));
  ModelSettings settings;
  settings.temperature = read.temperature;
  settings.top_p = read.top_p;
  settings.stop = read.stop.value_or(std::vector<std::string>());
  settings.seed = read.seed;
  settings.reasoning = read.reasoning.value_or("");
  settings.stream = read.stream;
  if (read.timeout_ms) settings.timeout = std::chrono::milliseconds(*read.timeout_ms);
  settings.provider_options = read.provider_options.value_or(Json());
  settings.metadata = read.metadata.value_or(Json());
  settings.cache_policy.responses = read.cache_responses;
  settings.cache_policy.protect_prefix = read.protect_prefix;
  for (const Hint& hint : read.hints.value_or(std::vector<Hint>())) {
    settings.hints.push_back({hint.model, hint.priority});
  }
  TUG_TRY(required, capabilities(read.required.value_or(Required())));
  settings.required = std::move(required);
  settings.reuse_previous = read.reuse_previous.value_or(false);
  settings.keep_reply = read.keep_reply;
  return settings;
}

}  // namespace tug
