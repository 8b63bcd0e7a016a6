// Finding equal values without comparing each with each.
#include <algorithm>
#include <bit>
#include <cmath>

#include "core/decimal.h"
#include "core/schema_validate.h"
#include "core/siphash.h"

namespace tug::detail {
namespace {

constexpr std::size_t kPairwise = 16;
constexpr int kHashedDepth = 512;  // deeper parts are left to ==
constexpr std::uint64_t kBytesPerLook = kBytesPerStep / kValuesPerStep;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t words[] = {a, b};
  return siphash({reinterpret_cast<const char*>(words), sizeof words}, 0x5bd1e995);
}

// 1 and 1.0 are equal, so an integer that a double can hold is hashed as that double.
std::uint64_t hash_number(const Json& value, std::uint64_t seed) {
  const double real = *value.as_double();
  if (const std::string_view text = value.big_number(); !text.empty()) {
    const Decimal decimal = decimal_of(value);
    // Far numbers are equal only when written alike.
    if (decimal.is_far()) return siphash(text, seed);
    if (!std::isfinite(real) || real == 0 || decimal_of(Json(real)) != decimal) {
      const std::uint64_t place = static_cast<std::uint64_t>(decimal.exponent) << 1;
      return mix(siphash(decimal.digits, seed), place | (decimal.negative ? 1 : 0));
    }
  }
  if (value.is_integer()) {
    if (const auto integer = value.as_int(); integer && Json(real).as_int() != integer) {
      return mix(seed, static_cast<std::uint64_t>(*integer));
    }
    if (const auto natural = value.as_uint(); natural && Json(real).as_uint() != natural) {
      return mix(seed, *natural);
    }
  }
  return mix(seed ^ 1, std::bit_cast<std::uint64_t>(real == 0 ? 0.0 : real));
}

std::uint64_t hash_at(const Json& value, std::uint64_t seed, int depth, std::uint64_t& work) {
  ++work;
  switch (value.type()) {
    case Json::Type::null:
      return mix(seed, 2);
    case Json::Type::boolean:
      return mix(seed, value.as_bool() ? 3 : 4);
    case Json::Type::number:
      work += value.big_number().size() / kBytesPerLook;
      return hash_number(value, seed);
    case Json::Type::string:
      work += value.as_string().size() / kBytesPerLook;
      return siphash(value.as_string(), seed);
    case Json::Type::array: {
      std::uint64_t hash = mix(seed, value.size());
      if (depth == 0) return hash;
      for (const Json& item : value.items()) hash = mix(hash, hash_at(item, seed, depth - 1, work));
      return hash;
    }
    case Json::Type::object: {
      // A sum, because the order of members does not count.
      std::uint64_t hash = mix(seed ^ 5, value.size());
      if (depth == 0) return hash;
      for (const Json::Member& member : value.members()) {
        work += member.key().size() / kBytesPerLook;
        hash += mix(siphash(member.key(), seed), hash_at(member.value, seed, depth - 1, work));
      }
      return hash;
    }
  }
  return seed;
}

bool all_simple(std::span<const Json> items) noexcept {
  for (const Json& item : items) {
    if (item.is_array() || item.is_object() || !item.big_number().empty() ||
        item.as_string().size() > kBytesPerStep) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::uint64_t hash_value(const Json& value, std::uint64_t seed, std::uint64_t& work) {
  std::uint64_t looked_at = 0;
  const std::uint64_t hash = hash_at(value, seed, kHashedDepth, looked_at);
  work += looked_at / kValuesPerStep;
  return hash;
}

std::optional<std::pair<std::size_t, std::size_t>> equal_items(std::span<const Json> items,
                                                               std::uint64_t& work) {
  if (items.size() <= kPairwise && all_simple(items)) {
    for (std::size_t j = 1; j < items.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        if (items[i] == items[j]) return std::pair(i, j);
      }
    }
    return std::nullopt;
  }
  std::vector<std::pair<std::uint64_t, std::size_t>> hashes;
  hashes.reserve(items.size());
  // Seeded by where we are in memory, so that nobody can prepare colliding items.
  const auto seed = reinterpret_cast<std::uintptr_t>(items.data());
  std::uint64_t looked_at = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    hashes.emplace_back(hash_at(items[i], seed, kHashedDepth, looked_at), i);
  }
  work += looked_at / kValuesPerStep;
  std::sort(hashes.begin(), hashes.end());
  std::optional<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t j = 1; j < hashes.size(); ++j) {
    for (std::size_t i = j; i-- > 0 && hashes[i].first == hashes[j].first;) {
      if (items[hashes[i].second] == items[hashes[j].second]) {
        // The hash order changes from run to run; the answer must not.
        const std::pair pair(hashes[i].second, hashes[j].second);
        if (!found || pair.second < found->second ||
            (pair.second == found->second && pair.first < found->first)) {
          found = pair;
        }
        break;
      }
    }
  }
  return found;
}

}  // namespace tug::detail
