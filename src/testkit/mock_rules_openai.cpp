// What OpenAI's two APIs would refuse.
#include <algorithm>
#include <array>

#include "testkit/mock_rules.h"
#include "tug/core/json.h"

namespace tug {
namespace {

bool is_any(std::string_view word, std::initializer_list<std::string_view> of) {
  return std::ranges::find(of, word) != of.end();
}

// The calls that wait for their results, and every id that was there.
struct OpenCalls {
  std::vector<std::string> open;
  std::vector<std::string> seen;

  bool answer(std::string_view id) {
    const auto at = std::ranges::find(open, id);
    if (at == open.end()) return false;
    open.erase(at);
    return true;
  }
};

void check_chat_content(const Json& content, std::string_view role, std::string_view where,
                        RuleBook& rules) {
  if (content.is_string()) return;
  rules.expect(content.is_array() && !content.empty(), where,
               "content is a string or parts, and not none");
  for (const Json& part : content.items()) {
    const std::string_view type = part["type"].as_string();
    const bool known = role == "user" ? is_any(type, {"text", "image_url", "input_audio", "file"})
                                      : is_any(type, {"text", "refusal"});
    rules.expect(
        known, where,
        "a part that " + std::string(role) + " cannot have: \"" + std::string(type) + "\"");
    if (type == "text") rules.expect(part["text"].is_string(), where, "a text without text");
    if (type == "image_url") {
      rules.expect(!part["image_url"]["url"].as_string().empty(), where, "a picture without url");
    }
  }
}

void check_chat_calls(const Json& calls, std::string_view where, OpenCalls& known,
                      RuleBook& rules) {
  rules.expect(calls.is_array() && !calls.empty(), where, "tool_calls is a list, and not empty");
  for (const Json& call : calls.items()) {
    rules.new_id(call["id"].as_string(), where, known.seen);
    known.open.emplace_back(call["id"].as_string());
    rules.expect(call["type"].as_string() == "function", where, "the type of a call is function");
    rules.tool_name(call["function"]["name"].as_string(), where);
    rules.json_text(call["function"]["arguments"], where);
  }
}

void check_unanswered(const OpenCalls& calls, std::string_view where, RuleBook& rules) {
  for (const std::string& id : calls.open) {
    rules.broken(std::string(where) + ": call \"" + id + "\" has no result right behind it");
  }
}

void check_chat_message(const Json& message, std::string_view where, OpenCalls& calls,
                        RuleBook& rules) {
  const std::string_view role = message["role"].as_string();
  if (role == "tool") {
    const std::string_view id = message["tool_call_id"].as_string();
    rules.expect(calls.answer(id), where,
                 "a result for no call before it: \"" + std::string(id) + "\"");
    check_chat_content(message["content"], role, where, rules);
    return;
  }
  check_unanswered(calls, where, rules);
  calls.open.clear();
  rules.expect(is_any(role, {"system", "developer", "user", "assistant"}), where,
               "no such role: \"" + std::string(role) + "\"");
  const bool may_be_silent = role == "assistant" && message.contains("tool_calls");
  if (!may_be_silent || !message["content"].is_null()) {
    check_chat_content(message["content"], role, where, rules);
  }
  if (message.contains("tool_calls")) {
    rules.expect(role == "assistant", where, "only an assistant calls tools");
    check_chat_calls(message["tool_calls"], where, calls, rules);
  }
}

// `function_of` finds what describes a tool: inside "function", or the tool itself.
void check_tools(const Json& body, bool nested, RuleBook& rules) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < body["tools"].size(); ++i) {
    const Json& tool = body["tools"][i];
    const std::string where = rule_place("tools", i);
    if (tool["type"].as_string() != "function") continue;  // the provider's own
    const Json& function = nested ? tool["function"] : tool;
    const std::string_view name = function["name"].as_string();
    rules.tool_name(name, where);
    rules.expect(std::ranges::find(names, name) == names.end(), where,
                 "its name is used twice: \"" + std::string(name) + "\"");
    rules.expect(
        !function.contains("parameters") || function["parameters"]["type"].as_string() == "object",
        where, "its parameters are no object");
    names.emplace_back(name);
  }
  rules.expect(!body.contains("tools") || !body["tools"].empty(), "tools", "the list is empty");
  const Json& choice = body["tool_choice"];
  if (choice["type"].as_string() == "function") {
    const Json& function = nested ? choice["function"] : choice;
    rules.expect(std::ranges::find(names, function["name"].as_string()) != names.end(),
                 "tool_choice", "it names no tool of the request");
  } else if (choice.is_string()) {
    rules.expect(is_any(choice.as_string(), {"none", "auto", "required"}), "tool_choice",
                 "no such choice");
    rules.expect(!names.empty() || body.contains("tools"), "tool_choice", "there are no tools");
  }
}

