// The rows that are built in: facts, each with its date. Prices are dollars per million tokens.
//
// A user's own rows ([[models]]) and `tug models update` win over what stands here.
#include <array>
#include <string_view>

#include "tug/model/catalogue.h"

namespace tug {
namespace {

constexpr double kNone = -1;

struct Rates {
  double in = kNone;
  double out = kNone;
  double cache_read = kNone;
  double cache_write = kNone;
  double cache_write_1h = kNone;
  std::int64_t above = 0;  // from there on:
  double above_in = kNone;
  double above_out = kNone;
};

struct Fact {
  std::string_view provider;
  std::string_view id;
  std::int64_t context = 0;
  std::int64_t max_output = 0;
  Rates price = {};
  std::string_view caps = {};
  std::string_view efforts = {};
  std::string_view drop_params = {};
  std::string_view quirks = {};
  ModelStatus status = ModelStatus::active;
  std::string_view source = {};
  std::string_view as_of = "2026-11-15";
};

constexpr std::string_view kSees =
    "tools parallel_tools streaming streaming_tools structured vision reasoning";
constexpr std::string_view kSeesAtOnce =
    "tools parallel_tools streaming streaming_tools structured vision";
constexpr std::string_view kHears =
    "tools parallel_tools streaming streaming_tools structured vision reasoning audio video "
    "document";
constexpr std::string_view kReads =
    "tools parallel_tools streaming streaming_tools structured reasoning";
constexpr std::string_view kReadsAtOnce =
    "tools parallel_tools streaming streaming_tools structured";
constexpr std::string_view kNoSchema = "tools parallel_tools streaming streaming_tools";
constexpr std::string_view kThinks = "tools parallel_tools streaming streaming_tools reasoning";
constexpr std::string_view kThinksNoTools = "streaming structured vision reasoning";

constexpr std::string_view kSampling = "temperature top_p";
constexpr std::string_view kNoEffort = "temperature top_p reasoning_effort";
constexpr std::string_view kAlwaysThinks = "low medium high xhigh max";
constexpr std::string_view kMayThink = "none low medium high xhigh max";
constexpr std::string_view kFive = "minimal low medium high";
constexpr std::string_view kFiveFour = "none low medium high xhigh";
constexpr std::string_view kLevels = "low medium high";

constexpr std::string_view kPrices = "genai-prices 0.1.8";
constexpr std::string_view kAnthropic = "genai-prices 0.1.8; platform.claude.com models overview";
constexpr std::string_view kOpenAi = "genai-prices 0.1.8; model pages of OpenAI";
constexpr std::string_view kGoogle = "genai-prices 0.1.8; ai.google.dev models";
constexpr std::string_view kChatRules = "OpenAI: tools beside an effort need the Responses API";

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kMebi = 1'048'576;
constexpr std::int64_t kWide = 1'050'000;
constexpr std::int64_t kLong = 128'000;
constexpr auto kBudget = "thinking_budget";
constexpr auto kPreview = ModelStatus::preview;
constexpr auto kActive = ModelStatus::active;

// A row on two lines, not a field on each.
// clang-format off
constexpr std::array kFacts = std::to_array<Fact>({
    {"anthropic", "claude-fable-5-1", kMillion, kLong, {10, 50}, kSees, kAlwaysThinks, "", "",
     kActive, kAnthropic},
    {"anthropic", "claude-fable-5", kMillion, kLong, {10, 50, 1, 12.5, 20}, kSees, kMayThink, "",
     "", kActive, kAnthropic},
    {"anthropic", "claude-opus-5-5", kMillion, kLong, {4, 20, 0.2, 5, 8}, kSees, kAlwaysThinks, "",
     "", kActive, kAnthropic},
    {"anthropic", "claude-opus-5", kMillion, kLong, {5, 25, 0.5, 6.25, 10}, kSees, kMayThink, "",
     "", kActive, kAnthropic},
    {"anthropic", "claude-sonnet-5-5", kMillion, kLong, {2, 10, 0.2, 2.5, 4}, kSees, kMayThink, "",
     "", kActive, kAnthropic},
    {"anthropic", "claude-sonnet-5", kMillion, kLong, {2, 10, 0.2, 2.5, 4}, kSees, kMayThink, "",
     "", kActive, kAnthropic},
    {"anthropic", "claude-sonnet-4-6", kMillion, 64'000, {3, 15, 0.3, 3.75, 6}, kSees, "", "", "",
     kActive, kAnthropic},
    // Its prices depend on more than we know.
    {"anthropic", "claude-haiku-5-5", kMillion, kLong, {}, kSees, kMayThink, "", "", kActive,
     "platform.claude.com models overview"},
    {"anthropic", "claude-haiku-4-5", 200'000, 64'000, {1, 5, 0.1, 1.25, 2}, kSees, "", "",
     kBudget, kActive, kAnthropic},

    {"openai", "gpt-6-sol", kWide, kLong, {2, 10, 0.2, 2.5, kNone, 272'000, 4, 15}, kSees, "",
     kSampling, "", kActive, kOpenAi},
    {"openai", "gpt-6-luna", kWide, kLong, {0.1, 0.5, 0.01, 0.125, kNone, 272'000, 0.2, 0.75},
     kSees, "", kSampling, "", kActive, kOpenAi},
    {"openai", "gpt-6.1-terra", kWide, kLong, {1, 5, 0.05, 1.25}, kSees, "", kSampling, "",
     kActive, "model pages of OpenAI"},
    {"openai", "gpt-5.6-sol", kWide, kLong, {4, 20, 0.4, 5, kNone, 272'000, 8, 30}, kSees,
     kMayThink, kSampling, "", kActive, kOpenAi},
    {"openai", "gpt-5.6-terra", kWide, kLong, {2, 12, 0.2, 2.5}, kSees, kMayThink, kSampling, "",
     kActive, kOpenAi},
    {"openai", "gpt-5.6-luna", kWide, kLong, {0.2, 1.2, 0.02, 0.25}, kSees, kMayThink, kSampling,
     "", kActive, kOpenAi},
    {"openai", "gpt-5.4", kWide, kLong, {2.5, 15, 0.25, kNone, kNone, 272'000, 5, 22.5}, kSees,
     kFiveFour, kSampling, "", kActive, kOpenAi},
    {"openai", "gpt-5.4-mini", 400'000, kLong, {0.75, 4.5, 0.075}, kSees, kFiveFour, kSampling, "",
     kActive, kOpenAi},
    {"openai", "gpt-5-mini", 400'000, kLong, {0.25, 2, 0.025}, kSees, kFive, kSampling, "",
     kActive, kOpenAi},
    {"openai", "gpt-5-nano", 400'000, kLong, {0.05, 0.4, 0.005}, kSees, kFive, kSampling, "",
     kActive, kOpenAi},
    {"openai", "gpt-4.1", 1'047'576, 32'768, {2, 8, 0.5}, kSeesAtOnce, "", "", "", kActive,
     kOpenAi},
    {"openai", "gpt-4o-mini", 128'000, 16'384, {0.15, 0.6, 0.075}, kSeesAtOnce, "", "", "",
     kActive, kOpenAi},
    // An effort other than none beside tools is refused there; from 6.1 on tools are.
    {"openai-chat", "gpt-5.4*", 0, 0, {}, "", "", kNoEffort, "", kActive, kChatRules},
    {"openai-chat", "gpt-5.6*", 0, 0, {}, "", "", kNoEffort, "", kActive, kChatRules},
    {"openai-chat", "gpt-6*", 0, 0, {}, "", "", kNoEffort, "", kActive, kChatRules},
    {"openai-chat", "gpt-6.1*", 0, 0, {}, kThinksNoTools, "", kSampling, "", kActive, kChatRules},
    {"azure", "gpt-5.4*", 0, 0, {}, "", "", kNoEffort, "", kActive, kChatRules},
    {"azure", "gpt-5.6*", 0, 0, {}, "", "", kNoEffort, "", kActive, kChatRules},
    {"azure", "gpt-6*", 0, 0, {}, "", "", kNoEffort, "", kActive, kChatRules},
    {"azure", "gpt-6.1*", 0, 0, {}, kThinksNoTools, "", kSampling, "", kActive, kChatRules},

    {"gemini", "gemini-3.8-flash", kMebi, 65'536, {0.75, 3.75, 0.075}, kHears, kLevels, "", "",
     kActive, kGoogle},
    {"gemini", "gemini-3.7-flash", kMebi, 65'536, {}, kHears, kLevels, "", "", kActive,
     "ai.google.dev models"},
    {"gemini", "gemini-3.5-flash", kMebi, 65'536, {1.5, 9, 0.15}, kHears, "", "", "", kActive,
     kGoogle},
    {"gemini", "gemini-3.1-pro", kMebi, 65'536, {}, kHears, kLevels, "", "", kPreview,
     "ai.google.dev models"},
    {"gemini", "gemini-3.1-flash-lite", kMebi, 65'536, {0.25, 1.5, 0.025}, kHears, "", "", "",
     kActive, kGoogle},
    {"gemini", "gemini-2.5-pro", kMebi, 65'536, {1.25, 10, 0.125, kNone, kNone, 200'000, 2.5, 15},
     kHears, "", "", kBudget, kActive, kGoogle},
    {"gemini", "gemini-2.5-flash", kMebi, 65'536, {0.3, 2.5, 0.03}, kHears, "", "", kBudget,
     kActive, kGoogle},

    {"deepseek", "deepseek-chat", 64'000, 8'192, {0.27, 1.1, 0.07}, kNoSchema, "", "", "",
     kActive, kPrices},
    {"deepseek", "deepseek-reasoner", 64'000, 0, {0.55, 2.19, 0.14}, kThinks, "", kSampling, "",
     kActive, kPrices},
    {"mistral", "devstral-2512", 262'144, 0, {0.4, 2, 0.04}, kReadsAtOnce, "", "", "", kActive,
     kPrices},
    {"xai", "grok-4", 256'000, 0, {3, 15, 0.75}, kSees, "", "", "", kActive, kPrices},
    {"xai", "grok-4-fast", 2'000'000, 0, {0.2, 0.5, 0.05}, kSees, "", "", "", kActive, kPrices},
    {"moonshotai", "kimi-k2.5", 262'144, 0, {0.6, 3, 0.1}, kThinks, "", "", "reasoning_content",
     kActive, kPrices},
    {"moonshotai", "kimi-k3", kMebi, 0, {3, 15, 0.3}, kThinks, "", "", "reasoning_content", kActive,
     kPrices},
    {"groq", "openai/gpt-oss-120b", 131'072, 65'536, {0.15, 0.6, 0.075}, kReads, kLevels, "", "",
     kActive, kPrices},
    {"together", "openai/gpt-oss-120b", 131'072, 0, {}, kReads, kLevels, "", "", kActive,
     "the model card of gpt-oss"},
    {"offline", "demo", 32'768, 0, {0, 0}, "tools parallel_tools streaming streaming_tools", "",
     "", "", kActive, "built in"},
});
// clang-format on

// Pico-dollars per token.
std::optional<std::int64_t> rate(double dollars) {
  if (dollars < 0) return std::nullopt;
  return static_cast<std::int64_t>(dollars * 1e6 + 0.5);
}

std::optional<std::vector<std::string>> words(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::vector<std::string> list;
  while (true) {
    const std::size_t space = text.find(' ');
    list.emplace_back(text.substr(0, space));
    if (space == text.npos) return list;
    text.remove_prefix(space + 1);
  }
}

std::optional<Price> price_of(const Rates& rates) {
  if (rates.in < 0) return std::nullopt;
  Price price{rate(rates.in),
              rate(rates.out),
              rate(rates.cache_read),
              rate(rates.cache_write),
              rate(rates.cache_write_1h),
              {}};
  if (rates.above > 0)
    price.tiers.push_back({rates.above, rate(rates.above_in), rate(rates.above_out), {}, {}});
  return price;
}

std::optional<std::int64_t> known(std::int64_t count) {
  return count > 0 ? std::optional(count) : std::nullopt;
}

}  // namespace

std::vector<CatalogueRow> built_in_rows() {
  std::vector<CatalogueRow> rows;
  rows.reserve(kFacts.size());
  for (const Fact& fact : kFacts) {
    const bool pattern = fact.id.contains('*');
    rows.push_back({.provider = std::string(fact.provider),
                    .id = std::string(fact.id),
                    .api = {},
                    .context = known(fact.context),
                    .max_output = known(fact.max_output),
                    .price = price_of(fact.price),
                    .caps = words(fact.caps),
                    .efforts = words(fact.efforts),
                    .drop_params = words(fact.drop_params),
                    .quirks = words(fact.quirks),
                    .status = pattern ? std::nullopt : std::optional(fact.status),
                    .as_of = std::string(fact.as_of),
                    .source = std::string(fact.source)});
  }
  return rows;
}

}  // namespace tug
