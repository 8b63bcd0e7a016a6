#include "model/anthropic/answer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/try.h"
#include "model/wire_words.h"

namespace tug::anthropic {
namespace {

constexpr std::size_t kMaxBlocks = 16'384;

void raise(std::int64_t& count, std::int64_t to) noexcept { count = std::max(count, to); }

}  // namespace

Result<void> Answer::begin(const Json& message, std::vector<ModelEvent>& out) {
  const std::string_view id = message["id"].as_string();
  if (begun_) {
    if (id == id_ || id.empty() || id_.empty()) return {};
    return Failure(fault_error(fault_source(call_), Fault::not_an_answer,
                               "the stream holds two answers, " + id_ + " and " + std::string(id),
                               "something between us and the provider mixes them up; ask again"));
  }
  begun_ = true;
  id_ = std::string(id);
  model_ = std::string(message["model"].as_string());
  if (call_.request.keep_raw) head_ = message;
  count(message["usage"], out);
  return {};
}

Answer::Block* Answer::find(const Json& event) noexcept {
  const Json* index = event.find("index");
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    if (!index || block->index == index->as_int().value_or(-1)) return &*block;
  }
  return nullptr;
}

Result<void> Answer::count_bytes(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ > kMaxAnswerBytes) {
    return Failure(fault_error(fault_source(call_), Fault::response_too_large,
                               "the answer holds more than 64 MB", "ask for less at once"));
  }
  return {};
}

Result<void> Answer::grow(std::string& text, std::string_view piece) {
  text += piece;
  return count_bytes(piece.size());
}

Result<void> Answer::open_block(const Json& event, std::vector<ModelEvent>& out) {
  if (blocks_.size() >= kMaxBlocks || calls_ >= kMaxCallsOfAnAnswer) {
    return Failure(
        fault_error(fault_source(call_), Fault::response_too_large,
                    "the answer holds more than " + std::to_string(blocks_.size()) + " blocks",
                    "ask for less at once"));
  }
  Block& block = blocks_.emplace_back();
  block.place = blocks_.size() - 1;
  block.index = event["index"].as_int().value_or(static_cast<std::int64_t>(block.place));
  block.start = event["content_block"];
  take_start(block, out);
  return count_bytes(block.text.size());
}

void Answer::take_start(Block& block, std::vector<ModelEvent>& out) {
  const Json& start = block.start;
  const std::string_view type = start["type"].as_string();
  if (type == "text") {
    block.kind = Kind::text;
    block.text = std::string(start["text"].as_string());
    for (const Json& citation : start["citations"].items()) block.citations.push_back(citation);
    if (!block.text.empty()) out.emplace_back(TextDelta{block.text});
  } else if (type == "thinking") {
    block.kind = Kind::thinking;
    block.text = std::string(start["thinking"].as_string());
    block.signature = std::string(start["signature"].as_string());
    if (!block.text.empty()) out.emplace_back(ReasoningDelta{block.text});
  } else if (type == "redacted_thinking") {
    block.kind = Kind::redacted;
  } else if (type == "tool_use") {
    block.kind = Kind::call;
    block.call = calls_++;
    out.emplace_back(ToolCallDelta{.index = block.call,
                                   .provider_id = std::string(start["id"].as_string()),
                                   .tool = tool_named(call_.request, start["name"].as_string())});
  }
}

