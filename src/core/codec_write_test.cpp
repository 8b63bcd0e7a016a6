#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tug/core/codec.h"

namespace tug {
namespace {

template <class T>
std::string written(const T& value) {
  return print_json(write_json(value));
}

enum class Unit : std::int8_t { minus = -1, celsius, fahrenheit };
struct Point {
  double x = 0;
  double y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};
struct Secret {};

struct Everything {
  std::uint64_t large = std::numeric_limits<std::uint64_t>::max();
  bool yes = true;
  std::int8_t small = -7;
  std::string text = "a\"b";
  std::optional<int> absent;
  std::optional<int> present = 1;
  Injected<Secret> secret;
  std::vector<Point> points;
  std::array<bool, 2> flags = {true, false};
  std::map<std::string, std::vector<int>> table;
  std::map<Unit, int> by_unit;
  Unit unit = Unit::minus;
  Json any;
  std::unique_ptr<Point> none;
  std::shared_ptr<const Point> some;
  std::variant<std::string, Point> either;
  std::vector<std::optional<int>> gaps;
  Described<double, "a share"> share = 0.25;
};

TEST(WriteJson, KeepsTheOrderAndOmitsWhatIsEmptyOrInjected) {
  Everything all;
  all.points = {{1, 2}};
  all.table = {{"z", {1}}, {"a", {}}};
  all.by_unit = {{Unit::fahrenheit, 2}, {Unit::celsius, 1}};
  all.some = std::make_shared<const Point>(Point{3, 4});
  all.either = Point{5, 6};
  all.gaps = {1, std::nullopt};
  all.secret = std::make_shared<const Secret>();
  EXPECT_EQ(written(all),
            R"({"large":18446744073709551615,"yes":true,"small":-7,"text":"a\"b","present":1,)"
            R"("points":[{"x":1.0,"y":2.0}],"flags":[true,false],"table":{"a":[],"z":[1]},)"
            R"("by_unit":{"celsius":1,"fahrenheit":2},"unit":"minus","any":null,)"
            R"("some":{"x":3.0,"y":4.0},"either":{"x":5.0,"y":6.0},"gaps":[1,null],"share":0.25})");
}

TEST(WriteJson, WrittenObjectsAreFoundInAndGrowLikeAnyOther) {
  Json json = write_json(Everything{});
  ASSERT_EQ(json.size(), 14u);
  for (const Json::Member& member : json.members()) {
    EXPECT_EQ(json.find(member.key()), &member.value) << member.key();
  }
  json.set("text", "changed").set("one more", 1);
  EXPECT_EQ(json["text"], Json("changed"));
  EXPECT_EQ(json["one more"], Json(1));
  EXPECT_EQ(json.size(), 15u);
}

TEST(WriteJson, WhatIsWrittenReadsBack) {
  Everything all;
  all.points = {{1, 2}, {-0.5, 1e300}};
  all.by_unit = {{Unit::minus, 2}};
  all.some = std::make_shared<const Point>(Point{3, 4});
  all.either = Point{5, 6};
  all.any = Json::array({1, "x"});
  const Json json = write_json(all);
  const auto back = read_json<Everything>(json);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(print_json(write_json(*back)), print_json(json));
  EXPECT_EQ(back->points, all.points);
  EXPECT_EQ(std::get<Point>(back->either), (Point{5, 6}));
}

TEST(WriteJson, WritesAFloatAsTheShortestDecimal) {
  EXPECT_EQ(written(0.1f), "0.1");
  EXPECT_EQ(written(16777216.0f), "16777216.0");
  for (float value : {0.1f, 1.0f / 3, 3.4028235e38f, 1e-45f, -0.0f}) {
    EXPECT_EQ(read_json<float>(write_json(value)).value(), value);
  }
}

TEST(WriteJson, NumbersThatAreNoneBecomeNull) {
  EXPECT_EQ(written(std::nan("")), "null");
  EXPECT_EQ(written(std::numeric_limits<float>::infinity()), "null");
}

TEST(WriteJson, AnEnumValueWithoutANameIsItsNumber) {
  EXPECT_EQ(written(static_cast<Unit>(77)), "77");
}

struct Link {
  std::shared_ptr<Link> next;
};

TEST(WriteJson, ACycleEndsAtTheDepthLimit) {
  auto link = std::make_shared<Link>();
  link->next = link;
  const std::string text = written(*link);
  link->next.reset();
  EXPECT_EQ(text.find("null") != text.npos, true);
  EXPECT_EQ(std::count(text.begin(), text.end(), '{'), static_cast<long>(kMaxJsonDepth));
  EXPECT_TRUE(parse_json(text)) << "what is written can be parsed";
}

}  // namespace
}  // namespace tug
