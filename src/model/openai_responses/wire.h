// The dialect of OpenAI's Responses.
//
// A turn is a list of items that go back in their order: what a model thought before the call that
// it led to. Reasoning is kept whole in ReasoningPart::opaque, items that we do not know are a
// ProviderBlock. What a message or a call says beside its content (`phase`, `namespace`) stands in
// a ProviderBlock right before it: the item without its content.
//
// Words that are known as quirks of a provider or of a model:
//   no_reasoning_summary   summaries of reasoning are refused
//   no_encrypted_content   `include` is refused
//   azure                  `?api-version=`
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/dialect.h"

namespace tug::responses {

// --- requests

// The provider keeps its answers: items may be named by their ids.
bool is_stored(const WireCall& call) noexcept;
WireProfile wire_profile(const WireCall& call);

// A message as the items that it is, joined by commas. A function of its parameters only: what it
// gives is kept.
std::string encode_message(const Message& message, const WireProfile& profile);
// The results in a message, for calls that the provider knows by its own ids.
std::string encode_results(const Message& message, const std::vector<const ToolCall*>& calls);

// Some of its reasoning is sent as text, or not at all.
bool loses_reasoning(const Message& message, const WireProfile& profile) noexcept;
// Some of its pictures or files are sent as a line of text.
bool loses_media(const Message& message, const WireProfile& profile);

std::string encode_tools(const ToolSpecs& tools);
Result<EncodedCall> encode(const WireCall& call);

// --- replies

// What items say of themselves.
std::string text_of_message(const Json& item);
std::string text_of_reasoning(const Json& item);
std::string arguments_of(const Json& item);
bool has_refusal(const Json& item) noexcept;

Usage usage_of(const Json& usage);

// The turn of a response that has ended well (completed, incomplete), from its items.
ModelTurn turn_of(const WireCall& call, const Json& response, const std::vector<Json>& items);

std::unique_ptr<Decoder> make_decoder(const WireCall& call);

}  // namespace tug::responses