Result<void> Answer::extend_block(const Json& event, std::vector<ModelEvent>& out) {
  Block* block = find(event);
  if (!block) {
    return Failure(fault_error(
        fault_source(call_), Fault::not_an_answer,
        "the stream goes on with block " + print_json(event["index"]) + ", which never began",
        "ask again"));
  }
  const Json& delta = event["delta"];
  const std::string_view type = delta["type"].as_string();
  if (type == "text_delta" && block->kind == Kind::text) {
    const std::string_view text = delta["text"].as_string();
    TUG_TRY(grown, grow(block->text, text));
    if (!text.empty()) out.emplace_back(TextDelta{std::string(text)});
  } else if (type == "thinking_delta" && block->kind == Kind::thinking) {
    const std::string_view text = delta["thinking"].as_string();
    TUG_TRY(grown, grow(block->text, text));
    if (!text.empty()) out.emplace_back(ReasoningDelta{std::string(text)});
  } else if (type == "input_json_delta") {
    const std::string_view piece = delta["partial_json"].as_string();
    TUG_TRY(grown, grow(block->text, piece));
    if (!piece.empty() && block->kind == Kind::call)
      out.emplace_back(ToolCallDelta{.index = block->call, .arguments = std::string(piece)});
  } else if (type == "signature_delta") {
    return grow(block->signature, delta["signature"].as_string());
  } else if (type == "citations_delta") {
    block->citations.push_back(delta["citation"]);
    return count_bytes(print_json(delta["citation"]).size());
  } else if (block->kind == Kind::other) {
    for (const Json::Member& member : delta.members()) {
      if (member.key() != "type") block->start.set(member.key(), member.value);
    }
  }
  return {};
}

void Answer::close_block(const Json& event, std::vector<ModelEvent>& out) {
  Block* block = find(event);
  if (!block || block->kind != Kind::call || !block->text.empty()) return;
  // Some servers send the arguments whole, with the beginning.
  const Json& input = block->start["input"];
  if (input.is_null() || (input.is_object() && input.empty())) return;
  block->text = input.is_string() ? std::string(input.as_string()) : print_json(input);
  out.emplace_back(ToolCallDelta{.index = block->call, .arguments = block->text});
}

void Answer::stop(const Json& delta) {
  if (!stop_reason_.empty() || !delta["stop_reason"].is_string()) return;
  stop_reason_ = std::string(delta["stop_reason"].as_string());
  stop_ = delta;
}

void Answer::count(const Json& usage, std::vector<ModelEvent>& out) {
  if (!usage.is_object()) return;
  if (call_.request.keep_raw) {
    for (const Json::Member& member : usage.members()) raw_usage_.set(member.key(), member.value);
  }
  const std::int64_t read = count_of(usage, "cache_read_input_tokens");
  const Json& split = usage["cache_creation"];
  const std::int64_t written = std::max(
      count_of(usage, "cache_creation_input_tokens"),
      count_of(split, "ephemeral_5m_input_tokens") + count_of(split, "ephemeral_1h_input_tokens"));
  raise(usage_.cache_read_tokens, read);
  raise(usage_.cache_write_tokens, written);
  raise(input_, count_of(usage, "input_tokens"));
  usage_.input_tokens = input_ + usage_.cache_read_tokens + usage_.cache_write_tokens;
  raise(usage_.output_tokens, count_of(usage, "output_tokens"));
  raise(usage_.reasoning_tokens, count_of(usage["output_tokens_details"], "thinking_tokens"));
  out.emplace_back(UsageDelta{usage_});
}

void Answer::add_parts(Block& block, std::vector<Part>& parts) const {
  const std::string& provider = call_.provider.name;
  switch (block.kind) {
    case Kind::text:
      if (block.text.empty()) return;
      parts.emplace_back(TextPart{std::move(block.text)});
      if (block.citations.empty()) return;
      {
        Json citations = Json::array();
        for (Json& citation : block.citations) citations.push_back(std::move(citation));
        parts.emplace_back(
            ProviderBlock{provider, Json::object({{"citations", std::move(citations)}})});
      }
      return;
    case Kind::thinking:
      // Without its signature it cannot go back as it came.
      if (block.text.empty() && block.signature.empty()) return;
      parts.emplace_back(ReasoningPart{
          std::move(block.text), provider,
          block.signature.empty() ? Json() : Json::object({{"signature", block.signature}}),
          false});
      return;
    case Kind::redacted:
      parts.emplace_back(
          ReasoningPart{"", provider, Json::object({{"data", block.start["data"]}}), true});
      return;
    case Kind::call:
      parts.emplace_back(
          ToolCall{.provider_id = std::string(block.start["id"].as_string()),
                   .tool = tool_named(call_.request, block.start["name"].as_string()),
                   .arguments = block.text.empty() ? "{}" : std::move(block.text)});
      return;
    case Kind::other:
      if (!block.text.empty()) {
        Result<Json> input = parse_json(block.text);
        if (!input) return;  // cut: whole or not at all
        block.start.set("input", *std::move(input));
      }
      if (block.start["type"].is_string())
        parts.emplace_back(ProviderBlock{provider, std::move(block.start)});
      return;
  }
}

