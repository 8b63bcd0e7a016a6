// The mock's answers in OpenAI's Chat Completions, and its vectors.
#include <algorithm>
#include <bit>
#include <cmath>

#include "testkit/mock_plan.h"
#include "tug/core/base64.h"
#include "tug/core/digest.h"
#include "tug/core/json.h"

namespace tug {
namespace {

constexpr std::int64_t kCreated = 1767225600;
constexpr std::size_t kDimensions = 8;
constexpr std::size_t kMostDimensions = 4096;

Json usage_json(const Usage& usage) {
  return Json::object(
      {{"prompt_tokens", usage.input_tokens},
       {"completion_tokens", usage.output_tokens},
       {"total_tokens", usage.total()},
       {"prompt_tokens_details", Json::object({{"cached_tokens", usage.cache_read_tokens},
                                               {"cache_write_tokens", usage.cache_write_tokens}})},
       {"completion_tokens_details",
        Json::object({{"reasoning_tokens", usage.reasoning_tokens}})}});
}

std::string finish_of(const MockReply& reply) {
  if (!reply.finish.empty()) return reply.finish;
  return reply.calls.empty() ? "stop" : "tool_calls";
}

Json answer(const MockVoice& voice, std::string_view object) {
  return Json::object({{"id", "chatcmpl-" + voice.number},
                       {"object", object},
                       {"created", kCreated},
                       {"model", voice.model}});
}

// The events of one stream.
class Chunks {
 public:
  explicit Chunks(const MockVoice& voice) : voice_(voice) {
    with_usage_ =
        voice.request.json["stream_options"]["include_usage"].as_bool() && !voice.reply.no_usage;
  }
  void delta(Json delta, Json finish = {}) {
    Json chunk = answer(voice_, "chat.completion.chunk");
    chunk.set("choices", Json::array({Json::object({{"index", 0},
                                                    {"delta", std::move(delta)},
                                                    {"logprobs", nullptr},
                                                    {"finish_reason", std::move(finish)}})}));
    if (with_usage_) chunk.set("usage", nullptr);
    events.push_back(mock_event("", chunk));
  }
  void end() {
    delta(Json::object(), finish_of(voice_.reply));
    if (with_usage_) {
      Json chunk = answer(voice_, "chat.completion.chunk");
      chunk.set("choices", Json::array()).set("usage", usage_json(voice_.reply.usage));
      events.push_back(mock_event("", chunk));
    }
    events.push_back("data: [DONE]\n\n");
  }

  std::vector<std::string> events;

 private:
  const MockVoice& voice_;
  bool with_usage_ = false;
};

Json call_piece(std::size_t index, Json function) {
  return Json::object(
      {{"tool_calls",
        Json::array({Json::object({{"index", index}, {"function", std::move(function)}})})}});
}

void add_call(const MockReply& reply, std::size_t index, Chunks& chunks) {
  const MockCall& call = reply.calls[index];
  chunks.delta(Json::object(
      {{"tool_calls",
        Json::array({Json::object(
            {{"index", index},
             {"id", call.id},
             {"type", "function"},
             {"function", Json::object({{"name", call.name}, {"arguments", ""}})}})})}}));
  for (const std::string_view piece : mock_pieces(call.arguments, reply.chunks)) {
    if (!piece.empty()) chunks.delta(call_piece(index, Json::object({{"arguments", piece}})));
  }
}

std::vector<float> vector_of(std::string_view text, std::size_t dimensions) {
  std::vector<float> vector(dimensions);
  double square = 0;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const auto drawn = static_cast<double>(fingerprint_of(text, i).low >> 11) / (1ULL << 53);
    vector[i] = static_cast<float>(2 * drawn - 1);
    square += static_cast<double>(vector[i]) * vector[i];
  }
  const double length = square > 0 ? std::sqrt(square) : 1;
  for (float& part : vector) part = static_cast<float>(part / length);
  return vector;
}

Json vector_json(const std::vector<float>& vector, bool base64) {
  if (!base64) {
    Json list = Json::array();
    for (const float part : vector) list.push_back(static_cast<double>(part));
    return list;
  }
  std::string bytes;
  for (const float part : vector) {
    const auto word = std::bit_cast<std::uint32_t>(part);
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>((word >> shift) & 0xFF);
  }
  return to_base64(bytes);
}

}  // namespace

