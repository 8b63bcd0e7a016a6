// Hostile schemas and hostile values.
#include <thread>

#include "core/schema_cases.h"

namespace tug {
namespace {

Error compile_error(const char* text) {
  auto schema = Schema::compile(*parse_json(text));
  EXPECT_FALSE(schema) << text;
  return schema ? Error(ErrorKind::internal, "compiled") : schema.error();
}

TEST(SchemaLimits, ReferencesThatGoInCirclesAreRefused) {
  for (const char* text : {
           R"({"$ref":"#"})",
           R"({"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"})",
           R"({"allOf":[{"anyOf":[{"oneOf":[{"not":{"if":{"$ref":"#"}}}]}]}]})",
           R"({"dependentSchemas":{"a":{"$ref":"#"}}})",
           R"({"then":{"$ref":"#"},"if":true})",
           R"({"$dynamicRef":"#/$defs/a","$defs":{"a":{"$ref":"#"}}})",
       }) {
    const Error error = compile_error(text);
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    EXPECT_NE(error.message().find("refers to itself"), std::string::npos) << error.message();
  }
}

TEST(SchemaLimits, ReferencesThatLookDeeperAreNotCircles) {
  expect_cases({
      {"recursion over items",
       R"({"items":{"$ref":"#"},"type":["array","integer"]})",
       {"[[[1]]]"},
       {"[[\"x\"]]"}},
      {"the same reference twice on the way",
       R"({"$defs":{"int":{"type":"integer"}},"allOf":[{"properties":{"foo":{"$ref":"#/$defs/int"}}},
           {"additionalProperties":{"$ref":"#/$defs/int"}}]})",
       {R"({"foo":1})"},
       {R"({"foo":"a string"})"}},
  });
}

TEST(SchemaLimits, DynamicReferencesThatGoInCirclesEndInAnError) {
  const auto schema = Schema::compile(*parse_json(
      R"({"$id":"http://x/a","$dynamicAnchor":"n","$ref":"b","$defs":{"b":{"$id":"b",
          "$dynamicRef":"#n","$defs":{"n":{"$dynamicAnchor":"n"}}}}})"));
  ASSERT_TRUE(schema) << schema.error().message();
  EXPECT_FALSE(schema->valid(1));
  const auto checked = schema->check(1);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind(), ErrorKind::exhausted);
}

