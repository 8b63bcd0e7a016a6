#include "model/collected.h"

#include <algorithm>
#include <utility>

namespace tug::detail {
namespace {

void raise(std::int64_t& count, std::int64_t to) { count = std::max(count, to); }

void raise(Usage& usage, const Usage& to) {
  raise(usage.input_tokens, to.input_tokens);
  raise(usage.output_tokens, to.output_tokens);
  raise(usage.cache_read_tokens, to.cache_read_tokens);
  raise(usage.cache_write_tokens, to.cache_write_tokens);
  raise(usage.reasoning_tokens, to.reasoning_tokens);
  if (to.total_tokens) usage.total_tokens = std::max(usage.total_tokens, to.total_tokens);
}

Failure too_large(std::string what) {
  return fail(ErrorKind::exhausted, "the model's answer holds more than " + std::move(what),
              "ask for less at once, or lower max_output_tokens",
              Provider{.fault = "answer_too_large"});
}

}  // namespace

Result<void> Collected::take(UsageDelta delta) {
  raise(usage_, delta.usage);
  return {};
}

Result<void> Collected::take(ToolCallDelta delta) {
  bytes_ += delta.provider_id.size() + delta.tool.size();
  auto* call = const_cast<Call*>(find(delta.index));
  if (!call) {
    if (calls_.size() >= kMaxCallsOfAnAnswer)
      return too_large(std::to_string(kMaxCallsOfAnAnswer) + " tool calls");
    calls_.push_back({delta.index, {}});
    call = &calls_.back();
  }
  ToolCall& made = call->call;
  if (made.provider_id.empty()) made.provider_id = std::move(delta.provider_id);
  if (made.tool.empty()) made.tool = std::move(delta.tool);
  return take(made.arguments, std::move(delta.arguments));
}

Result<void> Collected::take(ModelTurn turn) {
  if (turn.message && turn.message->size() > kMaxAnswerBytes) return too_large("64 MB");
  turn_ = std::move(turn);
  return {};
}

Result<ModelTurn> Collected::turn() && {
  if (!turn_) {
    if (text_.empty() && reasoning_.empty() && calls_.empty())
      return fail(ErrorKind::disconnected, "the model's stream ended before it said anything",
                  "ask again", Provider{.fault = "stream_ended"});
    turn_.emplace().finish = calls_.empty() ? Finish::stop : Finish::tool_calls;
  }
  raise(turn_->usage, usage_);
  if (!turn_->message) turn_->message = message();
  return *std::move(turn_);
}

const Collected::Call* Collected::find(std::uint32_t index) const noexcept {
  for (std::size_t i = calls_.size(); i-- > 0;) {
    if (calls_[i].index == index) return &calls_[i];
  }
  return nullptr;
}

Result<void> Collected::take(std::string& whole, std::string piece) {
  bytes_ += piece.size();
  if (bytes_ > kMaxAnswerBytes) return too_large("64 MB");
  if (whole.empty()) {
    whole = std::move(piece);
  } else {
    whole += piece;
  }
  return {};
}

MessagePtr Collected::message() {
  std::vector<Part> parts;
  if (!reasoning_.empty()) parts.emplace_back(ReasoningPart{.text = std::move(reasoning_)});
  if (!text_.empty()) parts.emplace_back(TextPart{std::move(text_)});
  for (Call& call : calls_) {
    if (call.call.arguments.empty()) call.call.arguments = "{}";
    parts.emplace_back(std::move(call.call));
  }
  return Message::make(Role::assistant, std::move(parts));
}

}  // namespace tug::detail
