#include "tug/core/message.h"

#include <memory>
#include <utility>

#include "core/try.h"
#include "tug/core/base64.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

constexpr Role kRoles[] = {Role::system, Role::user, Role::assistant, Role::tool};

void repair(std::string& text) {
  if (!is_utf8(text)) text = repair_utf8(text);
}

// A part is repaired, measured and folded into the fingerprint in one visit.
struct Intake {
  std::size_t size = 0;
  std::string scratch;  // what the fingerprint is made of

  void add(std::string_view field) {
    const auto length = static_cast<std::uint64_t>(field.size());
    scratch.append(reinterpret_cast<const char*>(&length), sizeof length);
    scratch.append(field);
  }
  void text(std::string& field) {
    repair(field);
    size += field.size();
    add(field);
  }
  void json(const Json& value) {
    if (value.is_null()) return add({});
    std::string text = print_json(value);
    size += text.size();
    add(text);
  }

  void operator()(TextPart& part) { text(part.text); }
  void operator()(MediaPart& part) {
    repair(part.mime);
    repair(part.name);
    repair(part.url);
    add(part.mime);
    add(part.url);
    if (part.bytes) {
      size += part.bytes->size();
      add(*part.bytes);
    }
    if (part.blob) add(part.blob->view());
  }
  void operator()(ReasoningPart& part) {
    text(part.text);
    add(part.provider);
    json(part.opaque);
    add(part.redacted ? "r" : "");
  }
  void operator()(ToolCall& part) {
    add(part.id.text());
    text(part.provider_id);
    text(part.tool);
    text(part.arguments);
  }
  void operator()(ToolResult& part) {
    add(part.call.text());
    repair(part.tool);
    add(part.tool);
    add(part.ok ? "ok" : "");
    text(part.content);
    json(part.metadata);
  }
  void operator()(ProviderBlock& part) {
    add(part.provider);
    json(part.data);
  }
};

struct Writer {
  Json operator()(const TextPart& part) const {
    return Json::object({{"type", "text"}, {"text", part.text}});
  }
  Json operator()(const MediaPart& part) const {
    Json json = Json::object({{"type", "media"}, {"mime", part.mime}});
    if (!part.name.empty()) json.set("name", part.name);
    if (part.bytes) json.set("base64", to_base64(*part.bytes));
    if (!part.url.empty()) json.set("url", part.url);
    if (part.blob) json.set("blob", part.blob->hex());
    return json;
  }
  Json operator()(const ReasoningPart& part) const {
    Json json = Json::object({{"type", "reasoning"}, {"text", part.text}});
    if (!part.provider.empty()) json.set("provider", part.provider);
    if (!part.opaque.is_null()) json.set("opaque", part.opaque);
    if (part.redacted) json.set("redacted", true);
    return json;
  }
  Json operator()(const ToolCall& part) const {
    return Json::object({{"type", "tool_call"},
                         {"id", part.id.text()},
                         {"provider_id", part.provider_id},
                         {"tool", part.tool},
                         {"arguments", part.arguments}});
  }
  Json operator()(const ToolResult& part) const {
    Json json = Json::object({{"type", "tool_result"},
                              {"call", part.call.text()},
                              {"tool", part.tool},
                              {"ok", part.ok},
                              {"content", part.content}});
    if (!part.metadata.is_null()) json.set("metadata", part.metadata);
    return json;
  }
  Json operator()(const ProviderBlock& part) const {
    return Json::object(
        {{"type", "provider_block"}, {"provider", part.provider}, {"data", part.data}});
  }
};

std::string text_at(const Json& json, std::string_view key) {
  return std::string(json[key].as_string());
}

Result<Part> read_media(const Json& json) {
  MediaPart part{
      .mime = text_at(json, "mime"), .name = text_at(json, "name"), .url = text_at(json, "url")};
  if (const Json* encoded = json.find("base64")) {
    auto bytes = from_base64(encoded->as_string());
    if (!bytes) return fail(ErrorKind::invalid, "media part: \"base64\" is not base64");
    part.bytes = std::make_shared<const std::string>(*std::move(bytes));
  }
  if (const Json* blob = json.find("blob")) {
    part.blob = Digest::from_hex(blob->as_string());
    if (!part.blob) return fail(ErrorKind::invalid, "media part: \"blob\" is not a SHA-256 in hex");
  }
  return Part(std::move(part));
}

Result<Part> read_part(const Json& json) {
  const std::string_view type = json["type"].as_string();
  if (type == "text") return Part(TextPart{text_at(json, "text")});
  if (type == "media") return read_media(json);
  if (type == "reasoning") {
    return Part(ReasoningPart{text_at(json, "text"), text_at(json, "provider"), json["opaque"],
                              json["redacted"].as_bool()});
  }
  if (type == "tool_call") {
    return Part(ToolCall{CallId(text_at(json, "id")), text_at(json, "provider_id"),
                         text_at(json, "tool"), text_at(json, "arguments")});
  }
  if (type == "tool_result") {
    return Part(ToolResult{CallId(text_at(json, "call")), text_at(json, "tool"),
                           json["ok"].as_bool(), text_at(json, "content"), json["metadata"]});
  }
  if (type == "provider_block") {
    return Part(ProviderBlock{text_at(json, "provider"), json["data"]});
  }
  return fail(ErrorKind::unsupported, "message part of unknown type \"" + std::string(type) + "\"",
              "a newer version of tug may have written it");
}

}  // namespace

