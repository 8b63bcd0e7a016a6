#include "tug/core/wire_profile.h"

#include "tug/core/digest.h"

namespace tug {

std::string_view name_of(Api api) noexcept {
  switch (api) {
    case Api::openai_chat:
      return "openai-chat";
    case Api::openai_responses:
      return "openai-responses";
    case Api::anthropic:
      return "anthropic";
    case Api::gemini:
      return "gemini";
  }
  return "";
}

std::uint64_t WireProfile::key() const noexcept {
  const std::uint64_t bits =
      static_cast<std::uint64_t>(flags) << 16 | static_cast<std::uint64_t>(api) << 8 |
      static_cast<std::uint64_t>(reasoning) << 1 | static_cast<std::uint64_t>(images);
  return fingerprint_of(provider, bits).low;
}

}  // namespace tug
