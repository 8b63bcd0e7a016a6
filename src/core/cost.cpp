#include "tug/core/cost.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/decimal.h"
#include "core/saturate.h"
#include "core/try.h"
#include "tug/core/codec.h"
#include "tug/core/enum_names.h"

namespace tug {
namespace {

using detail::not_negative;
using Wide = __int128;

constexpr int kNanoDigits = 9;
constexpr int kPicoPerMillionDigits = 6;  // dollars per million tokens -> pico-dollars per token
constexpr std::int64_t kNano = 1'000'000'000;
constexpr std::int64_t kMaxPrice = 10'000'000'000'000;  // ten million dollars per million tokens
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// A whole number and up to `places` decimals, without the zeros at the end.
std::string decimal_text(std::int64_t value, int places) {
  std::string digits = std::to_string(value);
  const bool negative = digits.front() == '-';
  if (negative) digits.erase(0, 1);
  const auto fraction = static_cast<std::size_t>(places);
  if (digits.size() <= fraction) digits.insert(0, fraction + 1 - digits.size(), '0');
  std::string tail = digits.substr(digits.size() - fraction);
  digits.resize(digits.size() - fraction);
  while (!tail.empty() && tail.back() == '0') tail.pop_back();
  if (!tail.empty()) digits += '.' + tail;
  return negative ? '-' + digits : digits;
}

Json decimal_json(std::int64_t value, int places) {
  // Our own text is always a number.
  return Json::number(decimal_text(value, places)).value_or(Json());
}

struct Scaled {
  std::int64_t value = 0;
  bool exact = true;
};

// number x 10^places, rounded half away from zero; nothing when it leaves the range.
std::optional<Scaled> scale(const Json& number, int places) {
  const detail::Decimal decimal = detail::written_decimal_of(number);
  const std::int64_t whole = decimal.exponent + places;  // how many of the digits count
  if (decimal.digits.empty() || whole < 0) return Scaled{0, decimal.digits.empty()};
  if (whole > 19) return std::nullopt;
  Wide value = 0;
  for (std::int64_t i = 0; i < whole; ++i) {
    const auto at = static_cast<std::size_t>(i);
    value = value * 10 + (at < decimal.digits.size() ? decimal.digits[at] - '0' : 0);
  }
  const auto next = static_cast<std::size_t>(whole);
  const bool exact = next >= decimal.digits.size();
  if (!exact && decimal.digits[next] >= '5') ++value;
  if (value > kMost) return std::nullopt;
  const auto magnitude = static_cast<std::int64_t>(value);
  return Scaled{decimal.negative ? -magnitude : magnitude, exact};
}

struct WrittenCost {
  Json usd;
  CostSource source;
};

struct WrittenTier {
  Json above;
  std::optional<Json> in;
  std::optional<Json> out;
  std::optional<Json> cache_read;
  std::optional<Json> cache_write;
};

struct WrittenPrice {
  std::optional<Json> in;
  std::optional<Json> out;
  std::optional<Json> cache_read;
  std::optional<Json> cache_write;
  std::optional<Json> cache_write_1h;
  std::optional<std::vector<WrittenTier>> tiers;
};

std::optional<Json> write_rate(const std::optional<std::int64_t>& rate) {
  if (!rate) return std::nullopt;
  return decimal_json(*rate, kPicoPerMillionDigits);
}

Result<std::optional<std::int64_t>> read_rate(const std::optional<Json>& rate,
                                              std::string_view name) {
  if (!rate) return std::optional<std::int64_t>();
  const std::string place = "$." + std::string(name) + ": ";
  if (!rate->is_number()) {
    return fail(ErrorKind::invalid, place + "expected a number, got " + print_json(*rate),
                "prices are dollars per million tokens");
  }
  const std::optional<Scaled> scaled = scale(*rate, kPicoPerMillionDigits);
  if (!scaled || scaled->value < 0 || scaled->value > kMaxPrice || !scaled->exact) {
    return fail(ErrorKind::invalid, place + print_json(*rate) + " is not a price",
                "prices are dollars per million tokens, from 0 to 10000000, with at most six "
                "decimals");
  }
  return std::optional(scaled->value);
}

Result<PriceTier> read_tier(const WrittenTier& written, const std::string& place) {
  const auto above = written.above.as_int();
  if (!above || *above < 0) {
    return fail(ErrorKind::invalid,
                "$." + place + "above: " + print_json(written.above) + " is not a number of tokens",
                "give a whole number from 0");
  }
  TUG_TRY(input, read_rate(written.in, place + "in"));
  TUG_TRY(output, read_rate(written.out, place + "out"));
  TUG_TRY(cache_read, read_rate(written.cache_read, place + "cache_read"));
  TUG_TRY(cache_write, read_rate(written.cache_write, place + "cache_write"));
  return PriceTier{*above, input, output, cache_read, cache_write};
}

Result<std::vector<PriceTier>> read_tiers(const std::vector<WrittenTier>& written) {
  std::vector<PriceTier> tiers;
  for (const WrittenTier& each : written) {
    const std::string place = "tiers[" + std::to_string(tiers.size()) + "]";
    TUG_TRY(tier, read_tier(each, place + "."));
    if (!tiers.empty() && tiers.back().above >= tier.above) {
      return fail(ErrorKind::invalid,
                  "$." + place + ": it begins at " + std::to_string(tier.above) +
                      " tokens, not above the tier before it",
                  "list the tiers by \"above\", rising");
    }
    tiers.push_back(tier);
  }
  return tiers;
}

// The prices that a request with so much input has.
Price price_at(const Price& price, std::int64_t input) noexcept {
  Price at{price.input, price.output, price.cache_read, price.cache_write};
  const PriceTier* tier = nullptr;
  for (const PriceTier& each : price.tiers) {
    if (input > each.above && (!tier || each.above >= tier->above)) tier = &each;
  }
  if (!tier) return at;
  const auto take = [](std::optional<std::int64_t>& rate,
                       const std::optional<std::int64_t>& higher) {
    if (higher && *higher >= 0) rate = higher;
  };
  take(at.input, tier->input);
  take(at.output, tier->output);
  take(at.cache_read, tier->cache_read);
  take(at.cache_write, tier->cache_write);
  return at;
}

// Adds up what is known and remembers whether something is not.
struct Bill {
  Wide picos = 0;
  bool complete = true;

