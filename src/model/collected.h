// What the deltas of one answer add up to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tug/model/model.h"

namespace tug::detail {

class Collected {
 public:
  struct Call {
    std::uint32_t index = 0;
    ToolCall call;
  };

  // `exhausted` for an answer that holds too much.
  Result<void> take(TextDelta delta) { return take(text_, std::move(delta.text)); }
  Result<void> take(ReasoningDelta delta) { return take(reasoning_, std::move(delta.text)); }
  Result<void> take(UsageDelta delta);
  Result<void> take(ToolCallDelta delta);
  Result<void> take(ModelTurn turn);

  bool ended() const noexcept { return turn_.has_value(); }
  const std::string& text() const noexcept { return text_; }
  const std::string& reasoning() const noexcept { return reasoning_; }
  const std::vector<Call>& calls() const noexcept { return calls_; }  // in the order they began
  // Null when there is none; the newest one where an index came again.
  const Call* find(std::uint32_t index) const noexcept;

  // The closing turn, or one put together.
  Result<ModelTurn> turn() &&;

 private:
  Result<void> take(std::string& whole, std::string piece);
  MessagePtr message();

  std::string text_;
  std::string reasoning_;
  std::vector<Call> calls_;
  Usage usage_;
  std::optional<ModelTurn> turn_;
  std::size_t bytes_ = 0;
};

}  // namespace tug::detail
