#include "core/schema_cases.h"

namespace tug {
namespace {

TEST(SchemaApplicator, BooleanSchemas) {
  expect_cases({
      {"true", "true", {"1", "null", "{}"}, {}},
      {"empty", "{}", {"1", "null", "{}"}, {}},
      {"false", "false", {}, {"1", "null", "{}", "[]", "\"\""}},
  });
}

TEST(SchemaApplicator, Properties) {
  expect_cases({
      {"two",
       R"({"properties":{"foo":{"type":"integer"},"bar":{"type":"string"}}})",
       {R"({"foo":1,"bar":"baz"})", "{}", R"({"quux":[]})", "[]", "12"},
       {R"({"foo":1,"bar":{}})", R"({"foo":[],"bar":{}})"}},
      {"with patterns and the rest",
       R"({"properties":{"foo":{"type":"array","maxItems":3},"bar":{"type":"array"}},
           "patternProperties":{"f.o":{"minItems":2}},"additionalProperties":{"type":"integer"}})",
       {R"({"foo":[1,2]})", R"({"fxo":[1,2]})", R"({"bar":[]})", R"({"quux":3})"},
       {R"({"foo":[1,2,3,4]})", R"({"foo":[]})", R"({"fxo":[]})", R"({"quux":"foo"})"}},
      {"boolean schemas",
       R"({"properties":{"foo":true,"bar":false}})",
       {"{}", R"({"foo":1})"},
       {R"({"bar":2})", R"({"foo":1,"bar":2})"}},
      {"escaped names",
       R"({"properties":{"foo\nbar":{"type":"number"},"foo\"bar":{"type":"number"},
           "foo\\bar":{"type":"number"},"foo\tbar":{"type":"number"}}})",
       {R"({"foo\nbar":1,"foo\"bar":1,"foo\\bar":1,"foo\tbar":1})"},
       {R"({"foo\nbar":"1"})", R"({"foo\"bar":"1"})"}},
      {"null values",
       R"({"properties":{"foo":{"type":"null"}}})",
       {R"({"foo":null})"},
       {R"({"foo":0})"}},
      {"names of JavaScript",
       R"({"properties":{"__proto__":{"type":"number"},"toString":{"properties":{"length":
           {"type":"string"}}},"constructor":{"type":"number"}}})",
       {"[]", "{}", R"({"__proto__":12,"toString":{"length":"foo"},"constructor":37})"},
       {R"({"__proto__":"foo"})", R"({"toString":{"length":37}})",
        R"({"constructor":{"length":37}})"}},
      {"a property called $ref",
       R"({"properties":{"$ref":{"type":"string"}}})",
       {R"({"$ref":"a"})"},
       {R"({"$ref":2})"}},
      {"a property called like a keyword",
       R"({"properties":{"properties":{"type":"array"},"$id":{"type":"integer"}}})",
       {R"({"properties":[],"$id":1})"},
       {R"({"properties":{}})", R"({"$id":"x"})"}},
      {"the empty name",
       R"({"properties":{"":{"type":"integer"}}})",
       {R"({"":1})"},
       {R"({"":"x"})"}},
  });
}

TEST(SchemaApplicator, PatternProperties) {
  expect_cases({
      {"one",
       R"({"patternProperties":{"f.*o":{"type":"integer"}}})",
       {R"({"foo":1})", R"({"foo":1,"foooooo":2})", "{}", "[\"foo\"]", "\"foo\""},
       {R"({"foo":"bar","fooooo":2})", R"({"foo":"bar","foooooo":"baz"})"}},
      {"two at once",
       R"({"patternProperties":{"a*":{"type":"integer"},"aaa*":{"maximum":20}}})",
       {R"({"a":21})", R"({"aaaa":18})", R"({"a":21,"aaaa":18})"},
       {R"({"a":"bar"})", R"({"aaaa":31})", R"({"aaa":"foo","aaaa":31})"}},
      {"not anchored, with case",
       R"({"patternProperties":{"[0-9]{2,}":{"type":"boolean"},"X_":{"type":"string"}}})",
       {R"({"answer 1":"42"})", R"({"a31b":true})", R"({"a_x_3":3})"},
       {R"({"a31b":null})", R"({"a_X_3":3})"}},
      {"boolean schemas",
       R"({"patternProperties":{"f.*":true,"b.*":false}})",
       {R"({"foo":1})", "{}"},
       {R"({"bar":2})", R"({"foobar":1})"}},
      {"not ASCII",
       "{\"patternProperties\":{\"^\xc3\xa1\":{}},\"additionalProperties\":false}",
       {"{\"\xc3\xa1rm\xc3\xa9n\":2}"},
       {"{\"\xc3\xa9lm\xc3\xa9ny\":2}"}},
  });
}

