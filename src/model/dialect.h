// A dialect: what the requests and replies of one API look like.
//
// Pure: no clock, no socket, no state but what a decoder was fed. The glue (model/http_model.h)
// sends what is encoded here and feeds what comes back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/wire_profile.h"
#include "tug/io/http.h"
#include "tug/model/faults.h"
#include "tug/model/model.h"
#include "tug/model/provider.h"

namespace tug {

// What a dialect encodes.
struct WireCall {
  const ModelRequest& request;
  const ModelProfile& profile;
  const ProviderConfig& provider;
  bool stream = true;
  // What encode_tools gave; empty when there are no tools. Lives as long as the body.
  std::shared_ptr<const std::string> tools;
};

struct EncodedCall {
  std::string path;                 // behind the base URL, with its "?..": "/chat/completions"
  std::vector<HttpHeader> headers;  // the dialect's own; the key and content-type are the glue's
  HttpBody body;                    // views into the request's messages
  std::vector<std::string> notes;   // what is sent otherwise than it stands, for people
};

// Makes events of what a provider sends. Used for one answer.
class Decoder {
 public:
  virtual ~Decoder() = default;
  // One event of a stream. Deltas are appended as they come; the closing ModelTurn once, when the
  // provider has said that it is done. What comes after that is ignored. An error inside the stream
  // is classified.
  virtual Result<void> on_event(std::string_view name, std::string_view data,
                                std::vector<ModelEvent>& out) = 0;
  // The whole reply where it was not streamed: the turn, with no deltas before it.
  virtual Result<void> on_reply(std::string_view body, std::vector<ModelEvent>& out) = 0;
  // The bytes are over. An answer that the provider did not end is Fault::stream_cut, however
  // complete it looks.
  virtual Result<void> on_end(std::vector<ModelEvent>& out) = 0;
};

class Dialect {
 public:
  virtual ~Dialect() = default;
  virtual Api api() const noexcept = 0;
  // {"authorization", "Bearer "}: the header that carries the key, and what stands before it.
  virtual HttpHeader key_header() const = 0;
  // The JSON of all tools as they stand in a request ("[...]"): made once for the runs alike.
  virtual std::string encode_tools(const ToolSpecs& tools, const ModelProfile& profile,
                                   const ProviderConfig& provider) const = 0;
  virtual Result<EncodedCall> encode(const WireCall& call) const = 0;
  // `call` lives as long as the decoder.
  virtual std::unique_ptr<Decoder> decoder(const WireCall& call) const = 0;
};

// They have no state: one of each serves everybody.
const Dialect& openai_chat_dialect();
const Dialect& openai_responses_dialect();
const Dialect& anthropic_dialect();
const Dialect& gemini_dialect();
const Dialect& dialect_of(Api api);

// --- what the dialects share (model/wire_common.cpp)

// A call's id on the wire: nine letters and digits, legal everywhere, unique in a transcript
// because ours are.
std::string wire_id(const CallId& call);

// What is kept of a message for a profile, made by `encode` when it is not there yet.
template <class Encode>
const std::string& kept_blocks(const Message& message, std::uint64_t profile, Encode&& encode) {
  if (const std::string* kept = message.kept(profile)) return *kept;
  return message.keep(profile, encode(message));
}

// Reasoning that cannot be sent back as it came: one text, "<thinking>\n..\n</thinking>"; empty
// when it says nothing.
std::string thinking_text(const ReasoningPart& part);

// The members of an object, each with a comma behind it: `"a":1,"b":2,`.
void add_members(const Json& options, std::string& out);

// JSON of a provider: parsed as any other, but not at any price.
Result<Json> parse_wire(std::string_view text);

// Usage that no provider can have meant (below zero) is nothing.
std::int64_t count_of(const Json& json, std::string_view key) noexcept;

}  // namespace tug
