#include "tug/model/profile.h"

#include <algorithm>

#include "tug/core/enum_names.h"

namespace tug {
namespace {

template <class T, class U>
bool has(const std::vector<T>& list, const U& what) noexcept {
  return std::ranges::find(list, what) != list.end();
}

}  // namespace

std::string_view name_of(Modality modality) noexcept { return enum_name(modality); }
std::string_view name_of(ModelStatus status) noexcept { return enum_name(status); }
std::string_view name_of(ModelSource source) noexcept { return enum_name(source); }

bool ModelProfile::drops(std::string_view parameter) const noexcept {
  return has(drop_params, parameter);
}
bool ModelProfile::has_quirk(std::string_view quirk) const noexcept { return has(quirks, quirk); }

bool CapabilitySet::empty() const noexcept { return *this == CapabilitySet(); }

std::string CapabilitySet::missing_in(const ModelProfile& profile) const {
  if (profile.status == ModelStatus::retired) return "it is retired";
  if (tools && !profile.tools) return "it cannot call tools";
  if (parallel_tools && !profile.parallel_tools) return "it cannot call several tools at once";
  if (streaming && !profile.streaming) return "it cannot stream";
  if (structured && !profile.structured) return "it cannot answer by a schema";
  if (vision && !profile.vision) return "it cannot see pictures";
  if (reasoning && !profile.reasoning) return "it cannot reason";
  if (context_tokens > 0 && profile.context_tokens < context_tokens) {
    return profile.context_tokens == 0 ? "its window is not known"
                                       : "its window is " + std::to_string(profile.context_tokens) +
                                             " tokens, not " + std::to_string(context_tokens);
  }
  for (const Modality modality : input) {
    if (!has(profile.input, modality)) return "it cannot take " + std::string(name_of(modality));
  }
  for (const Modality modality : output) {
    if (!has(profile.output, modality)) return "it cannot give " + std::string(name_of(modality));
  }
  return "";
}

}  // namespace tug