TEST(SchemaApplicator, AdditionalProperties) {
  expect_cases({
      {"false",
       R"({"properties":{"foo":{},"bar":{}},"patternProperties":{"^v":{}},
           "additionalProperties":false})",
       {R"({"foo":1})", "[1,2,3]", "\"foobarbaz\"", R"({"foo":1,"vroom":2})"},
       {R"({"foo":1,"bar":2,"quux":"boom"})"}},
      {"schema",
       R"({"properties":{"foo":{}},"additionalProperties":{"type":"boolean"}})",
       {R"({"foo":1})", R"({"foo":1,"quux":true})"},
       {R"({"foo":1,"quux":12})"}},
      {"alone",
       R"({"additionalProperties":{"type":"boolean"}})",
       {R"({"foo":true})"},
       {R"({"foo":1})"}},
      {"does not look into allOf",
       R"({"allOf":[{"properties":{"foo":{}}}],"additionalProperties":{"type":"boolean"}})",
       {},
       {R"({"foo":1,"bar":true})"}},
      {"required alone describes nothing",
       R"({"required":["a"],"additionalProperties":false})",
       {},
       {R"({"a":1})", "{}"}},
      {"with propertyNames",
       R"({"propertyNames":{"maxLength":5},"additionalProperties":{"type":"number"}})",
       {R"({"apple":4})"},
       {R"({"fig":2,"pear":"available"})", R"({"banana":1})"}},
      {"with dependentSchemas",
       R"({"properties":{"foo2":{}},"dependentSchemas":{"foo":{},"foo2":{"properties":{"bar":{}}}},
           "additionalProperties":false})",
       {R"({"foo2":""})"},
       {R"({"foo":""})", R"({"bar":""})", R"({"foo2":"","bar":""})"}},
  });
}

TEST(SchemaApplicator, PropertyNames) {
  expect_cases({
      {"length",
       R"({"propertyNames":{"maxLength":3}})",
       {R"({"f":{},"foo":{}})", "{}", "[1,2,3,4]", "\"foobar\"", "12"},
       {R"({"foo":{},"foobar":{}})"}},
      {"pattern",
       R"({"propertyNames":{"pattern":"^a+$"}})",
       {R"({"a":{},"aa":{}})", "{}"},
       {R"({"aaA":{}})"}},
      {"false", R"({"propertyNames":false})", {"{}"}, {R"({"foo":1})"}},
      {"const", R"({"propertyNames":{"const":"foo"}})", {R"({"foo":1})", "{}"}, {R"({"bar":1})"}},
      {"enum",
       R"({"propertyNames":{"enum":["foo","bar"]}})",
       {R"({"foo":1,"bar":1})"},
       {R"({"baz":1})"}},
  });
}

TEST(SchemaApplicator, Items) {
  expect_cases({
      {"one schema",
       R"({"items":{"type":"integer"}})",
       {"[1,2,3]", "[]", R"({"foo":"bar"})", R"({"0":"invalid","length":1})"},
       {"[1,\"x\"]"}},
      {"true", R"({"items":true})", {"[1,\"foo\",true]", "[]"}, {}},
      {"false", R"({"items":false})", {"[]"}, {"[1,\"foo\"]"}},
      {"nested",
       R"({"type":"array","items":{"type":"array","items":{"type":"array","items":
           {"type":"number"}}}})",
       {"[[[1]],[[2],[3]]]"},
       {"[[[\"1\"]]]", "[[1],[2]]"}},
      {"prefixItems",
       R"({"prefixItems":[{"type":"integer"},{"type":"string"}]})",
       {"[1,\"foo\"]", "[1]", "[]", "[1,\"foo\",true]", R"({"0":"invalid","length":2})"},
       {"[\"foo\",1]"}},
      {"prefixItems, then items",
       R"({"prefixItems":[{"type":"string"}],"items":{"type":"integer"}})",
       {"[\"x\",2,3]", "[]", "[\"x\"]"},
       {"[\"x\",\"y\"]", "[1]"}},
      {"prefixItems, then false",
       R"({"prefixItems":[{},{},{}],"items":false})",
       {"[]", "[1]", "[1,2,3]"},
       {"[1,2,3,4]"}},
      {"boolean prefixItems", R"({"prefixItems":[true,false]})", {"[]", "[1]"}, {"[1,\"foo\"]"}},
      {"items does not look into allOf",
       R"({"allOf":[{"prefixItems":[{"minimum":3}]}],"items":{"minimum":5}})",
       {"[5,5]", "[5]"},
       {"[3,5]", "[5,3]"}},
      {"null items", R"({"items":{"type":"null"}})", {"[null]"}, {"[0]"}},
  });
}

