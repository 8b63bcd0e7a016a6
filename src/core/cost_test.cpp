#include "tug/core/cost.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tug/core/codec.h"

namespace tug {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kDollar = 1'000'000'000;
constexpr std::int64_t kPerMillion = 1'000'000;  // one dollar per million tokens

Json json(std::string_view text) { return parse_json(text).value_or(Json()); }

TEST(Cost, UnknownIsNotZero) {
  EXPECT_NE(Cost::unknown(), Cost());
  EXPECT_FALSE(Cost::unknown().complete());
  EXPECT_TRUE(Cost().complete());
}

TEST(Cost, AnUnknownPartMakesTheSumUnknownAndKeepsTheKnownPart) {
  const Cost sum = Cost::known(5) + Cost::unknown() + Cost::known(7);
  EXPECT_EQ(sum.nanos(), 12);
  EXPECT_FALSE(sum.complete());
  EXPECT_EQ(sum.source(), CostSource::unknown);
  EXPECT_EQ((Cost::unknown() + Cost::known(5)).nanos(), 5);
}

TEST(Cost, TheSourceOfASumIsTheWeakestOfItsParts) {
  const Cost provider = Cost::known(1, CostSource::provider);
  const Cost catalogue = Cost::known(1, CostSource::catalogue);
  EXPECT_EQ((provider + provider).source(), CostSource::provider);
  EXPECT_EQ((Cost() + provider).source(), CostSource::provider);
  EXPECT_EQ((provider + Cost()).source(), CostSource::provider);
  EXPECT_EQ((provider + catalogue).source(), CostSource::catalogue);
  EXPECT_EQ((catalogue + provider).source(), CostSource::catalogue);
  EXPECT_EQ(Cost::known(1, CostSource::unknown).complete(), false);
}

TEST(Cost, SumsSaturateAndAmountsAreNotNegative) {
  EXPECT_EQ((Cost::known(kMost) + Cost::known(kMost)).nanos(), kMost);
  EXPECT_EQ(Cost::known(-5).nanos(), 0);
  EXPECT_EQ(Cost::at_least(-5), Cost::unknown());
}

TEST(Cost, DollarsArePrintedExactly) {
  const struct {
    std::int64_t nanos;
    std::string_view text;
  } cases[] = {
      {0, "0"},
      {1, "0.000000001"},
      {250'000, "0.00025"},
      {kDollar, "1"},
      {kDollar * 12 + kDollar / 2, "12.5"},
      {100 * kDollar, "100"},
      {-kDollar - kDollar / 2, "-1.5"},
      {-1, "-0.000000001"},
      {kMost, "9223372036.854775807"},
      {std::numeric_limits<std::int64_t>::min(), "-9223372036.854775808"},
  };
  for (const auto& [nanos, text] : cases) EXPECT_EQ(dollars(nanos), text);
  EXPECT_EQ(to_string(Cost::known(250'000)), "$0.00025");
  EXPECT_EQ(to_string(Cost::unknown()), "unknown");
  EXPECT_EQ(to_string(Cost::at_least(kDollar / 2)), "at least $0.5");
}

TEST(Cost, HasAJsonFormThatSaysNullForUnknown) {
  EXPECT_EQ(print_json(write_json(Cost::known(250'000))),
            R"({"usd":0.00025,"source":"catalogue"})");
  EXPECT_EQ(print_json(write_json(Cost::known(2 * kDollar, CostSource::provider))),
            R"({"usd":2,"source":"provider"})");
  EXPECT_EQ(print_json(write_json(Cost())), R"({"usd":0,"source":"catalogue"})");
  EXPECT_EQ(print_json(write_json(Cost::at_least(5))), R"({"usd":null,"source":"unknown"})");
  EXPECT_EQ(print_json(schema_of<Cost>()),
            R"({"type":"object","properties":{"usd":{"type":["number","null"]},"source":)"
            R"({"type":"string","enum":["provider","catalogue","unknown"]}},)"
            R"("required":["usd","source"],"additionalProperties":false})");
}

TEST(Cost, ReadsBackEveryNanoDollarBelowAMillionDollars) {
  const unsigned seed = 20240817;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 2000; ++i) {
    const auto nanos = static_cast<std::int64_t>(random() % (1'000'000ull * kDollar));
    const Cost cost = Cost::known(nanos, CostSource::provider);
    EXPECT_EQ(read_json<Cost>(json(print_json(write_json(cost)))).value(), cost)
        << "seed " << seed << " nanos " << nanos;
  }
  EXPECT_EQ(read_json<Cost>(json(R"({"usd":null,"source":"catalogue"})")).value(), Cost::unknown());
  EXPECT_EQ(read_json<Cost>(json(R"({"usd":"1","source":"provider"})")).error().message(),
            R"($.usd: expected a number of dollars, got "1")");
}

TEST(Cost, DollarsAreReadAsWritten) {
  const struct {
    std::string_view text;
    std::int64_t nanos;
  } cases[] = {
      {"0", 0},
      {"0.1", 100'000'000},
      {"2.5", 2'500'000'000},
      {"1e-9", 1},
      {"4e-10", 0},
      {"5e-10", 1},
      {"0.0000000014", 1},
      {"1e-400", 0},
      {"-0.5", -500'000'000},
      {"9e9", 9'000'000'000 * kDollar},
  };
  for (const auto& [text, nanos] : cases) {
    EXPECT_EQ(nanos_from_dollars(json(text)).value(), nanos) << text;
  }
  for (std::string_view text : {"1e10", "1e300", "99999999999999999999999", "null", "\"1\""}) {
    EXPECT_EQ(nanos_from_dollars(json(text)).error().kind(), ErrorKind::invalid) << text;
  }
}

TEST(Price, IsReadFromDollarsPerMillionTokensWithoutRounding) {
  const Price price =
      read_json<Price>(json(R"({"in":0.075,"out":0.0001,"cache_read":3,"cache_write":0.000001})"))
          .value();
  EXPECT_EQ(price, (Price{75'000, 100, 3 * kPerMillion, 1}));
  EXPECT_EQ(print_json(write_json(price)),
            print_json(json(R"({"in":0.075,"out":0.0001,"cache_read":3,"cache_write":1e-6})")));
  EXPECT_EQ(read_json<Price>(json("{}")).value(), Price{});
  EXPECT_EQ(print_json(write_json(Price{})), "{}");
}

TEST(Price, RefusesWhatIsNoPriceAndSaysWhatIsOne) {
  for (std::string_view rate : {"-1", "1e-7", "0.1234567", "1e8", "1e300"}) {
    const auto read = read_json<Price>(json(R"({"in":)" + std::string(rate) + "}"));
    ASSERT_FALSE(read) << rate;
    EXPECT_EQ(read.error().message(),
              "$.in: " + print_json(json(rate)) +
                  " is not a price (prices are dollars per million tokens, from 0 to 10000000, "
                  "with at most six decimals)");
  }
  EXPECT_EQ(
      read_json<Price>(json(R"({"input":1})")).error().message(),
      R"($: unknown field "input"; known are "in", "out", "cache_read", "cache_write", "cache_write_1h", "tiers")");
}

TEST(Price, TiersAndTheHourOfACacheAreReadAndWritten) {
  const std::string text =
      R"({"in":2,"out":10,"cache_write_1h":4,"tiers":[{"above":200000,"in":3},)"
      R"({"above":272000,"in":4,"out":15,"cache_read":0.4,"cache_write":5}]})";
  const Price price = read_json<Price>(json(text)).value();
  EXPECT_EQ(price,
            (Price{.input = 2 * kPerMillion,
                   .output = 10 * kPerMillion,
                   .cache_write_1h = 4 * kPerMillion,
                   .tiers = {{.above = 200'000, .input = 3 * kPerMillion},
                             {272'000, 4 * kPerMillion, 15 * kPerMillion, 400'000, 5'000'000}}}));
  EXPECT_EQ(print_json(write_json(price)), text);
  const std::pair<std::string_view, std::string_view> wrong[] = {
      {R"({"tiers":[{"in":1}]})", "$.tiers[0]"},
      {R"({"tiers":[{"above":-1,"in":1}]})", "$.tiers[0].above: -1 is not a number of tokens"},
      {R"({"tiers":[{"above":1.5}]})", "$.tiers[0].above"},
      {R"({"tiers":[{"above":1,"in":-1}]})", "$.tiers[0].in: -1 is not a price"},
      {R"({"tiers":[{"above":5},{"above":5}]})", "$.tiers[1]: it begins at 5 tokens"},
      {R"({"tiers":{}})", "$.tiers"},
      {R"({"cache_write_1h":-1})", "$.cache_write_1h: -1 is not a price"},
  };
  for (const auto& [given, said] : wrong) {
    const auto read = read_json<Price>(json(given));
    ASSERT_FALSE(read) << given;
    EXPECT_EQ(read.error().kind(), ErrorKind::invalid) << given;
    EXPECT_TRUE(read.error().message().contains(said)) << read.error().message();
  }
}

const Price kPrice{.input = 3 * kPerMillion,
                   .output = 15 * kPerMillion,
                   .cache_read = 300'000,
                   .cache_write = 3'750'000};

TEST(EstimateCost, PricesEachTokenOnce) {
  const struct {
    const char* what;
    Usage usage;
    std::int64_t nanos;
  } cases[] = {
      {"nothing", {}, 0},
      {"a million in", {.input_tokens = 1'000'000}, 3 * kDollar},
      {"a million out", {.output_tokens = 1'000'000}, 15 * kDollar},
      {"reasoning is part of output",
       {.output_tokens = 1'000'000, .reasoning_tokens = 900'000},
       15 * kDollar},
      {"cached input has its own rates",
       {.input_tokens = 1'000'000, .cache_read_tokens = 400'000, .cache_write_tokens = 200'000},
       1'200'000'000 + 120'000'000 + 750'000'000},
      {"parts are cut to their whole",
       {.input_tokens = 1'000, .cache_read_tokens = 700, .cache_write_tokens = 700},
       700 * 300 + 300 * 3'750},
      {"one token", {.input_tokens = 1}, 3'000},
      {"nonsense", {-5, -5, -5, -5, -5, -5}, 0},
  };
  for (const auto& [what, usage, nanos] : cases) {
    EXPECT_EQ(estimate_cost(kPrice, usage), Cost::known(nanos)) << what;
  }
}

TEST(EstimateCost, CachedInputWithoutARateOfItsOwnCostsWhatInputCosts) {
  const Price price{.input = kPerMillion, .output = kPerMillion};
  const Usage usage{
      .input_tokens = 1'000'000, .cache_read_tokens = 300'000, .cache_write_tokens = 300'000};
  EXPECT_EQ(estimate_cost(price, usage), Cost::known(kDollar));
}

TEST(EstimateCost, TokensWithoutAPriceMakeItUnknown) {
  const Usage usage{.input_tokens = 1'000'000, .output_tokens = 1};
  EXPECT_EQ(estimate_cost(Price{}, usage), Cost::unknown());
  const Cost part = estimate_cost(Price{.input = kPerMillion}, usage);
  EXPECT_EQ(part.nanos(), kDollar);
  EXPECT_FALSE(part.complete());
  EXPECT_EQ(estimate_cost(Price{.input = -1, .output = 0}, usage), Cost::unknown());
  // A free model is known to be free, and no tokens cost nothing.
  EXPECT_EQ(estimate_cost(Price{.input = 0, .output = 0}, usage), Cost::known(0));
  EXPECT_EQ(estimate_cost(Price{}, Usage{}), Cost::known(0));
  EXPECT_EQ(estimate_cost(Price{.input = kPerMillion}, {.input_tokens = 1'000'000}),
            Cost::known(kDollar));
}

TEST(EstimateCost, TheHighestTierThatTheInputIsAboveHasTheWholeRequest) {
  const Price price{.input = 2 * kPerMillion,
                    .output = 10 * kPerMillion,
                    .cache_read = 200'000,
                    .tiers = {{.above = 200'000, .input = 4 * kPerMillion},
                              {.above = 400'000, .output = 20 * kPerMillion}}};
  const struct {
    const char* what;
    Usage usage;
    std::int64_t nanos;
  } cases[] = {
      {"at the mark", {.input_tokens = 200'000, .output_tokens = 1000}, 400'000'000 + 10'000'000},
      {"above it", {.input_tokens = 200'001, .output_tokens = 1000}, 800'004'000 + 10'000'000},
      {"cached input counts, at its own rate",
       {.input_tokens = 300'000, .cache_read_tokens = 200'000},
       400'000'000 + 40'000'000},
      {"what the highest one leaves out is the first price's",
       {.input_tokens = 400'001, .output_tokens = 1000},
       800'002'000 + 20'000'000},
      {"output does not count", {.output_tokens = 500'000}, 5 * kDollar},
  };
  for (const auto& [what, usage, nanos] : cases) {
    EXPECT_EQ(estimate_cost(price, usage), Cost::known(nanos)) << what;
  }
  EXPECT_EQ(
      estimate_cost({.tiers = {{.above = 5, .input = kPerMillion}}}, {.input_tokens = 1'000'000}),
      Cost::known(kDollar));
}

TEST(EstimateCost, RoundsOnceToTheNearestNanoDollar) {
  const Price price{.input = 400, .output = 100};  // 0.0004 and 0.0001 dollars per million
  EXPECT_EQ(estimate_cost(price, {.input_tokens = 1}).nanos(), 0);
  EXPECT_EQ(estimate_cost(price, {.input_tokens = 1, .output_tokens = 1}).nanos(), 1);
  EXPECT_EQ(estimate_cost(price, {.input_tokens = 10}).nanos(), 4);
}

TEST(EstimateCost, SaturatesInsteadOfOverflowing) {
  const Price price{.input = kMost, .output = kMost, .cache_read = kMost, .cache_write = kMost};
  const Usage usage{kMost, kMost, kMost / 3, kMost / 3, kMost, kMost};
  EXPECT_EQ(estimate_cost(price, usage), Cost::known(kMost));
}

}  // namespace
}  // namespace tug
