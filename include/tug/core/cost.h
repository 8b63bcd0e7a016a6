// What a model call cost, and what it should have cost.
//
// Money is counted in whole nano-dollars (a billionth of a dollar), prices in whole pico-dollars
// per token, which is a millionth of a dollar per million tokens: every price that providers
// publish is exact. An unknown cost is not zero: it makes every sum it enters unknown, while the
// known part stays a lower bound.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tug/core/json.h"
#include "tug/core/reflect.h"
#include "tug/core/usage.h"

namespace tug {

enum class CostSource : std::uint8_t { provider, catalogue, unknown };

// A value. Sums saturate at about nine billion dollars. An amount below zero becomes zero.
class Cost {
 public:
  Cost() = default;  // nothing was spent
  static Cost known(std::int64_t nanos, CostSource source = CostSource::catalogue) noexcept;
  static Cost unknown() noexcept { return at_least(0); }
  // Known in part: so much, and an unknown rest.
  static Cost at_least(std::int64_t nanos) noexcept;

  // The whole amount, or the known part of it when the cost is not complete.
  std::int64_t nanos() const noexcept { return nanos_; }
  bool complete() const noexcept { return complete_; }
  // `unknown` when not complete; `provider` when a provider stated all of it.
  CostSource source() const noexcept;

  Cost& operator+=(const Cost& other) noexcept;
  friend Cost operator+(Cost a, const Cost& b) noexcept { return a += b; }
  friend bool operator==(const Cost&, const Cost&) = default;

 private:
  enum class Origin : std::uint8_t { none, provider, catalogue };

  std::int64_t nanos_ = 0;
  bool complete_ = true;
  Origin origin_ = Origin::none;
};

// Dollars, exactly, with as many digits as it takes: "0.00025", "12", "-1.5".
std::string dollars(std::int64_t nanos);
// "$0.00025", "unknown", "at least $0.5".
std::string to_string(const Cost& cost);
// The nearest nano-dollar of a decimal number of dollars, as it is written ("0.1" is exact). Fails
// with `invalid` for what is not a number and for amounts beyond nine billion.
Result<std::int64_t> nanos_from_dollars(const Json& dollars);

// {"usd": 0.00025, "source": "catalogue"}; {"usd": null, "source": "unknown"} when not complete: a
// lower bound is not written, so it is not read back. Exact below a million dollars.
template <>
struct JsonForm<Cost> {
  static Json schema();
  static Json write(const Cost& cost);
  static Result<Cost> read(const Json& json);
};

// Prices of a request whose whole input is above so many tokens; what is missing stays as it was.
struct PriceTier {
  std::int64_t above = 0;
  std::optional<std::int64_t> input;
  std::optional<std::int64_t> output;
  std::optional<std::int64_t> cache_read;
  std::optional<std::int64_t> cache_write;
  friend bool operator==(const PriceTier&, const PriceTier&) = default;
};

// Pico-dollars per token. What has no price of its own is missing; a rate below zero counts as
// missing.
struct Price {
  std::optional<std::int64_t> input;
  std::optional<std::int64_t> output;
  std::optional<std::int64_t> cache_read;      // else the input rate
  std::optional<std::int64_t> cache_write;     // else the input rate
  std::optional<std::int64_t> cache_write_1h;  // of what is to be kept for an hour
  std::vector<PriceTier> tiers;                // by `above`, rising
  friend bool operator==(const Price&, const Price&) = default;
};

// As in the catalogue: dollars per million tokens, {"in": 3, "out": 15, "cache_read": 0.3}. Reading
// fails with `invalid` below zero, above ten million dollars, and beyond the sixth decimal.
template <>
struct JsonForm<Price> {
  static Json schema();
  static Json write(const Price& price);
  static Result<Price> read(const Json& json);
};

// The highest tier that the input is above has the say over the whole request. Cached input at its
// own rates, the rest of it at the input rate, all output (reasoning is part of
// it) at the output rate; parts that exceed their whole are cut to it. Rounded once, to the nearest
// nano-dollar. Tokens without a rate make the cost incomplete; no tokens cost nothing.
Cost estimate_cost(const Price& price, const Usage& usage) noexcept;

}  // namespace tug