TEST(SchemaLimits, WorkIsBounded) {
  // Each level tries both alternatives of the next: 2^40 without a budget.
  Json defs = Json::object();
  for (int i = 0; i < 40; ++i) {
    const Json ref = Json::object({{"$ref", "#/$defs/" + std::to_string(i + 1)}});
    defs.set(std::to_string(i), Json::object({{"anyOf", Json::array({ref, ref})}}));
  }
  defs.set("40", false);
  const auto schema = Schema::compile(Json::object({{"$ref", "#/$defs/0"}, {"$defs", defs}}),
                                      {.max_steps = 100'000});
  ASSERT_TRUE(schema) << schema.error().message();
  EXPECT_FALSE(schema->valid(1));
  const auto checked = schema->check(1);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind(), ErrorKind::exhausted);
  EXPECT_EQ(checked.error().message().find("checking took more than 100000 steps"), 0u)
      << checked.error().message();
}

TEST(SchemaLimits, LongTextsAndBigValuesCountAsWork) {
  // A thousand looks at 1 MB each: far too few steps if only schemas counted.
  const Json text = std::string(1'000'000, 'a');
  Json list = Json::array();
  for (int i = 0; i < 100'000; ++i) list.push_back(Json::array({i}));
  const std::pair<Json, Json> cases[] = {
      {Json::object({{"pattern", "b"}}), text},
      {Json::object({{"maxLength", 1}}), text},
      {Json::object({{"uniqueItems", true}, {"maxItems", 1}}), list},
      {Json::object({{"const", list}, {"maxItems", 1}}), list},
      {Json::object({{"contains", false}}), list},
  };
  for (const auto& [rule, value] : cases) {
    Json rules = Json::array();
    for (int i = 0; i < 1000; ++i) rules.push_back(rule);
    const auto schema =
        Schema::compile(Json::object({{"anyOf", std::move(rules)}}), {.max_steps = 20'000});
    ASSERT_TRUE(schema);
    const auto checked = schema->check(value);
    ASSERT_FALSE(checked) << print_json(rule).substr(0, 40);
    EXPECT_EQ(checked.error().kind(), ErrorKind::exhausted);
  }
}

TEST(SchemaLimits, ASpentBudgetIsNeverAYes) {
  Json list = Json::array();
  for (int i = 0; i < 1000; ++i) list.push_back(i);
  const auto schema =
      Schema::compile(*parse_json(R"({"not":{"items":{"type":"string"}}})"), {.max_steps = 1});
  EXPECT_FALSE(schema->valid(list));
  EXPECT_FALSE(schema->check(list));
}

TEST(SchemaLimits, DeepValuesEndInAnErrorNotInAnOverflow) {
  Json deep = 1;
  for (int i = 0; i < 1'000'000; ++i) {
    Json outer;
    outer.push_back(std::move(deep));
    deep = std::move(outer);
  }
  const auto schema = Schema::compile(*parse_json(R"({"items":{"$ref":"#"}})"));
  EXPECT_FALSE(schema->valid(deep));
  const auto checked = schema->check(deep);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind(), ErrorKind::exhausted);
  const auto unique = Schema::compile(*parse_json(R"({"uniqueItems":true,"enum":[[]]})"));
  EXPECT_FALSE(unique->valid(deep));
  const auto violations = unique->check(deep);
  ASSERT_TRUE(violations);
  EXPECT_EQ(violations->size(), 1u);
}

TEST(SchemaLimits, TheDeepestParsableSchemaPassesUnderTheMetaschema) {
  std::string text;
  for (int i = 0; i < 120; ++i) text += R"({"not":)";
  text += "true" + std::string(120, '}');
  const auto whole =
      Schema::compile(Json::object({{"$ref", "https://json-schema.org/draft/2020-12/schema"}}));
  const auto value = parse_json(text);
  ASSERT_TRUE(value);
  EXPECT_TRUE(whole->valid(*value));
  EXPECT_TRUE(Schema::compile(*value));
}

TEST(SchemaLimits, DeepSchemasAreRefused) {
  Json deep = true;
  for (int i = 0; i < 100'000; ++i) deep = Json::object({{"not", deep}});
  const auto schema = Schema::compile(deep);
  ASSERT_FALSE(schema);
  EXPECT_NE(schema.error().message().find("nested deeper than 256"), std::string::npos);
}

TEST(SchemaLimits, ALongChainOfReferencesIsAnErrorNotAnOverflow) {
  Json defs = Json::object();
  for (int i = 0; i < 20'000; ++i) {
    defs.set(std::to_string(i), Json::object({{"$ref", "#/$defs/" + std::to_string(i + 1)}}));
  }
  defs.set("20000", true);
  const auto schema = Schema::compile(Json::object({{"$ref", "#/$defs/0"}, {"$defs", defs}}));
  ASSERT_TRUE(schema);
  const auto checked = schema->check(1);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind(), ErrorKind::exhausted);
}

TEST(SchemaLimits, ManyItemsAreComparedWithoutTryingEveryPair) {
  Json list = Json::array();
  for (int i = 0; i < 200'000; ++i) list.push_back(Json::object({{"id", i}, {"name", "n"}}));
  const auto schema = Schema::compile(*parse_json(R"({"uniqueItems":true})"));
  EXPECT_TRUE(schema->valid(list));
  list.push_back(Json::object({{"name", "n"}, {"id", 77.0}}));
  const auto violations = schema->check(list);
  ASSERT_TRUE(violations);
  ASSERT_EQ(violations->size(), 1u);
  EXPECT_NE((*violations)[0].message.find("items 77 and 200000"), std::string::npos);
}

TEST(SchemaLimits, HostilePatternsRunInLinearTime) {
  const auto schema = Schema::compile(*parse_json(R"({"pattern":"^(a|a|aa)*$"})"));
  EXPECT_FALSE(schema->valid(std::string(200'000, 'a') + "b"));
}

TEST(SchemaLimits, ALargePatternOnALongTextCountsByItsSize) {
  // RE2 has no room for the states of this one and takes 10 us for each byte.
  const auto large = Schema::compile(*parse_json(R"({"pattern":"^[ab]*a[ab]{500}c$"})"));
  ASSERT_TRUE(large);
  EXPECT_TRUE(large->valid(std::string(510, 'a') + "c"));
  const auto checked = large->check(std::string(2'000'000, 'a'));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind(), ErrorKind::exhausted);

  const auto usual =
      Schema::compile(*parse_json(R"({"items":{"pattern":"^[a-z0-9_]+(-[a-z0-9_]+)*$"}})"));
  ASSERT_TRUE(usual);
  EXPECT_TRUE(usual->valid(Json::array({std::string(2'000'000, 'a')})));
  const auto letters =
      Schema::compile(*parse_json(R"({"pattern":"^\\p{L}+$"})"), {.max_steps = 1000});
  ASSERT_TRUE(letters);
  EXPECT_TRUE(letters->valid(std::string(200, 'a')));
}

TEST(SchemaLimits, EveryPatternTriedOnAKeyIsAStep) {
  Json patterns = Json::object();
  for (int i = 0; i < 300; ++i) patterns.set("^x" + std::to_string(i) + "$", true);
  Json value = Json::object();
  for (int i = 0; i < 300; ++i) value.set("k" + std::to_string(i), i);
  const Json source = Json::object({{"patternProperties", std::move(patterns)}});
  const auto roomy = Schema::compile(source, {.max_steps = 100'000});
  EXPECT_TRUE(roomy->valid(value));
  const auto tight = Schema::compile(source, {.max_steps = 80'000});
  const auto checked = tight->check(value);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind(), ErrorKind::exhausted);
}

TEST(SchemaLimits, ListsOfTheSchemaThatAreWalkedCountAsWork) {
  Json list = Json::array();
  Json names = Json::object();
  Json dependents = Json::object();
  for (int i = 0; i < 4000; ++i) {
    list.push_back(true);
    names.set(std::to_string(i), true);
    dependents.set(std::to_string(i), Json::array());
  }
  Json items = Json::array();
  for (int i = 0; i < 100; ++i) items.push_back(Json::object());
  for (const Json& rule :
       {Json::object({{"allOf", list}}), Json::object({{"dependentRequired", dependents}}),
        Json::object({{"dependentSchemas", names}}),
        Json::object({{"not", Json::object({{"properties", names},
                                            {"required", Json::array({"3999"})}})}})}) {
    const auto schema = Schema::compile(Json::object({{"items", rule}}), {.max_steps = 10'000});
    ASSERT_TRUE(schema);
    const auto checked = schema->check(items);
    ASSERT_FALSE(checked) << print_json(rule).substr(0, 40);
    EXPECT_EQ(checked.error().kind(), ErrorKind::exhausted);
  }
}

TEST(SchemaLimits, AllPatternsOfASchemaTogetherAreBounded) {
  Json list = Json::array();
  for (int i = 0; i < 2000; ++i) {
    list.push_back(Json::object({{"pattern", "(\\p{L}{30}){4}x" + std::to_string(i)}}));
  }
  const auto schema = Schema::compile(Json::object({{"anyOf", std::move(list)}}));
  ASSERT_FALSE(schema);
  EXPECT_EQ(schema.error().kind(), ErrorKind::unsupported);
  EXPECT_NE(schema.error().message().find("all patterns of the schema together"), std::string::npos)
      << schema.error().message();
}

TEST(SchemaLimits, APatternThatIsOnlyTooLargeIsUnsupportedNotInvalid) {
  for (const std::string& pattern :
       {std::string(17'000, 'a'), std::string("((a{100}){100}){100}"), std::string("a{2000}"),
        std::string("(\\p{L}{500}){2}"), std::string("\\p{Emoji}"), std::string("[\\p{Emoji}]")}) {
    const auto schema = Schema::compile(Json::object({{"pattern", pattern}}));
    ASSERT_FALSE(schema) << pattern.substr(0, 40);
    EXPECT_EQ(schema.error().kind(), ErrorKind::unsupported) << schema.error().message();
    EXPECT_FALSE(schema.error().fix().empty());
    const auto format =
        Schema::compile(Json::object({{"format", "regex"}}), {.assert_format = true});
    EXPECT_TRUE(format->valid(pattern)) << pattern.substr(0, 40);
  }
  EXPECT_TRUE(Schema::compile(Json::object({{"pattern", "^[\\p{L}\\p{N}_-]{1,64}$"}})));
}

TEST(SchemaLimits, ALongEnumIsLookedUpNotWalked) {
  Json choices = Json::array();
  Json items = Json::array();
  for (int i = 0; i < 3000; ++i) {
    choices.push_back(i % 3 == 0   ? Json(i)
                      : i % 3 == 1 ? Json::array({i})
                                   : Json(std::to_string(i)));
    items.push_back(choices[choices.size() - 1]);
  }
  // One by one, this takes 4.5 million comparisons.
  const auto schema =
      Schema::compile(Json::object({{"items", Json::object({{"enum", std::move(choices)}})}}),
                      {.max_steps = 20'000});
  ASSERT_TRUE(schema);
  EXPECT_TRUE(schema->valid(items));
  EXPECT_TRUE(schema->valid(*parse_json("[3.0, [1e0], \"2\"]")));
  EXPECT_FALSE(schema->valid(*parse_json("[1]")));
  EXPECT_FALSE(schema->valid(*parse_json("[\"3\"]")));
  EXPECT_EQ(schema->check(*parse_json("[1]"))->size(), 1u);
}

TEST(SchemaLimits, BigNumbersThatDifferAreNotAllComparedPairwise) {
  // As doubles each group is one number; pairwise, these are 10^8 comparisons of decimals.
  const auto schema = Schema::compile(*parse_json(R"({"uniqueItems":true})"));
  for (const char* start :
       {"1000000000000000000000000000000", "1e99999999999999999999", "1e-99999999999999999999"}) {
    Json list = Json::array();
    for (int i = 100'000; i < 114'000; ++i) {
      list.push_back(*parse_json(start + std::to_string(i)));
    }
    EXPECT_TRUE(schema->valid(list)) << start;
    list.push_back(list[7]);
    EXPECT_FALSE(schema->valid(list)) << start;
  }
}

TEST(SchemaLimits, ANumberIsEqualToItselfHoweverItIsWritten) {
  // More than are compared pairwise.
  const auto schema = Schema::compile(*parse_json(R"({"uniqueItems":true})"));
  for (const char* pair :
       {"1000000000000000019884624838656,1e30", "-1000000000000000019884624838656,-1e30",
        "1e400,10e399", "123456789012345678901234567890,123456789012345678901234567890"}) {
    std::string text = "[";
    for (int i = 0; i < 20; ++i) text += std::to_string(i) + ",";
    EXPECT_FALSE(schema->valid(*parse_json(text + pair + "]"))) << pair;
  }
}

TEST(SchemaLimits, ExponentsBeyondSixtyFourBitsStillSayWhichNumberIsLarger) {
  const auto schema = Schema::compile(*parse_json(R"({"exclusiveMinimum":1,"maximum":1e400})"));
  ASSERT_TRUE(schema);
  EXPECT_TRUE(schema->valid(*parse_json("1e399")));
  for (const char* digits : {"999999999999999999", "9999999999999999999", "99999999999999999999"}) {
    EXPECT_EQ(schema->check(*parse_json("1e" + std::string(digits)))->at(0).schema_path,
              "/maximum");
    EXPECT_EQ(schema->check(*parse_json("1e-" + std::string(digits)))->at(0).schema_path,
              "/exclusiveMinimum");
  }
}

TEST(SchemaLimits, ADivisionOfTooManyDigitsHasNoVerdict) {
  const std::string divisor(100, '7');
  const auto schema = Schema::compile(*parse_json("{\"multipleOf\":" + divisor + "}"));
  ASSERT_TRUE(schema);
  EXPECT_TRUE(schema->valid(*parse_json(divisor + std::string(1000, '0'))));
  const auto checked = schema->check(*parse_json(divisor + std::string(2000, '0')));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind(), ErrorKind::exhausted);
  EXPECT_NE(checked.error().message().find("multipleOf"), std::string::npos);
}

TEST(SchemaLimits, MessagesStaySmallHoweverAlternativesNestAndKeysAreLong) {
  const std::string key(100'000, 'k');
  Json rule = Json::object({{"type", "integer"}});
  Json value = "x";
  for (int i = 0; i < 5; ++i) {
    const Json part = Json::object({{"additionalProperties", rule}});
    rule = Json::object({{i % 2 == 0 ? "anyOf" : "oneOf", Json::array({part, part, part, part})}});
    value = Json::object({{key, value}});
  }
  const auto schema = Schema::compile(rule);
  ASSERT_TRUE(schema);
  const auto violations = schema->check(value);
  ASSERT_TRUE(violations);
  ASSERT_EQ(violations->size(), 1u);
  EXPECT_EQ((*violations)[0].instance_path, "");
  EXPECT_EQ((*violations)[0].message.find("matches none of the 4 alternatives (1: at /kkkk"), 0u);
  EXPECT_LE((*violations)[0].message.size(), 503u);

  // The path of a violation itself is whole.
  const auto plain = Schema::compile(*parse_json(R"({"additionalProperties":false})"));
  const auto refused = plain->check(value);
  ASSERT_EQ(refused->size(), 1u);
  EXPECT_EQ((*refused)[0].instance_path, "/" + key);
  EXPECT_LE((*refused)[0].message.size(), 503u);
}

TEST(SchemaLimits, ManyAnchorsAreFoundByName) {
  // Quadratic, this is 10^9 comparisons of names.
  constexpr int kAnchors = 30'000;
  Json defs = Json::object();
  for (int i = 0; i < kAnchors; ++i) {
    const std::string name = "a" + std::to_string(i);
    defs.set(name, Json::object({{i % 2 == 0 ? "$anchor" : "$dynamicAnchor", name},
                                 {"const", i},
                                 {i % 2 == 0 ? "$ref" : "$dynamicRef", "#last"}}));
  }
  defs.set("last", Json::object({{"$anchor", "last"}, {"type", "integer"}}));
  const auto schema =
      Schema::compile(Json::object({{"$defs", std::move(defs)}, {"$dynamicRef", "#a29999"}}));
  ASSERT_TRUE(schema) << schema.error().message();
  EXPECT_TRUE(schema->valid(29'999));
  EXPECT_FALSE(schema->valid(29'998));
}

TEST(SchemaLimits, OneSchemaServesManyThreads) {
  const auto schema = Schema::compile(*parse_json(
      R"({"type":"object","properties":{"a":{"pattern":"^x+$"},"b":{"items":{"$ref":"#"}}},
          "required":["a"],"unevaluatedProperties":false})"));
  ASSERT_TRUE(schema);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([copy = *schema] {
      const Json good = *parse_json(R"({"a":"xx","b":[{"a":"x"}]})");
      const Json bad = *parse_json(R"({"a":"xx","b":[{"a":"y"}]})");
      for (int i = 0; i < 500; ++i) {
        ASSERT_TRUE(copy.valid(good));
        ASSERT_EQ(copy.check(bad)->size(), 1u);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace tug