TEST(SchemaApplicator, Combinations) {
  expect_cases({
      {"allOf",
       R"({"allOf":[{"properties":{"bar":{"type":"integer"}},"required":["bar"]},
           {"properties":{"foo":{"type":"string"}},"required":["foo"]}]})",
       {R"({"foo":"baz","bar":2})"},
       {R"({"foo":"baz"})", R"({"bar":2})", R"({"foo":"baz","bar":"quux"})"}},
      {"allOf beside others",
       R"({"properties":{"bar":{"type":"integer"}},"required":["bar"],
           "allOf":[{"required":["foo"]},{"properties":{"baz":{"type":"null"}}}]})",
       {R"({"foo":"q","bar":2,"baz":null})"},
       {R"({"foo":"q","baz":null})", R"({"bar":2})"}},
      {"allOf true and false", R"({"allOf":[true,false]})", {}, {"\"foo\""}},
      {"allOf all true", R"({"allOf":[true,{}]})", {"\"foo\""}, {}},
      {"anyOf", R"({"anyOf":[{"type":"integer"},{"minimum":2}]})", {"1", "2.5", "3"}, {"1.5"}},
      {"anyOf beside type",
       R"({"type":"string","anyOf":[{"maxLength":2},{"minLength":4}]})",
       {"\"fo\"", "\"foobar\""},
       {"3", "\"foo\""}},
      {"anyOf all false", R"({"anyOf":[false,false]})", {}, {"\"foo\""}},
      {"anyOf nested", R"({"anyOf":[{"anyOf":[{"type":"null"}]}]})", {"null"}, {"123"}},
      {"oneOf", R"({"oneOf":[{"type":"integer"},{"minimum":2}]})", {"1", "2.5"}, {"3", "1.5"}},
      {"oneOf all true", R"({"oneOf":[true,true,true]})", {}, {"\"foo\""}},
      {"oneOf one true", R"({"oneOf":[true,false,false]})", {"\"foo\""}, {}},
      {"oneOf with required",
       R"({"type":"object","oneOf":[{"required":["foo","bar"]},{"required":["foo","baz"]}]})",
       {R"({"foo":1,"bar":2})", R"({"foo":1,"baz":3})"},
       {R"({"bar":2})", R"({"foo":1,"bar":2,"baz":3})"}},
      {"all three at once",
       R"({"allOf":[{"multipleOf":2}],"anyOf":[{"multipleOf":3}],"oneOf":[{"multipleOf":5}]})",
       {"30", "0"},
       {"1", "2", "3", "5", "6", "10", "15"}},
      {"not", R"({"not":{"type":"integer"}})", {"\"foo\"", "1.1"}, {"1", "1.0"}},
      {"not with several types",
       R"({"not":{"type":["integer","boolean"]}})",
       {"\"foo\""},
       {"1", "true"}},
      {"not true", R"({"not":true})", {}, {"\"foo\""}},
      {"not false", R"({"not":false})", {"\"foo\"", "null"}, {}},
      {"not empty", R"({"not":{}})", {}, {"1", "null"}},
      {"not not", R"({"not":{"not":{"type":"string"}}})", {"\"x\""}, {"1"}},
      {"forbidden property",
       R"({"properties":{"foo":{"not":{}}}})",
       {"{}", R"({"bar":1})"},
       {R"({"foo":1})"}},
  });
}

TEST(SchemaApplicator, Conditions) {
  expect_cases({
      {"if alone", R"({"if":{"const":0}})", {"0", "\"hello\""}, {}},
      {"then alone", R"({"then":{"const":0}})", {"0", "1"}, {}},
      {"else alone", R"({"else":{"const":0}})", {"0", "1"}, {}},
      {"if and then",
       R"({"if":{"exclusiveMaximum":0},"then":{"minimum":-10}})",
       {"-1", "3"},
       {"-100"}},
      {"if and else",
       R"({"if":{"exclusiveMaximum":0},"else":{"multipleOf":2}})",
       {"-1", "4"},
       {"3"}},
      {"all",
       R"({"if":{"exclusiveMaximum":0},"then":{"minimum":-10},"else":{"multipleOf":2}})",
       {"-1", "4"},
       {"-100", "3"}},
      {"order of keys",
       R"({"then":{"const":"yes"},"else":{"const":"other"},"if":{"maxLength":4}})",
       {"\"yes\"", "\"other\""},
       {"\"no\"", "\"invalid\""}},
      {"boolean if",
       R"({"if":true,"then":{"const":"then"},"else":{"const":"else"}})",
       {"\"then\""},
       {"\"else\""}},
      {"in separate branches of allOf",
       R"({"allOf":[{"if":{"exclusiveMaximum":0}},{"then":{"minimum":-10}},
           {"else":{"multipleOf":2}}]})",
       {"-100", "3"},
       {}},
  });
}

TEST(SchemaApplicator, DependentSchemas) {
  expect_cases({
      {"one",
       R"({"dependentSchemas":{"bar":{"properties":{"foo":{"type":"integer"},
           "bar":{"type":"integer"}}}}})",
       {R"({"foo":1,"bar":2})", R"({"foo":"quux"})", "[\"bar\"]", "12"},
       {R"({"foo":"quux","bar":2})", R"({"foo":2,"bar":"quux"})"}},
      {"boolean",
       R"({"dependentSchemas":{"foo":true,"bar":false}})",
       {R"({"foo":1})", "{}"},
       {R"({"bar":2})", R"({"foo":1,"bar":2})"}},
      {"escaped names",
       R"({"dependentSchemas":{"foo\tbar":{"minProperties":4},"foo'bar":{"required":["foo\"bar"]}}})",
       {R"({"foo\tbar":1,"a":2,"b":3,"c":4})"},
       {R"({"foo'bar":{"foo\"bar":1}})", R"({"foo\tbar":1,"a":2})"}},
  });
}

}  // namespace
}  // namespace tug
