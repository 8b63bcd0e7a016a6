#include "model/openai_chat/wire.h"
#include "model/wire_words.h"

namespace tug::chat {
namespace {

std::string text_of(const Json& arguments) {
  if (arguments.is_string()) return std::string(arguments.as_string());
  return arguments.is_null() ? std::string() : print_json(arguments);
}

bool is_whole(const std::string& arguments) {
  return !arguments.empty() && parse_json(arguments).has_value();
}

}  // namespace

CallAssembly::Call* CallAssembly::find(std::optional<std::int64_t> index, std::string_view id,
                                       std::string_view name) {
  Call* newest = nullptr;
  for (std::size_t i = calls_.size(); i-- > 0;) {
    Call& call = calls_[i];
    if (index && call.index != index) continue;
    if (!id.empty() && call.call.provider_id == id) return &call;
    if (!newest) newest = &call;
  }
  if (!newest) return nullptr;
  const ToolCall& call = newest->call;
  // Some servers give every call the index 0, some give none: then another id, or another name
  // after a call that is whole, begins another one.
  if (!id.empty()) return index && call.provider_id.empty() ? newest : nullptr;
  if (name.empty() || call.tool.empty()) return newest;
  if (index) return is_whole(call.arguments) ? nullptr : newest;
  const bool goes_on = name == call.tool && !call.arguments.empty() && !is_whole(call.arguments);
  return goes_on ? newest : nullptr;
}

ToolCallDelta CallAssembly::take(const Json& fragment, const ModelRequest& request) {
  const Json& function = fragment["function"].is_object() ? fragment["function"] : fragment;
  const std::string_view id = fragment["id"].as_string();
  const std::string_view sent = function["name"].as_string();
  const std::string name = sent.empty() ? std::string() : tool_named(request, sent);
  std::optional<std::int64_t> index = fragment["index"].as_int();
  if (index && *index < 0) index.reset();
  ToolCallDelta delta{.arguments = text_of(function["arguments"])};
  Call* call = find(index, id, name);
  if (!call) call = &calls_.emplace_back(Call{index, {}});
  delta.index = static_cast<std::uint32_t>(call - calls_.data());
  ToolCall& made = call->call;
  if (made.provider_id.empty()) made.provider_id = delta.provider_id = id;
  if (made.tool.empty()) made.tool = delta.tool = name;
  made.arguments += delta.arguments;
  bytes_ += delta.arguments.size() + delta.provider_id.size() + delta.tool.size();
  return delta;
}

void CallAssembly::append(std::size_t call, std::string_view arguments) {
  calls_[call].call.arguments += arguments;
  bytes_ += arguments.size();
}

std::vector<ToolCall> CallAssembly::take_all() && {
  std::vector<ToolCall> all;
  all.reserve(calls_.size());
  for (Call& call : calls_) {
    if (call.call.arguments.empty()) call.call.arguments = "{}";
    all.push_back(std::move(call.call));
  }
  return all;
}

}  // namespace tug::chat
