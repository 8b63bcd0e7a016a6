// What Gemini's generateContent would refuse.
#include <algorithm>

#include "testkit/mock_rules.h"
#include "tug/core/json.h"

namespace tug {
namespace {

bool is_function_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && name.size() <= 64 && letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) {
           return letter(c) || (c >= '0' && c <= '9') || c == '.' || c == ':' || c == '-';
         });
}

// The calls of one content, by name and id, in order.
struct Called {
  std::string name;
  std::string id;
};

constexpr std::string_view kData[] = {
    "text",           "inlineData",         "fileData", "functionCall", "functionResponse",
    "executableCode", "codeExecutionResult"};

void check_part(const Json& part, std::string_view where, RuleBook& rules) {
  const auto has = [&](std::string_view name) { return part.contains(name); };
  rules.expect(std::ranges::count_if(kData, has) == 1, where, "a part is one thing");
}

class Conversation {
 public:
  explicit Conversation(RuleBook& rules) : rules_(rules) {}

  void add(const Json& content, const std::string& where) {
    const std::string_view role = content["role"].as_string("user");
    rules_.expect(role == "user" || role == "model", where,
                  "no such role: \"" + std::string(role) + "\"");
    rules_.expect(!content["parts"].empty(), where, "a content has parts");
    std::vector<Called> calls;
    std::vector<const Json*> responses;
    for (std::size_t i = 0; i < content["parts"].size(); ++i) {
      const Json& part = content["parts"][i];
      const std::string place = where + "." + rule_place("parts", i);
      check_part(part, place, rules_);
      if (const Json* call = part.find("functionCall")) {
        rules_.expect(role == "model", place, "only a model calls functions");
        rules_.expect(is_function_name((*call)["name"].as_string()), place,
                      "not a name of a function");
        rules_.expect(!call->contains("args") || (*call)["args"].is_object(), place,
                      "args is an object");
        calls.push_back(
            {std::string((*call)["name"].as_string()), std::string((*call)["id"].as_string())});
        if (!calls.back().id.empty()) rules_.new_id(calls.back().id, place, seen_);
      }
      if (const Json* response = part.find("functionResponse")) {
        rules_.expect(role == "user", place, "a functionResponse stands in a user content");
        rules_.expect((*response)["response"].is_object(), place, "response is an object");
        responses.push_back(response);
      }
    }
    check_answers(responses, where);
    rules_.expect(calls.empty() || after_user_, where,
                  "a function call turn comes after a user turn");
    open_ = std::move(calls);
    after_user_ = role == "user";
  }
  void end() { rules_.expect(open_.empty(), "the end", "function calls without their responses"); }

 private:
  void check_answers(const std::vector<const Json*>& responses, const std::string& where) {
    rules_.expect(responses.size() == open_.size(), where,
                  "the number of function response parts (" + std::to_string(responses.size()) +
                      ") is equal to the number of function call parts (" +
                      std::to_string(open_.size()) + ")");
    for (std::size_t i = 0; i < std::min(responses.size(), open_.size()); ++i) {
      const Json& response = *responses[i];
      rules_.expect(response["name"].as_string() == open_[i].name, where,
                    "a response to \"" + open_[i].name + "\" has its name");
      rules_.expect(!response.contains("id") || open_[i].id.empty() ||
                        response["id"].as_string() == open_[i].id,
                    where, "a response has the id of its call");
    }
    open_.clear();
  }

  RuleBook& rules_;
  std::vector<Called> open_;
  std::vector<std::string> seen_;
  bool after_user_ = false;
};

}  // namespace

void check_gemini(const Json& body, RuleBook& rules) {
  std::vector<std::string> names;
  for (const Json& tool : body["tools"].items()) {
    const Json& functions = tool["functionDeclarations"];
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const std::string where = rule_place("functionDeclarations", i);
      const std::string_view name = functions[i]["name"].as_string();
      rules.expect(is_function_name(name), where, "not a name of a function");
      rules.expect(std::ranges::find(names, name) == names.end(), where, "its name is used twice");
      rules.expect(
          !functions[i].contains("parameters") || !functions[i].contains("parametersJsonSchema"),
          where, "it has parameters twice");
      names.emplace_back(name);
    }
  }
  const Json& allowed = body["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"];
  for (const Json& name : allowed.items()) {
    rules.expect(std::ranges::find(names, name.as_string()) != names.end(), "toolConfig",
                 "it names no function of the request");
  }
  const Json& contents = body["contents"];
  rules.expect(contents.is_array() && !contents.empty(), "contents", "there are none");
  Conversation conversation(rules);
  for (std::size_t i = 0; i < contents.size(); ++i) {
    conversation.add(contents[i], rule_place("contents", i));
  }
  conversation.end();
}

}  // namespace tug
