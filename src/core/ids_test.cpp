#include "tug/core/ids.h"

#include <gtest/gtest.h>

#include <set>

namespace tug {
namespace {

Time at_ms(std::int64_t ms) { return Time(std::chrono::milliseconds(ms)); }

TEST(Ids, SortByTheTimeTheyWereMade) {
  auto ids = make_time_ordered_ids(7);
  std::string previous;
  for (std::int64_t ms : {1L, 2L, 1'000L, 1'700'000'000'000L, 1'900'000'000'000L}) {
    std::string id = ids->next(at_ms(ms));
    EXPECT_EQ(id.size(), 26u);
    EXPECT_LT(previous, id);
    previous = id;
  }
}

TEST(Ids, KeepSortingWithinAMillisecondAndWhenTheClockStepsBack) {
  auto ids = make_time_ordered_ids(7);
  std::string previous = ids->next(at_ms(5'000));
  for (int i = 0; i < 1'000; ++i) {
    std::string id = ids->next(at_ms(i % 2 ? 5'000 : 1'000));
    EXPECT_LT(previous, id);
    previous = id;
  }
}

TEST(Ids, ComeOutTheSameFromTheSameSeedAndDifferFromAnother) {
  auto a = make_time_ordered_ids(1);
  auto b = make_time_ordered_ids(1);
  auto c = make_time_ordered_ids(2);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a->next(at_ms(9)), b->next(at_ms(9)));
  EXPECT_NE(make_time_ordered_ids(1)->next(at_ms(9)), c->next(at_ms(9)));
}

TEST(Ids, CallIdsNameTheirPlaceInTheLog) {
  EXPECT_EQ(make_call_id(12, 3).text(), "12.3");
  EXPECT_EQ(make_counting_ids("run")->next(at_ms(0)), "run-1");
}

}  // namespace
}  // namespace tug
