#include <gtest/gtest.h>

#include <array>
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

Json json(std::string_view text) {
  Result<Json> parsed = parse_json(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? *parsed : Json();
}

template <class T>
std::string fault(std::string_view text, ReadOptions options = {}) {
  const Result<T> read = read_json<T>(json(text), options);
  if (read) return "no fault";
  EXPECT_EQ(read.error().kind(), ErrorKind::invalid);
  return read.error().message();
}

struct Where {
  std::string city;
  std::optional<int> days;
  int limit = 10;
  friend bool operator==(const Where&, const Where&) = default;
};

TEST(ReadJson, FillsFieldsInAnyOrderAndKeepsDefaults) {
  EXPECT_EQ(read_json<Where>(json(R"({"limit":3,"city":"Oslo","days":2})")).value(),
            (Where{"Oslo", 2, 3}));
  EXPECT_EQ(read_json<Where>(json(R"({"city":"Oslo"})")).value(), (Where{"Oslo", {}, 10}));
  EXPECT_EQ(read_json<Where>(json(R"({"city":"","days":null})")).value(), (Where{"", {}, 10}));
}

TEST(ReadJson, NamesWhatIsWrongAndWhere) {
  const struct {
    std::string_view text, message;
  } cases[] = {
      {R"({"citty":"x","city":"y"})", R"($: unknown field "citty"; did you mean "city"?)"},
      {R"({"city":"y","wind":1})", R"($: unknown field "wind"; known are "city", "days", "limit")"},
      {R"({})", R"($: missing required field "city" (string))"},
      {R"({"city":null})", "$.city: expected string, got null"},
      {R"({"city":7})", "$.city: expected string, got number 7"},
      {R"({"city":["a"]})", "$.city: expected string, got array of 1 item"},
      {R"({"city":{}})", "$.city: expected string, got object"},
      {R"({"city":"y","days":"x"})", R"($.days: expected integer, got string "x")"},
      {R"({"city":"y","days":1.5})", "$.days: expected integer, got number 1.5"},
      {R"({"city":"y","days":true})", "$.days: expected integer, got true"},
      {R"({"city":"y","limit":null})", "$.limit: expected integer, got null"},
      {R"([])", "$: expected object, got array of 0 items"},
      {R"("{}")", R"($: expected object, got string "{}")"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(fault<Where>(text), message) << text;
}

TEST(ReadJson, ClipsLongTextsInMessages) {
  const std::string message = fault<int>('"' + std::string(1000, 'x') + '"');
  EXPECT_EQ(message, "$: expected integer, got string \"" + std::string(60, 'x') + "...\"");
}

TEST(ReadJson, CollectsUpToEightFaultsTheFirstOneFirst) {
  EXPECT_EQ(fault<Where>(R"({"days":"x","limit":[],"other_thing":0})"),
            R"($.days: expected integer, got string "x"; )"
            R"($.limit: expected integer, got array of 0 items; )"
            R"($: unknown field "other_thing"; known are "city", "days", "limit"; )"
            R"($: missing required field "city" (string))");
  const std::string many = fault<std::vector<int>>(R"(["a","a","a","a","a","a","a","a","a","a"])");
  EXPECT_TRUE(many.starts_with(R"($[0]: expected integer, got string "a"; $[1]: )")) << many;
  EXPECT_TRUE(many.ends_with(R"($[7]: expected integer, got string "a"; and 2 more)")) << many;
}

struct Deep {
  std::vector<std::array<Where, 1>> list;
  std::map<std::string, Where> table;
};

TEST(ReadJson, PathsLeadThroughListsAndTables) {
  EXPECT_EQ(fault<Deep>(R"({"list":[[{"city":"a"}],[{"city":1}]],"table":{}})"),
            "$.list[1][0].city: expected string, got number 1");
  EXPECT_EQ(fault<Deep>(R"({"list":[],"table":{"a b":{"city":1},"c":{"city":"x"},"":7}})"),
            R"($.table["a b"].city: expected string, got number 1; )"
            R"($.table[""]: expected object, got number 7)");
  EXPECT_EQ(fault<Deep>(R"({"list":[[]],"table":{}})"),
            "$.list[0]: expected array of 1 item, got array of 0 items");
}

template <class T>
void expect_range(std::string_view lowest, std::string_view below, std::string_view highest,
                  std::string_view above) {
  EXPECT_EQ(read_json<T>(json(lowest)).value(), std::numeric_limits<T>::min());
  EXPECT_EQ(read_json<T>(json(highest)).value(), std::numeric_limits<T>::max());
  const std::string range =
      " is out of range, " + std::string(lowest) + " to " + std::string(highest);
  EXPECT_EQ(fault<T>(below), "$: " + std::string(below) + range);
  EXPECT_EQ(fault<T>(above), "$: " + std::string(above) + range);
}

TEST(ReadJson, ChecksTheRangeOfEveryInteger) {
  expect_range<std::int8_t>("-128", "-129", "127", "128");
  expect_range<std::uint8_t>("0", "-1", "255", "300");
  expect_range<std::int16_t>("-32768", "-32769", "32767", "32768");
  expect_range<std::uint16_t>("0", "-1", "65535", "65536");
  expect_range<std::int32_t>("-2147483648", "-2147483649", "2147483647", "2147483648");
  expect_range<std::uint32_t>("0", "-1", "4294967295", "4294967296");
  expect_range<std::int64_t>("-9223372036854775808", "-9223372036854775809", "9223372036854775807",
                             "9223372036854775808");
  expect_range<std::uint64_t>("0", "-1", "18446744073709551615", "18446744073709551616");
  EXPECT_EQ(read_json<int>(json("7.0")).value(), 7);
  EXPECT_EQ(fault<int>("1e20"),
            "$: " + print_json(json("1e20")) + " is out of range, -2147483648 to 2147483647");
  EXPECT_EQ(read_json<unsigned long long>(json("5")).value(), 5u);
}

TEST(ReadJson, TakesAnyNumberAsADoubleUnlessItIsTooLarge) {
  EXPECT_EQ(read_json<double>(json("3")).value(), 3.0);
  EXPECT_EQ(read_json<double>(json("-2.5e-3")).value(), -2.5e-3);
  EXPECT_EQ(read_json<float>(json("0.1")).value(), 0.1f);
  EXPECT_EQ(read_json<float>(json("3.4028234663852886e38")).value(),
            std::numeric_limits<float>::max());
  EXPECT_EQ(fault<float>("1e39"),
            "$: number " + print_json(json("1e39")) + " is out of range for a 32-bit number");
  EXPECT_EQ(fault<double>("1e999"), "$: number 1e999 is out of range for a 64-bit number");
  EXPECT_EQ(fault<double>(R"("1")"), R"($: expected number, got string "1")");
}

enum class Unit : std::uint8_t { celsius, fahrenheit, kelvin = 100 };
enum Old { old_one = -3, old_two };

TEST(ReadJson, TakesEnumsByName) {
  EXPECT_EQ(read_json<Unit>(json(R"("kelvin")")).value(), Unit::kelvin);
  EXPECT_EQ(read_json<Old>(json(R"("old_one")")).value(), old_one);
  EXPECT_EQ(fault<Unit>(R"("celcius")"),
            R"($: expected one of "celsius", "fahrenheit", "kelvin", got string "celcius"; )"
            R"(did you mean "celsius"?)");
  EXPECT_EQ(fault<Unit>("0"),
            R"($: expected one of "celsius", "fahrenheit", "kelvin", got number 0)");
  const auto by_unit = read_json<std::map<Unit, int>>(json(R"({"kelvin":1,"celsius":2})")).value();
  EXPECT_EQ(by_unit, (std::map<Unit, int>{{Unit::celsius, 2}, {Unit::kelvin, 1}}));
  EXPECT_EQ((fault<std::map<Unit, int>>(R"({"Kelvin":1})")),
            R"($: unknown key "Kelvin"; did you mean "kelvin"?)");
}

TEST(ReadJson, IgnoresUnknownFieldsWhenAskedAndReportsThem) {
  ReadReport report;
  const auto read =
      read_json<std::vector<Where>>(json(R"([{"city":"a","x y":1},{"z":{},"city":"b"}])"),
                                    {.unknown = UnknownFields::ignore}, &report);
  EXPECT_EQ(read.value(), (std::vector<Where>{{"a"}, {"b"}}));
  EXPECT_EQ(report.ignored, (std::vector<std::string>{R"($[0]["x y"])", "$[1].z"}));
}

TEST(ReadJson, KeepsTheDefaultOfMissingFieldsWhenAsked) {
  EXPECT_EQ(read_json<Where>(json("{}"), {.missing = MissingFields::keep_default}).value(),
            (Where{}));
  EXPECT_EQ(fault<Where>(R"({"cty":"x"})", {.missing = MissingFields::keep_default}),
            R"($: unknown field "cty"; did you mean "city"?)");
}

struct Account {
  std::string owner;
};
struct Payment {
  int amount;
  Injected<Account> account;
};
struct Order {
  Payment payment;
  Injected<Account> account;
};

TEST(ReadJson, DropsForgedInjectedValuesAndReportsThem) {
  ReadReport report;
  const auto order = read_json<Order>(
      json(R"({"account":{"owner":"me"},"payment":{"account":1,"amount":5}})"), {}, &report);
  ASSERT_TRUE(order) << order.error().message();
  EXPECT_EQ(order->payment.amount, 5);
  EXPECT_FALSE(order->account);
  EXPECT_FALSE(order->payment.account);
  EXPECT_EQ(report.forged, (std::vector<std::string>{"$.account", "$.payment.account"}));
  EXPECT_TRUE(read_json<Order>(json(R"({"account":7,"payment":{"amount":5}})")));
  // Neither asked for nor suggested.
  EXPECT_EQ(fault<Payment>(R"({"accountt":1,"amount":5})"),
            R"($: unknown field "accountt"; known are "amount")");
}

struct Tree {
  std::string name;
  std::vector<Tree> children;
  std::unique_ptr<Tree> twin;
  std::shared_ptr<const Tree> shared;
};

TEST(ReadJson, ReadsStructsThatContainThemselves) {
  const auto tree = read_json<Tree>(json(
      R"({"name":"a","children":[{"name":"b","children":[]}],)"
      R"("twin":{"name":"c","children":[]},"shared":{"name":"d","children":[],"twin":null}})"));
  ASSERT_TRUE(tree) << tree.error().message();
  EXPECT_EQ(tree->children.at(0).name, "b");
  EXPECT_EQ(tree->twin->name, "c");
  EXPECT_EQ(tree->shared->name, "d");
  EXPECT_EQ(tree->shared->twin, nullptr);
  EXPECT_EQ(fault<Tree>(R"({"name":"a","children":[{"name":"b"}]})"),
            R"($.children[0]: missing required field "children" (array))");
}

TEST(ReadJson, RefusesWhatIsNestedTooDeep) {
  Json chain = Json::object({{"name", "last"}, {"children", Json::array()}});
  for (int i = 0; i < 200; ++i) {
    chain = Json::object({{"name", "n"}, {"children", Json::array()}, {"twin", chain}});
  }
  const auto read = read_json<Tree>(chain);
  ASSERT_FALSE(read);
  EXPECT_TRUE(read.error().message().ends_with(": nested deeper than 128 levels"))
      << read.error().message();
}

struct Circle {
  Literal<"circle"> shape;
  double radius = 1;
};
struct Square {
  Literal<"square"> shape;
  double side;
};
using Figure = std::variant<Circle, Square, std::string, std::monostate>;

TEST(ReadJson, TellsTheAlternativesOfAVariantApart) {
  EXPECT_EQ(std::get<Circle>(read_json<Figure>(json(R"({"shape":"circle"})")).value()).radius, 1);
  EXPECT_EQ(
      std::get<Square>(read_json<Figure>(json(R"({"side":2,"shape":"square"})")).value()).side, 2);
  EXPECT_EQ(std::get<std::string>(read_json<Figure>(json(R"("x")")).value()), "x");
  EXPECT_EQ(read_json<Figure>(json("null")).value().index(), 3u);

  const struct {
    std::string_view text, message;
  } cases[] = {
      {R"({"shape":"cirle"})",
       R"($.shape: expected one of "circle", "square", got string "cirle"; did you mean "circle"?)"},
      {R"({"side":2})", R"($.shape: expected one of "circle", "square", got nothing)"},
      {R"({"shape":7})", R"($.shape: expected one of "circle", "square", got number 7)"},
      {R"({"shape":"square"})", R"($: missing required field "side" (number))"},
      {R"(7)", "$: expected object or string or null, got number 7"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(fault<Figure>(text), message) << text;
}

struct Markup {
  std::string tag;
  std::vector<std::variant<std::string, Markup>> children;
};

TEST(ReadJson, AVariantMayHoldTheStructItIsIn) {
  const Json text = json(R"({"tag":"p","children":["a",{"tag":"b","children":["c"]}]})");
  const auto markup = read_json<Markup>(text);
  ASSERT_TRUE(markup) << markup.error().message();
  EXPECT_EQ(std::get<Markup>(markup->children.at(1)).tag, "b");
  EXPECT_EQ(write_json(*markup), text);
  EXPECT_EQ(print_json(schema_of<Markup>()["properties"]["children"]["items"]),
            R"({"anyOf":[{"type":"string"},{"$ref":"#"}]})");
}

struct Filled {
  std::vector<int> list = {1, 2, 3};
  std::map<std::string, int> table = {{"a", 1}};
  std::optional<int> maybe = 4;
  std::variant<int, std::string> either = "x";
};

TEST(ReadJson, ReplacesDefaultsAndDoesNotAddToThem) {
  const auto read =
      read_json<Filled>(json(R"({"list":[9],"table":{"b":2},"maybe":null,"either":5})"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->list, std::vector<int>{9});
  EXPECT_EQ(read->table, (std::map<std::string, int>{{"b", 2}}));
  EXPECT_EQ(read->maybe, std::nullopt);
  EXPECT_EQ(std::get<int>(read->either), 5);
}

struct Described_ {
  Described<std::string, "one"> text;
  Described<int, "two"> number = 2;
  Described<std::vector<int>, "three"> list;
};

TEST(ReadJson, ReadsIntoDescribedFields) {
  const auto read = read_json<Described_>(json(R"({"text":"a","list":[1,2]})"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->text, "a");
  EXPECT_EQ(read->number, 2);
  EXPECT_EQ(read->list.size(), 2u);
}

TEST(ReadJson, JsonFieldsTakeAnythingButMustBeThere) {
  struct Any {
    Json value;
    std::optional<Json> maybe;
  };
  EXPECT_EQ(read_json<Any>(json(R"({"value":null})")).value().value, Json());
  EXPECT_EQ(read_json<Any>(json(R"({"value":[1,{"a":2}]})")).value().value, json(R"([1,{"a":2}])"));
  EXPECT_EQ(fault<Any>("{}"), R"($: missing required field "value" (value))");
}

}  // namespace

struct Ticket {
  std::uint64_t number = 0;
  friend bool operator==(const Ticket&, const Ticket&) = default;
};
template <>
struct JsonForm<Ticket> {
  static Json schema() { return Json::object({{"type", "string"}, {"pattern", "^id-"}}); }
  static Json write(const Ticket& id) { return "id-" + std::to_string(id.number); }
  static Result<Ticket> read(const Json& json) {
    if (!json.as_string().starts_with("id-")) {
      return fail(ErrorKind::invalid, "not an id", "ids look like id-7");
    }
    return Ticket{std::stoull(std::string(json.as_string().substr(3)))};
  }
};

namespace {

struct Named {
  Ticket id;
  Ticket other = {5};
  std::vector<Ticket> more;
};

TEST(JsonForm, StandsInForATypeEverywhere) {
  EXPECT_EQ(print_json(schema_of<Named>()),
            R"({"type":"object","properties":{"id":{"type":"string","pattern":"^id-"},)"
            R"("other":{"type":"string","pattern":"^id-","default":"id-5"},"more":)"
            R"({"type":"array","items":{"type":"string","pattern":"^id-"}}},)"
            R"("required":["id","more"],"additionalProperties":false})");
  const auto named = read_json<Named>(json(R"({"id":"id-1","more":["id-2"]})"));
  ASSERT_TRUE(named);
  EXPECT_EQ(print_json(write_json(*named)), R"({"id":"id-1","other":"id-5","more":["id-2"]})");
  EXPECT_EQ(fault<Named>(R"({"id":"id-1","more":["id-2","x"]})"),
            "$.more[1]: not an id (ids look like id-7)");
}

}  // namespace
}  // namespace tug
