// The mock's answers in Anthropic's Messages.
#include <algorithm>

#include "testkit/mock_plan.h"
#include "tug/core/json.h"

namespace tug {
namespace {

// The input side leaves out what the cache read and wrote.
Json usage_json(const Usage& usage, std::int64_t output) {
  const std::int64_t fresh =
      usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens;
  return Json::object(
      {{"input_tokens", std::max<std::int64_t>(fresh, 0)},
       {"cache_creation_input_tokens", usage.cache_write_tokens},
       {"cache_read_input_tokens", usage.cache_read_tokens},
       {"output_tokens", output},
       {"output_tokens_details", Json::object({{"thinking_tokens", usage.reasoning_tokens}})},
       {"service_tier", "standard"}});
}

std::string stop_reason(const MockReply& reply) {
  if (!reply.finish.empty()) return reply.finish;
  return reply.calls.empty() ? "end_turn" : "tool_use";
}

Json message(const MockVoice& voice, Json content, Json stop) {
  Json whole = Json::object({{"id", "msg_" + voice.number},
                             {"type", "message"},
                             {"role", "assistant"},
                             {"model", voice.model},
                             {"content", std::move(content)},
                             {"stop_reason", stop},
                             {"stop_sequence", nullptr}});
  if (stop.as_string() == "refusal") {
    whole.set("stop_details",
              Json::object({{"type", "refusal"}, {"category", nullptr}, {"explanation", nullptr}}));
  }
  if (!voice.reply.no_usage) {
    const std::int64_t output = stop.is_null() ? 1 : voice.reply.usage.output_tokens;
    whole.set("usage", usage_json(voice.reply.usage, output));
  }
  return whole;
}

Json call_block(const MockCall& call, Json input) {
  return Json::object(
      {{"type", "tool_use"}, {"id", call.id}, {"name", call.name}, {"input", std::move(input)}});
}

class Events {
 public:
  void add(std::string_view type, Json members = Json::object()) {
    Json data = Json::object({{"type", type}});
    for (const Json::Member& member : members.members()) data.set(member.key(), member.value);
    list.push_back(mock_event(type, data));
  }
  void begin_block(Json block) {
    add("content_block_start",
        Json::object({{"index", index_}, {"content_block", std::move(block)}}));
  }
  void delta(std::string_view type, std::string_view member, std::string_view text) {
    add("content_block_delta",
        Json::object(
            {{"index", index_}, {"delta", Json::object({{"type", type}, {member, text}})}}));
  }
  void end_block() { add("content_block_stop", Json::object({{"index", index_++}})); }

  std::vector<std::string> list;

 private:
  std::int64_t index_ = 0;
};

void add_thinking(const MockReply& reply, Events& events) {
  events.begin_block(Json::object({{"type", "thinking"}, {"thinking", ""}, {"signature", ""}}));
  for (const std::string_view piece : mock_pieces(reply.reasoning, reply.chunks)) {
    events.delta("thinking_delta", "thinking", piece);
  }
  events.delta("signature_delta", "signature", mock_signature(reply.reasoning));
  events.end_block();
}

}  // namespace

std::string mock_anthropic_reply(const MockVoice& voice) {
  const MockReply& reply = voice.reply;
  Json content = Json::array();
  if (!reply.reasoning.empty()) {
    content.push_back(Json::object({{"type", "thinking"},
                                    {"thinking", reply.reasoning},
                                    {"signature", mock_signature(reply.reasoning)}}));
  }
  if (!reply.text.empty()) {
    content.push_back(Json::object({{"type", "text"}, {"text", reply.text}}));
  }
  for (const MockCall& call : reply.calls) {
    content.push_back(call_block(call, mock_arguments(call.arguments)));
  }
  return print_json(message(voice, std::move(content), stop_reason(reply)));
}

std::vector<std::string> mock_anthropic_events(const MockVoice& voice) {
  const MockReply& reply = voice.reply;
  Events events;
  events.add("message_start", Json::object({{"message", message(voice, Json::array(), Json())}}));
  events.add("ping");
  if (!reply.reasoning.empty()) add_thinking(reply, events);
  if (!reply.text.empty()) {
    events.begin_block(Json::object({{"type", "text"}, {"text", ""}}));
    for (const std::string_view piece : mock_pieces(reply.text, reply.chunks)) {
      events.delta("text_delta", "text", piece);
    }
    if (!reply.error_event) events.end_block();
  }
  if (reply.error_event) {
    events.list.push_back("event: error\ndata: " + *reply.error_event + "\n\n");
    return std::move(events.list);
  }
  for (const MockCall& call : reply.calls) {
    events.begin_block(call_block(call, Json::object()));
    for (const std::string_view piece : mock_pieces(call.arguments, reply.chunks)) {
      events.delta("input_json_delta", "partial_json", piece);
    }
    events.end_block();
  }
  Json end = Json::object(
      {{"delta", Json::object({{"stop_reason", stop_reason(reply)}, {"stop_sequence", nullptr}})}});
  if (!reply.no_usage) end.set("usage", usage_json(reply.usage, reply.usage.output_tokens));
  events.add("message_delta", std::move(end));
  events.add("message_stop");
  return std::move(events.list);
}

}  // namespace tug
