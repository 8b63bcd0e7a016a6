#include <algorithm>

#include "model/openai_responses/wire.h"
#include "model/wire_words.h"

namespace tug::responses {
namespace {

// The members of an item that its part has no place for, as a block before it; null when there are
// none.
Json beside(const Json& item, std::initializer_list<std::string_view> in_part) {
  Json rest;
  for (const Json::Member& member : item.members()) {
    const std::string_view key = member.key();
    const bool known = key == "type" || key == "id" || key == "status" ||
                       std::ranges::find(in_part, key) != in_part.end();
    if (known || member.value.is_null()) continue;
    if (rest.is_null()) rest.set("type", item["type"]);
    rest.set(key, member.value);
  }
  return rest;
}

void add_parts(const WireCall& asked, const Json& item, std::vector<Part>& parts) {
  const std::string& provider = asked.provider.name;
  const std::string_view type = item["type"].as_string();
  const auto mark = [&](std::initializer_list<std::string_view> in_part) {
    Json rest = beside(item, in_part);
    if (!rest.is_null()) parts.emplace_back(ProviderBlock{provider, std::move(rest)});
  };
  if (type == "message") {
    std::string text = text_of_message(item);
    if (text.empty()) return;
    mark({"role", "content"});
    parts.emplace_back(TextPart{std::move(text)});
  } else if (type == "function_call") {
    mark({"call_id", "name", "arguments"});
    parts.emplace_back(ToolCall{.provider_id = std::string(item["call_id"].as_string()),
                                .tool = tool_named(asked.request, item["name"].as_string()),
                                .arguments = arguments_of(item)});
  } else if (type == "reasoning") {
    parts.emplace_back(ReasoningPart{text_of_reasoning(item), provider, item, false});
  } else if (item.is_object()) {
    parts.emplace_back(ProviderBlock{provider, item});
  }
}

Finish finish_of(const Json& response, const std::vector<Json>& items) noexcept {
  if (response["status"].as_string() == "incomplete") {
    const std::string_view reason = response["incomplete_details"]["reason"].as_string();
    if (reason == "max_output_tokens") return Finish::length;
    return reason == "content_filter" ? Finish::refusal : Finish::other;
  }
  const auto is_call = [](const Json& item) { return item["type"] == Json("function_call"); };
  if (std::ranges::any_of(items, is_call)) return Finish::tool_calls;
  return std::ranges::any_of(items, has_refusal) ? Finish::refusal : Finish::stop;
}

std::string joined(const Json& list, std::string_view between) {
  std::string out;
  for (const Json& part : list.items()) {
    const std::string_view text = part["text"].as_string();
    if (text.empty()) continue;
    if (!out.empty()) out += between;
    out += text;
  }
  return out;
}

}  // namespace

std::string text_of_message(const Json& item) {
  if (item["content"].is_string()) return std::string(item["content"].as_string());
  std::string text;
  for (const Json& part : item["content"].items()) {
    text += part["text"].as_string();
    text += part["refusal"].as_string();
  }
  return text;
}

// Its summary, or what it thought where the provider shows it.
std::string text_of_reasoning(const Json& item) {
  std::string text = joined(item["summary"], "\n\n");
  return text.empty() ? joined(item["content"], "\n\n") : text;
}

std::string arguments_of(const Json& item) {
  const Json& arguments = item["arguments"];
  if (arguments.is_null() || arguments == Json("")) return "{}";
  return arguments.is_string() ? std::string(arguments.as_string()) : print_json(arguments);
}

bool has_refusal(const Json& item) noexcept {
  return std::ranges::any_of(item["content"].items(), [](const Json& part) {
    return part["type"].as_string() == "refusal";
  });
}

Usage usage_of(const Json& usage) {
  Usage out{.input_tokens = count_of(usage, "input_tokens"),
            .output_tokens = count_of(usage, "output_tokens"),
            .cache_read_tokens = count_of(usage["input_tokens_details"], "cached_tokens"),
            .cache_write_tokens = count_of(usage["input_tokens_details"], "cache_write_tokens"),
            .reasoning_tokens = count_of(usage["output_tokens_details"], "reasoning_tokens")};
  const auto total = usage["total_tokens"].as_int();
  if (total && *total > 0) out.total_tokens = total;
  return out;
}

ModelTurn turn_of(const WireCall& call, const Json& response, const std::vector<Json>& items) {
  std::vector<Part> parts;
  for (const Json& item : items) add_parts(call, item, parts);
  ModelTurn turn;
  turn.message = Message::make(Role::assistant, std::move(parts));
  turn.finish = finish_of(response, items);
  turn.usage = usage_of(response["usage"]);
  turn.model = response["model"].as_string();
  turn.response_id = response["id"].as_string();
  if (call.request.keep_raw) turn.raw = response;
  return turn;
}

}  // namespace tug::responses
