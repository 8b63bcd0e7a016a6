#include "testkit/mock_plan.h"

#include <algorithm>
#include <string>

#include "tug/core/base64.h"
#include "tug/core/digest.h"
#include "tug/core/json.h"

namespace tug {
namespace {

constexpr std::string_view kWebPage =
    "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in to go on.</body></html>";

bool is_embedding(const MockRequest& request) {
  return request.path.ends_with("/embeddings") || request.path.ends_with("/api/embed");
}

// Gemini has the model in the path: ".../models/NAME:generateContent".
std::string model_of(const MockRequest& request, const MockReply& reply) {
  if (!reply.model.empty()) return reply.model;
  if (request.api != Api::gemini) return std::string(request.json["model"].as_string("mock"));
  std::string_view path = request.path;
  const std::size_t begin = path.find("/models/");
  if (begin == std::string_view::npos) return "mock";
  path.remove_prefix(begin + 8);
  return std::string(path.substr(0, path.find(':')));
}

struct ErrorWords {
  int status;
  std::string_view openai;
  std::string_view anthropic;
  std::string_view gemini;
};
constexpr ErrorWords kErrorWords[] = {
    {400, "invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"},
    {401, "invalid_api_key", "authentication_error", "UNAUTHENTICATED"},
    {402, "insufficient_quota", "billing_error", "FAILED_PRECONDITION"},
    {403, "permission_denied", "permission_error", "PERMISSION_DENIED"},
    {404, "model_not_found", "not_found_error", "NOT_FOUND"},
    {409, "conflict", "conflict_error", "ABORTED"},
    {413, "request_too_large", "request_too_large", "INVALID_ARGUMENT"},
    {429, "rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED"},
    {500, "server_error", "api_error", "INTERNAL"},
    {503, "server_is_overloaded", "overloaded_error", "UNAVAILABLE"},
    {504, "timeout", "timeout_error", "DEADLINE_EXCEEDED"},
    {529, "server_is_overloaded", "overloaded_error", "UNAVAILABLE"},
};

std::string error_body(const MockVoice& voice, int status) {
  const auto* const words = std::ranges::find(kErrorWords, status, &ErrorWords::status);
  const bool known = words != std::end(kErrorWords);
  const std::string message = "the mock provider was told to answer " + std::to_string(status);
  Json error;
  switch (voice.request.api) {
    case Api::anthropic:
      error = Json::object(
          {{"type", "error"},
           {"error",
            Json::object({{"type", known ? words->anthropic : "api_error"}, {"message", message}})},
           {"request_id", "req_" + voice.number}});
      break;
    case Api::gemini:
      error =
          Json::object({{"error", Json::object({{"code", status},
                                                {"message", message},
                                                {"status", known ? words->gemini : "UNKNOWN"}})}});
      break;
    default:
      error = Json::object(
          {{"error",
            Json::object({{"message", message},
                          {"type", status < 500 ? "invalid_request_error" : "server_error"},
                          {"param", nullptr},
                          {"code", known ? Json(words->openai) : Json()}})}});
  }
  return print_json(error);
}

std::string whole_body(const MockVoice& voice) {
  if (voice.reply.error_event) return *voice.reply.error_event;
  if (is_embedding(voice.request)) return mock_embeddings(voice);
  switch (voice.request.api) {
    case Api::openai_chat:
      return mock_chat_reply(voice);
    case Api::openai_responses:
      return mock_responses_reply(voice);
    case Api::anthropic:
      return mock_anthropic_reply(voice);
    case Api::gemini:
      break;
  }
  return mock_gemini_reply(voice);
}

std::vector<std::string> events(const MockVoice& voice) {
  switch (voice.request.api) {
    case Api::openai_chat:
      return mock_chat_events(voice);
    case Api::openai_responses:
      return mock_responses_events(voice);
    case Api::anthropic:
      return mock_anthropic_events(voice);
    case Api::gemini:
      break;
  }
  return mock_gemini_events(voice);
}

// What was written by hand is sent event by event too.
std::vector<std::string> split_events(const std::string& body) {
  std::vector<std::string> found;
  std::size_t at = 0;
  while (at < body.size()) {
    const std::size_t blank = body.find("\n\n", at);
    const std::size_t end = blank == std::string::npos ? body.size() : blank + 2;
    found.push_back(body.substr(at, end - at));
    at = end;
  }
  return found;
}

// The writes that the reply asks for: at offsets, of a size, or as the body came.
std::vector<std::string> cut_up(std::vector<std::string> parts, const MockReply& reply) {
  if (reply.cuts.empty() && reply.write_bytes == 0) return parts;
  std::string body;
  for (const std::string& part : parts) body += part;
  std::vector<std::size_t> ends = reply.cuts;
  if (reply.write_bytes > 0) {
    for (std::size_t end = reply.write_bytes; end < body.size(); end += reply.write_bytes) {
      ends.push_back(end);
    }
  }
  ends.push_back(body.size());
  std::ranges::sort(ends);
  std::vector<std::string> writes;
  std::size_t at = 0;
  for (std::size_t end : ends) {
    end = std::min(end, body.size());
    if (end > at) writes.push_back(body.substr(at, end - at));
    at = std::max(at, end);
  }
  return writes;
}

void keep_first(std::vector<std::string>& writes, std::size_t bytes) {
  std::size_t at = 0;
  while (at < writes.size() && writes[at].size() <= bytes) bytes -= writes[at++].size();
  if (at == writes.size()) return;
  writes[at].resize(bytes);
  writes.resize(bytes > 0 ? at + 1 : at);
}

std::string ping_of(Api api) {
  if (api != Api::anthropic) return ": ping\n\n";
  return mock_event("ping", Json::object({{"type", "ping"}}));
}

std::string type_of(const MockPlan& plan, const MockReply& reply, std::string_view body) {
  if (reply.fault == MockFault::html || body.starts_with('<')) return "text/html; charset=utf-8";
  if (plan.streamed) return "text/event-stream; charset=utf-8";
  return "application/json";
}

bool has_header(const MockReply& reply, std::string_view name) {
  return std::ranges::any_of(reply.headers, [&](const auto& header) {
    return std::ranges::equal(header.first, name, {}, [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
  });
}

void add_headers(MockPlan& plan, const MockVoice& voice, std::string_view body) {
  const auto add = [&](std::string_view name, std::string value) {
    if (!has_header(voice.reply, name)) plan.headers.push_back({std::string(name), value});
  };
  add("content-type", type_of(plan, voice.reply, body));
  add(voice.request.api == Api::anthropic ? "request-id" : "x-request-id", "req_" + voice.number);
  if (plan.coding != MockCoding::plain) add("content-encoding", "gzip");
  for (const auto& [name, value] : voice.reply.headers) plan.headers.push_back({name, value});
}

void end_as_told(MockPlan& plan, const MockVoice& voice, std::vector<std::string>& writes) {
  const MockReply& reply = voice.reply;
  switch (reply.fault) {
    case MockFault::none:
    case MockFault::html:
      break;
    case MockFault::refuse_connection:
    case MockFault::reset_unanswered:
      plan.answered = false;
      plan.end = MockEnd::reset;
      break;
    case MockFault::close_unanswered:
      plan.answered = false;
      plan.end = MockEnd::close;
      break;
    case MockFault::cut_stream:
      keep_first(writes, reply.cut_after);
      plan.end = MockEnd::close;
      break;
    case MockFault::stall:
      keep_first(writes, reply.cut_after);
      plan.end = MockEnd::stall;
      break;
    case MockFault::pings_only:
      writes.clear();
      plan.end = MockEnd::pings;
      plan.ping = {reply.between > Duration::zero() ? reply.between : std::chrono::seconds(1),
                   ping_of(voice.request.api)};
      break;
    case MockFault::garbage_gzip:
      plan.coding = MockCoding::broken_gzip;
      break;
    case MockFault::bomb:
      plan.coding = MockCoding::zeros;
      plan.zeros = reply.cut_after;
      writes = {gzip_of_zeros(reply.cut_after)};
      break;
  }
}

}  // namespace

std::size_t MockPlan::body_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const MockWrite& write : writes) bytes += write.bytes.size();
  return bytes;
}

MockPlan plan_reply(const MockRequest& request, const MockReply& reply, std::uint64_t number) {
  const MockVoice voice{.request = request,
                        .reply = reply,
                        .model = model_of(request, reply),
                        .number = std::to_string(number)};
  const bool failed = reply.status < 200 || reply.status >= 300;
  MockPlan plan{.status = reply.status, .wait = reply.delay};
  plan.streamed =
      request.stream && !failed && !is_embedding(request) && reply.fault != MockFault::html;
  std::vector<std::string> writes;
  if (!reply.body.empty()) {
    writes = plan.streamed ? split_events(reply.body) : std::vector<std::string>{reply.body};
  } else if (reply.fault == MockFault::html) {
    writes = {std::string(kWebPage)};
  } else if (failed) {
    writes = {error_body(voice, reply.status)};
  } else if (plan.streamed) {
    writes = events(voice);
  } else {
    writes = {whole_body(voice)};
  }
  writes = cut_up(std::move(writes), reply);
  const std::string body = writes.empty() ? std::string() : writes.front();
  end_as_told(plan, voice, writes);
  add_headers(plan, voice, body);
  for (std::string& bytes : writes) {
    plan.writes.push_back(
        {plan.writes.empty() ? Duration::zero() : reply.between, std::move(bytes)});
  }
  return plan;
}

std::vector<std::string_view> mock_pieces(std::string_view text, std::size_t count) {
  std::vector<std::string_view> pieces;
  for (std::size_t left = std::max<std::size_t>(count, 1); left > 0 && !text.empty(); --left) {
    std::size_t size = (text.size() + left - 1) / left;
    while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) ++size;
    pieces.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  if (pieces.empty()) pieces.push_back(text);
  return pieces;
}

Json mock_arguments(std::string_view text) {
  if (text.empty()) return Json::object();
  auto parsed = parse_json(text);
  return parsed ? *std::move(parsed) : Json(text);
}

std::string mock_signature(std::string_view text) {
  const Fingerprint print = fingerprint_of(text);
  return to_base64("mock-signature-" + std::to_string(print.high) + std::to_string(print.low));
}

std::string mock_event(std::string_view name, const Json& data) {
  std::string event;
  if (!name.empty()) event.append("event: ").append(name).append("\n");
  event += "data: ";
  print_json(data, event);
  event += "\n\n";
  return event;
}

}  // namespace tug
