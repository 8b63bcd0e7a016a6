#include "model/offline/arithmetic.h"

#include <gtest/gtest.h>

namespace tug {
namespace {

std::string answer(std::string_view expression) {
  const Result<Sum> sum = evaluate(expression);
  if (!sum) return std::string(name_of(sum.error().kind())) + ": " + sum.error().message();
  return (sum->exact ? "" : "about ") + sum->value;
}

TEST(Arithmetic, FollowsTheUsualOrder) {
  const std::pair<const char*, const char*> rows[] = {
      {"1+2*3", "7"},     {"(1+2)*3", "9"},       {"2^3^2", "512"},        {"-2^2", "-4"},
      {"(-2)^2", "4"},    {"2^-2", "0.25"},       {"10 % 4", "2"},         {"-7 % 3", "-1"},
      {"7.5 % 2", "1.5"}, {"100 - 7 - 3", "90"},  {"100 / 5 / 2", "10"},   {"--3", "3"},
      {"2*-3", "-6"},     {"1,000 * 3", "3000"},  {".5 + 1.", "1.5"},      {"((((1))))", "1"},
      {"0^0", "1"},       {"(-1)^1000001", "-1"}, {"1^999999999999", "1"}, {"0^5", "0"},
  };
  for (const auto& [expression, expected] : rows)
    EXPECT_EQ(answer(expression), expected) << expression;
}

TEST(Arithmetic, IsExact) {
  EXPECT_EQ(answer("0.1 + 0.2"), "0.3");
  EXPECT_EQ(answer("2^64"), "18446744073709551616");
  EXPECT_EQ(answer("9007199254740993 - 1"), "9007199254740992");
  EXPECT_EQ(answer("1/3*3"), "1");
  EXPECT_EQ(answer("1/3"), "about 0.333333333333");
  EXPECT_EQ(answer("-1/8"), "-0.125");
  EXPECT_EQ(answer("22/7 - 3"), "about 0.142857142857");
}

TEST(Arithmetic, SaysWhatCannotBeDone) {
  EXPECT_EQ(answer("1/0"), "invalid: that divides by zero");
  EXPECT_EQ(answer("5 % (2-2)"), "invalid: that divides by zero");
  EXPECT_EQ(answer("0^-1"), "invalid: that divides by zero");
  EXPECT_EQ(answer("2^0.5"), "invalid: powers have to be whole numbers");
  EXPECT_EQ(answer("2^200"), "exhausted: a number on the way has more than 38 digits");
  EXPECT_EQ(answer("9999999999999999999999999999999999999999"),
            "exhausted: a number on the way has more than 38 digits");
  EXPECT_EQ(answer("2^99999999999"), "exhausted: a number on the way has more than 38 digits");
  EXPECT_EQ(answer("2^127"), "exhausted: a number on the way has more than 38 digits");
  EXPECT_EQ(answer("1 +"), "invalid: at place 4 I expected a number, not the end");
  EXPECT_EQ(answer("(1 + 2"), "invalid: at place 7 I expected \")\", not the end");
  EXPECT_EQ(answer("1 2"), "invalid: at place 3 I expected an operator, not \"2\"");
  EXPECT_EQ(answer(""), "invalid: at place 1 I expected a number, not the end");
}

TEST(Arithmetic, SurvivesHostileText) {
  EXPECT_EQ(answer(std::string(1999, '(')), "invalid: the expression is nested too deeply");
  EXPECT_EQ(answer(std::string(1999, '-')), "invalid: the expression is nested too deeply");
  EXPECT_EQ(answer(std::string(5000, '1')), "invalid: the expression is longer than 2000 bytes");
}

TEST(Arithmetic, KnowsASumFromAPath) {
  for (const char* text : {"1+1", " (2 ^ 3) ", "1,000/3"})
    EXPECT_TRUE(looks_like_sum(text)) << text;
  for (const char* text : {"42", "src/core", "a+b", "+", "", "2026-x"})
    EXPECT_FALSE(looks_like_sum(text)) << text;
}

}  // namespace
}  // namespace tug
