#include "tug/core/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace tug {
namespace {

constexpr const char* kLong = "a string that does not fit inside";

TEST(Json, IsSixteenBytes) { EXPECT_EQ(sizeof(Json), 16u); }

TEST(Json, ReadsWithFallbacksAndNeverFails) {
  const Json number = 5;
  EXPECT_EQ(number.as_string("none"), "none");
  EXPECT_EQ(number.as_bool(true), true);
  EXPECT_EQ(number.size(), 0u);
  EXPECT_TRUE(number.items().empty());
  EXPECT_TRUE(number["a"]["b"][3].is_null());
  EXPECT_EQ(Json("x").as_int(), std::nullopt);
  EXPECT_EQ(Json().as_double(), std::nullopt);
  EXPECT_EQ(Json(true).as_int(), std::nullopt);
}

TEST(Json, NumbersReadAsWhatTheyFitExactly) {
  struct Case {
    const char* text;
    std::optional<std::int64_t> as_int;
    std::optional<std::uint64_t> as_uint;
    double as_double;
    bool integer;
  };
  const double inf = std::numeric_limits<double>::infinity();
  const Case cases[] = {
      {"0", 0, 0, 0, true},
      {"-0", 0, 0, -0.0, true},
      {"-0.0", 0, 0, -0.0, false},
      {"7", 7, 7, 7, true},
      {"-7", -7, std::nullopt, -7, true},
      {"1.0", 1, 1, 1, false},
      {"1.5", std::nullopt, std::nullopt, 1.5, false},
      {"1e3", 1000, 1000, 1000, false},
      {"9223372036854775808", std::nullopt, 9223372036854775808u, 0x1p63, true},
      {"9223372036854775808.0", std::nullopt, 9223372036854775808u, 0x1p63, false},
      {"-9223372036854775808.0", INT64_MIN, std::nullopt, -0x1p63, false},
      {"18446744073709551616", std::nullopt, std::nullopt, 0x1p64, true},
      {"18446744073709551616.0", std::nullopt, std::nullopt, 0x1p64, false},
      {"1e400", std::nullopt, std::nullopt, inf, false},
      {"-1e400", std::nullopt, std::nullopt, -inf, false},
      {"-1e-400", std::nullopt, std::nullopt, -0.0, false},
  };
  for (const Case& c : cases) {
    const auto number = Json::number(c.text);
    ASSERT_TRUE(number) << c.text;
    EXPECT_EQ(number->as_int(), c.as_int) << c.text;
    EXPECT_EQ(number->as_uint(), c.as_uint) << c.text;
    EXPECT_EQ(number->as_double(), c.as_double) << c.text;
    EXPECT_EQ(std::signbit(*number->as_double()), std::signbit(c.as_double)) << c.text;
    EXPECT_EQ(number->is_integer(), c.integer) << c.text;
    EXPECT_EQ(*parse_json(print_json(*number)), *number) << c.text;
  }
}

TEST(Json, NumberRefusesWhatIsNotOne) {
  for (const char* text : {"", "-", "01", "1.", "1e", "NaN", "1 ", " 1", "0x1", "1,2"}) {
    auto number = Json::number(text);
    ASSERT_FALSE(number) << text;
    EXPECT_EQ(number.error().kind(), ErrorKind::invalid);
  }
}

TEST(Json, NaNAndInfinityBecomeNull) {
  EXPECT_TRUE(Json(std::nan("")).is_null());
  EXPECT_TRUE(Json(std::numeric_limits<double>::infinity()).is_null());
  EXPECT_TRUE(Json(-HUGE_VAL).is_null());
}

TEST(Json, StringsOfEveryLengthComeBackRepaired) {
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string text(size, 'q');
    EXPECT_EQ(Json(text).as_string(), text);
    EXPECT_EQ(Json(text), Json(std::string_view(text)));
  }
  EXPECT_EQ(Json("\xff").as_string(), "\xef\xbf\xbd");
  EXPECT_EQ(Json(std::string_view("a\0b", 3)).as_string(), std::string_view("a\0b", 3));
}

TEST(Json, KeepsTheOrderOfKeysAndThePlaceOfAReplacedOne) {
  Json object = Json::object({{"b", 1}, {"a", 2}, {"c", 3}});
  object.set("a", kLong).set("d", nullptr);
  EXPECT_EQ(print_json(object),
            R"({"b":1,"a":"a string that does not fit inside","c":3,"d":null})");
  EXPECT_TRUE(object.erase("a"));
  EXPECT_FALSE(object.erase("a"));
  EXPECT_EQ(print_json(object), R"({"b":1,"c":3,"d":null})");
}

