// One message of a conversation: immutable, shared, built once.
//
// Its size and fingerprint are computed when it is built; forking a transcript shares messages and
// never copies them. TextPart from outside is made well-formed UTF-8 on entry. May be read from any
// thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tug/core/digest.h"
#include "tug/core/json.h"
#include "tug/core/tool.h"

namespace tug {

enum class Role : std::uint8_t { system, user, assistant, tool };
std::string_view name_of(Role role) noexcept;

struct TextPart {
  std::string text;
  friend bool operator==(const TextPart&, const TextPart&) = default;
};

// An image, a document, a sound: its bytes, an address, or the digest of a blob in the journal.
struct MediaPart {
  std::string mime;
  std::string name;
  std::shared_ptr<const std::string> bytes;
  std::string url;
  std::optional<Digest> blob;
  friend bool operator==(const MediaPart& a, const MediaPart& b) noexcept;
};

// What a model thought. `opaque` is the provider's own data (signature, encrypted content): it is
// sent back as it came or not at all.
struct ReasoningPart {
  std::string text;
  std::string provider;
  Json opaque;
  bool redacted = false;
  friend bool operator==(const ReasoningPart&, const ReasoningPart&) = default;
};

// A block that only its provider understands (a server-side tool use, a citation).
struct ProviderBlock {
  std::string provider;
  Json data;
  friend bool operator==(const ProviderBlock&, const ProviderBlock&) = default;
};

using Part = std::variant<TextPart, MediaPart, ReasoningPart, ToolCall, ToolResult, ProviderBlock>;

class Message;
using MessagePtr = std::shared_ptr<const Message>;

class Message {
 public:
  static MessagePtr make(Role role, std::vector<Part> parts);
  static MessagePtr system(std::string text);
  static MessagePtr user(std::string text);
  // Words in the user's place that are not the user's: a notice of a limit, what a hook added.
  static MessagePtr note(std::string text);
  static MessagePtr assistant(std::string text);
  static MessagePtr results(std::vector<ToolResult> results);

  Role role() const noexcept { return role_; }
  bool is_note() const noexcept { return note_; }
  const std::vector<Part>& parts() const noexcept { return parts_; }
  std::string text() const;  // its text parts, joined
  std::vector<const ToolCall*> tool_calls() const;
  std::vector<const ToolResult*> tool_results() const;

  std::size_t size() const noexcept { return size_; }  // bytes of content
  const Fingerprint& fingerprint() const noexcept { return fingerprint_; }

  // What was written for a wire profile (WireProfile::key), or null. Lives as long as the message.
  const std::string* kept(std::uint64_t profile) const noexcept;
  // Keeps it; what another thread kept first stays. Any thread.
  const std::string& keep(std::uint64_t profile, std::string bytes) const;

  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  ~Message();

  friend bool operator==(const Message& a, const Message& b) noexcept;

 private:
  Message() = default;

  Role role_ = Role::user;
  bool note_ = false;
  std::vector<Part> parts_;
  std::size_t size_ = 0;
  Fingerprint fingerprint_;
  struct Kept;
  mutable std::atomic<const Kept*> kept_ = nullptr;
};

// The form in which a message stands in the journal; reading it back gives an equal message.
Json to_json(const Message& message);
Result<MessagePtr> message_from_json(const Json& json);

}  // namespace tug
