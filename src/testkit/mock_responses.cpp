// The mock's answers in OpenAI's Responses.
#include <algorithm>

#include "testkit/mock_plan.h"
#include "tug/core/json.h"

namespace tug {
namespace {

constexpr std::int64_t kCreated = 1767225600;

Json usage_json(const Usage& usage) {
  return Json::object(
      {{"input_tokens", usage.input_tokens},
       {"input_tokens_details", Json::object({{"cached_tokens", usage.cache_read_tokens},
                                              {"cache_write_tokens", usage.cache_write_tokens}})},
       {"output_tokens", usage.output_tokens},
       {"output_tokens_details", Json::object({{"reasoning_tokens", usage.reasoning_tokens}})},
       {"total_tokens", usage.total()}});
}

// How it ends: the status, and what goes with it.
std::string status_of(const MockReply& reply) {
  if (reply.finish == "max_output_tokens" || reply.finish == "content_filter") return "incomplete";
  if (reply.finish == "failed") return "failed";
  return "completed";
}

Json response(const MockVoice& voice, std::string_view status, Json output) {
  const MockReply& reply = voice.reply;
  const Json& asked = voice.request.json;
  const bool ended = status != "in_progress";
  Json whole = Json::object({{"id", "resp_" + voice.number},
                             {"object", "response"},
                             {"created_at", kCreated},
                             {"status", status},
                             {"error", nullptr},
                             {"incomplete_details", nullptr},
                             {"instructions", asked["instructions"]},
                             {"metadata", Json::object()},
                             {"model", voice.model},
                             {"output", std::move(output)},
                             {"parallel_tool_calls", asked["parallel_tool_calls"].as_bool(true)},
                             {"previous_response_id", asked["previous_response_id"]},
                             {"store", asked["store"].as_bool(true)},
                             {"temperature", nullptr},
                             {"tool_choice", "auto"},
                             {"tools", Json::array()},
                             {"top_p", nullptr},
                             {"truncation", "disabled"},
                             {"usage", nullptr}});
  if (status == "incomplete") {
    whole.set("incomplete_details", Json::object({{"reason", reply.finish}}));
  }
  if (status == "failed") {
    whole.set("error",
              Json::object({{"code", "server_error"}, {"message", "the mock was told to fail"}}));
  }
  if (ended && !reply.no_usage) whole.set("usage", usage_json(reply.usage));
  return whole;
}

bool wants_encrypted(const MockRequest& request) {
  return std::ranges::any_of(request.json["include"].items(), [](const Json& item) {
    return item.as_string() == "reasoning.encrypted_content";
  });
}

Json reasoning_item(const MockVoice& voice, bool done) {
  const std::string& text = voice.reply.reasoning;
  Json item = Json::object({{"id", "rs_" + voice.number}, {"type", "reasoning"}});
  item.set("summary", done ? Json::array({Json::object({{"type", "summary_text"}, {"text", text}})})
                           : Json::array());
  if (done && wants_encrypted(voice.request)) item.set("encrypted_content", mock_signature(text));
  return item;
}

Json text_part(const MockReply& reply, std::string_view text) {
  if (reply.finish == "refusal") return Json::object({{"type", "refusal"}, {"refusal", text}});
  return Json::object({{"type", "output_text"},
                       {"text", text},
                       {"annotations", Json::array()},
                       {"logprobs", Json::array()}});
}

Json message_item(const MockVoice& voice, bool done) {
  return Json::object({{"id", "msg_" + voice.number},
                       {"type", "message"},
                       {"status", done ? "completed" : "in_progress"},
                       {"role", "assistant"},
                       {"content", done ? Json::array({text_part(voice.reply, voice.reply.text)})
                                        : Json::array()}});
}

Json call_item(const MockVoice& voice, std::size_t index, bool done) {
  const MockCall& call = voice.reply.calls[index];
  return Json::object({{"id", "fc_" + voice.number + "_" + std::to_string(index)},
                       {"type", "function_call"},
                       {"status", done ? "completed" : "in_progress"},
                       {"call_id", call.id},
                       {"name", call.name},
                       {"arguments", done ? call.arguments : ""}});
}

// The events of one stream, numbered.
class Events {
 public:
  void add(std::string_view type, Json members) {
    Json data = Json::object({{"type", type}, {"sequence_number", number_++}});
    for (const Json::Member& member : members.members()) data.set(member.key(), member.value);
    list.push_back(mock_event(type, data));
  }
  void begin_item(const Json& item) {
    add("response.output_item.added", Json::object({{"output_index", items_}, {"item", item}}));
  }
  // Of a part: where it stands, and what else is said.
  Json at(const Json& item, std::string_view index_name, Json members) const {
    Json place = Json::object({{"item_id", item["id"]}, {"output_index", items_}});
    if (!index_name.empty()) place.set(index_name, 0);
    for (const Json::Member& member : members.members()) place.set(member.key(), member.value);
    return place;
  }
  void end_item(Json item) {
    add("response.output_item.done", Json::object({{"output_index", items_}, {"item", item}}));
    output.push_back(std::move(item));
    ++items_;
  }

