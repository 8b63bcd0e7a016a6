// What decides how a message looks on the wire. Equal profiles give equal bytes for equal messages,
// so a message keeps what was written for a profile (Message::keep).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tug {

// The APIs that are spoken; their names are those of the configuration ("openai-chat").
enum class Api : std::uint8_t { openai_chat, openai_responses, anthropic, gemini };
std::string_view name_of(Api api) noexcept;

struct WireProfile {
  Api api = Api::openai_chat;
  std::string provider;     // whose opaque reasoning may be sent back
  bool reasoning = false;   // the request can take it; else it becomes text
  bool images = true;       // else a picture becomes a line of text
  std::uint32_t flags = 0;  // what else a dialect tells apart; its own bits

  // Of all the above.
  std::uint64_t key() const noexcept;
};

}  // namespace tug
