#include <gtest/gtest.h>

#include <array>
#include <cstdint>
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
std::string schema_text() {
  return print_json(schema_of<T>());
}

struct Where {
  std::string city;
  std::optional<int> days;
  int limit = 10;
};

TEST(Schema, RequiresWhatHasNoValueAndShowsDefaults) {
  EXPECT_EQ(schema_text<Where>(),
            R"({"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},)"
            R"("limit":{"type":"integer","default":10}},"required":["city"],)"
            R"("additionalProperties":false})");
}

enum class Unit : std::uint8_t { celsius, fahrenheit };
struct Point {
  double x, y;
};
struct Ranged {
  int low = 1;
  int high = 2;
};
struct Defaults {
  bool bare_flag;
  bool flag = false;
  int bare_number;
  int zero = 0;
  double bare_real;
  double real = 0;
  Unit bare_unit;
  Unit unit = Unit::celsius;
  std::string bare_text;
  std::string empty_text = "";
  std::string text = "C";
  std::vector<int> bare_list;
  std::vector<int> list = {1};
  Point bare_point;
  Point point = {1, 2};
  Ranged bare_range;
  Ranged range = {.high = 5};
  std::optional<int> bare_maybe;
  std::optional<int> maybe = 3;
  Described<int, "bare"> bare_described;
  Described<int, "with a value"> described = 0;
  Json bare_any;
  Json any = "x";
};

TEST(Schema, AnInitialiserMakesAScalarOptionalWhateverItsValue) {
  const Json schema = schema_of<Defaults>();
  EXPECT_EQ(print_json(schema["required"]),
            R"(["bare_flag","bare_number","bare_real","bare_unit","bare_text","empty_text",)"
            R"("bare_list","bare_point","bare_range","bare_described","bare_any"])");
  std::string defaults;
  for (const Json::Member& member : schema["properties"].members()) {
    if (const Json* value = member.value.find("default")) {
      defaults += std::string(member.key()) + "=" + print_json(*value) + " ";
    }
  }
  EXPECT_EQ(
      defaults,
      R"(flag=false zero=0 real=0.0 unit="celsius" text="C" list=[1] point={"x":1.0,"y":2.0} )"
      R"(range={"low":1,"high":5} maybe=3 described=0 any="x" )");
}

struct Kinds {
  bool flag;
  std::int8_t i8;
  std::uint8_t u8;
  std::int16_t i16;
  std::uint16_t u16;
  std::int32_t i32;
  std::uint32_t u32;
  std::int64_t i64;
  std::uint64_t u64;
  float real;
  Unit unit;
  Json anything;
  std::vector<std::string> list;
  std::array<double, 2> pair;
  std::map<std::string, int> table;
  std::map<Unit, std::vector<int>> by_unit;
  std::unique_ptr<Point> point;
  std::shared_ptr<const std::string> text;
  std::vector<std::optional<int>> gaps;
};

TEST(Schema, HasAFormForEveryKind) {
  const Json schema = schema_of<Kinds>();
  std::string forms;
  for (const Json::Member& member : schema["properties"].members()) {
    forms += std::string(member.key()) + " " + print_json(member.value) + "\n";
  }
  EXPECT_EQ(forms, R"(flag {"type":"boolean"}
i8 {"type":"integer","minimum":-128,"maximum":127}
u8 {"type":"integer","minimum":0,"maximum":255}
i16 {"type":"integer","minimum":-32768,"maximum":32767}
u16 {"type":"integer","minimum":0,"maximum":65535}
i32 {"type":"integer"}
u32 {"type":"integer","minimum":0}
i64 {"type":"integer"}
u64 {"type":"integer","minimum":0}
real {"type":"number"}
unit {"type":"string","enum":["celsius","fahrenheit"]}
anything {}
list {"type":"array","items":{"type":"string"}}
pair {"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2}
table {"type":"object","additionalProperties":{"type":"integer"}}
by_unit {"type":"object","propertyNames":{"enum":["celsius","fahrenheit"]},"additionalProperties":{"type":"array","items":{"type":"integer"}}}
point {"type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"}},"required":["x","y"],"additionalProperties":false}
text {"type":"string"}
gaps {"type":"array","items":{"anyOf":[{"type":"integer"},{"type":"null"}]}}
)");
}

struct Place {
  Described<std::string, "Name, in \"English\" {or, not}"> name;
  Described<Point, "Where it is"> point;
  static constexpr std::string_view description = "A place on a map";
};

TEST(Schema, CarriesTheDescriptionsOfFieldsAndStructs) {
  EXPECT_EQ(schema_text<Place>(),
            R"({"type":"object","description":"A place on a map","properties":{"name":)"
            R"({"type":"string","description":"Name, in \"English\" {or, not}"},"point":)"
            R"({"type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"}},)"
            R"("required":["x","y"],"additionalProperties":false,"description":"Where it is"}},)"
            R"("required":["name","point"],"additionalProperties":false})");
}

struct Secret {};
struct Guarded {
  Injected<Secret> secret;
  std::string text;
};