  void add(std::int64_t tokens, const std::optional<std::int64_t>& rate) {
    if (tokens == 0) return;
    if (rate && *rate >= 0) {
      picos += static_cast<Wide>(tokens) * *rate;
    } else {
      complete = false;
    }
  }
};

const std::optional<std::int64_t>& rate_or(const std::optional<std::int64_t>& own,
                                           const std::optional<std::int64_t>& other) {
  return own && *own >= 0 ? own : other;
}

}  // namespace

Cost Cost::known(std::int64_t nanos, CostSource source) noexcept {
  if (source == CostSource::unknown) return at_least(nanos);
  Cost cost;
  cost.nanos_ = not_negative(nanos);
  cost.origin_ = source == CostSource::provider ? Origin::provider : Origin::catalogue;
  return cost;
}

Cost Cost::at_least(std::int64_t nanos) noexcept {
  Cost cost;
  cost.nanos_ = not_negative(nanos);
  cost.complete_ = false;
  return cost;
}

CostSource Cost::source() const noexcept {
  if (!complete_) return CostSource::unknown;
  return origin_ == Origin::provider ? CostSource::provider : CostSource::catalogue;
}

Cost& Cost::operator+=(const Cost& other) noexcept {
  nanos_ = detail::saturated_sum(nanos_, other.nanos_);
  complete_ = complete_ && other.complete_;
  origin_ = std::max(origin_, other.origin_);
  return *this;
}

std::string dollars(std::int64_t nanos) { return decimal_text(nanos, kNanoDigits); }

std::string to_string(const Cost& cost) {
  if (cost.complete()) return "$" + dollars(cost.nanos());
  return cost.nanos() == 0 ? "unknown" : "at least $" + dollars(cost.nanos());
}

Result<std::int64_t> nanos_from_dollars(const Json& dollars) {
  if (!dollars.is_number()) {
    return fail(ErrorKind::invalid, "expected a number of dollars, got " + print_json(dollars));
  }
  const std::optional<Scaled> scaled = scale(dollars, kNanoDigits);
  if (!scaled) {
    return fail(ErrorKind::invalid, print_json(dollars) + " dollars are more than can be counted",
                "give at most " + std::to_string(kMost / kNano));
  }
  return scaled->value;
}

Json JsonForm<Cost>::schema() {
  return Json::object(
      {{"type", "object"},
       {"properties",
        Json::object({{"usd", Json::object({{"type", Json::array({"number", "null"})}})},
                      {"source", schema_of<CostSource>()}})},
       {"required", Json::array({"usd", "source"})},
       {"additionalProperties", false}});
}

Json JsonForm<Cost>::write(const Cost& cost) {
  return Json::object({{"usd", cost.complete() ? decimal_json(cost.nanos(), kNanoDigits) : Json()},
                       {"source", enum_name(cost.source())}});
}

Result<Cost> JsonForm<Cost>::read(const Json& json) {
  TUG_TRY(written, read_json<WrittenCost>(json));
  if (written.usd.is_null() || written.source == CostSource::unknown) return Cost::unknown();
  Result<std::int64_t> nanos = nanos_from_dollars(written.usd);
  if (!nanos) return Failure(nanos.error().within("$.usd"));
  return Cost::known(*nanos, written.source);
}

Json JsonForm<Price>::schema() {
  const Json rate = Json::object({{"type", "number"}, {"minimum", 0}});
  const Json count = Json::object({{"type", "integer"}, {"minimum", 0}});
  const Json tier = Json::object({{"type", "object"},
                                  {"properties", Json::object({{"above", count},
                                                               {"in", rate},
                                                               {"out", rate},
                                                               {"cache_read", rate},
                                                               {"cache_write", rate}})},
                                  {"required", Json::array({"above"})},
                                  {"additionalProperties", false}});
  return Json::object(
      {{"type", "object"},
       {"properties",
        Json::object({{"in", rate},
                      {"out", rate},
                      {"cache_read", rate},
                      {"cache_write", rate},
                      {"cache_write_1h", rate},
                      {"tiers", Json::object({{"type", "array"}, {"items", tier}})}})},
       {"additionalProperties", false}});
}

Json JsonForm<Price>::write(const Price& price) {
  WrittenPrice written{write_rate(price.input),          write_rate(price.output),
                       write_rate(price.cache_read),     write_rate(price.cache_write),
                       write_rate(price.cache_write_1h), std::nullopt};
  if (!price.tiers.empty()) written.tiers.emplace();
  for (const PriceTier& tier : price.tiers) {
    written.tiers->push_back({Json(tier.above), write_rate(tier.input), write_rate(tier.output),
                              write_rate(tier.cache_read), write_rate(tier.cache_write)});
  }
  return write_json(written);
}

Result<Price> JsonForm<Price>::read(const Json& json) {
  TUG_TRY(written, read_json<WrittenPrice>(json));
  TUG_TRY(input, read_rate(written.in, "in"));
  TUG_TRY(output, read_rate(written.out, "out"));
  TUG_TRY(cache_read, read_rate(written.cache_read, "cache_read"));
  TUG_TRY(cache_write, read_rate(written.cache_write, "cache_write"));
  TUG_TRY(cache_write_1h, read_rate(written.cache_write_1h, "cache_write_1h"));
  TUG_TRY(tiers, read_tiers(written.tiers.value_or(std::vector<WrittenTier>())));
  return Price{input, output, cache_read, cache_write, cache_write_1h, tiers};
}

Cost estimate_cost(const Price& full, const Usage& usage) noexcept {
  const std::int64_t input = not_negative(usage.input_tokens);
  const Price price = price_at(full, input);
  const std::int64_t read = std::min(not_negative(usage.cache_read_tokens), input);
  const std::int64_t write = std::min(not_negative(usage.cache_write_tokens), input - read);
  Bill bill;
  bill.add(input - read - write, price.input);
  bill.add(read, rate_or(price.cache_read, price.input));
  bill.add(write, rate_or(price.cache_write, price.input));
  bill.add(not_negative(usage.output_tokens), price.output);
  const Wide nanos = (bill.picos + 500) / 1000;
  const std::int64_t counted = nanos > kMost ? kMost : static_cast<std::int64_t>(nanos);
  return bill.complete ? Cost::known(counted) : Cost::at_least(counted);
}

}  // namespace tug
