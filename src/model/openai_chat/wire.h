// The dialect of OpenAI's Chat Completions, and of the many servers that speak it their own way.
//
// Words that are known as quirks of a provider or of a model:
//   developer_role     the system text has the role "developer"
//   max_tokens         the cap is `max_tokens`, not `max_completion_tokens`
//   json_object        no json_schema: the schema goes into the system text
//   no_stream_usage    `stream_options` is refused
//   reasoning_content  what the model thought goes back in the field it came in
//   reasoning_object   the effort is `reasoning: {"effort": ..}`
//   no_named_tool      a named tool cannot be asked for: any is
//   cache_control      takes a mark for the newest message (OpenRouter)
//   azure              deployments in the path, `?api-version=`
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/dialect.h"
#include "model/wire_words.h"

namespace tug::chat {

// --- requests

// Where an endpoint ("/chat/completions") is, behind the base URL.
std::string path_of(const ProviderConfig& provider, std::string_view model,
                    std::string_view endpoint);

WireProfile wire_profile(const WireCall& call);

// A message as the elements of `messages` that it is, joined by commas. A function of its
// parameters only: what it gives is kept.
std::string encode_message(const Message& message, const WireProfile& profile);

// Some of its reasoning is sent as text, or not at all.
bool loses_reasoning(const Message& message, const WireProfile& profile) noexcept;
// Some of its pictures, sounds or files are sent as a line of text.
bool loses_media(const Message& message, const WireProfile& profile) noexcept;

std::string encode_tools(const ToolSpecs& tools);
Result<EncodedCall> encode(const WireCall& call);

// --- replies

// The calls that a model makes. Servers tell them apart by index, by id, or not at all.
class CallAssembly {
 public:
  // One element of `tool_calls`, a fragment or whole. In the delta that it makes, `index` counts
  // the calls in the order they began.
  ToolCallDelta take(const Json& fragment, const ModelRequest& request);
  // More arguments of a call that has begun.
  void append(std::size_t call, std::string_view arguments);

  std::size_t size() const noexcept { return calls_.size(); }
  bool empty() const noexcept { return calls_.empty(); }
  std::size_t bytes() const noexcept { return bytes_; }
  // The calls, "" being "{}".
  std::vector<ToolCall> take_all() &&;

 private:
  struct Call {
    std::optional<std::int64_t> index;
    ToolCall call;
  };
  Call* find(std::optional<std::int64_t> index, std::string_view id, std::string_view name);

  std::vector<Call> calls_;
  std::size_t bytes_ = 0;
};

// What a model thought: its text, and the data that has to go back as it came.
class ReasoningAssembly {
 public:
  // The text that a delta, or a whole message, adds.
  std::string take(const Json& delta);
  void append(std::string_view text) { text_ += text; }
  // The member that the text came in; empty when it came otherwise.
  const std::string& field() const noexcept { return field_; }

  bool empty() const noexcept { return text_.empty() && details_.empty(); }
  std::size_t bytes() const noexcept { return text_.size() + detail_bytes_; }
  // As members of the message that a reply in one piece would have.
  void add_to(Json& message) const;
  // `keeps_field`: the provider wants the text back where it came.
  ReasoningPart take_all(std::string provider, bool keeps_field) &&;

 private:
  struct Detail {
    Json members;
    std::string text;
    std::string summary;
    std::string signature;
  };
  void take_detail(const Json& fragment);
  Json details() const;

  std::string text_;
  std::string field_;
  std::vector<Detail> details_;
  std::size_t detail_bytes_ = 0;
};

// Of a chunk or a reply: where it says nothing about usage, nothing.
std::optional<Usage> usage_of(const Json& reply);
// What OpenRouter charged.
std::optional<Cost> cost_of(const Json& reply);

// What `finish_reason` says; an unknown word is Finish::other.
Finish finish_of(std::string_view reason, bool has_calls) noexcept;

// A delta that differs from an earlier one in one string only, which is most of them: the string is
// found without reading the rest. Where providers add padding, that may differ too.
class DeltaTemplate {
 public:
  enum class Kind : std::uint8_t { none, text, reasoning, arguments };
  struct Hit {
    Kind kind = Kind::none;
    std::size_t call = 0;
    std::string text;
  };

  // `data` was parsed, and all that it says is that its member `key` adds `text`.
  void learn(std::string_view data, std::string_view key, std::string_view text, Kind kind,
             std::size_t call = 0);
  void forget() noexcept { kind_ = Kind::none; }
  // Kind::none when `data` is not of the shape that was learnt.
  Hit match(std::string_view data);

 private:
  Kind kind_ = Kind::none;
  int missed_ = 0;  // learnt in vain: where every chunk differs elsewhere too, no use
  std::size_t call_ = 0;
  std::string before_;
  std::string after_;  // up to the padding, where there is one
  std::optional<std::string> padding_end_;
};

std::unique_ptr<Decoder> make_decoder(const WireCall& call);

}  // namespace tug::chat
