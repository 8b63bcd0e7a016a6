// What Anthropic's Messages would refuse.
#include <algorithm>

#include "testkit/mock_plan.h"
#include "testkit/mock_rules.h"
#include "tug/core/json.h"

namespace tug {
namespace {

constexpr std::size_t kMostCacheMarks = 4;

std::size_t cache_marks(const Json& json) {
  std::size_t count = json["cache_control"].is_object() ? 1 : 0;
  for (const Json::Member& member : json.members()) {
    if (member.key() != "input") count += cache_marks(member.value);
  }
  for (const Json& item : json.items()) count += cache_marks(item);
  return count;
}

class Conversation {
 public:
  explicit Conversation(RuleBook& rules) : rules_(rules) {}

  void add(const Json& message, const std::string& where) {
    const std::string_view role = message["role"].as_string();
    const bool known = role == "user" || role == "assistant" || role == "system";
    rules_.expect(known, where, "no such role: \"" + std::string(role) + "\"");
    const Json& content = message["content"];
    rules_.expect(!content.as_string().empty() || (content.is_array() && !content.empty()), where,
                  "content is a string or blocks, and not empty");
    check_results(content, role, where);
    for (std::size_t i = 0; i < content.size(); ++i) {
      check_block(content[i], role, where + "." + rule_place("content", i));
    }
  }
  void end() {
    for (const std::string& id : open_) {
      rules_.broken("the end: tool_use \"" + id + "\" has no tool_result");
    }
  }

 private:
  // What the message before called is answered in this one, in front of everything else.
  void check_results(const Json& content, std::string_view role, const std::string& where) {
    bool front = true;
    for (const Json& block : content.items()) {
      if (block["type"].as_string() != "tool_result") {
        front = false;
        continue;
      }
      const std::string_view id = block["tool_use_id"].as_string();
      rules_.expect(role == "user", where, "a tool_result stands in a user message");
      rules_.expect(front, where, "tool_results come before everything else");
      const auto at = std::ranges::find(open_, id);
      rules_.expect(
          at != open_.end(), where,
          "a tool_result for no tool_use of the message before: \"" + std::string(id) + "\"");
      if (at != open_.end()) open_.erase(at);
    }
    for (const std::string& id : open_) {
      rules_.broken(where + ": tool_use \"" + id + "\" has no tool_result right behind it");
    }
    open_.clear();
  }

  void check_block(const Json& block, std::string_view role, const std::string& where) {
    const std::string_view type = block["type"].as_string();
    rules_.expect(!type.empty(), where, "a block without a type");
    if (type == "text") {
      rules_.expect(!block["text"].as_string().empty(), where, "a text is not empty");
    } else if (type == "tool_use") {
      rules_.expect(role == "assistant", where, "only an assistant uses tools");
      rules_.new_id(block["id"].as_string(), where, seen_);
      rules_.tool_name(block["name"].as_string(), where);
      rules_.expect(block["input"].is_object(), where, "the input of a tool_use is an object");
      open_.emplace_back(block["id"].as_string());
    } else if (type == "thinking") {
      rules_.expect(role == "assistant", where, "only an assistant thinks");
      rules_.expect(block["signature"].as_string() == mock_signature(block["thinking"].as_string()),
                    where, "Invalid `signature` in `thinking` block");
    } else if (type == "document") {
      rules_.expect(role == "user", where, "a document stands in a user message");
    }
  }

  RuleBook& rules_;
  std::vector<std::string> open_;
  std::vector<std::string> seen_;
};

}  // namespace

void check_anthropic(const MockRequest& request, RuleBook& rules) {
  const Json& body = request.json;
  const std::string_view version = find_header(request.headers, "anthropic-version");
  rules.expect(!version.empty(), "anthropic-version", "the header is missing");
  if (version >= "2026-10-21") {
    for (const std::string_view parameter : {"temperature", "top_p", "top_k"}) {
      rules.expect(!body.contains(parameter), parameter, "Extra inputs are not permitted");
    }
  }
  const std::int64_t room = body["max_tokens"].as_int().value_or(0);
  rules.expect(room > 0, "max_tokens", "it is missing");
  const Json& thinking = body["thinking"];
  if (thinking["type"].as_string() == "enabled") {
    const std::int64_t budget = thinking["budget_tokens"].as_int().value_or(0);
    rules.expect(budget >= 1024 && budget < room, "thinking",
                 "budget_tokens is at least 1024 and less than max_tokens");
  }
  rules.expect(cache_marks(body) <= kMostCacheMarks, "cache_control", "more than four marks");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < body["tools"].size(); ++i) {
    const Json& tool = body["tools"][i];
    const std::string where = rule_place("tools", i);
    const std::string_view name = tool["name"].as_string();
    rules.tool_name(name, where);
    rules.expect(std::ranges::find(names, name) == names.end(), where,
                 "its name is used twice: \"" + std::string(name) + "\"");
    names.emplace_back(name);
    if (tool.contains("type") && tool["type"].as_string() != "custom") continue;
    rules.expect(tool["input_schema"]["type"].as_string() == "object", where,
                 "its input_schema is no object");
  }
  const Json& choice = body["tool_choice"];
  if (choice["type"].as_string() == "tool") {
    rules.expect(std::ranges::find(names, choice["name"].as_string()) != names.end(), "tool_choice",
                 "it names no tool of the request");
  }
  const Json& messages = body["messages"];
  rules.expect(messages.is_array() && !messages.empty(), "messages", "there are none");
  rules.expect(messages.empty() || messages[0]["role"].as_string() != "assistant", "messages[0]",
               "a user speaks first");
  Conversation conversation(rules);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    conversation.add(messages[i], rule_place("messages", i));
  }
  conversation.end();
}

}  // namespace tug
