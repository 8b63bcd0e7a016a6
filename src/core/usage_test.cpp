#include "tug/core/usage.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tug/core/codec.h"

namespace tug {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(Usage, TheTotalIsTheReportedOneOrInputAndOutput) {
  EXPECT_EQ((Usage{.input_tokens = 10, .output_tokens = 5}.total()), 15);
  EXPECT_EQ((Usage{.input_tokens = 10, .output_tokens = 5, .total_tokens = 17}.total()), 17);
  EXPECT_EQ((Usage{.input_tokens = 10, .output_tokens = 5, .total_tokens = 0}.total()), 0);
  // Parts are inside their wholes.
  EXPECT_EQ((Usage{10, 5, 4, 3, 2, {}}.total()), 15);
}

TEST(Usage, AddingSumsEveryCountAndTheTotals) {
  const Usage plain{10, 5, 4, 3, 2, {}};
  EXPECT_EQ(plain + plain, (Usage{20, 10, 8, 6, 4, {}}));
  // 17 reported for 15 counted, and nothing reported for 15: 32 of 30.
  const Usage reported{10, 5, 4, 3, 2, 17};
  EXPECT_EQ(reported + plain, (Usage{20, 10, 8, 6, 4, 32}));
  EXPECT_EQ(plain + reported, (Usage{20, 10, 8, 6, 4, 32}));
  EXPECT_EQ((reported + plain).total(), reported.total() + plain.total());
  EXPECT_EQ(Usage{} + plain, plain);
}

TEST(Usage, SumsSaturateAndNonsenseCountsAsZero) {
  const Usage huge{.input_tokens = kMost, .output_tokens = 1};
  EXPECT_EQ(huge.total(), kMost);
  EXPECT_EQ((huge + huge).input_tokens, kMost);
  EXPECT_EQ((huge + huge).total(), kMost);
  const Usage nonsense{-5, 7, -1, -1, -1, -3};
  EXPECT_EQ(nonsense.total(), 7);
  EXPECT_EQ(nonsense + Usage{}, (Usage{.output_tokens = 7}));
}

TEST(Usage, IsWrittenWithAllCountsAndReadBack) {
  const Usage plain{10, 5, 4, 3, 2, {}};
  EXPECT_EQ(print_json(write_json(plain)),
            R"({"input_tokens":10,"output_tokens":5,"cache_read_tokens":4,"cache_write_tokens":3,)"
            R"("reasoning_tokens":2,"total_tokens":15})");
  const Usage reported{10, 5, 4, 3, 2, 17};
  for (const Usage& usage : {plain, reported, Usage{}, Usage{.total_tokens = 3}}) {
    EXPECT_EQ(read_json<Usage>(write_json(usage)).value(), usage);
  }
  EXPECT_EQ(read_json<Usage>(Json::object({{"input_tokens", 7}, {"output_tokens", -2}})).value(),
            (Usage{.input_tokens = 7}));
}

struct Call {
  std::string model;
  std::vector<Usage> usage;
};

TEST(Usage, FaultsInsideItAreNamedByTheWholePath) {
  const Json call = Json::object(
      {{"model", "m"},
       {"usage", Json::array({Json::object({{"input_tokens", "x"}, {"ouput_tokens", 1}})})}});
  EXPECT_EQ(read_json<Call>(call).error().message(),
            R"($.usage[0].input_tokens: expected integer, got string "x"; )"
            R"($.usage[0]: unknown field "ouput_tokens"; did you mean "output_tokens"?)");
}

}  // namespace
}  // namespace tug
