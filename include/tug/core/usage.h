// What a model call used, in tokens.
//
// The counts are totals with parts inside: input includes what came from and went to the provider's
// cache, output includes reasoning. A dialect whose provider reports them apart adds them up first.
// Sums saturate; a count below zero is nonsense from outside and counts as zero everywhere.
#pragma once

#include <cstdint>
#include <optional>

#include "tug/core/json.h"
#include "tug/core/reflect.h"

namespace tug {

struct Usage {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cache_read_tokens = 0;
  std::int64_t cache_write_tokens = 0;
  std::int64_t reasoning_tokens = 0;
  std::optional<std::int64_t> total_tokens;  // as the provider reported it

  // The reported total, else input and output.
  std::int64_t total() const noexcept;

  // Adds every count. The total is the sum of both totals; it is kept as reported only where input
  // and output do not explain it.
  Usage& operator+=(const Usage& other) noexcept;
  friend Usage operator+(Usage a, const Usage& b) noexcept { return a += b; }
  friend bool operator==(const Usage&, const Usage&) = default;
};

// All six counts, `total_tokens` being total(). Read back, any may be missing, and a total that
// input and output explain is not kept.
template <>
struct JsonForm<Usage> {
  static Json schema();
  static Json write(const Usage& usage);
  static Result<Usage> read(const Json& json);
};

}  // namespace tug
