#include "tug/core/error.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "core/try.h"

namespace tug {
namespace {

Result<int> half(int value) {
  if (value % 2) return fail(ErrorKind::invalid, "7 is odd", "give an even number");
  return value / 2;
}

Result<int> quarter(int value) {
  TUG_TRY(once, half(value));
  TUG_TRY(twice, half(once));
  return twice;
}

TEST(Error, TryCarriesTheFailureUpAndTheValueThrough) {
  EXPECT_EQ(quarter(12).value(), 3);
  auto failed = quarter(14);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind(), ErrorKind::invalid);
  EXPECT_EQ(to_string(failed.error()), "7 is odd (give an even number)");
}

TEST(Error, DetailTellsACapFromADeadlineWithoutReadingText) {
  Error cap(ErrorKind::exhausted, "spent", "", Limit{LimitKind::model_calls, 3, 3, "r1"});
  Error deadline(ErrorKind::exhausted, "spent", "", Limit{LimitKind::wall_clock, 3, 3, "r1"});
  EXPECT_EQ(cap.detail_if<Limit>()->kind, LimitKind::model_calls);
  EXPECT_EQ(deadline.detail_if<Limit>()->kind, LimitKind::wall_clock);
  EXPECT_EQ(cap.detail_if<Overflow>(), nullptr);
}

TEST(Error, WithinNamesThePlaceAndKeepsTheRest) {
  Error error = Error(ErrorKind::denied, "no", "ask", Denied{"shell", "rule 3"}).within("call 1.0");
  EXPECT_EQ(error.message(), "call 1.0: no");
  EXPECT_EQ(error.fix(), "ask");
  EXPECT_EQ(error.detail_if<Denied>()->by, "rule 3");
}

TEST(Guarded, TurnsWhatForeignCodeThrowsIntoAnInternalErrorThatNamesIt) {
  auto thrown = guarded("tool add", []() -> int { throw std::runtime_error("boom"); });
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().kind(), ErrorKind::internal);
  EXPECT_EQ(thrown.error().message(), "tool add threw: boom");

  auto odd = guarded("tool add", []() -> Result<int> { throw 7; });
  EXPECT_EQ(odd.error().message(), "tool add threw something that is not a std::exception");
  EXPECT_TRUE(guarded("nothing", [] {}));
  EXPECT_EQ(guarded("own error", [] { return half(7); }).error().kind(), ErrorKind::invalid);
}

}  // namespace
}  // namespace tug
