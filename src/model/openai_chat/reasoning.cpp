#include "model/openai_chat/wire.h"

namespace tug::chat {

std::string ReasoningAssembly::take(const Json& delta) {
  std::string text;
  // vLLM and OpenRouter say `reasoning`, DeepSeek and llama.cpp `reasoning_content`; gateways send
  // both, with the same text.
  for (const std::string_view field : {"reasoning_content", "reasoning"}) {
    const std::string_view said = delta[field].as_string();
    if (said.empty()) continue;
    text = said;
    if (field_.empty()) field_ = field;
    break;
  }
  for (const Json& fragment : delta["reasoning_details"].items()) {
    if (!fragment.is_object()) continue;
    take_detail(fragment);
    if (field_.empty())
      text += fragment[fragment["text"].is_string() ? "text" : "summary"].as_string();
  }
  text_ += text;
  return text;
}

void ReasoningAssembly::take_detail(const Json& fragment) {
  const std::string_view type = fragment["type"].as_string();
  const bool joins = !details_.empty() && type != "reasoning.encrypted" &&
                     details_.back().members["type"] == fragment["type"] &&
                     details_.back().members["index"] == fragment["index"];
  if (!joins) details_.emplace_back().members = Json::object();
  Detail& detail = details_.back();
  for (const Json::Member& member : fragment.members()) {
    const std::string_view text = member.value.as_string();
    detail_bytes_ += text.size() + 16;
    if (member.key() == "text") {
      detail.text += text;
    } else if (member.key() == "summary") {
      detail.summary += text;
    } else if (member.key() == "signature") {
      detail.signature += text;
    } else if (!member.value.is_null() || !detail.members.contains(member.key())) {
      detail.members.set(member.key(), member.value);
      continue;
    }
    // Keeps the place of a member whose text is still coming.
    if (!detail.members.contains(member.key())) detail.members.set(member.key(), member.value);
  }
}

Json ReasoningAssembly::details() const {
  Json all = Json::array();
  for (const Detail& detail : details_) {
    Json members = detail.members;
    if (!detail.text.empty()) members.set("text", detail.text);
    if (!detail.summary.empty()) members.set("summary", detail.summary);
    if (!detail.signature.empty()) members.set("signature", detail.signature);
    all.push_back(std::move(members));
  }
  return all;
}

void ReasoningAssembly::add_to(Json& message) const {
  if (!text_.empty()) message.set(field_.empty() ? "reasoning" : field_, text_);
  if (!details_.empty()) message.set("reasoning_details", details());
}

ReasoningPart ReasoningAssembly::take_all(std::string provider, bool keeps_field) && {
  ReasoningPart part{.provider = std::move(provider)};
  if (!details_.empty()) {
    part.opaque.set("reasoning_details", details());
  } else if (keeps_field && !field_.empty()) {
    part.opaque.set("field", field_);
  }
  part.text = std::move(text_);
  return part;
}

}  // namespace tug::chat
