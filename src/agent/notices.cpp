#include "agent/notices.h"

namespace tug {
namespace {

std::string rendered(const std::string& text) {
  return "<harness_notice kind=\"limit_warning\">\n" + text + "\n</harness_notice>";
}

Notice last_model_call(bool final_result) {
  const std::string text =
      final_result ? "This is the last model call of this run. Finish now: call final_result, and "
                     "nothing else."
                   : "This is the last model call of this run. Answer now with what you know, and "
                     "call no tools.";
  return {LimitKind::model_calls, 1, rendered(text)};
}

Notice last_tool_call(bool final_result) {
  std::string text =
      "One tool call is left in this run. Do not ask for more than one, and choose it well.";
  if (final_result) text += " final_result does not count.";
  return {LimitKind::tool_calls, 1, rendered(text)};
}

Notice no_tool_calls(bool final_result, bool some_used) {
  std::string text = some_used ? "All tool calls of this run are used up."
                               : "Tool calls are not available in this run.";
  text += final_result ? " Call no other tool than final_result, which does not count, and finish "
                         "with it."
                       : " Answer without them.";
  return {LimitKind::tool_calls, 0, rendered(text)};
}

}  // namespace

std::string Notice::key() const {
  return std::string(name_of(limit)) + ":" + std::to_string(remaining);
}

std::vector<Notice> notices_due(const NoticeFacts& facts) {
  std::vector<Notice> due;
  if (facts.model_calls_left == 0) return due;
  if (facts.model_calls_left == 1) due.push_back(last_model_call(facts.final_result));
  if (facts.tool_calls_left == 1) due.push_back(last_tool_call(facts.final_result));
  if (facts.tool_calls_left == 0) {
    due.push_back(no_tool_calls(facts.final_result, facts.tool_calls_used));
  }
  return due;
}

}  // namespace tug
