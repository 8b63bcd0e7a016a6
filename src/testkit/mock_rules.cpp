#include "testkit/mock_rules.h"

#include <algorithm>

#include "tug/core/json.h"

namespace tug {
namespace {

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

bool is_embedding(const MockRequest& request) {
  return request.path.ends_with("/embeddings") || request.path.ends_with("/api/embed");
}

}  // namespace

void RuleBook::new_id(std::string_view id, std::string_view where, std::vector<std::string>& seen) {
  expect(is_word(id), where, "its id is not one: \"" + std::string(id) + "\"");
  expect(std::ranges::find(seen, id) == seen.end(), where,
         "its id is used twice: \"" + std::string(id) + "\"");
  seen.emplace_back(id);
}

void RuleBook::tool_name(std::string_view name, std::string_view where) {
  expect(is_word(name), where, "not a name of a tool: \"" + std::string(name) + "\"");
}

void RuleBook::json_text(const Json& text, std::string_view where) {
  expect(text.is_string(), where, "arguments are a string");
  if (!text.is_string()) return;
  auto parsed = parse_json(text.as_string());
  expect(parsed && parsed->is_object(), where, "arguments are no JSON object");
}

std::string rule_place(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

std::vector<std::string> broken_rules(const MockRequest& request) {
  RuleBook rules;
  const Json& body = request.json;
  rules.expect(request.method == "POST", request.path, "the method is POST");
  if (!body.is_object()) {
    rules.broken("the body is no JSON object");
    return rules.take();
  }
  rules.expect(find_header(request.headers, "content-type").starts_with("application/json"),
               "content-type", "it is application/json");
  const bool model_in_path = request.api == Api::gemini;
  rules.expect(model_in_path || !body["model"].as_string().empty(), "model", "it is missing");
  if (is_embedding(request)) {
    const Json& input = body["input"];
    rules.expect(!input.as_string().empty() || !input.items().empty(), "input", "it is missing");
    return rules.take();
  }
  switch (request.api) {
    case Api::openai_chat:
      check_chat(body, rules);
      break;
    case Api::openai_responses:
      check_responses(body, rules);
      break;
    case Api::anthropic:
      check_anthropic(request, rules);
      break;
    case Api::gemini:
      check_gemini(body, rules);
      break;
  }
  return rules.take();
}

}  // namespace tug
