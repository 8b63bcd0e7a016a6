#include <algorithm>

#include "model/openai_chat/wire.h"

namespace tug::chat {
namespace {

// llama.cpp counts what it worked on where it was not asked for usage.
std::optional<Usage> timings_of(const Json& timings) {
  if (!timings.is_object() || !timings["prompt_n"].is_number()) return std::nullopt;
  Usage usage;
  usage.cache_read_tokens = count_of(timings, "cache_n");
  usage.input_tokens = usage.cache_read_tokens + count_of(timings, "prompt_n");
  usage.output_tokens = count_of(timings, "predicted_n");
  return usage;
}

Usage counts_of(const Json& json) {
  const Json& prompt = json["prompt_tokens_details"];
  Usage usage;
  usage.input_tokens = count_of(json, "prompt_tokens");
  usage.output_tokens = count_of(json, "completion_tokens");
  usage.cache_read_tokens = count_of(prompt, "cached_tokens");
  usage.cache_write_tokens = count_of(prompt, "cache_write_tokens");
  usage.reasoning_tokens = count_of(json["completion_tokens_details"], "reasoning_tokens");
  for (const std::string_view word : {"prompt_cache_hit_tokens", "cached_tokens"}) {
    // DeepSeek's own words for it, and Moonshot's.
    if (usage.cache_read_tokens == 0) usage.cache_read_tokens = count_of(json, word);
  }
  const std::int64_t total = count_of(json, "total_tokens");
  // Here `completion_tokens` is all of the output; xAI and Gemini's copy leave reasoning out of it,
  // which the total gives away.
  if (usage.reasoning_tokens > 0 && usage.reasoning_tokens < total &&
      total - usage.reasoning_tokens == usage.input_tokens + usage.output_tokens)
    usage.output_tokens += usage.reasoning_tokens;
  if (total > 0 && total != usage.input_tokens + usage.output_tokens) usage.total_tokens = total;
  return usage;
}

}  // namespace

std::optional<Usage> usage_of(const Json& reply) {
  for (const Json* json : {&reply["usage"], &reply["x_groq"]["usage"]}) {
    if (json->is_object()) return counts_of(*json);
  }
  return timings_of(reply["timings"]);
}

std::optional<Cost> cost_of(const Json& reply) {
  const Json& usage = reply["usage"];
  if (!usage["cost"].is_number()) return std::nullopt;
  Result<std::int64_t> nanos = nanos_from_dollars(usage["cost"]);
  if (!nanos || *nanos < 0) return std::nullopt;
  Cost cost = Cost::known(*nanos, CostSource::provider);
  // With a key of one's own, the model is paid elsewhere and `cost` is the router's fee.
  if (usage["is_byok"].as_bool()) {
    const Json& upstream = usage["cost_details"]["upstream_inference_cost"];
    Result<std::int64_t> paid = nanos_from_dollars(upstream);
    cost += paid && *paid >= 0 ? Cost::known(*paid, CostSource::provider) : Cost::unknown();
  }
  return cost;
}

Finish finish_of(std::string_view reason, bool has_calls) noexcept {
  constexpr std::string_view kDone[] = {"stop",     "eos",           "eos_token", "stop_sequence",
                                        "end_turn", "function_call", "tool_calls"};
  if (std::ranges::find(kDone, reason) != std::end(kDone))
    return has_calls ? Finish::tool_calls : Finish::stop;
  if (reason == "length" || reason == "model_length" || reason == "max_tokens")
    return Finish::length;
  if (reason == "content_filter" || reason == "refusal" || reason == "safety")
    return Finish::refusal;
  return Finish::other;
}

}  // namespace tug::chat
