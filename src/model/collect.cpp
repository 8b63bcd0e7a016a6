#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tug/model/model.h"

namespace tug {
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

// What the deltas of one answer add up to.
class Collected {
 public:
  Result<void> take(TextDelta delta) { return take(text_, std::move(delta.text)); }
  Result<void> take(ReasoningDelta delta) { return take(reasoning_, std::move(delta.text)); }
  Result<void> take(UsageDelta delta) {
    raise(usage_, delta.usage);
    return {};
  }
  Result<void> take(ToolCallDelta delta) {
    bytes_ += delta.provider_id.size() + delta.tool.size();
    Call* call = find(delta.index);
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
  Result<void> take(ModelTurn turn) {
    if (turn.message && turn.message->size() > kMaxAnswerBytes) return too_large("64 MB");
    turn_ = std::move(turn);
    return {};
  }

  bool ended() const noexcept { return turn_.has_value(); }

  Result<ModelTurn> turn() && {
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

 private:
  struct Call {
    std::uint32_t index = 0;
    ToolCall call;
  };

  Result<void> take(std::string& whole, std::string piece) {
    bytes_ += piece.size();
    if (bytes_ > kMaxAnswerBytes) return too_large("64 MB");
    if (whole.empty()) {
      whole = std::move(piece);
    } else {
      whole += piece;
    }
    return {};
  }

  Call* find(std::uint32_t index) noexcept {
    for (std::size_t i = calls_.size(); i-- > 0;) {
      if (calls_[i].index == index) return &calls_[i];
    }
    return nullptr;
  }

  MessagePtr message() {
    std::vector<Part> parts;
    if (!reasoning_.empty()) parts.emplace_back(ReasoningPart{.text = std::move(reasoning_)});
    if (!text_.empty()) parts.emplace_back(TextPart{std::move(text_)});
    for (Call& call : calls_) {
      if (call.call.arguments.empty()) call.call.arguments = "{}";
      parts.emplace_back(std::move(call.call));
    }
    return Message::make(Role::assistant, std::move(parts));
  }

  std::string text_;
  std::string reasoning_;
  std::vector<Call> calls_;
  Usage usage_;
  std::optional<ModelTurn> turn_;
  std::size_t bytes_ = 0;
};

// A stream that waits for its first word is what most of a run's memory would be: what it adds up
// to is made when something comes, and nothing large lives across the wait.
struct Reading {
  std::unique_ptr<Collected> collected;
  std::optional<Error> failed;
  bool over = false;

  [[gnu::noinline]] void take(Result<std::optional<ModelEvent>>&& event, DeltaObserver* observer) {
    if (!collected) collected = std::make_unique<Collected>();
    if (!event) {
      failed = std::move(event).error();
    } else if (!*event) {
      over = true;
    } else if (!collected->ended()) {
      if (observer && !std::holds_alternative<ModelTurn>(**event)) observer->on_delta(**event);
      Result<void> taken =
          std::visit([&](auto& what) { return collected->take(std::move(what)); }, **event);
      if (!taken) failed = std::move(taken).error();
    }
  }
  [[gnu::noinline]] void throw_in_flight() {
    failed = detail::error_in_flight("the model's stream");
  }
  [[gnu::noinline]] Result<ModelTurn> turn() {
    if (failed) return Failure(*std::move(failed));
    return std::move(*collected).turn();
  }
};

}  // namespace

Task<Result<ModelTurn>> collect(ModelStream& stream, DeltaObserver* observer) {
  Reading reading;
  while (!reading.over && !reading.failed) {
    try {
      auto next = stream.next();
      reading.take(co_await std::move(next), observer);
    } catch (...) {
      reading.throw_in_flight();
    }
  }
  co_return reading.turn();
}

}  // namespace tug
