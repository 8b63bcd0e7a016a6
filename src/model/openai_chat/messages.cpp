#include <algorithm>

#include "model/openai_chat/wire.h"
#include "model/wire_words.h"
#include "tug/core/base64.h"

namespace tug::chat {
namespace {

constexpr std::uint32_t kDeveloper = 1;  // bits of WireProfile::flags
constexpr std::uint32_t kSounds = 2;
constexpr std::uint32_t kFiles = 4;

bool is_native(const ReasoningPart& part, const WireProfile& profile) noexcept {
  if (part.provider != profile.provider) return false;
  // Details come from a provider that always takes them back; a field is asked for by a quirk.
  if (part.opaque["reasoning_details"].is_array()) return true;
  return profile.reasoning && part.opaque["field"].is_string();
}

enum class MediaForm { image, sound, file, text, none };

MediaForm form_of(const MediaPart& media, const WireProfile& profile) noexcept {
  const std::string_view mime = media.mime;
  if (mime.starts_with("image/"))
    return profile.images && (media.bytes || !media.url.empty()) ? MediaForm::image
                                                                 : MediaForm::none;
  if (!media.bytes) return MediaForm::none;
  if (mime.starts_with("text/") || mime == "application/json") return MediaForm::text;
  if (mime == "audio/wav" || mime == "audio/x-wav" || mime == "audio/mpeg" || mime == "audio/mp3")
    return profile.flags & kSounds ? MediaForm::sound : MediaForm::none;
  if (mime == "application/pdf") return profile.flags & kFiles ? MediaForm::file : MediaForm::none;
  return MediaForm::none;
}

// What stands in the place of something that cannot be sent.
std::string instead_of(const MediaPart& media) {
  std::string line = "[" + (media.mime.empty() ? std::string("a file") : media.mime);
  if (!media.name.empty()) line += " " + media.name;
  if (media.bytes) line += ", " + std::to_string(media.bytes->size()) + " bytes";
  return line + ": not shown, this model cannot take it]";
}

void add_member(std::string_view name, std::string_view value, std::string& out) {
  out += ",\"";
  out += name;
  out += "\":";
  print_json_string(value, out);
}

void add_text_element(std::string_view text, std::string& out) {
  out += R"({"type":"text","text":)";
  print_json_string(text, out);
  out += '}';
}

void add_data_url(const MediaPart& media, std::string& out) {
  print_json_string("data:" + media.mime + ";base64,", out);
  out.pop_back();  // its closing quote
  out += to_base64(*media.bytes);
  out += '"';
}

void add_media_element(const MediaPart& media, const WireProfile& profile, std::string& out) {
  switch (form_of(media, profile)) {
    case MediaForm::image:
      out += R"({"type":"image_url","image_url":{"url":)";
      if (media.bytes) {
        add_data_url(media, out);
      } else {
        print_json_string(media.url, out);
      }
      out += "}}";
      return;
    case MediaForm::sound:
      out += R"({"type":"input_audio","input_audio":{"data":")";
      out += to_base64(*media.bytes);
      out += media.mime.ends_with("wav") ? R"(","format":"wav"}})" : R"(","format":"mp3"}})";
      return;
    case MediaForm::file:
      out += R"({"type":"file","file":{"filename":)";
      print_json_string(media.name.empty() ? "file.pdf" : media.name, out);
      out += R"(,"file_data":)";
      add_data_url(media, out);
      out += "}}";
      return;
    case MediaForm::text:
      add_text_element(*media.bytes, out);
      return;
    case MediaForm::none:
      add_text_element(instead_of(media), out);
      return;
  }
}

// The texts of a message as one. A string is what every server takes.
std::string plain_text(const Message& message) {
  std::string all;
  for (const Part& part : message.parts()) {
    const auto* text = std::get_if<TextPart>(&part);
    if (!text || text->text.empty()) continue;
    if (!all.empty()) all += '\n';
    all += text->text;
  }
  return all;
}

void add_spoken(const Message& message, std::string_view role, const WireProfile& profile,
                std::string& out) {
  out += R"({"role":")";
  out += role;
  out += R"(","content":)";
  const bool plain = std::ranges::none_of(
      message.parts(), [](const Part& part) { return std::holds_alternative<MediaPart>(part); });
  if (plain) {
    print_json_string(plain_text(message), out);
  } else {
    char separator = '[';
    for (const Part& part : message.parts()) {
      const auto* text = std::get_if<TextPart>(&part);
      const auto* media = std::get_if<MediaPart>(&part);
      if (!media && (!text || text->text.empty())) continue;
      out += separator;
      separator = ',';
      if (media) {
        add_media_element(*media, profile, out);
      } else {
        add_text_element(text->text, out);
      }
    }
    out += ']';
  }
  out += '}';
}