std::string mock_chat_reply(const MockVoice& voice) {
  const MockReply& reply = voice.reply;
  Json message = Json::object(
      {{"role", "assistant"},
       {"content", reply.text.empty() && !reply.calls.empty() ? Json() : Json(reply.text)},
       {"refusal", nullptr}});
  if (!reply.reasoning.empty()) message.set("reasoning", reply.reasoning);
  if (!reply.calls.empty()) {
    Json calls = Json::array();
    for (const MockCall& call : reply.calls) {
      calls.push_back(Json::object(
          {{"id", call.id},
           {"type", "function"},
           {"function", Json::object({{"name", call.name}, {"arguments", call.arguments}})}}));
    }
    message.set("tool_calls", std::move(calls));
  }
  Json whole = answer(voice, "chat.completion");
  whole.set("choices", Json::array({Json::object({{"index", 0},
                                                  {"message", std::move(message)},
                                                  {"logprobs", nullptr},
                                                  {"finish_reason", finish_of(reply)}})}));
  if (!reply.no_usage) whole.set("usage", usage_json(reply.usage));
  return print_json(whole);
}

std::vector<std::string> mock_chat_events(const MockVoice& voice) {
  const MockReply& reply = voice.reply;
  Chunks chunks(voice);
  chunks.delta(Json::object({{"role", "assistant"}, {"content", ""}}));
  if (!reply.reasoning.empty()) {
    for (const std::string_view piece : mock_pieces(reply.reasoning, reply.chunks)) {
      chunks.delta(Json::object({{"reasoning", piece}}));
    }
  }
  if (!reply.text.empty()) {
    for (const std::string_view piece : mock_pieces(reply.text, reply.chunks)) {
      chunks.delta(Json::object({{"content", piece}}));
    }
  }
  if (reply.error_event) {
    chunks.events.push_back("data: " + *reply.error_event + "\n\n");
    return std::move(chunks.events);
  }
  for (std::size_t i = 0; i < reply.calls.size(); ++i) add_call(reply, i, chunks);
  chunks.end();
  return std::move(chunks.events);
}

std::string mock_embeddings(const MockVoice& voice) {
  const Json& asked = voice.request.json;
  std::vector<std::string_view> texts;
  if (asked["input"].is_string()) texts.push_back(asked["input"].as_string());
  for (const Json& text : asked["input"].items()) texts.push_back(text.as_string());
  const std::size_t dimensions = std::clamp<std::size_t>(
      asked["dimensions"].as_uint().value_or(kDimensions), 1, kMostDimensions);
  const bool ollama = voice.request.path.ends_with("/api/embed");
  const bool base64 = asked["encoding_format"].as_string() == "base64";
  Json list = Json::array();
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    tokens += static_cast<std::int64_t>(texts[i].size() / 4 + 1);
    Json vector = vector_json(vector_of(texts[i], dimensions), base64);
    if (ollama) {
      list.push_back(std::move(vector));
    } else {
      list.push_back(
          Json::object({{"object", "embedding"}, {"index", i}, {"embedding", std::move(vector)}}));
    }
  }
  if (ollama) {
    return print_json(Json::object({{"model", voice.model},
                                    {"embeddings", std::move(list)},
                                    {"total_duration", 1000},
                                    {"load_duration", 1000},
                                    {"prompt_eval_count", tokens}}));
  }
  return print_json(Json::object(
      {{"object", "list"},
       {"data", std::move(list)},
       {"model", voice.model},
       {"usage", Json::object({{"prompt_tokens", tokens}, {"total_tokens", tokens}})}}));
}

}  // namespace tug
