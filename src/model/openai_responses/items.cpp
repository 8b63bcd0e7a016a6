#include <algorithm>

#include "model/openai_responses/wire.h"
#include "model/wire_media.h"
#include "model/wire_words.h"

namespace tug::responses {
namespace {

// A bit of WireProfile::flags, beside those of wire_media.h.
constexpr std::uint32_t kStored = 8;

bool is_native(const ReasoningPart& part, const WireProfile& profile) noexcept {
  if (part.provider != profile.provider || !profile.reasoning || !part.opaque.is_object())
    return false;
  // An item that has nothing but its id is known to a provider that kept it only.
  return !part.opaque["encrypted_content"].as_string().empty() || !part.opaque["content"].empty() ||
         (profile.flags & kStored) != 0;
}

bool is_sent(const WireMedia& media, const WireProfile& profile) noexcept {
  const bool known = media.kind == MediaKind::image || media.kind == MediaKind::document;
  return known && (!media.base64.empty() || !media.url.empty()) && takes(profile, media);
}

// Items or content parts, with commas between.
class List {
 public:
  explicit List(std::string& out) noexcept : out_(out) {}
  std::string& next() {
    if (!first_) out_ += ',';
    first_ = false;
    return out_;
  }
  bool empty() const noexcept { return first_; }

 private:
  std::string& out_;
  bool first_ = true;
};

void add_text_part(std::string_view text, std::string& out) {
  out += R"({"type":"input_text","text":)";
  print_json_string(text, out);
  out += '}';
}

void add_media_part(const MediaPart& part, const WireProfile& profile, std::string& out) {
  const WireMedia media = wire_media(part);
  if (!media.text.empty()) return add_text_part(media.text, out);
  if (!is_sent(media, profile)) return add_text_part(media_line(part), out);
  const bool image = media.kind == MediaKind::image;
  std::string address = media.url;
  if (address.empty()) address = "data:" + media.mime + ";base64," + media.base64;
  if (image) {
    out += R"({"type":"input_image","detail":"auto","image_url":)";
  } else if (media.url.empty()) {
    out += R"({"type":"input_file","filename":)";
    print_json_string(part.name.empty() ? "file.pdf" : part.name, out);
    out += R"(,"file_data":)";
  } else {
    out += R"({"type":"input_file","file_url":)";
  }
  print_json_string(address, out);
  out += '}';
}

std::string encode_spoken(const Message& message, std::string_view role,
                          const WireProfile& profile) {
  std::string out = R"({"type":"message","role":")";
  out += role;
  out += R"(","content":[)";
  List parts(out);
  for (const Part& part : message.parts()) {
    if (const auto* text = std::get_if<TextPart>(&part)) {
      if (!text->text.empty()) add_text_part(text->text, parts.next());
    } else if (const auto* media = std::get_if<MediaPart>(&part)) {
      add_media_part(*media, profile, parts.next());
    }
  }
  if (parts.empty()) add_text_part("", parts.next());
  return out + "]}";
}

// What a block before an item adds to it: the members that the item has no part of its own for.
void add_beside(const Json* beside, std::string_view type, std::string& out) {
  if (!beside || (*beside)["type"].as_string() != type) return;
  for (const Json::Member& member : beside->members()) {
    if (member.key() == "type") continue;
    out += ',';
    print_json(member.name, out);
    out += ':';
    print_json(member.value, out);
  }
}

void add_answer(std::string_view text, const Json* beside, std::string& out) {
  out += R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":)";
  print_json_string(text, out);
  out += "}]";
  add_beside(beside, "message", out);
  out += '}';
}

void add_call(const ToolCall& call, const Json* beside, std::string& out) {
  out += R"({"type":"function_call","call_id":")";
  out += wire_id(call.id);
  out += R"(","name":)";
  print_json_string(wire_tool_name(call.tool), out);
  out += R"(,"arguments":)";
  print_json_string(call.arguments, out);
  add_beside(beside, "function_call", out);
  out += '}';
}

// The item as it came. A member that is null says nothing, and some are refused for it.
void add_item(const Json& item, std::string& out) {
  char separator = '{';
  for (const Json::Member& member : item.members()) {
    if (member.value.is_null()) continue;
    out += separator;
    separator = ',';
    print_json(member.name, out);
    out += ':';
    print_json(member.value, out);
  }
  if (separator == '{') out += separator;
  out += '}';
}

