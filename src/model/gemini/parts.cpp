// A message's parts, as Gemini takes them.
#include <utility>

#include "model/gemini/wire.h"
#include "model/wire_media.h"
#include "model/wire_words.h"

namespace tug::gemini {
namespace {

class PartWriter {
 public:
  PartWriter(const Message& message, const WireProfile& profile, Dropped& dropped)
      : message_(message), profile_(profile), dropped_(dropped) {}

  std::string write() && {
    for (const Part& part : message_.parts()) {
      const auto* reasoning = std::get_if<ReasoningPart>(&part);
      if (!reasoning || is_native(*reasoning)) continue;
      dropped_.reasoning = true;
      if (!reasoning->redacted) text(thinking_text(*reasoning));
    }
    for (const Part& part : message_.parts())
      std::visit([this](const auto& that) { add(that); }, part);
    lonely_signature();
    return std::move(out_);
  }

 private:
  bool is_native(const ReasoningPart& part) const noexcept {
    return profile_.reasoning && part.provider == profile_.provider;
  }

  void begin() {
    if (!out_.empty()) out_ += ',';
    out_ += '{';
  }
  void member(std::string_view name, std::string_view value) {
    if (out_.back() != '{') out_ += ',';
    print_json_string(name, out_);
    out_ += ':';
    print_json_string(value, out_);
  }
  // The signature that stood before this part.
  void end() {
    if (!signature_.empty()) member("thoughtSignature", std::exchange(signature_, {}));
    out_ += '}';
  }
  // One that signs no part that we know of signs an empty text, which is how they come.
  void lonely_signature() {
    if (signature_.empty()) return;
    begin();
    member("text", "");
    end();
  }

  void text(std::string_view text) {
    if (text.empty() && signature_.empty()) return;
    begin();
    member("text", text);
    end();
  }

  void add(const TextPart& part) { text(part.text); }
  void add(const MediaPart& part) {
    const WireMedia media = wire_media(part);
    if (!media.text.empty()) return text(media.text);
    if (!takes(profile_, media)) {
      dropped_.media = true;
      return text(media_line(part));
    }
    begin();
    out_ += media.base64.empty() ? "\"fileData\":{" : "\"inlineData\":{";
    member("mimeType", media.mime);
    if (media.base64.empty()) {
      member("fileUri", media.url);
    } else {
      member("data", media.base64);
    }
    out_ += '}';
    end();
  }
  void add(const ReasoningPart& part) {
    if (!is_native(part)) return;
    lonely_signature();
    signature_ = std::string(part.opaque["thoughtSignature"].as_string());
    if (part.text.empty()) return;
    begin();
    member("text", part.text);
    out_ += ",\"thought\":true";
    end();
  }
  void add(const ToolCall& call) {
    // Of calls made together only the first is signed.
    const bool first = !std::exchange(called_, true);
    if (first && signature_.empty() && (profile_.flags & kNoForeignSignature) == 0)
      signature_ = std::string(kForeignSignature);
    begin();
    out_ += "\"functionCall\":{";
    member("id", wire_id(call.id));
    member("name", wire_tool_name(call.tool));
    out_ += ",\"args\":";
    out_ += arguments_object(call.arguments);
    out_ += '}';
    end();
  }
  void add(const ToolResult& result) {
    begin();
    out_ += "\"functionResponse\":{";
    member("id", wire_id(result.call));
    member("name", wire_tool_name(result.tool));
    out_ += ",\"response\":";
    if (result.is_error()) {
      print_json(Json::object({{"error", result.content}}), out_);
    } else if (const Json object = object_in(result.content); object.is_object()) {
      print_json(object, out_);
    } else {
      print_json(Json::object({{"result", result.content}}), out_);
    }
    out_ += '}';
    end();
  }
  void add(const ProviderBlock& block) {
    if (block.provider != profile_.provider) {
      dropped_.blocks = true;
      return;
    }
    lonely_signature();
    if (!out_.empty()) out_ += ',';
    Json data = block.data;
    if (!profile_.reasoning) data.erase("thoughtSignature");
    print_json(data, out_);
  }

  static Json object_in(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == text.npos || text[first] != '{') return {};
    Result<Json> json = parse_json(text);
    return json ? *std::move(json) : Json();
  }

  const Message& message_;
  const WireProfile& profile_;
  Dropped& dropped_;
  std::string signature_;
  bool called_ = false;
  std::string out_;
};

}  // namespace

std::string encode_parts(const Message& message, const WireProfile& profile, Dropped& dropped) {
  return PartWriter(message, profile, dropped).write();
}

}  // namespace tug::gemini
