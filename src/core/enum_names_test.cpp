#include "tug/core/enum_names.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace tug {
namespace {

enum class Effect : std::uint8_t { pure, idempotent, at_most_once = 100, last = 127 };
enum class Keyword : int { default_, class_, plain };
enum class Low : std::int8_t { lowest = -8, minus = -1, zero };
enum class Answer : bool { no, yes };
enum Unscoped { first = 1, second };
enum Negative { below = -3, above = 2 };
enum class Alias { one, uno = one, two };
template <class A, class B>
struct Outer {
  enum class Inner { left, right };
};
using Nested = Outer<std::pair<int, char>, Answer>::Inner;
// A scoped enum of a class template has no enumerators until one is named.
constexpr Nested kLeft = Nested::left;

using Names = std::vector<std::pair<std::string, std::int64_t>>;

template <class E>
Names names() {
  Names list;
  for (const EnumEntry& entry : enum_entries<E>()) list.emplace_back(entry.name, entry.value);
  return list;
}

TEST(EnumNames, AreFoundForEveryKindOfEnum) {
  EXPECT_EQ(names<Effect>(),
            (Names{{"pure", 0}, {"idempotent", 1}, {"at_most_once", 100}, {"last", 127}}));
  EXPECT_EQ(names<Low>(), (Names{{"lowest", -8}, {"minus", -1}, {"zero", 0}}));
  EXPECT_EQ(names<Answer>(), (Names{{"no", 0}, {"yes", 1}}));
  EXPECT_EQ(names<Unscoped>(), (Names{{"first", 1}, {"second", 2}}));
  EXPECT_EQ(names<Negative>(), (Names{{"below", -3}, {"above", 2}}));
  EXPECT_EQ(names<Nested>(), (Names{{"left", 0}, {"right", 1}}));
  EXPECT_EQ(enum_name(kLeft), "left");
  enum class Local { here, there };
  EXPECT_EQ(names<Local>(), (Names{{"here", 0}, {"there", 1}}));
}

TEST(EnumNames, LoseTheUnderscoreThatAKeywordNeeds) {
  EXPECT_EQ(names<Keyword>(), (Names{{"default", 0}, {"class", 1}, {"plain", 2}}));
}

TEST(EnumNames, OfTwoEnumeratorsWithOneValueNameTheFirst) {
  EXPECT_EQ(names<Alias>(), (Names{{"one", 0}, {"two", 1}}));
}

TEST(EnumNames, GoBothWaysWhileCompiling) {
  static_assert(enum_name(Effect::at_most_once) == "at_most_once");
  static_assert(enum_value<Effect>("idempotent") == Effect::idempotent);
  EXPECT_EQ(enum_name(static_cast<Effect>(77)), "");
  EXPECT_EQ(enum_value<Effect>("Pure"), std::nullopt);
}

}  // namespace
}  // namespace tug
