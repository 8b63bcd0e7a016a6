// A message's content, as Anthropic takes it.
#include <utility>

#include "model/anthropic/wire.h"
#include "model/wire_media.h"
#include "model/wire_words.h"

namespace tug::anthropic {
namespace {

bool is_blank(std::string_view text) noexcept {
  return text.find_first_not_of(" \t\r\n\f\v") == text.npos;
}

// The citations that stand behind a text; they go back inside its block.
const Json* citations_of(const Part& part, const WireProfile& profile) noexcept {
  const auto* block = std::get_if<ProviderBlock>(&part);
  if (!block || block->provider != profile.provider || block->data.contains("type")) return nullptr;
  return block->data.find("citations");
}

class BlockWriter {
 public:
  BlockWriter(const Message& message, const WireProfile& profile, Dropped& dropped)
      : message_(message), profile_(profile), dropped_(dropped) {}

  std::string write() && {
    const std::vector<Part>& parts = message_.parts();
    // What may not go back as it came leads the turn.
    for (const Part& part : parts) {
      const auto* reasoning = std::get_if<ReasoningPart>(&part);
      if (!reasoning || is_native(*reasoning)) continue;
      dropped_.reasoning = true;
      if (!reasoning->redacted) text(thinking_text(*reasoning), nullptr);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      next_ = i + 1 < parts.size() ? &parts[i + 1] : nullptr;
      std::visit([this](const auto& part) { add(part); }, parts[i]);
    }
    return std::move(out_);
  }

 private:
  bool is_native(const ReasoningPart& part) const noexcept {
    if (!profile_.reasoning || part.provider != profile_.provider) return false;
    return part.opaque[part.redacted ? "data" : "signature"].is_string();
  }

  void begin(std::string_view type) {
    if (!out_.empty()) out_ += ',';
    out_ += R"({"type":")";
    out_ += type;
    out_ += '"';
  }
  void member(std::string_view name, std::string_view value) {
    out_ += ",\"";
    out_ += name;
    out_ += "\":";
    print_json_string(value, out_);
  }

  // A block of nothing but white space is refused.
  void text(std::string_view text, const Json* citations) {
    if (is_blank(text)) return;
    begin("text");
    member("text", text);
    if (citations) {
      out_ += ",\"citations\":";
      print_json(*citations, out_);
    }
    out_ += '}';
  }

  void source(const WireMedia& media) {
    out_ += ",\"source\":{\"type\":";
    if (media.base64.empty()) {
      out_ += "\"url\"";
      member("url", media.url);
    } else {
      out_ += "\"base64\"";
      member("media_type", media.mime);
      member("data", media.base64);
    }
    out_ += "}}";
  }

  void add(const TextPart& part) {
    text(part.text, next_ ? citations_of(*next_, profile_) : nullptr);
  }
  void add(const MediaPart& part) {
    const WireMedia media = wire_media(part);
    if (!media.text.empty()) return text(media.text, nullptr);
    const bool known = media.kind == MediaKind::image || media.kind == MediaKind::document;
    // In an assistant's turn neither is allowed.
    if (known && takes(profile_, media) && message_.role() != Role::assistant) {
      begin(media.kind == MediaKind::image ? "image" : "document");
      return source(media);
    }
    dropped_.media = true;
    text(media_line(part), nullptr);
  }
  void add(const ReasoningPart& part) {
    if (!is_native(part)) return;
    if (part.redacted) {
      begin("redacted_thinking");
      member("data", part.opaque["data"].as_string());
    } else {
      begin("thinking");
      member("thinking", part.text);
      member("signature", part.opaque["signature"].as_string());
    }
    out_ += '}';
  }
  void add(const ToolCall& call) {
    begin("tool_use");
    member("id", wire_id(call.id));
    member("name", wire_tool_name(call.tool));
    out_ += ",\"input\":";
    out_ += arguments_object(call.arguments);
    out_ += '}';
  }
  void add(const ToolResult& result) {
    begin("tool_result");
    member("tool_use_id", wire_id(result.call));
    if (!result.content.empty()) member("content", result.content);
    if (result.is_error()) out_ += ",\"is_error\":true";
    out_ += '}';
  }
  void add(const ProviderBlock& block) {
    if (block.provider != profile_.provider) {
      dropped_.blocks = true;
    } else if (block.data.contains("type")) {
      if (!out_.empty()) out_ += ',';
      print_json(block.data, out_);
    }
  }

  const Message& message_;
  const WireProfile& profile_;
  Dropped& dropped_;
  const Part* next_ = nullptr;
  std::string out_;
};

}  // namespace

std::string encode_blocks(const Message& message, const WireProfile& profile, Dropped& dropped) {
  return BlockWriter(message, profile, dropped).write();
}

}  // namespace tug::anthropic
