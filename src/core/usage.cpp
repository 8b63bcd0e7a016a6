#include "tug/core/usage.h"

#include <utility>

#include "core/saturate.h"
#include "core/try.h"
#include "tug/core/codec.h"

namespace tug {
namespace {

using detail::not_negative;
using detail::saturated_sum;

struct Written {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cache_read_tokens = 0;
  std::int64_t cache_write_tokens = 0;
  std::int64_t reasoning_tokens = 0;
  std::optional<std::int64_t> total_tokens;
};

std::int64_t explained(const Usage& usage) {
  return saturated_sum(not_negative(usage.input_tokens), not_negative(usage.output_tokens));
}

void add(std::int64_t& count, std::int64_t more) {
  count = saturated_sum(not_negative(count), not_negative(more));
}

}  // namespace

std::int64_t Usage::total() const noexcept {
  return total_tokens && *total_tokens >= 0 ? *total_tokens : explained(*this);
}

Usage& Usage::operator+=(const Usage& other) noexcept {
  const std::int64_t both = saturated_sum(total(), other.total());
  add(input_tokens, other.input_tokens);
  add(output_tokens, other.output_tokens);
  add(cache_read_tokens, other.cache_read_tokens);
  add(cache_write_tokens, other.cache_write_tokens);
  add(reasoning_tokens, other.reasoning_tokens);
  total_tokens.reset();
  if (both != explained(*this)) total_tokens = both;
  return *this;
}

Json JsonForm<Usage>::schema() { return schema_of<Written>(); }

Json JsonForm<Usage>::write(const Usage& usage) {
  return write_json(Written{not_negative(usage.input_tokens), not_negative(usage.output_tokens),
                            not_negative(usage.cache_read_tokens),
                            not_negative(usage.cache_write_tokens),
                            not_negative(usage.reasoning_tokens), usage.total()});
}

Result<Usage> JsonForm<Usage>::read(const Json& json) {
  TUG_TRY(counts, read_json<Written>(json));
  Usage usage{not_negative(counts.input_tokens),      not_negative(counts.output_tokens),
              not_negative(counts.cache_read_tokens), not_negative(counts.cache_write_tokens),
              not_negative(counts.reasoning_tokens),  counts.total_tokens};
  if (usage.total() == explained(usage)) usage.total_tokens.reset();
  return usage;
}

}  // namespace tug
