// What an API would refuse in a request, in words; empty when it would take it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tug/testkit/mock_provider.h"

namespace tug {

std::vector<std::string> broken_rules(const MockRequest& request);

// --- one per API
class RuleBook;
void check_chat(const Json& body, RuleBook& rules);
void check_responses(const Json& body, RuleBook& rules);
void check_anthropic(const MockRequest& request, RuleBook& rules);
void check_gemini(const Json& body, RuleBook& rules);

// What was found, and the checks that several APIs have.
class RuleBook {
 public:
  void broken(std::string what) { faults_.push_back(std::move(what)); }
  // Says so unless `holds`.
  void expect(bool holds, std::string_view where, std::string_view what) {
    if (!holds) broken(std::string(where) + ": " + std::string(what));
  }
  // An id of letters, digits, "_" and "-", at most 64, that was not there before.
  void new_id(std::string_view id, std::string_view where, std::vector<std::string>& seen);
  void tool_name(std::string_view name, std::string_view where);
  void json_text(const Json& text, std::string_view where);
  std::vector<std::string> take() { return std::move(faults_); }

 private:
  std::vector<std::string> faults_;
};

std::string rule_place(std::string_view list, std::size_t index);  // "messages[3]"

}  // namespace tug