TEST(Json, ChangingACopyLeavesTheOriginalAsItWas) {
  Json original = Json::object({{"list", Json::array({1, 2})}, {"name", kLong}});
  const std::string before = print_json(original);
  Json copy = original;
  copy.edit("list").push_back(3);
  copy.set("name", "new");
  copy.edit("inner").edit("deep").set("x", 1);
  Json third = copy;
  third.erase("list");
  EXPECT_EQ(print_json(original), before);
  EXPECT_EQ(print_json(copy), R"({"list":[1,2,3],"name":"new","inner":{"deep":{"x":1}}})");
  EXPECT_EQ(print_json(third), R"({"name":"new","inner":{"deep":{"x":1}}})");
}

TEST(Json, TheFirstWriteDecidesWhatANullBecomes) {
  Json object;
  object.set("a", 1);
  EXPECT_TRUE(object.is_object());
  Json array;
  array.push_back(1);
  EXPECT_TRUE(array.is_array());
  Json replaced = kLong;
  replaced.push_back(1);
  EXPECT_EQ(print_json(replaced), "[1]");
  replaced.set("a", 1);
  EXPECT_EQ(print_json(replaced), R"({"a":1})");
}

TEST(Json, MayBeWrittenWithItsOwnParts) {
  Json array = Json::array({kLong});
  for (int i = 0; i < 20; ++i) array.push_back(array[0]);
  EXPECT_EQ(array.size(), 21u);
  EXPECT_EQ(array[20].as_string(), kLong);
  array.push_back(array);
  EXPECT_EQ(array[21].size(), 21u);
  Json object = Json::object({{kLong, kLong}});
  object.set(object.members()[0].key(), object);
  EXPECT_EQ(object[kLong][kLong].as_string(), kLong);
  // Replaces the value whose string is the key.
  Json text = kLong;
  text.set(text.as_string(), 1);
  EXPECT_EQ(text[kLong], Json(1));
  Json& self = object;
  object = self;
  EXPECT_EQ(object.size(), 1u);
  object = object[kLong];
  EXPECT_EQ(object[kLong].as_string(), kLong);
}

TEST(Json, AgreesWithAPlainModelUnderRandomWrites) {
  const std::uint64_t seed = 99;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  Json object = Json::object();
  std::vector<std::pair<std::string, int>> model;
  std::vector<Json> kept;
  for (int step = 0; step < 20'000; ++step) {
    const std::string key =
        (random() % 2 ? "k" : "a key on the heap ") + std::to_string(random() % 60);
    const auto at =
        std::find_if(model.begin(), model.end(), [&](auto& m) { return m.first == key; });
    if (random() % 3 == 0) {
      EXPECT_EQ(object.erase(key), at != model.end());
      if (at != model.end()) model.erase(at);
    } else {
      object.set(key, step);
      if (at != model.end()) {
        at->second = step;
      } else {
        model.emplace_back(key, step);
      }
    }
    if (random() % 16 == 0) kept = {object};
    ASSERT_EQ(object.size(), model.size());
    const Json* found = object.find(key);
    const auto now =
        std::find_if(model.begin(), model.end(), [&](auto& m) { return m.first == key; });
    ASSERT_EQ(found != nullptr, now != model.end());
    if (found != nullptr) ASSERT_EQ(found->as_int(), now->second);
    if (step % 100 == 0) {
      for (std::size_t i = 0; i < model.size(); ++i) {
        ASSERT_EQ(object.members()[i].key(), model[i].first);
        ASSERT_EQ(object[model[i].first].as_int(), model[i].second);
      }
    }
  }
}

TEST(Json, EqualityIsByValue) {
  const auto json = [](const char* text) { return *parse_json(text); };
  const std::pair<const char*, const char*> same[] = {
      {"1", "1.0"},
      {"0", "-0"},
      {"0", "-0.0"},
      {"9223372036854775808", "9223372036854775808.0"},
      {"1e22", "10000000000000000000000"},
      {"10000000000000000000000.0", "10000000000000000000000"},
      {"1e400", "10e399"},
      {"1e400", "0.01E402"},
      {"-1e400", "-1000e397"},
      {R"({"a":1,"b":[2]})", R"({"b":[2.0],"a":1})"},
      {R"({"a key that is quite long":1,"b":2})", R"({"b":2,"a key that is quite long":1})"},
      {"[]", "[ ]"},
      {"\"\\u0061\"", "\"a\""},
  };
  for (const auto& [a, b] : same) {
    EXPECT_EQ(json(a), json(b)) << a << " " << b;
    EXPECT_EQ(json(b), json(a)) << a << " " << b;
  }
  const std::pair<const char*, const char*> different[] = {
      {"1", "true"},
      {"0", "false"},
      {"0", "null"},
      {"\"\"", "null"},
      {"[]", "{}"},
      {"1", "2"},
      {"1", "1.5"},
      {"9007199254740993", "9007199254740992.0"},
      {"9223372036854775807", "9223372036854775808.0"},
      {"18446744073709551615", "18446744073709551616.0"},
      {"18446744073709551615", "-1"},
      {"1e400", "-1e400"},
      {"1e400", "1e401"},
      {"1e-400", "0"},
      {"1e22", "10000000000000000000001"},
      {"[1,2]", "[2,1]"},
      {"[1]", "[1,1]"},
      {R"({"a":1})", R"({"a":2})"},
      {R"({"a":1})", R"({"b":1})"},
      {R"({"a":1,"b":1})", R"({"a":1,"c":1})"},
      {"[[[1]]]", "[[[2]]]"},
      {"\"a string of some length\"", "\"a string of same length\""},
  };
  for (const auto& [a, b] : different) {
    EXPECT_FALSE(json(a) == json(b)) << a << " " << b;
    EXPECT_FALSE(json(b) == json(a)) << a << " " << b;
  }
}

