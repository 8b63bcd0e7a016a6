#include "tug/context/budget.h"

#include <gtest/gtest.h>

#include <limits>

#include <chrono>
#include <utility>
#include <vector>

#include "tug/core/cost.h"
#include "tug/core/rng.h"

namespace tug {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kStart{seconds(100)};

Budget root_with(Limits limits, Limits defaults = {}) {
  return Budget::root({.scope = RunId("root"), .limits = limits, .defaults = defaults}, kStart);
}
Budget run_below(const Budget& parent, const char* name, Limits limits = {}, Limits defaults = {}) {
  auto child =
      parent.child_run({.scope = RunId(name), .limits = limits, .defaults = defaults}, kStart);
  EXPECT_TRUE(child);
  return *child;
}

struct Tripped {
  ErrorKind kind;
  LimitKind limit_kind;
  std::int64_t limit, used;
  std::string scope;
  friend bool operator==(const Tripped&, const Tripped&) = default;
};
template <class T>
std::optional<Tripped> tripped(const Result<T>& result) {
  if (result) return {};
  const auto* limit = result.error().template detail_if<Limit>();
  if (!limit) return {};
  return Tripped{result.error().kind(), limit->kind, limit->limit, limit->used, limit->scope};
}

TEST(Budget, AHoldFitsUpToAndIncludingTheLimit) {
  struct Case {
    Limits limits;
    Amount first, second;
    std::optional<Tripped> expected;
  };
  const Case cases[] = {
      {{}, {.model_calls = 1'000'000}, {.cost = 1'000'000}, {}},
      {{.model_calls = 2}, {.model_calls = 1}, {.model_calls = 1}, {}},
      {{.model_calls = 2},
       {.model_calls = 2},
       {.model_calls = 1},
       Tripped{ErrorKind::exhausted, LimitKind::model_calls, 2, 2, "root"}},
      {{.tool_calls = 3},
       {.tool_calls = 1},
       {.tool_calls = 3},  // a batch is one hold
       Tripped{ErrorKind::exhausted, LimitKind::tool_calls, 3, 1, "root"}},
      {{.tokens = 100},
       {.tokens = 60},
       {.tokens = 41},
       Tripped{ErrorKind::exhausted, LimitKind::tokens, 100, 60, "root"}},
      {{.cost = 100},
       {.cost = 60},
       {.cost = 41},
       Tripped{ErrorKind::exhausted, LimitKind::cost, 100, 60, "root"}},
      // A kind that is not wanted cannot trip, even when it is overspent.
      {{.model_calls = 0}, {.tool_calls = 1}, {.tool_calls = 1}, {}},
      {{.tokens = 10},
       {.tokens = 1},
       {.tokens = INT64_MAX},
       Tripped{ErrorKind::exhausted, LimitKind::tokens, 10, 1, "root"}},
  };
  for (const Case& c : cases) {
    const Budget budget = root_with(c.limits);
    const Hold first = *budget.hold(c.first);
    const auto second = budget.hold(c.second);
    EXPECT_EQ(tripped(second), c.expected);
    if (!second) EXPECT_EQ(budget.held(), c.first) << "a refused hold takes nothing";
  }
}

TEST(Budget, TheErrorNamesTheLimitTheScopeAndTheFix) {
  const Budget budget = root_with({.model_calls = 1});
  const Hold held = *budget.hold({.model_calls = 1});
  EXPECT_EQ(to_string(budget.hold({.model_calls = 1}).error()),
            "limit reached: 1 of 1 model calls spent or held in run root, 1 more wanted (raise the "
            "limit model_calls of that run)");
}

TEST(Budget, AHoldIsTakenAtEveryAncestorOrNowhere) {
  const Budget root = root_with({.tokens = 100});
  const Budget middle = run_below(root, "middle", {.tokens = 80});
  const Budget leaf = run_below(middle, "leaf");
  Hold hold = *leaf.hold({.tokens = 70});
  EXPECT_EQ(leaf.held(), Amount{.tokens = 70});
  EXPECT_EQ(middle.held(), Amount{.tokens = 70});
  EXPECT_EQ(root.held(), Amount{.tokens = 70});
  EXPECT_EQ(tripped(leaf.hold({.tokens = 11})),
            (Tripped{ErrorKind::exhausted, LimitKind::tokens, 80, 70, "middle"}));
  EXPECT_EQ(tripped(root.hold({.tokens = 31})),
            (Tripped{ErrorKind::exhausted, LimitKind::tokens, 100, 70, "root"}));
  EXPECT_EQ(leaf.held(), Amount{.tokens = 70});
  hold.release();
  EXPECT_EQ(root.held(), Amount{});
  EXPECT_EQ(root.used(), Amount{});
}

TEST(Budget, SettlingCountsWhatWasSpentAndReportsWhatWasNotHeld) {
  const Budget root = root_with({.tokens = 100});
  const Budget child = run_below(root, "child");
  Hold hold = *child.hold({.model_calls = 1, .tokens = 50});
  EXPECT_EQ(hold.settle({.model_calls = 1, .tokens = 120}), Amount{.tokens = 70});
  EXPECT_FALSE(hold.open());
  EXPECT_EQ(hold.settle({.tokens = 9}), Amount{}) << "a hold settles once";
  EXPECT_EQ(root.used(), (Amount{.model_calls = 1, .tokens = 120}));
  EXPECT_EQ(root.held(), Amount{});
  EXPECT_EQ(root.left(LimitKind::tokens), 0);
  EXPECT_EQ(tripped(root.hold({.tokens = 1})),
            (Tripped{ErrorKind::exhausted, LimitKind::tokens, 100, 120, "root"}));
}

TEST(Budget, AHoldThatNobodySettlesCountsAsUsed) {
  const Budget root = root_with({});
  {
    const Hold lost = *root.hold({.tool_calls = 2});
    Hold moved = *root.hold({.tokens = 5});
    const Hold target = std::move(moved);
    EXPECT_FALSE(moved.open());
  }
  EXPECT_EQ(root.used(), (Amount{.tool_calls = 2, .tokens = 5}));
  Hold replaced = *root.hold({.tokens = 1});
  replaced = Hold();
  EXPECT_EQ(root.used(), (Amount{.tool_calls = 2, .tokens = 6}));
}

TEST(Budget, AHoldOutlivesTheHandlesOfItsNode) {
  const Budget root = root_with({});
  Hold hold;
  {
    const Budget child = run_below(root, "child");
    hold = *child.hold({.tokens = 5});
  }
  hold.settle({.tokens = 3});
  EXPECT_EQ(root.used(), Amount{.tokens = 3});
}

TEST(Budget, ALimitBindsTheSubtreeAndADefaultOneRun) {
  const Budget root = root_with({}, {.model_calls = 2});
  const Budget child = run_below(root, "child", {}, {.model_calls = 2});
  const Budget part = child.part({.tool_calls = 1}, kStart);
  const Hold a = *root.hold({.model_calls = 2});
  const Hold b = *child.hold({.model_calls = 1});
  const Hold c = *part.hold({.model_calls = 1});  // a part is its run
  EXPECT_EQ(tripped(part.hold({.model_calls = 1})),
            (Tripped{ErrorKind::exhausted, LimitKind::model_calls, 2, 2, "child"}));
  EXPECT_EQ(tripped(root.hold({.model_calls = 1})),
            (Tripped{ErrorKind::exhausted, LimitKind::model_calls, 2, 2, "root"}));
  EXPECT_EQ(root.held(), Amount{.model_calls = 4});

  const Budget bound = root_with({.model_calls = 2}, {.model_calls = 9});
  const Budget below = run_below(bound, "below");
  const Hold d = *below.hold({.model_calls = 2});
  EXPECT_EQ(tripped(bound.hold({.model_calls = 1})),
            (Tripped{ErrorKind::exhausted, LimitKind::model_calls, 2, 2, "root"}));
}

TEST(Budget, OwnSpendingLeavesChildRunsOut) {
  const Budget root = root_with({});
  const Budget child = run_below(root, "child");
  root.charge({.tokens = 1});
  child.charge({.tokens = 10});
  child.part({}, kStart).charge({.tokens = 100});
  EXPECT_EQ(root.used(), Amount{.tokens = 111});
  EXPECT_EQ(root.own_used(), Amount{.tokens = 1});
  EXPECT_EQ(child.own_used(), Amount{.tokens = 110});
}

TEST(Budget, ANegativeHoldIsRefused) {
  const auto result = root_with({}).hold({.tokens = -1});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::invalid);
}

