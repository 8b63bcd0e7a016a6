#include "core/timer_heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tug/core/rng.h"

namespace tug {
namespace {

struct Alarm : Timer {
  explicit Alarm(int number = 0) noexcept : Timer([](Timer&) noexcept {}), id(number) {}
  int id;
};
Instant at(int n) { return Instant(Duration(n)); }

std::vector<int> drain(TimerHeap& heap, Instant until) {
  std::vector<int> ids;
  while (Timer* timer = heap.pop_due(until)) ids.push_back(static_cast<Alarm*>(timer)->id);
  return ids;
}

TEST(TimerHeap, GivesTheEarliestFirstAndTiesInArmingOrder) {
  TimerHeap heap;
  Alarm a(1), b(2), c(3), d(4);
  heap.arm(b, at(5));
  heap.arm(a, at(5));
  heap.arm(d, at(1));
  heap.arm(c, at(9));
  EXPECT_EQ(heap.earliest(), at(1));
  EXPECT_EQ(drain(heap, at(5)), (std::vector<int>{4, 2, 1}));
  EXPECT_FALSE(a.armed());
  EXPECT_TRUE(c.armed());
  EXPECT_EQ(drain(heap, at(9)), (std::vector<int>{3}));
  EXPECT_EQ(heap.earliest(), kNever);
}

TEST(TimerHeap, ArmingAgainMovesAndNeverDisarms) {
  TimerHeap heap;
  Alarm a(1), b(2);
  heap.arm(a, at(1));
  heap.arm(b, at(2));
  heap.arm(a, at(2));
  EXPECT_EQ(drain(heap, at(9)), (std::vector<int>{2, 1}));
  heap.arm(a, at(1));
  heap.arm(a, kNever);
  EXPECT_TRUE(heap.empty());
  EXPECT_FALSE(a.armed());
  heap.disarm(a);
}

TEST(TimerHeap, AgreesWithASortedListUnderRandomArmingAndDisarming) {
  const std::uint64_t seed = 20260203;
  RecordProperty("seed", static_cast<int>(seed));
  Rng rng(seed);
  TimerHeap heap;
  std::vector<std::unique_ptr<Alarm>> alarms;
  for (int i = 0; i < 200; ++i) alarms.push_back(std::make_unique<Alarm>(i));
  struct Expected {
    Instant when;
    std::uint64_t order;
    int id;
  };
  std::vector<Expected> model;
  std::uint64_t order = 0;
  for (int round = 0; round < 20'000; ++round) {
    const int id = static_cast<int>(rng.below(alarms.size()));
    std::erase_if(model, [&](const Expected& one) { return one.id == id; });
    if (rng.below(3) == 0) {
      heap.disarm(*alarms[id]);
    } else {
      const Instant when = at(static_cast<int>(rng.below(50)));
      heap.arm(*alarms[id], when);
      model.push_back({when, order++, id});
    }
    ASSERT_EQ(heap.size(), model.size());
    if (round % 100) continue;
    std::sort(model.begin(), model.end(), [](const Expected& a, const Expected& b) {
      return a.when != b.when ? a.when < b.when : a.order < b.order;
    });
    std::vector<int> ids;
    const Instant until = at(static_cast<int>(rng.below(50)));
    while (!model.empty() && model.front().when <= until) {
      ids.push_back(model.front().id);
      model.erase(model.begin());
    }
    ASSERT_EQ(drain(heap, until), ids) << "seed " << seed << ", round " << round;
  }
}

}  // namespace
}  // namespace tug
