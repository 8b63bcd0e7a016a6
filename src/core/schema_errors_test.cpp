#include "core/schema_cases.h"

namespace tug {
namespace {

TEST(SchemaErrors, AMalformedSchemaIsRefusedWithItsPlace) {
  struct Case {
    const char* schema;
    const char* message;
  };
  const Case cases[] = {
      {"5", "schema at (root) must be an object or a boolean, got 5"},
      {"null", "schema at (root) must be an object or a boolean, got null"},
      {R"({"type":5})",
       "schema at (root): \"type\" must be \"null\", \"boolean\", \"integer\", \"number\", "
       "\"string\", \"array\" or \"object\", or an array of these without repeats, got 5"},
      {R"({"properties":{"a":{"minimum":"x"}}})",
       "schema at /properties/a: \"minimum\" must be a number, got \"x\""},
      {R"({"required":[1]})",
       "schema at (root): \"required\" must be an array of strings without repeats, got [1]"},
      {R"({"properties":{"a":{"required":true}}})",
       "schema at /properties/a: \"required\" must be an array of strings without repeats, got "
       "true"},
      {R"({"properties":{"a/b~c":7}})",
       "schema at /properties/a~1b~0c must be an object or a boolean, got 7"},
      {R"({"items":[{"type":"string"}]})",
       "schema at (root): \"items\" must be one schema (\"prefixItems\" takes a list), got "
       "[{\"type\":\"string\"}]"},
      {R"({"allOf":[]})",
       "schema at (root): \"allOf\" must be an array of at least one schema, got []"},
      {R"({"$defs":{"x":{"maxLength":-1}}})",
       "schema at /$defs/x: \"maxLength\" must be an integer of 0 or more, got -1"},
      {R"({"anyOf":[{},{"minItems":1.5}]})",
       "schema at /anyOf/1: \"minItems\" must be an integer of 0 or more, got 1.5"},
      {R"({"multipleOf":0})", "schema at (root): \"multipleOf\" must be a number above 0, got 0"},
      {R"({"$ref":5})", "schema at (root): \"$ref\" must be a URI reference, got 5"},
      {R"({"$ref":"#/nowhere/else"})",
       "schema at (root): \"$ref\" names \"#/nowhere/else\", but there is nothing at /nowhere"},
      {R"({"$ref":"#nowhere"})",
       "schema at (root): \"$ref\" names \"#nowhere\", but there is no such anchor"},
      {R"({"$ref":"#/a%zz"})",
       "schema at (root): \"$ref\" names \"#/a%zz\", which has a broken '%'"},
      {R"({"properties":{"a":{"$ref":"http://example.com/other.json"}}})",
       "schema at /properties/a: \"$ref\" names \"http://example.com/other.json\", which is not in "
       "this document; remote references are not fetched"},
      {R"({"$ref":"#/x","x":1})", "schema at /x must be an object or a boolean, got 1"},
      {R"({"$id":"a#b"})",
       "schema at (root): \"$id\" must be a URI reference without a fragment (use \"$anchor\"), "
       "got "
       "\"a#b\""},
      {R"({"$defs":{"a":{"$id":"http://x/1"},"b":{"$id":"http://x/1"}}})",
       "schema at /$defs/b: \"$id\" \"http://x/1\" was used before, at /$defs/a"},
      {R"({"$defs":{"a":{"$anchor":"n"},"b":{"$dynamicAnchor":"n"}}})",
       "schema at /$defs/b: anchor \"n\" was used before, at /$defs/a"},
      {R"({"$anchor":"1x"})",
       "schema at (root): \"$anchor\" must be a name (a letter or '_', then letters, digits, '-', "
       "'_', '.'), got \"1x\""},
      {R"({"pattern":"a("})",
       "schema at (root): \"pattern\" \"a(\" cannot be used: missing ): a(?:"},
      {R"({"pattern":"[a"})",
       "schema at (root): \"pattern\" \"[a\" cannot be used: a '[' has no closing ']'"},
      {R"({"pattern":"\\a"})",
       "schema at (root): \"pattern\" \"\\\\a\" cannot be used: '\\a' is not an escape of "
       "ECMA-262"},
      {R"({"title":1})", "schema at (root): \"title\" must be a string, got 1"},
      {R"({"deprecated":"yes"})",
       "schema at (root): \"deprecated\" must be a boolean, got \"yes\""},
      {R"({"examples":1})", "schema at (root): \"examples\" must be an array, got 1"},
      {R"({"format":1})", "schema at (root): \"format\" must be a string, got 1"},
      {R"({"uniqueItems":1})", "schema at (root): \"uniqueItems\" must be a boolean, got 1"},
      {R"({"enum":1})", "schema at (root): \"enum\" must be an array, got 1"},
      {R"({"properties":[]})",
       "schema at (root): \"properties\" must be an object of schemas, got []"},
      {R"({"patternProperties":{"(":{}}})",
       "schema at (root): \"patternProperties\" \"(\" cannot be used: missing ): (?:"},
      {R"({"dependentRequired":{"a":"b"}})",
       "schema at (root): \"dependentRequired/a\" must be an array of strings without repeats, got "
       "\"b\""},
      {R"({"$vocabulary":{"x":1}})",
       "schema at (root): \"$vocabulary\" must be an object of booleans, got {\"x\":1}"},
      {R"({"$comment":{}})", "schema at (root): \"$comment\" must be a string, got {}"},
      {R"({"$schema":7})", "schema at (root): \"$schema\" must be a string, got 7"},
  };
  for (const Case& c : cases) {
    const auto schema = Schema::compile(*parse_json(c.schema));
    ASSERT_FALSE(schema) << c.schema;
    EXPECT_EQ(schema.error().kind(), ErrorKind::invalid);
    EXPECT_EQ(schema.error().message(), c.message) << c.schema;
  }
}

TEST(SchemaErrors, WhatTheMetaschemaRefusesDoesNotCompile) {
  const auto whole =
      Schema::compile(Json::object({{"$ref", "https://json-schema.org/draft/2020-12/schema"}}));
  ASSERT_TRUE(whole);
  for (const char* text : {
           R"({"type":[]})",
           R"({"type":["string","string"]})",
           R"({"type":"any"})",
           R"({"type":["string",1]})",
           R"({"minContains":-1})",
           R"({"maxProperties":"1"})",
           R"({"exclusiveMinimum":true})",
           R"({"multipleOf":-1})",
           R"({"patternProperties":[]})",
           R"({"patternProperties":{"a":1}})",
           R"({"dependentSchemas":{"a":[]}})",
           R"({"dependentRequired":{"a":["b","b"]}})",
           R"({"$defs":[]})",
           R"({"$defs":{"a":1}})",
           R"({"prefixItems":{}})",
           R"({"prefixItems":[]})",
           R"({"oneOf":[1]})",
           R"({"if":1})",
           R"({"else":[]})",
           R"({"contains":"x"})",
           R"({"contentSchema":1})",
           R"({"contentEncoding":1})",
           R"({"unevaluatedProperties":1})",
           R"({"propertyNames":null})",
           R"({"readOnly":1})",
           R"({"description":[]})",
           R"({"$id":1})",
           R"({"$dynamicAnchor":"#a"})",
           R"({"$dynamicRef":1})",
           R"({"required":["a","a"]})",
       }) {
    const Json schema = *parse_json(text);
    EXPECT_FALSE(whole->valid(schema)) << text;
    EXPECT_FALSE(Schema::compile(schema)) << text;
  }
}

TEST(SchemaErrors, OtherDraftsAreRefusedByName) {
  for (const char* draft :
       {"http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/draft-04/schema#", "https://example.com/own"}) {
    const auto schema = Schema::compile(Json::object({{"$schema", draft}, {"type", "string"}}));
    ASSERT_FALSE(schema) << draft;
    EXPECT_EQ(schema.error().kind(), ErrorKind::unsupported);
    EXPECT_NE(schema.error().message().find(draft), std::string::npos);
    EXPECT_NE(schema.error().fix().find("2020-12"), std::string::npos);
  }
}

TEST(SchemaErrors, PatternsBeyondRe2AreRefusedWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"^(?=a)", "look-around '(?=' is not supported"},
      {"(?!a)", "look-around '(?!' is not supported"},
      {"(?<=a)b", "look-around '(?<=' is not supported"},
      {"(?<!a)b", "look-around '(?<!' is not supported"},
      {"(a)\\1", "the back reference '\\1' is not supported"},
      {"(?<n>a)\\k<n>", "the back reference '\\k' is not supported"},
      {"a{1001}", "a repetition of more than 1000 is not supported"},
  };
  for (const auto& [pattern, reason] : cases) {
    const auto schema = Schema::compile(Json::object(
        {{"properties", Json::object({{"p", Json::object({{"pattern", pattern}})}})}}));
    ASSERT_FALSE(schema) << pattern;
    EXPECT_EQ(schema.error().kind(), ErrorKind::unsupported);
    std::string shown;
    print_json_string(pattern, shown);
    EXPECT_EQ(schema.error().message(),
              "schema at /properties/p: \"pattern\" " + shown + " cannot be used: " + reason);
  }
}

std::vector<Violation> violations_of(const char* schema, const char* value,
                                     SchemaOptions options = {}) {
  return Schema::compile(*parse_json(schema), options)->check(*parse_json(value)).value();
}

TEST(SchemaErrors, ViolationsSayWhatWasExpectedAndWhere) {
  struct Case {
    const char* schema;
    const char* value;
    Violation violation;
  };
  const Case cases[] = {
      {R"({"type":"integer"})", "\"abc\"", {"", "/type", "expected integer, got string \"abc\""}},
      {R"({"type":["string","null"]})",
       "1.5",
       {"", "/type", "expected null or string, got number 1.5"}},
      {R"({"type":"integer"})", "1.5", {"", "/type", "expected integer, got number 1.5"}},
      {R"({"type":"string"})", "2.0", {"", "/type", "expected string, got integer 2.0"}},
      {R"({"type":"string"})", "[1,2]", {"", "/type", "expected string, got array [1,2]"}},
      {R"({"type":"string"})", "true", {"", "/type", "expected string, got boolean true"}},
      {R"({"properties":{"a":{"items":{"type":"string"}}}})",
       R"({"a":["x",null]})",
       {"/a/1", "/properties/a/items/type", "expected string, got null"}},
      {R"({"properties":{"a/b":{"const":1}}})",
       R"({"a/b":2})",
       {"/a~1b", "/properties/a~1b/const", "expected 1, got integer 2"}},
      {R"({"enum":["red","green",5]})",
       "\"blue\"",
       {"", "/enum", "expected one of \"red\", \"green\" or 5, got string \"blue\""}},
      {R"({"enum":["red"]})", "1", {"", "/enum", "expected \"red\", got integer 1"}},
      {R"({"properties":{"color":{},"size":{}},"additionalProperties":false})",
       R"({"colour":1})",
       {"/colour", "/additionalProperties", "unknown key \"colour\", did you mean \"color\"?"}},
      {R"({"properties":{"color":{},"size":{}},"additionalProperties":false})",
       R"({"xyzzy":1})",
       {"/xyzzy", "/additionalProperties",
        "unknown key \"xyzzy\", expected \"color\" or \"size\""}},
      {R"({"additionalProperties":false})",
       R"({"a":1})",
       {"/a", "/additionalProperties", "unknown key \"a\""}},
      {R"({"unevaluatedProperties":false,"properties":{"name":{}}})",
       R"({"nmae":1})",
       {"/nmae", "/unevaluatedProperties", "unknown key \"nmae\", did you mean \"name\"?"}},
      {R"({"prefixItems":[{}],"unevaluatedItems":false})",
       "[1,2]",
       {"/1", "/unevaluatedItems", "no further item is allowed"}},
      {R"({"required":["path"]})", "{}", {"", "/required", "missing required key \"path\""}},
      {R"({"dependentRequired":{"a":["b"]}})",
       R"({"a":1})",
       {"", "/dependentRequired", "missing key \"b\", which is required beside \"a\""}},
      {R"({"minimum":3})", "2", {"", "/minimum", "expected at least 3, got 2"}},
      {R"({"maximum":3})", "4.5", {"", "/maximum", "expected at most 3, got 4.5"}},
      {R"({"exclusiveMinimum":3})", "3", {"", "/exclusiveMinimum", "expected more than 3, got 3"}},
      {R"({"exclusiveMaximum":3})", "3", {"", "/exclusiveMaximum", "expected less than 3, got 3"}},
      {R"({"multipleOf":5})", "7", {"", "/multipleOf", "expected a multiple of 5, got 7"}},
      {R"({"minLength":3})",
       "\"ab\"",
       {"", "/minLength", "expected at least 3 characters, got 2 in \"ab\""}},
      {R"({"maxLength":1})",
       "\"ab\"",
       {"", "/maxLength", "expected at most 1 character, got 2 in \"ab\""}},
      {R"({"pattern":"^a+$"})",
       "\"b\"",
       {"", "/pattern", "expected text that matches \"^a+$\", got \"b\""}},
      {R"({"minItems":2})", "[1]", {"", "/minItems", "expected at least 2 items, got 1"}},
      {R"({"maxItems":1})", "[1,2]", {"", "/maxItems", "expected at most 1 item, got 2"}},
      {R"({"uniqueItems":true})",
       "[1,2,1.0]",
       {"", "/uniqueItems", "expected items that differ, but items 0 and 2 are both 1"}},
      {R"({"contains":{"type":"string"}})",
       "[1]",
       {"", "/contains", "expected at least 1 item to match \"contains\", got 0"}},
      {R"({"minProperties":1})", "{}", {"", "/minProperties", "expected at least 1 key, got 0"}},
      {R"({"propertyNames":{"maxLength":1}})",
       R"({"ab":1})",
       {"/ab", "/propertyNames/maxLength", "expected at most 1 character, got 2 in \"ab\""}},
      {R"({"anyOf":[{"type":"string"},{"properties":{"a":{"type":"integer"}}}]})",
       R"({"a":"x"})",
       {"", "/anyOf",
        "matches none of the 2 alternatives (1: expected string, got object {\"a\":\"x\"}; 2: at "
        "/a: "
        "expected integer, got string \"x\")"}},
      {R"({"oneOf":[{"type":"integer"},{"type":"string"},{"minimum":2}]})",
       "3",
       {"", "/oneOf", "matches alternatives 1 and 3, expected exactly one of 3"}},
      {R"({"not":{"type":"integer"}})",
       "3",
       {"", "/not", "expected a value that does not match \"not\", got integer 3"}},
      {R"({"if":{"type":"integer"},"then":{"minimum":5}})",
       "3",
       {"", "/then/minimum", "expected at least 5, got 3"}},
      {R"({"$ref":"#/$defs/p","$defs":{"p":{"minimum":5}}})",
       "3",
       {"", "/$defs/p/minimum", "expected at least 5, got 3"}},
      {R"({"$ref":"https://json-schema.org/draft/2020-12/meta/validation"})",
       R"({"minimum":"x"})",
       {"/minimum",
        "https://json-schema.org/draft/2020-12/meta/validation#/properties/minimum/type",
        "expected number, got string \"x\""}},
      {"false", "1", {"", "", "no value is allowed here"}},
  };
  for (const Case& c : cases) {
    const auto found = violations_of(c.schema, c.value);
    ASSERT_EQ(found.size(), 1u) << c.schema << " " << verdict_line(found);
    EXPECT_EQ(found[0].instance_path, c.violation.instance_path) << c.schema;
    EXPECT_EQ(found[0].schema_path, c.violation.schema_path) << c.schema;
    EXPECT_EQ(found[0].message, c.violation.message) << c.schema;
  }
}

TEST(SchemaErrors, SeveralViolationsComeInOrderUpToTheCap) {
  const char* schema =
      R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string","minLength":2,
          "pattern":"^x"}},"required":["a","b","c"],"additionalProperties":false})";
  const auto all = violations_of(schema, R"({"b":"a","z":1,"a":"s"})");
  EXPECT_EQ(verdict_line(all),
            "invalid /b: expected at least 2 characters, got 1 in \"a\"; "
            "/b: expected text that matches \"^x\", got \"a\"; "
            "/z: unknown key \"z\", expected \"a\" or \"b\"; "
            "/a: expected integer, got string \"s\"; (root): missing required key \"c\"");
  EXPECT_EQ(violations_of(schema, R"({"b":"a","z":1,"a":"s"})", {.max_violations = 2}).size(), 2u);
  EXPECT_EQ(violations_of(R"({"items":{"type":"string"}})", "[1,2,3,4,5,6,7,8,9,10]").size(), 8u);
  EXPECT_EQ(verdict_line(violations_of("{}", "1")), "valid");
}

TEST(SchemaErrors, LongValuesAreClippedInMessages) {
  const std::string text = "\"" + std::string(5000, 'x') + "\"";
  const auto found = violations_of(R"({"type":"integer"})", text.c_str());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_LT(found[0].message.size(), 150u);
  std::string list = "[0";
  for (int i = 1; i < 100; ++i) list += "," + std::to_string(i);
  EXPECT_EQ(violations_of(R"({"type":"integer"})", (list + "]").c_str())[0].message,
            "expected integer, got an array of 100 items");
}

}  // namespace
}  // namespace tug