TEST(Budget, DepthCountsRunsBelowTheOneThatSetTheLimit) {
  const Budget root = root_with({.depth = 3});
  const Budget one = run_below(root, "one", {.depth = 1});
  const Budget two = run_below(one, "two");
  EXPECT_EQ(two.depth(), 2u);
  EXPECT_EQ(tripped(two.child_run({.scope = RunId("three")}, kStart)),
            (Tripped{ErrorKind::exhausted, LimitKind::depth, 1, 2, "one"}));
  const Budget other = run_below(run_below(run_below(root, "a"), "b"), "c");
  EXPECT_EQ(tripped(other.child_run({.scope = RunId("d")}, kStart)),
            (Tripped{ErrorKind::exhausted, LimitKind::depth, 3, 4, "root"}));
  EXPECT_EQ(other.part({}, kStart).depth(), 3u) << "a part is no level";
  EXPECT_EQ(root_with({}).limits().depth, kDefaultMaxDepth);
  EXPECT_EQ(root_with({.depth = 0}).child_run({}, kStart).has_value(), false);
}

TEST(Budget, AModelCallTakesWhatIsLeft) {
  struct Case {
    const char* what;
    Limits limits;
    ModelCallWant want;
    std::optional<std::int64_t> output;  // nothing: refused
    Amount held;
  };
  // Pico-dollars a token.
  const Price dear{.input = 10'000, .output = 2'000};
  const Price cheap{.input = 0, .output = 500};
  const Price gift{.input = 0, .output = 0};
  const Price cached{.input = 10'000, .output = 2'000, .cache_read = 1'000, .cache_write = 12'000};
  const Price half{.input = 10'000};
  const Case cases[] = {
      {"no limits",
       {},
       {.prompt_tokens = 10, .max_output_tokens = 4000},
       4000,
       {.model_calls = 1, .tokens = 4010}},
      {"lowered",
       {.tokens = 1000},
       {.prompt_tokens = 10, .max_output_tokens = 4000},
       990,
       {.model_calls = 1, .tokens = 1000}},
      {"the least",
       {.tokens = 266},
       {.prompt_tokens = 10, .max_output_tokens = 4000},
       256,
       {.model_calls = 1, .tokens = 266}},
      {"less than the least",
       {.tokens = 265},
       {.prompt_tokens = 10, .max_output_tokens = 4000},
       {},
       {}},
      {"little was asked for",
       {.tokens = 110},
       {.prompt_tokens = 10, .max_output_tokens = 100},
       100,
       {.model_calls = 1, .tokens = 110}},
      {"prompt alone too long",
       {.tokens = 100},
       {.prompt_tokens = 200, .max_output_tokens = 100},
       {},
       {}},
      {"no calls left", {.model_calls = 0}, {.prompt_tokens = 1, .max_output_tokens = 300}, {}, {}},
      {"lowered by cost",
       {.cost = 1000},
       {.prompt_tokens = 10, .max_output_tokens = 4000, .price = &dear},
       450,
       {.model_calls = 1, .tokens = 460, .cost = 1000}},
      {"cost is rounded up",
       {},
       {.prompt_tokens = 0, .max_output_tokens = 3, .price = &cheap},
       3,
       {.model_calls = 1, .tokens = 3, .cost = 2}},
      {"too dear",
       {.cost = 600},
       {.prompt_tokens = 10, .max_output_tokens = 4000, .price = &dear},
       {},
       {}},
      {"the prompt at the rate of writing the cache",
       {},
       {.prompt_tokens = 10, .max_output_tokens = 1, .price = &cached},
       1,
       {.model_calls = 1, .tokens = 11, .cost = 122}},
      {"half a price is none",
       {.cost = 600},
       {.prompt_tokens = 1, .max_output_tokens = 300, .price = &half},
       {},
       {}},
      {"unknown price", {.cost = 600}, {.prompt_tokens = 10, .max_output_tokens = 300}, {}, {}},
      {"unknown price, but tokens are limited",
       {.tokens = 400, .cost = 600},
       {.prompt_tokens = 10, .max_output_tokens = 300},
       300,
       {.model_calls = 1, .tokens = 310}},
      {"free",
       {.cost = 0},
       {.prompt_tokens = 10, .max_output_tokens = 300, .price = &gift},
       300,
       {.model_calls = 1, .tokens = 310}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const Budget budget = root_with(c.limits);
    const auto hold = budget.hold_model_call(c.want);
    ASSERT_EQ(hold.has_value(), c.output.has_value());
    EXPECT_EQ(budget.held(), c.held);
    if (hold) EXPECT_EQ(hold->max_output_tokens, *c.output);
  }
}

TEST(Budget, AModelCallThatDoesNotFitNamesWhatIsShort) {
  const Price price{.input = 1'000, .output = 1'000};
  EXPECT_EQ(tripped(root_with({.tokens = 200}).hold_model_call({100, 4000})),
            (Tripped{ErrorKind::exhausted, LimitKind::tokens, 200, 0, "root"}));
  EXPECT_EQ(tripped(root_with({.cost = 200}).hold_model_call({100, 4000, &price})),
            (Tripped{ErrorKind::exhausted, LimitKind::cost, 200, 0, "root"}));
  const auto unpriced = root_with({.cost = 200}).hold_model_call({100, 4000});
  EXPECT_EQ(unpriced.error().kind(), ErrorKind::invalid);
}

TEST(Budget, TheNearestDeadlineOnThePathCounts) {
  const Budget root = root_with({.wall_clock = seconds(10)}, {});
  auto late = root.child_run({.scope = RunId("late"), .limits = {.wall_clock = seconds(20)}},
                             kStart + seconds(2));
  auto soon = root.child_run({.scope = RunId("soon"), .limits = {.wall_clock = seconds(3)}},
                             kStart + seconds(2));
  const Instant now = kStart + seconds(4);
  EXPECT_EQ(root.deadline(now), kStart + seconds(10));
  EXPECT_EQ(late->deadline(now), kStart + seconds(10));
  EXPECT_EQ(soon->deadline(now), kStart + seconds(5));
  EXPECT_TRUE(soon->check_deadline(kStart + milliseconds(4999)));
  EXPECT_EQ(tripped(soon->check_deadline(kStart + seconds(5))),
            (Tripped{ErrorKind::exhausted, LimitKind::wall_clock, 3000, 3000, "soon"}));
  EXPECT_EQ(tripped(late->check_deadline(kStart + seconds(11))),
            (Tripped{ErrorKind::exhausted, LimitKind::wall_clock, 10000, 11000, "root"}));
  EXPECT_EQ(root_with({}).deadline(now), kNever);
  EXPECT_EQ(root_with({.wall_clock = Duration::max()}).deadline(now), kNever);
}

TEST(Budget, ADefaultDeadlineBindsOneRun) {
  const Budget root = root_with({}, {.wall_clock = seconds(1)});
  const Budget child = run_below(root, "child");
  EXPECT_FALSE(root.check_deadline(kStart + seconds(2)));
  EXPECT_FALSE(root.part({}, kStart).check_deadline(kStart + seconds(2)));
  EXPECT_TRUE(child.check_deadline(kStart + seconds(2)));
}

TEST(Budget, TimeParkedDoesNotCount) {
  const Budget root = root_with({.wall_clock = seconds(10)});
  const Budget child = run_below(root, "child");
  child.park(kStart + seconds(4));
  child.park(kStart + seconds(5));
  EXPECT_EQ(root.deadline(kStart + seconds(6)), kNever);
  EXPECT_TRUE(root.check_deadline(kStart + seconds(1000)));
  EXPECT_EQ(root.alive(kStart + seconds(1000)), seconds(4));
  root.unpark(kStart + seconds(1000));
  root.unpark(kStart + seconds(1001));
  EXPECT_EQ(root.alive(kStart + seconds(1001)), seconds(5));
  EXPECT_EQ(child.deadline(kStart + seconds(1001)), kStart + seconds(1006));
}

TEST(Budget, ASnapshotRestoresWithHoldsCountedAsUsed) {
  const Budget root = root_with({.tokens = 100, .wall_clock = seconds(10)});
  root.charge({.tokens = 10});
  const Budget child = *root.child_run(
      {.scope = RunId("child"), .limits = {.wall_clock = seconds(5)}}, kStart + seconds(3));
  Hold open = *child.hold({.tokens = 20});
  const BudgetSnapshot root_was = root.snapshot(kStart + seconds(4));
  const BudgetSnapshot child_was = child.snapshot(kStart + seconds(4));
  EXPECT_EQ(root_was, (BudgetSnapshot{.used = {.tokens = 10},
                                      .held = {.tokens = 20},
                                      .own_used = {.tokens = 10},
                                      .own_held = {},
                                      .born = {},
                                      .alive = seconds(4)}));

  const Instant later = kStart + seconds(1'000'000);
  const Budget root2 = Budget::root({.scope = RunId("root"),
                                     .limits = {.tokens = 100, .wall_clock = seconds(10)},
                                     .restored = root_was},
                                    later);
  const Budget child2 = *root2.child_run(
      {.scope = RunId("child"), .limits = {.wall_clock = seconds(5)}, .restored = child_was},
      later);
  EXPECT_EQ(root2.used(), Amount{.tokens = 30});
  EXPECT_EQ(root2.own_used(), Amount{.tokens = 10});
  EXPECT_EQ(child2.used(), Amount{.tokens = 20});
  EXPECT_EQ(root2.held(), Amount{});
  EXPECT_EQ(root2.deadline(later), later + seconds(6));
  EXPECT_EQ(child2.deadline(later), later + seconds(4));
}

TEST(Budget, AnEmptyBudgetAllowsEverything) {
  const Budget none;
  EXPECT_TRUE(none.hold({.tokens = 1'000'000}));
  EXPECT_TRUE(none.child_run({}, kStart));
  EXPECT_TRUE(none.check_deadline(kStart));
  EXPECT_EQ(none.deadline(kStart), kNever);
  EXPECT_EQ(none.left(LimitKind::tokens), std::nullopt);
  EXPECT_EQ(none.hold_model_call({1, 500})->max_output_tokens, 500);
}

TEST(Budget, SumsStopAtTheLargestValue) {
  const Budget root = root_with({});
  root.charge({.tokens = INT64_MAX});
  root.charge({.tokens = INT64_MAX});
  EXPECT_EQ(root.used().tokens, INT64_MAX);
}

// Children interleave as they would on one loop: hold here, settle there, in any order.
TEST(Budget, InterleavedChildrenNeverPassALimitAboveThem) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const std::int64_t limit = static_cast<std::int64_t>(rng.below(500)) + 50;
    std::vector<Budget> nodes{root_with({.tokens = limit, .depth = 100})};
    std::vector<std::int64_t> caps{limit};
    std::vector<Hold> open;
    std::int64_t spent = 0;
    for (int i = 0; i < 2000; ++i) {
      const std::size_t at = rng.below(nodes.size());
      switch (rng.below(4)) {
        case 0:
          if (nodes.size() < 20) {
            const auto cap = static_cast<std::int64_t>(rng.below(300));
            nodes.push_back(run_below(nodes[at], "child", {.tokens = cap}));
            caps.push_back(cap);
          }
          break;
        case 1:
          if (auto hold = nodes[at].hold({.tokens = static_cast<std::int64_t>(rng.below(40))})) {
            open.push_back(*std::move(hold));
          }
          break;
        default:
          if (!open.empty()) {
            const std::size_t which = rng.below(open.size());
            const auto held = static_cast<std::uint64_t>(open[which].amount().tokens);
            const auto actual = static_cast<std::int64_t>(rng.below(held + 1));
            open[which].settle({.tokens = actual});
            spent += actual;
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
          }
      }
      std::int64_t held = 0;
      for (const Hold& hold : open) held += hold.amount().tokens;
      ASSERT_EQ(nodes[0].used().tokens, spent);
      ASSERT_EQ(nodes[0].held().tokens, held);
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        ASSERT_LE(nodes[n].used().tokens + nodes[n].held().tokens, caps[n]);
      }
    }
  }
}

TEST(Budget, ACountBelowZeroGivesNothingBack) {
  const Budget root = Budget::root({RunId("r"), {.tokens = 100}, {}, {}}, Instant{});
  root.charge({.tokens = 90});
  root.charge({.tokens = -1000});
  EXPECT_EQ(root.left(LimitKind::tokens), 10);
  auto hold = root.hold({.tokens = 10});
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->settle({.tokens = std::numeric_limits<std::int64_t>::min()}), Amount{});
  EXPECT_EQ(root.used(), (Amount{.tokens = 90}));
}

}  // namespace
}  // namespace tug
