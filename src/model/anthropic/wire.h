// The Messages API of Anthropic: what is written and what is read. Pure.
//
// Facts as of 2026-11: the version 2026-10-21 refuses sampling parameters; the counts of input
// leave out what came from and went to the cache; a stream ends with message_stop and nothing else.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "model/dialect.h"

namespace tug::anthropic {

inline constexpr std::string_view kVersion = "2026-10-21";
inline constexpr std::string_view kVersionWithSampling = "2023-06-01";
// Where neither the request nor the model's profile says how long an answer may be: it is required.
inline constexpr std::int64_t kAssumedOutputTokens = 8192;

// What could not be written of messages as it stands.
struct Dropped {
  bool reasoning = false;
  bool blocks = false;
  bool media = false;
};

// The content blocks of a message, joined by commas; empty when nothing can be sent of it. Of equal
// messages and profiles always the same, so that they can be kept.
std::string encode_blocks(const Message& message, const WireProfile& profile, Dropped& dropped);

std::string encode_tools(const ToolSpecs& tools);
Result<EncodedCall> encode(const WireCall& call);
std::unique_ptr<Decoder> make_decoder(const WireCall& call);

}  // namespace tug::anthropic
