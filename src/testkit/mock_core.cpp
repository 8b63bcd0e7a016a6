#include "testkit/mock_core.h"

#include <algorithm>

#include "testkit/mock_rules.h"
#include "tug/core/json.h"

namespace tug {
namespace {

Api api_of(std::string_view path) {
  if (path.ends_with("/responses")) return Api::openai_responses;
  if (path.ends_with("/messages")) return Api::anthropic;
  if (path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent")) {
    return Api::gemini;
  }
  return Api::openai_chat;
}

bool is_known(std::string_view path) {
  return api_of(path) != Api::openai_chat || path.ends_with("/chat/completions") ||
         path.ends_with("/embeddings") || path.ends_with("/api/embed");
}

MockReply unknown_path(std::string_view path) {
  const Json error = Json::object(
      {{"message", "no such path: " + std::string(path)}, {"type", "invalid_request_error"}});
  return {.status = 404, .body = print_json(Json::object({{"error", error}}))};
}

MockReply nothing_to_say() {
  const Json error = Json::object({{"message", "the mock provider was told nothing to say"},
                                   {"type", "invalid_request_error"}});
  return {.status = 400, .body = print_json(Json::object({{"error", error}}))};
}

// What tells conversations apart: who is asked, and what was said first.
std::string conversation_of(const MockRequest& request, std::string_view path) {
  const Json& body = request.json;
  std::string key = std::string(name_of(request.api)) + '\n';
  key += request.api == Api::gemini ? path.substr(0, path.rfind(':')) : body["model"].as_string();
  key += '\n';
  for (const std::string_view list : {"messages", "input", "contents"}) {
    if (body[list].is_string()) return key += body[list].as_string();
    for (const Json& message : body[list].items()) {
      const std::string_view role = message["role"].as_string();
      if (role == "system" || role == "developer") continue;
      return key += without_cache_marks(print_json(message));
    }
  }
  return key;
}

std::string_view skip_string(std::string_view text) {
  std::size_t at = 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return text.substr(0, std::min(at + 1, text.size()));
}

// One value at the beginning of `text`.
std::size_t value_size(std::string_view text) {
  std::size_t depth = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at += skip_string(text.substr(at)).size();
      if (depth == 0) return at;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (depth == 0) return at;
      if (--depth == 0) return at + 1;
    }
    if (c == ',' && depth == 0) return at;
    ++at;
  }
  return at;
}

}  // namespace

std::string without_cache_marks(std::string_view body) {
  constexpr std::string_view kName = "\"cache_control\"";
  std::string out;
  std::size_t at = 0;
  while (at < body.size()) {
    if (body[at] != '"') {
      out += body[at++];
      continue;
    }
    const std::string_view string = skip_string(body.substr(at));
    std::size_t next = at + string.size();
    while (next < body.size() && body[next] == ' ') ++next;
    if (string != kName || next >= body.size() || body[next] != ':') {
      out += string;
      at += string.size();
      continue;
    }
    at = next + 1;
    while (at < body.size() && body[at] == ' ') ++at;
    at += value_size(body.substr(at));
    // One comma goes with it: the one before, or else the one behind.
    const std::size_t last = out.find_last_not_of(' ');
    if (last != std::string::npos && out[last] == ',') {
      out.resize(last);
    } else if (at < body.size() && body[at] == ',') {
      ++at;
    }
  }
  return out;
}

void MockCore::reply(MockReply reply) {
  const std::scoped_lock hold(mutex_);
  replies_.push_back(std::move(reply));
}

void MockCore::reply_with(std::function<MockReply(const MockRequest&)> answer) {
  const std::scoped_lock hold(mutex_);
  answer_ = std::move(answer);
}

// The last one is said again.
MockReply MockCore::next_reply() {
  MockReply reply = replies_.front();
  if (replies_.size() > 1) replies_.pop_front();
  return reply;
}

bool MockCore::refuses() {
  const std::scoped_lock hold(mutex_);
  if (answer_ || replies_.empty()) return false;
  if (replies_.front().fault != MockFault::refuse_connection) return false;
  next_reply();
  return true;
}

MockPlan MockCore::take(MockRequest request) {
  const std::string_view path = std::string_view(request.path).substr(0, request.path.find('?'));
  request.api = api_of(path);
  if (auto json = parse_json(request.body)) request.json = *std::move(json);
  request.stream = request.api == Api::gemini ? path.ends_with(":streamGenerateContent")
                                              : request.json["stream"].as_bool();
  const bool known = is_known(path);
  if (known) request.faults = broken_rules(request);
  std::function<MockReply(const MockRequest&)> answer;
  MockReply reply;
  std::uint64_t number = 0;
  {
    const std::scoped_lock hold(mutex_);
    compare(request);
    requests_.push_back(request);
    number = requests_.size();
    answer = answer_;
    const bool vectors = path.ends_with("/embeddings") || path.ends_with("/api/embed");
    if (!known) {
      reply = unknown_path(path);
    } else if (!answer && !replies_.empty()) {
      reply = next_reply();
    } else if (!answer && !vectors) {
      reply = nothing_to_say();
    }
  }
  if (known && answer) reply = answer(request);
  {
    const std::scoped_lock hold(mutex_);
    for (MockCall& call : reply.calls) {
      ++calls_;
      if (call.id.empty()) call.id = "call_" + std::to_string(calls_);
    }
  }
  // Bodies are looked at by path, and a query is no part of one.
  request.path.resize(path.size());
  return plan_reply(request, reply, number);
}

// With the mutex held.
void MockCore::compare(MockRequest& request) {
  const std::string_view path = std::string_view(request.path).substr(0, request.path.find('?'));
  std::vector<Earlier>& earlier = conversations_[conversation_of(request, path)];
  std::string bytes = without_cache_marks(request.body);
  while (!bytes.empty() && (bytes.back() == ']' || bytes.back() == '}')) bytes.pop_back();
  const bool chained = request.json["previous_response_id"].is_string();
  request.extends_previous = earlier.empty() || chained;
  std::size_t longest = 0;
  for (const Earlier& one : earlier) {
    if (one.bytes.size() < longest || !bytes.starts_with(one.bytes)) continue;
    longest = one.bytes.size();
    request.extends_previous = true;
    request.extends = one.number;
  }
  earlier.push_back({std::move(bytes), requests_.size() + 1});
}

std::uint64_t MockCore::connected() {
  const std::scoped_lock hold(mutex_);
  return ++connections_;
}

void MockCore::aborted() {
  const std::scoped_lock hold(mutex_);
  ++aborted_;
}

std::vector<MockRequest> MockCore::requests() const {
  const std::scoped_lock hold(mutex_);
  return requests_;
}

std::size_t MockCore::connections() const {
  const std::scoped_lock hold(mutex_);
  return connections_;
}

std::size_t MockCore::aborted_count() const {
  const std::scoped_lock hold(mutex_);
  return aborted_;
}

}  // namespace tug