TEST(Schema, NeverMentionsInjectedFields) {
  EXPECT_EQ(schema_text<Guarded>(),
            R"({"type":"object","properties":{"text":{"type":"string"}},"required":["text"],)"
            R"("additionalProperties":false})");
}

struct Tree {
  std::string name;
  std::vector<Tree> children;
  std::unique_ptr<Tree> twin;
};

TEST(Schema, ARootThatContainsItselfRefersToTheRoot) {
  EXPECT_EQ(schema_text<Tree>(),
            R"({"type":"object","properties":{"name":{"type":"string"},"children":)"
            R"({"type":"array","items":{"$ref":"#"}},"twin":{"$ref":"#"}},)"
            R"("required":["name","children"],"additionalProperties":false})");
}

struct Pong;
struct Ping {
  std::vector<Pong> pongs;
};
struct Pong {
  std::vector<Ping> pings;
};
template <class T>
struct Chain {
  T value;
  std::unique_ptr<Chain> next;
};
struct Forest {
  Tree tree;
  Described<std::optional<Tree>, "spare"> spare;
  Chain<int> numbers;
  Chain<std::string> texts;
  Ping ping;
};

TEST(Schema, OtherStructsThatContainThemselvesAreDefinitions) {
  const Json schema = schema_of<Forest>();
  EXPECT_EQ(print_json(schema["properties"]),
            R"({"tree":{"$ref":"#/$defs/Tree"},"spare":{"$ref":"#/$defs/Tree","description":)"
            R"("spare"},"numbers":{"$ref":"#/$defs/Chain"},"texts":{"$ref":"#/$defs/Chain2"},)"
            R"("ping":{"$ref":"#/$defs/Ping"}})");
  EXPECT_EQ(schema.members().back().key(), "$defs");
  std::string names;
  for (const Json::Member& member : schema["$defs"].members()) {
    names += std::string(member.key()) + " ";
  }
  EXPECT_EQ(names, "Tree Chain Chain2 Ping ");
  EXPECT_EQ(print_json(schema["$defs"]["Chain2"]),
            R"({"type":"object","properties":{"value":{"type":"string"},"next":)"
            R"({"$ref":"#/$defs/Chain2"}},"required":["value"],"additionalProperties":false})");
  EXPECT_EQ(print_json(schema["$defs"]["Ping"]["properties"]["pongs"]["items"]["properties"]),
            R"({"pings":{"type":"array","items":{"$ref":"#/$defs/Ping"}}})");
}

struct Line {
  Point from;
  Point to;
};

TEST(Schema, AStructUsedTwiceIsWrittenTwice) {
  const Json schema = schema_of<Line>();
  EXPECT_EQ(schema["properties"]["from"], schema_of<Point>());
  EXPECT_EQ(schema["properties"]["to"], schema_of<Point>());
  EXPECT_FALSE(schema.contains("$defs"));
}

struct Circle {
  Literal<"circle"> shape;
  double radius;
};
struct Square {
  Literal<"square"> shape;
  double side;
};

TEST(Schema, AVariantIsAnyOfItsAlternatives) {
  using Scalar = std::variant<std::monostate, int, std::string>;
  EXPECT_EQ(schema_text<Scalar>(),
            R"({"anyOf":[{"type":"null"},{"type":"integer"},{"type":"string"}]})");
  using Figure = std::variant<Circle, Square, std::vector<int>>;
  EXPECT_EQ(
      schema_text<Figure>(),
      R"({"anyOf":[{"type":"object","properties":{"shape":{"type":"string","const":"circle"},)"
      R"("radius":{"type":"number"}},"required":["shape","radius"],"additionalProperties":)"
      R"(false},{"type":"object","properties":{"shape":{"type":"string","const":"square"},)"
      R"("side":{"type":"number"}},"required":["shape","side"],"additionalProperties":false},)"
      R"({"type":"array","items":{"type":"integer"}}]})");
}

struct Nothing {};
struct Keywords {
  int class_ = 0;
  int default_ = 0;
};

TEST(Schema, OfAnEmptyStructIsAClosedObject) {
  EXPECT_EQ(schema_text<Nothing>(),
            R"({"type":"object","properties":{},"additionalProperties":false})");
}

TEST(Schema, NamesLoseTheUnderscoreThatAKeywordNeeds) {
  EXPECT_EQ(schema_text<Keywords>(),
            R"({"type":"object","properties":{"class":{"type":"integer","default":0},)"
            R"("default":{"type":"integer","default":0}},"additionalProperties":false})");
}

struct Most {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w;
  std::string x;
};

TEST(Schema, TwentyFourFieldsAreNamedInOrder) {
  const Json schema = schema_of<Most>();
  std::string names;
  for (const Json::Member& member : schema["properties"].members()) {
    names += member.key();
  }
  EXPECT_EQ(names, "abcdefghijklmnopqrstuvwx");
}

TEST(Schema, LocalStructsWorkToo) {
  struct Local {
    std::string inside;
  };
  EXPECT_EQ(schema_text<Local>(),
            R"({"type":"object","properties":{"inside":{"type":"string"}},"required":["inside"],)"
            R"("additionalProperties":false})");
}

}  // namespace
}  // namespace tug
