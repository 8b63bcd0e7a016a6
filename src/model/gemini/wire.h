// Gemini's generateContent: what is written and what is read. Pure.
//
// Facts as of 2026-11: the signature of a part must come back on that part, byte for byte; there is
// no reason to stop for calls; a stream has no end mark, so it is over when a finishReason was said
// and the bytes end. Arguments that come in pieces (partialArgs) are never asked for.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "model/dialect.h"

namespace tug::gemini {

inline constexpr std::string_view kVersion = "v1beta";
// Stands for the signature of a call that another model made; without one the turn is refused.
inline constexpr std::string_view kForeignSignature = "skip_thought_signature_validator";

// Bit of WireProfile::flags: calls without a signature are sent without one.
inline constexpr std::uint32_t kNoForeignSignature = 8;

// What could not be written of messages as it stands.
struct Dropped {
  bool reasoning = false;
  bool blocks = false;
  bool media = false;
};

// The parts of a message, joined by commas; empty when nothing can be sent of it. Of equal messages
// and profiles always the same, so that they can be kept.
std::string encode_parts(const Message& message, const WireProfile& profile, Dropped& dropped);

std::string encode_tools(const ToolSpecs& tools);
Result<EncodedCall> encode(const WireCall& call);
std::unique_ptr<Decoder> make_decoder(const WireCall& call);

}  // namespace tug::gemini
