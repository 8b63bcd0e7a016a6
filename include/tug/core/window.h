// How full a model's window is.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tug {

struct ContextWindow {
  std::string model;
  std::int64_t max_tokens = 0;  // 0 when it is not known
  std::int64_t reserved_output_tokens = 0;
  std::int64_t prompt_tokens = 0;
  std::string source = "estimate";                           // estimate | provider | learned
  std::vector<std::pair<std::string, std::int64_t>> owners;  // what fills it

  // What the next request may still hold; never negative.
  std::int64_t room() const noexcept {
    const std::int64_t left = max_tokens - reserved_output_tokens - prompt_tokens;
    return left > 0 ? left : 0;
  }
  friend bool operator==(const ContextWindow&, const ContextWindow&) = default;
};

// Four bytes a token, rounded up: good enough to show, not to decide by.
constexpr std::int64_t estimate_tokens(std::size_t bytes) noexcept {
  return static_cast<std::int64_t>((bytes + 3) / 4);
}

}  // namespace tug