TEST(Json, AMillionLevelsPrintCompareAndVanishWithoutRecursion) {
  constexpr std::size_t kDepth = 1'000'000;
  const auto build = [] {
    Json value = 7;
    for (std::size_t i = 0; i < kDepth; ++i) {
      Json outer;
      if (i % 2 == 0) {
        outer.push_back(std::move(value));
      } else {
        outer.set("k", std::move(value));
      }
      value = std::move(outer);
    }
    return value;
  };
  const Json value = build();
  const Json again = build();
  EXPECT_TRUE(value == again);
  const std::string text = print_json(value);
  EXPECT_EQ(text.size(), kDepth / 2 * 2 + kDepth / 2 * 6 + 1);
  EXPECT_EQ(*parse_json(text, {.max_depth = kDepth}), value);
}

TEST(Json, PrettyIsTwoSpacesALevel) {
  const Json value = *parse_json(R"({"a":[1,{"b":[]}],"c":{}})");
  EXPECT_EQ(pretty_json(value), R"({
  "a": [
    1,
    {
      "b": []
    }
  ],
  "c": {}
})");
}

TEST(Json, PrintingAppendsAndEscapesEveryControlByte) {
  std::string out = "> ";
  print_json(Json::array({1}), out);
  EXPECT_EQ(out, "> [1]");
  for (int byte = 0; byte < 0x20; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    std::string printed;
    print_json_string(text, printed);
    EXPECT_EQ(printed.size() == 4 || printed.size() == 8, true) << printed;
    EXPECT_EQ(parse_json(printed)->as_string(), text);
  }
  out.clear();
  print_json_string(
      "\xff"
      "a",
      out);
  EXPECT_EQ(out,
            "\"\xef\xbf\xbd"
            "a\"");
}

TEST(Json, PointersFollowRfc6901) {
  const Json root = *parse_json(
      R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8})");
  const std::pair<const char*, const char*> found[] = {
      {"/foo", R"(["bar","baz"])"},
      {"/foo/0", "\"bar\""},
      {"/", "0"},
      {"/a~1b", "1"},
      {"/c%d", "2"},
      {"/e^f", "3"},
      {"/g|h", "4"},
      {"/i\\j", "5"},
      {"/k\"l", "6"},
      {"/ ", "7"},
      {"/m~0n", "8"},
  };
  EXPECT_EQ(find_pointer(root, ""), &root);
  for (const auto& [pointer, text] : found) {
    const Json* value = find_pointer(root, pointer);
    ASSERT_NE(value, nullptr) << pointer;
    EXPECT_EQ(print_json(*value), text);
  }
  for (const char* pointer : {"foo", "/nope", "/foo/2", "/foo/-", "/foo/01", "/foo/+1", "/foo/",
                              "/m~n", "/m~2n", "/m~", "/foo/0/x", "/foo/99999999999999999999"}) {
    EXPECT_EQ(find_pointer(root, pointer), nullptr) << pointer;
  }
  EXPECT_EQ(pointer_token("a/b~c"), "a~1b~0c");
}

TEST(Json, CopiesMayBeReadAndDroppedOnManyThreads) {
  Json shared = Json::object({{"list", Json::array({1, kLong, 3})}, {"name", kLong}});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([copy = shared, t]() mutable {
      for (int i = 0; i < 2'000; ++i) {
        Json mine = copy;
        mine.set("t", t);
        mine.edit("list").push_back(i);
        ASSERT_EQ(mine["list"].size(), 4u);
        ASSERT_EQ(copy["list"].size(), 3u);
      }
    });
  }
  shared = Json();
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace tug