  std::vector<std::string> list;
  Json output = Json::array();

 private:
  std::int64_t number_ = 0;
  std::int64_t items_ = 0;
};

void add_reasoning(const MockVoice& voice, Events& events) {
  const Json item = reasoning_item(voice, false);
  events.begin_item(item);
  const auto part = [](std::string_view text) {
    return Json::object({{"part", Json::object({{"type", "summary_text"}, {"text", text}})}});
  };
  constexpr std::string_view kIndex = "summary_index";
  events.add("response.reasoning_summary_part.added", events.at(item, kIndex, part("")));
  for (const std::string_view piece : mock_pieces(voice.reply.reasoning, voice.reply.chunks)) {
    events.add("response.reasoning_summary_text.delta",
               events.at(item, kIndex, Json::object({{"delta", piece}})));
  }
  const std::string& text = voice.reply.reasoning;
  events.add("response.reasoning_summary_text.done",
             events.at(item, kIndex, Json::object({{"text", text}})));
  events.add("response.reasoning_summary_part.done", events.at(item, kIndex, part(text)));
  events.end_item(reasoning_item(voice, true));
}

void add_text(const MockVoice& voice, Events& events) {
  const MockReply& reply = voice.reply;
  const bool refused = reply.finish == "refusal";
  const Json item = message_item(voice, false);
  events.begin_item(item);
  constexpr std::string_view kIndex = "content_index";
  events.add("response.content_part.added",
             events.at(item, kIndex, Json::object({{"part", text_part(reply, "")}})));
  for (const std::string_view piece : mock_pieces(reply.text, reply.chunks)) {
    Json delta = Json::object({{"delta", piece}});
    if (!refused) delta.set("logprobs", Json::array());
    events.add(refused ? "response.refusal.delta" : "response.output_text.delta",
               events.at(item, kIndex, std::move(delta)));
  }
  if (reply.error_event) return;
  Json done = Json::object({{refused ? "refusal" : "text", reply.text}});
  if (!refused) done.set("logprobs", Json::array());
  events.add(refused ? "response.refusal.done" : "response.output_text.done",
             events.at(item, kIndex, std::move(done)));
  events.add("response.content_part.done",
             events.at(item, kIndex, Json::object({{"part", text_part(reply, reply.text)}})));
  events.end_item(message_item(voice, true));
}

void add_call(const MockVoice& voice, std::size_t index, Events& events) {
  const MockCall& call = voice.reply.calls[index];
  const Json item = call_item(voice, index, false);
  events.begin_item(item);
  for (const std::string_view piece : mock_pieces(call.arguments, voice.reply.chunks)) {
    events.add("response.function_call_arguments.delta",
               events.at(item, "", Json::object({{"delta", piece}})));
  }
  events.add(
      "response.function_call_arguments.done",
      events.at(item, "", Json::object({{"name", call.name}, {"arguments", call.arguments}})));
  events.end_item(call_item(voice, index, true));
}

}  // namespace

std::string mock_responses_reply(const MockVoice& voice) {
  Json output = Json::array();
  if (!voice.reply.reasoning.empty()) output.push_back(reasoning_item(voice, true));
  if (!voice.reply.text.empty()) output.push_back(message_item(voice, true));
  for (std::size_t i = 0; i < voice.reply.calls.size(); ++i) {
    output.push_back(call_item(voice, i, true));
  }
  return print_json(response(voice, status_of(voice.reply), std::move(output)));
}

std::vector<std::string> mock_responses_events(const MockVoice& voice) {
  Events events;
  const Json begun = response(voice, "in_progress", Json::array());
  events.add("response.created", Json::object({{"response", begun}}));
  events.add("response.in_progress", Json::object({{"response", begun}}));
  if (!voice.reply.reasoning.empty()) add_reasoning(voice, events);
  if (!voice.reply.text.empty()) add_text(voice, events);
  if (voice.reply.error_event) {
    events.list.push_back("event: error\ndata: " + *voice.reply.error_event + "\n\n");
    return std::move(events.list);
  }
  for (std::size_t i = 0; i < voice.reply.calls.size(); ++i) add_call(voice, i, events);
  const std::string status = status_of(voice.reply);
  events.add("response." + status,
             Json::object({{"response", response(voice, status, events.output)}}));
  return std::move(events.list);
}

}  // namespace tug
