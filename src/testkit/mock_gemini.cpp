// The mock's answers in Gemini's generateContent.
#include <algorithm>

#include "testkit/mock_plan.h"
#include "tug/core/json.h"

namespace tug {
namespace {

// Thoughts are no part of the candidates' tokens.
Json usage_json(const Usage& usage) {
  const std::int64_t said = usage.output_tokens - usage.reasoning_tokens;
  return Json::object({{"promptTokenCount", usage.input_tokens},
                       {"cachedContentTokenCount", usage.cache_read_tokens},
                       {"candidatesTokenCount", std::max<std::int64_t>(said, 0)},
                       {"thoughtsTokenCount", usage.reasoning_tokens},
                       {"totalTokenCount", usage.total()}});
}

Json answer(const MockVoice& voice, Json parts, bool last) {
  const MockReply& reply = voice.reply;
  Json candidate = Json::object(
      {{"content", Json::object({{"role", "model"}, {"parts", std::move(parts)}})}, {"index", 0}});
  if (last) candidate.set("finishReason", reply.finish.empty() ? "STOP" : reply.finish);
  Json whole = Json::object({{"candidates", Json::array({std::move(candidate)})}});
  if (last && !reply.no_usage) whole.set("usageMetadata", usage_json(reply.usage));
  return whole.set("modelVersion", voice.model).set("responseId", "resp_" + voice.number);
}

Json thought(std::string_view text) { return Json::object({{"text", text}, {"thought", true}}); }

// What was thought is signed on the first call, or on the text where there is none.
Json call_part(const MockReply& reply, std::size_t index) {
  const MockCall& call = reply.calls[index];
  Json part =
      Json::object({{"functionCall", Json::object({{"id", call.id},
                                                   {"name", call.name},
                                                   {"args", mock_arguments(call.arguments)}})}});
  if (index == 0 && !reply.reasoning.empty()) {
    part.set("thoughtSignature", mock_signature(reply.reasoning));
  }
  return part;
}

bool signs_text(const MockReply& reply) { return !reply.reasoning.empty() && reply.calls.empty(); }

}  // namespace

std::string mock_gemini_reply(const MockVoice& voice) {
  const MockReply& reply = voice.reply;
  Json parts = Json::array();
  if (!reply.reasoning.empty()) parts.push_back(thought(reply.reasoning));
  if (!reply.text.empty()) {
    Json text = Json::object({{"text", reply.text}});
    if (signs_text(reply)) text.set("thoughtSignature", mock_signature(reply.reasoning));
    parts.push_back(std::move(text));
  }
  for (std::size_t i = 0; i < reply.calls.size(); ++i) parts.push_back(call_part(reply, i));
  return print_json(answer(voice, std::move(parts), true));
}

std::vector<std::string> mock_gemini_events(const MockVoice& voice) {
  const MockReply& reply = voice.reply;
  std::vector<std::string> events;
  const auto add = [&](Json part, bool last) {
    events.push_back(mock_event("", answer(voice, Json::array({std::move(part)}), last)));
  };
  if (!reply.reasoning.empty()) {
    for (const std::string_view piece : mock_pieces(reply.reasoning, reply.chunks)) {
      add(thought(piece), false);
    }
  }
  const bool text_ends = reply.calls.empty() && !reply.error_event;
  const auto pieces = mock_pieces(reply.text, reply.chunks);
  for (std::size_t i = 0; i < pieces.size() && (!reply.text.empty() || text_ends); ++i) {
    const bool last = text_ends && i + 1 == pieces.size();
    Json part = Json::object({{"text", pieces[i]}});
    if (last && signs_text(reply)) part.set("thoughtSignature", mock_signature(reply.reasoning));
    add(std::move(part), last);
  }
  if (reply.error_event) {
    events.push_back("data: " + *reply.error_event + "\n\n");
    return events;
  }
  for (std::size_t i = 0; i < reply.calls.size(); ++i) {
    add(call_part(reply, i), i + 1 == reply.calls.size());
  }
  return events;
}

}  // namespace tug