void add_reasoning(const Message& message, const WireProfile& profile, std::string& out) {
  std::string field;
  std::string text;
  std::string details;
  for (const Part& part : message.parts()) {
    const auto* thought = std::get_if<ReasoningPart>(&part);
    if (!thought || !is_native(*thought, profile)) continue;
    for (const Json& detail : thought->opaque["reasoning_details"].items()) {
      details += details.empty() ? '[' : ',';
      print_json(detail, details);
    }
    if (!thought->opaque["field"].is_string()) continue;
    field = thought->opaque["field"].as_string();
    text += thought->text;
  }
  if (!details.empty()) out += ",\"reasoning_details\":" + details + "]";
  if (field == "reasoning" || field == "reasoning_content") add_member(field, text, out);
}

void add_calls(const Message& message, std::string& out) {
  std::string_view separator = R"(,"tool_calls":[)";
  for (const ToolCall* call : message.tool_calls()) {
    out += separator;
    separator = ",";
    out += R"({"id":")";
    out += wire_id(call->id);
    out += R"(","type":"function","function":{"name":)";
    print_json_string(wire_tool_name(call->tool), out);
    out += R"(,"arguments":)";
    print_json_string(call->arguments, out);
    out += "}}";
  }
  if (separator == ",") out += ']';
}

void add_turn(const Message& message, const WireProfile& profile, std::string& out) {
  std::string text;
  for (const Part& part : message.parts()) {
    const auto* thought = std::get_if<ReasoningPart>(&part);
    if (!thought || thought->redacted || is_native(*thought, profile)) continue;
    const std::string said = thinking_text(*thought);
    if (!said.empty()) text += said + "\n\n";
  }
  text += plain_text(message);
  out += R"({"role":"assistant","content":)";
  if (text.empty() && !message.tool_calls().empty()) {
    out += "null";
  } else {
    print_json_string(text, out);
  }
  add_reasoning(message, profile, out);
  add_calls(message, out);
  out += '}';
}

void add_results(const Message& message, std::string& out) {
  bool first = true;
  for (const ToolResult* result : message.tool_results()) {
    if (!first) out += ',';
    first = false;
    out += R"({"role":"tool","tool_call_id":")";
    out += wire_id(result->call);
    out += R"(","content":)";
    // The API has no flag for a failure: the text has to say it.
    if (result->ok) {
      print_json_string(result->content, out);
    } else {
      print_json_string("Error: " + result->content, out);
    }
    out += '}';
  }
}

}  // namespace

WireProfile wire_profile(const WireCall& call) {
  const auto takes = [&](Modality modality) {
    return std::ranges::find(call.profile.input, modality) != call.profile.input.end();
  };
  WireProfile profile{.api = Api::openai_chat,
                      .provider = call.request.drop_reasoning ? "" : call.provider.name,
                      .reasoning = has_quirk(call, "reasoning_content"),
                      .images = call.profile.vision || takes(Modality::image)};
  if (has_quirk(call, "developer_role")) profile.flags |= kDeveloper;
  if (takes(Modality::audio)) profile.flags |= kSounds;
  if (takes(Modality::document)) profile.flags |= kFiles;
  return profile;
}

std::string encode_message(const Message& message, const WireProfile& profile) {
  std::string out;
  out.reserve(message.size() + message.size() / 16 + 64);
  switch (message.role()) {
    case Role::system:
      add_spoken(message, profile.flags & kDeveloper ? "developer" : "system", profile, out);
      break;
    case Role::user:
      add_spoken(message, "user", profile, out);
      break;
    case Role::assistant:
      add_turn(message, profile, out);
      break;
    case Role::tool:
      add_results(message, out);
      break;
  }
  return out;
}

bool loses_reasoning(const Message& message, const WireProfile& profile) noexcept {
  return std::ranges::any_of(message.parts(), [&](const Part& part) {
    const auto* thought = std::get_if<ReasoningPart>(&part);
    return thought && !is_native(*thought, profile);
  });
}

bool loses_media(const Message& message, const WireProfile& profile) noexcept {
  return std::ranges::any_of(message.parts(), [&](const Part& part) {
    const auto* media = std::get_if<MediaPart>(&part);
    return media && form_of(*media, profile) == MediaForm::none;
  });
}

}  // namespace tug::chat