Json Answer::raw_of(const Block& block) const {
  Json raw = block.start;
  switch (block.kind) {
    case Kind::text:
      raw.set("text", block.text);
      break;
    case Kind::thinking:
      raw.set("thinking", block.text);
      raw.set("signature", block.signature);
      break;
    case Kind::call:
    case Kind::other:
      if (!block.text.empty()) {
        Result<Json> input = parse_json(block.text);
        raw.set("input", input ? *std::move(input) : Json(block.text));
      }
      break;
    case Kind::redacted:
      break;
  }
  for (const Json& citation : block.citations) {
    if (!raw["citations"].is_array()) raw.set("citations", Json::array());
    raw.edit("citations").push_back(citation);
  }
  return raw;
}

Json Answer::raw_message() const {
  Json raw = head_;
  Json content = Json::array();
  for (const Block& block : blocks_) content.push_back(raw_of(block));
  raw.set("content", std::move(content));
  for (const Json::Member& member : stop_.members()) raw.set(member.key(), member.value);
  raw.set("usage", raw_usage_);
  return raw;
}

Finish Answer::finish(bool calls) const noexcept {
  constexpr std::array<std::pair<std::string_view, Finish>, 7> kReasons = {
      {{"end_turn", Finish::stop},
       {"stop_sequence", Finish::stop},
       {"tool_use", Finish::stop},  // tool_calls where there are any
       {"max_tokens", Finish::length},
       {"pause_turn", Finish::pause},
       {"compaction", Finish::pause},
       {"refusal", Finish::refusal}}};
  Finish finish = stop_reason_.empty() ? Finish::stop : Finish::other;
  for (const auto& [name, meaning] : kReasons) {
    if (name == stop_reason_) finish = meaning;
  }
  return finish == Finish::stop && calls ? Finish::tool_calls : finish;
}

Error Answer::overflow() const {
  Overflow detail;
  detail.window = call_.profile.context_tokens;
  detail.prompt_tokens = usage_.input_tokens;
  detail.provider = call_.provider.name;
  detail.model = call_.profile.name;
  return Error(ErrorKind::invalid,
               call_.profile.id() + ": the answer filled the model's window (" +
                   std::to_string(usage_.input_tokens) + " tokens of prompt)",
               "shorten the conversation", std::move(detail));
}

Result<ModelTurn> Answer::turn(Json raw) {
  if (stop_reason_ == "model_context_window_exceeded") return Failure(overflow());
  std::ranges::sort(blocks_, {},
                    [](const Block& block) { return std::pair(block.index, block.place); });
  ModelTurn turn;
  if (call_.request.keep_raw) turn.raw = raw.is_null() ? raw_message() : std::move(raw);
  std::vector<Part> parts;
  for (Block& block : blocks_) add_parts(block, parts);
  turn.message = Message::make(Role::assistant, std::move(parts));
  turn.finish = finish(calls_ > 0);
  turn.usage = usage_;
  turn.model = model_;
  turn.response_id = id_;
  if (turn.finish == Finish::refusal) {
    const Json& details = stop_["stop_details"];
    const std::string category(details["category"].as_string());
    const std::string explanation(details["explanation"].as_string());
    if (!category.empty() || !explanation.empty()) {
      turn.notes.push_back("refused" + (category.empty() ? "" : " (" + category + ")") +
                           (explanation.empty() ? "" : ": " + explanation));
    }
  }
  return turn;
}

}  // namespace tug::anthropic
