// Why a run, or a segment of one, ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tug {

enum class StopReason : std::uint8_t {
  end_turn,
  limit_reached,
  cancelled,
  cancelled_by_hook,
  paused,
  approval_required,
  provider_error,
  context_overflow,
  output_validation_failed,
  tool_retries_exceeded,
  refusal,
  unexpected_model_behavior,
  error,
};
std::string_view name_of(StopReason reason) noexcept;
std::optional<StopReason> stop_reason_from(std::string_view name) noexcept;

}  // namespace tug