void check_response_message(const Json& item, std::string_view where, RuleBook& rules) {
  const std::string_view role = item["role"].as_string();
  rules.expect(is_any(role, {"system", "developer", "user", "assistant"}), where,
               "no such role: \"" + std::string(role) + "\"");
  const Json& content = item["content"];
  rules.expect(content.is_string() || (content.is_array() && !content.empty()), where,
               "content is a string or parts, and not none");
  for (const Json& part : content.items()) {
    const std::string_view type = part["type"].as_string();
    const bool known = role == "assistant"
                           ? is_any(type, {"output_text", "refusal"})
                           : is_any(type, {"input_text", "input_image", "input_file"});
    rules.expect(
        known, where,
        "a part that " + std::string(role) + " cannot have: \"" + std::string(type) + "\"");
  }
}

void check_response_call(const Json& item, std::string_view where, OpenCalls& calls,
                         RuleBook& rules) {
  rules.new_id(item["call_id"].as_string(), where, calls.seen);
  calls.open.emplace_back(item["call_id"].as_string());
  rules.tool_name(item["name"].as_string(), where);
  rules.json_text(item["arguments"], where);
  rules.expect(!item.contains("id") || item["id"].as_string().starts_with("fc"), where,
               "the id of a function_call begins with \"fc\"");
}

}  // namespace

void check_chat(const Json& body, RuleBook& rules) {
  check_tools(body, true, rules);
  const Json& messages = body["messages"];
  rules.expect(messages.is_array() && !messages.empty(), "messages", "there are none");
  OpenCalls calls;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    check_chat_message(messages[i], rule_place("messages", i), calls, rules);
  }
  check_unanswered(calls, "the end", rules);
}

void check_responses(const Json& body, RuleBook& rules) {
  check_tools(body, false, rules);
  const Json& input = body["input"];
  if (input.is_string()) return;
  rules.expect(input.is_array() && !input.empty(), "input", "there is none");
  const bool chained = body["previous_response_id"].is_string();
  OpenCalls calls;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const Json& item = input[i];
    const std::string where = rule_place("input", i);
    const std::string_view type = item["type"].as_string(item.contains("role") ? "message" : "");
    const bool result = type == "function_call_output";
    const bool spoken = type == "message";
    if (spoken) {
      // Calls of one turn stand together, and so do their results.
      check_unanswered(calls, where, rules);
      calls.open.clear();
      check_response_message(item, where, rules);
    } else if (type == "function_call") {
      check_response_call(item, where, calls, rules);
    } else if (result) {
      const std::string_view id = item["call_id"].as_string();
      rules.expect(calls.answer(id) || (chained && !id.empty()), where,
                   "a result for no call before it: \"" + std::string(id) + "\"");
      rules.expect(item["output"].is_string() || item["output"].is_array(), where,
                   "a result has an output");
    } else if (type == "reasoning") {
      const std::string_view next = input[i + 1]["type"].as_string();
      rules.expect(i + 1 < input.size() && next != "function_call_output" &&
                       input[i + 1]["role"].as_string() != "user",
                   where, "reasoning without the item that followed it");
      rules.expect(item["summary"].is_array(), where, "reasoning without a summary");
    } else {
      rules.expect(!type.empty(), where, "an item without a type");
    }
  }
  check_unanswered(calls, "the end", rules);
}

}  // namespace tug