bool is_beside(const Json& data) noexcept {
  const std::string_view type = data["type"].as_string();
  return type == "message" || type == "function_call";
}

// Is anything sent behind this place? Reasoning that leads to nothing is refused.
bool leads_on(const std::vector<Part>& parts, std::size_t place, const WireProfile& profile) {
  return std::any_of(parts.begin() + static_cast<std::ptrdiff_t>(place), parts.end(),
                     [&](const Part& part) {
                       if (std::holds_alternative<ToolCall>(part)) return true;
                       if (const auto* text = std::get_if<TextPart>(&part))
                         return !text->text.empty();
                       const auto* block = std::get_if<ProviderBlock>(&part);
                       return block && block->provider == profile.provider &&
                              block->data.is_object() && !is_beside(block->data);
                     });
}

std::string encode_turn(const Message& message, const WireProfile& profile) {
  std::string out;
  List items(out);
  for (const Part& part : message.parts()) {
    const auto* thought = std::get_if<ReasoningPart>(&part);
    if (!thought || thought->redacted || is_native(*thought, profile)) continue;
    const std::string text = thinking_text(*thought);
    if (!text.empty()) add_answer(text, nullptr, items.next());
  }
  const Json* beside = nullptr;
  for (std::size_t place = 0; place < message.parts().size(); ++place) {
    const Part& part = message.parts()[place];
    if (const auto* block = std::get_if<ProviderBlock>(&part)) {
      if (block->provider != profile.provider || !block->data.is_object()) continue;
      beside = is_beside(block->data) ? &block->data : nullptr;
      if (!beside) add_item(block->data, items.next());
      continue;
    }
    if (const auto* thought = std::get_if<ReasoningPart>(&part)) {
      if (is_native(*thought, profile) && leads_on(message.parts(), place, profile))
        add_item(thought->opaque, items.next());
    } else if (const auto* text = std::get_if<TextPart>(&part)) {
      if (!text->text.empty()) add_answer(text->text, beside, items.next());
    } else if (const auto* call = std::get_if<ToolCall>(&part)) {
      add_call(*call, beside, items.next());
    }
    beside = nullptr;
  }
  return out;
}

void add_result(const ToolResult& result, std::string_view id, std::string& out) {
  out += R"({"type":"function_call_output","call_id":)";
  print_json_string(id, out);
  out += R"(,"output":)";
  // The API has no flag for a failure: the text has to say it.
  if (result.ok) {
    print_json_string(result.content, out);
  } else {
    print_json_string("Error: " + result.content, out);
  }
  out += '}';
}

}  // namespace

WireProfile wire_profile(const WireCall& call) {
  WireProfile profile{.api = Api::openai_responses,
                      .provider = call.provider.name,
                      .reasoning = call.profile.reasoning && !call.request.drop_reasoning,
                      .images = takes_images(call.profile),
                      .flags = media_flags(call.profile)};
  if (is_stored(call)) profile.flags |= kStored;
  return profile;
}

std::string encode_message(const Message& message, const WireProfile& profile) {
  switch (message.role()) {
    case Role::system:
      return encode_spoken(message, "system", profile);
    case Role::user:
      return encode_spoken(message, "user", profile);
    case Role::assistant:
      return encode_turn(message, profile);
    case Role::tool:
      return encode_results(message, {});
  }
  return "";
}

std::string encode_results(const Message& message, const std::vector<const ToolCall*>& calls) {
  std::string out;
  List items(out);
  for (const ToolResult* result : message.tool_results()) {
    const auto call =
        std::ranges::find(calls, result->call, [](const ToolCall* known) { return known->id; });
    const bool known = call != calls.end() && !(*call)->provider_id.empty();
    add_result(*result, known ? (*call)->provider_id : wire_id(result->call), items.next());
  }
  return out;
}

bool loses_reasoning(const Message& message, const WireProfile& profile) noexcept {
  return std::ranges::any_of(message.parts(), [&](const Part& part) {
    const auto* thought = std::get_if<ReasoningPart>(&part);
    return thought && !is_native(*thought, profile);
  });
}

bool loses_media(const Message& message, const WireProfile& profile) {
  return std::ranges::any_of(message.parts(), [&](const Part& part) {
    const auto* media = std::get_if<MediaPart>(&part);
    if (!media) return false;
    const WireMedia sent = wire_media(*media);
    return sent.text.empty() && !is_sent(sent, profile);
  });
}

}  // namespace tug::responses