std::string_view name_of(Role role) noexcept {
  switch (role) {
    case Role::system:
      return "system";
    case Role::user:
      return "user";
    case Role::assistant:
      return "assistant";
    case Role::tool:
      return "tool";
  }
  return "user";
}

bool operator==(const MediaPart& a, const MediaPart& b) noexcept {
  const bool same_bytes = a.bytes == b.bytes || (a.bytes && b.bytes && *a.bytes == *b.bytes);
  return same_bytes && a.mime == b.mime && a.name == b.name && a.url == b.url && a.blob == b.blob;
}

bool operator==(const Message& a, const Message& b) noexcept {
  return a.role_ == b.role_ && a.note_ == b.note_ && a.parts_ == b.parts_;
}

struct Message::Kept {
  std::uint64_t profile;
  std::string bytes;
  const Kept* next;
};

Message::~Message() {
  for (const Kept* kept = kept_.load(std::memory_order_acquire); kept;) {
    delete std::exchange(kept, kept->next);
  }
}

const std::string* Message::kept(std::uint64_t profile) const noexcept {
  for (const Kept* kept = kept_.load(std::memory_order_acquire); kept; kept = kept->next) {
    if (kept->profile == profile) return &kept->bytes;
  }
  return nullptr;
}

const std::string& Message::keep(std::uint64_t profile, std::string bytes) const {
  auto mine = std::make_unique<Kept>(Kept{profile, std::move(bytes), nullptr});
  mine->bytes.shrink_to_fit();
  mine->next = kept_.load(std::memory_order_acquire);
  while (true) {
    for (const Kept* kept = mine->next; kept; kept = kept->next) {
      if (kept->profile == profile) return kept->bytes;
    }
    if (kept_.compare_exchange_weak(mine->next, mine.get(), std::memory_order_acq_rel)) {
      return mine.release()->bytes;
    }
  }
}

MessagePtr Message::make(Role role, std::vector<Part> parts) {
  auto message = std::shared_ptr<Message>(new Message);
  Intake intake;
  for (Part& part : parts) {
    intake.scratch.push_back(static_cast<char>(part.index()));
    std::visit(intake, part);
  }
  message->role_ = role;
  message->parts_ = std::move(parts);
  message->size_ = intake.size;
  message->fingerprint_ = fingerprint_of(intake.scratch, static_cast<std::uint64_t>(role));
  return message;
}

MessagePtr Message::system(std::string text) {
  return make(Role::system, {TextPart{std::move(text)}});
}
MessagePtr Message::user(std::string text) { return make(Role::user, {TextPart{std::move(text)}}); }
MessagePtr Message::note(std::string text) {
  const MessagePtr message = user(std::move(text));
  const_cast<Message&>(*message).note_ = true;  // nobody else has it yet
  return message;
}
MessagePtr Message::assistant(std::string text) {
  return make(Role::assistant, {TextPart{std::move(text)}});
}

MessagePtr Message::results(std::vector<ToolResult> results) {
  std::vector<Part> parts;
  parts.reserve(results.size());
  for (ToolResult& result : results) parts.emplace_back(std::move(result));
  return make(Role::tool, std::move(parts));
}

std::string Message::text() const {
  std::string text;
  for (const Part& part : parts_) {
    if (auto* piece = std::get_if<TextPart>(&part)) text += piece->text;
  }
  return text;
}

std::vector<const ToolCall*> Message::tool_calls() const {
  std::vector<const ToolCall*> calls;
  for (const Part& part : parts_) {
    if (auto* call = std::get_if<ToolCall>(&part)) calls.push_back(call);
  }
  return calls;
}

std::vector<const ToolResult*> Message::tool_results() const {
  std::vector<const ToolResult*> results;
  for (const Part& part : parts_) {
    if (auto* result = std::get_if<ToolResult>(&part)) results.push_back(result);
  }
  return results;
}

Json to_json(const Message& message) {
  Json parts = Json::array();
  for (const Part& part : message.parts()) parts.push_back(std::visit(Writer{}, part));
  Json json = Json::object({{"role", name_of(message.role())}, {"parts", std::move(parts)}});
  if (message.is_note()) json.set("note", true);
  return json;
}

Result<MessagePtr> message_from_json(const Json& json) {
  std::optional<Role> role;
  for (Role known : kRoles) {
    if (json["role"].as_string() == name_of(known)) role = known;
  }
  if (!role || !json["parts"].is_array()) {
    return fail(ErrorKind::invalid, "a message needs a known \"role\" and a list of \"parts\"");
  }
  std::vector<Part> parts;
  parts.reserve(json["parts"].size());
  for (const Json& item : json["parts"].items()) {
    TUG_TRY(part, read_part(item));
    parts.push_back(std::move(part));
  }
  MessagePtr message = Message::make(*role, std::move(parts));
  if (json["note"].as_bool() && *role == Role::user) return Message::note(message->text());
  return message;
}

}  // namespace tug
