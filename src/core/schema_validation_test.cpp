#include "core/schema_cases.h"

namespace tug {
namespace {

TEST(SchemaValidation, Type) {
  expect_cases({
      {"integer",
       R"({"type":"integer"})",
       {"1", "-0", "0", "1.0", "1e2", "123456789012345678901234567890", "1e400", "-5.000",
        "18446744073709551615"},
       {"1.1", "\"1\"", "\"foo\"", "{}", "[]", "true", "null", "1e-400", "0.5"}},
      {"number",
       R"({"type":"number"})",
       {"1", "1.0", "1.1", "-1e400", "98249283749234923498293171823948729348710298301928331"},
       {"\"foo\"", "\"1\"", "{}", "[]", "true", "null"}},
      {"string", R"({"type":"string"})", {"\"\"", "\"1\"", "\"foo\""}, {"1", "{}", "[]", "true"}},
      {"object", R"({"type":"object"})", {"{}"}, {"[]", "null", "\"{}\""}},
      {"array", R"({"type":"array"})", {"[]"}, {"{}", "null", "\"[]\""}},
      {"boolean", R"({"type":"boolean"})", {"true", "false"}, {"0", "1", "\"\"", "null"}},
      {"null", R"({"type":"null"})", {"null"}, {"0", "false", "\"\"", "{}", "[]"}},
      {"several",
       R"({"type":["integer","string"]})",
       {"1", "\"foo\"", "2.0"},
       {"1.1", "{}", "[]", "true", "null"}},
      {"one in a list", R"({"type":["string"]})", {"\"foo\""}, {"123"}},
      {"integer beside number", R"({"type":["integer","number"]})", {"1", "1.5"}, {"\"1\""}},
  });
}

TEST(SchemaValidation, Enum) {
  expect_cases({
      {"numbers", R"({"enum":[1,2,3]})", {"1", "1.0", "3"}, {"4", "\"1\"", "true"}},
      {"mixed",
       R"({"enum":[6,"foo",[],true,{"foo":12}]})",
       {"[]", "{\"foo\":12}", "{\"foo\":12.0}", "true"},
       {"null", "{\"foo\":false}", "{\"foo\":12,\"boo\":42}", "1", "[[]]"}},
      {"false is not 0", R"({"enum":[false]})", {"false"}, {"0", "0.0", "null"}},
      {"nested false is not nested 0", R"({"enum":[[false]]})", {"[false]"}, {"[0]", "[0.0]"}},
      {"0 is not false", R"({"enum":[0]})", {"0", "0.0", "-0"}, {"false"}},
      {"nested 1 is not nested true", R"({"enum":[[1]]})", {"[1]", "[1.0]"}, {"[true]"}},
      {"nul characters",
       "{\"enum\":[\"hello\\u0000there\"]}",
       {"\"hello\\u0000there\""},
       {"\"hellothere\"", "\"hello\""}},
      {"escapes",
       R"({"enum":["foo\nbar","foo\rbar"]})",
       {R"("foo\nbar")", R"("foo\rbar")"},
       {"\"abc\""}},
      {"repeated", R"({"enum":["a","a",1,1]})", {"\"a\"", "1"}, {"2"}},
      {"empty", R"({"enum":[]})", {}, {"1", "null"}},
      {"many strings",
       R"({"enum":["a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p","q","r","s"]})",
       {"\"a\"", "\"s\""},
       {"\"t\"", "1", "[\"a\"]"}},
      {"nested order of keys",
       R"({"enum":[{"a":{"x":1,"y":[2,{"p":3,"q":4}]}}]})",
       {R"({"a":{"y":[2,{"q":4,"p":3}],"x":1}})"},
       {R"({"a":{"y":[{"q":4,"p":3},2],"x":1}})"}},
  });
}

TEST(SchemaValidation, Const) {
  expect_cases({
      {"number", R"({"const":2})", {"2", "2.0"}, {"5", "\"2\""}},
      {"object",
       R"({"const":{"foo":"bar","baz":"bax"}})",
       {R"({"foo":"bar","baz":"bax"})", R"({"baz":"bax","foo":"bar"})"},
       {R"({"foo":"bar"})", "[1,2]"}},
      {"array", R"({"const":[{"foo":"bar"}]})", {R"([{"foo":"bar"}])"}, {"[2]", "[1,2,3]"}},
      {"null", R"({"const":null})", {"null"}, {"0", "{}"}},
      {"false", R"({"const":false})", {"false"}, {"0", "0.0"}},
      {"true", R"({"const":true})", {"true"}, {"1", "1.0"}},
      {"minus two", R"({"const":-2.0})", {"-2", "-2.0"}, {"2", "-2.00001"}},
      {"large",
       R"({"const":9007199254740992})",
       {"9007199254740992", "9007199254740992.0"},
       {"9007199254740991", "9007199254740993", "9007199254740991.0"}},
      {"beyond 64 bits",
       R"({"const":10000000000000000000000})",
       {"1e22"},
       {"10000000000000000000001"}},
      {"nul characters",
       "{\"const\":\"hello\\u0000there\"}",
       {"\"hello\\u0000there\""},
       {"\"hellothere\""}},
      {"schema-like value",
       R"({"const":{"$ref":"#/$defs/a"}})",
       {R"({"$ref":"#/$defs/a"})"},
       {R"({"a":2})"}},
  });
}

TEST(SchemaValidation, Bounds) {
  expect_cases({
      {"minimum", R"({"minimum":1.1})", {"2.6", "1.1", "\"x\"", "1e400"}, {"0.6", "-1e400"}},
      {"minimum of an integer",
       R"({"minimum":-2})",
       {"-1", "0", "-2", "-2.0"},
       {"-2.0001", "-3", "-9223372036854775809"}},
      {"maximum", R"({"maximum":3.0})", {"2.6", "3", "3.0", "\"x\""}, {"3.5", "1e400"}},
      {"maximum of an integer", R"({"maximum":300})", {"299.97", "300", "300.00"}, {"300.5"}},
      {"exclusiveMinimum", R"({"exclusiveMinimum":1.1})", {"1.2", "\"x\""}, {"1.1", "0.6"}},
      {"exclusiveMaximum", R"({"exclusiveMaximum":3.0})", {"2.2", "\"x\""}, {"3.0", "3.5", "3"}},
      {"both", R"({"minimum":0,"exclusiveMaximum":1})", {"0", "0.999", "-0.0"}, {"1", "-0.001"}},
      {"far beyond doubles",
       R"({"maximum":18446744073709551615})",
       {"18446744073709551615"},
       {"18446744073709551616", "18446744073709551616.0", "1e400"}},
      {"big bound",
       R"({"maximum":972783798187987123879878123})",
       {"972783798187987123879878123", "0"},
       {"972783798187987123879878124"}},
      {"big negative bound",
       R"({"exclusiveMinimum":-972783798187987123879878123.188137})",
       {"-972783798187987100000000000"},
       {"-972783798187987123879878124"}},
      {"between integers and doubles",
       R"({"minimum":9007199254740993})",
       {"9007199254740994.0"},
       {"9007199254740992.0", "9007199254740992"}},
  });
}

TEST(SchemaValidation, MultipleOf) {
  expect_cases({
      {"integer",
       R"({"multipleOf":2})",
       {"10", "0", "-4", "10.0", "\"foo\"", "1e400"},
       {"7", "7.0", "2.5"}},
      {"decimal", R"({"multipleOf":1.5})", {"0", "4.5", "-3"}, {"35", "1"}},
      {"small decimal",
       R"({"multipleOf":0.0001})",
       {"0.0075", "1", "12.3456"},
       {"0.00751", "1e-5"}},
      {"0.01",
       R"({"multipleOf":0.01})",
       {"4.35", "19.99", "0.29", "1.13", "1000000000000.07"},
       {"4.355"}},
      {"tiny", R"({"type":"integer","multipleOf":1e-8})", {"12391239123"}, {"12391239123.5"}},
      {"division overflows",
       R"({"type":"integer","multipleOf":0.123456789})",
       {},
       {"1e308", "1e308"}},
      {"half", R"({"type":"integer","multipleOf":0.5})", {"1e308", "3"}, {}},
      {"big",
       R"({"multipleOf":3})",
       {"300000000000000000000000000000"},
       {"100000000000000000000000000000"}},
      {"a divisor beyond 64 bits less one",
       R"({"multipleOf":18446744073709551615})",
       {"18446744073709551615", "0", "-36893488147419103230", "184467440737095516150000000"},
       {"18446744073709551614", "18446744073709551616", "36893488147419103231"}},
      {"neighbours", R"({"multipleOf":9223372036854775807})", {}, {"9223372036854775809"}},
      {"a long divisor",
       R"({"multipleOf":123456789012345678901234567890})",
       {"123456789012345678901234567890",
        "15241578753238836750495351562536198787501905199875019052100"},
       {"123456789012345678901234567891", "12345678901234567890", "0.5", "1e300"}},
      {"a long divisor below the doubles",
       R"({"multipleOf":1.2345678901234567890123e-400})",
       {"1.2345678901234567890123e-400", "2.4691357802469135780246e-400"},
       {"1.2345678901234567890124e-400", "1e-500"}},
      {"exponents beyond reason", R"({"multipleOf":7})", {"0"}, {"1e999999999"}},
  });
}

TEST(SchemaValidation, LengthsCountCodePoints) {
  expect_cases({
      {"maxLength",
       R"({"maxLength":2})",
       {"\"f\"", "\"fo\"", "100", "\"\xf0\x9f\x92\xa9\xf0\x9f\x92\xa9\"",
        "\"\\ud83d\\udca9\xc3\xa9\""},
       {"\"foo\"", "\"\xf0\x9f\x92\xa9\xf0\x9f\x92\xa9\xf0\x9f\x92\xa9\""}},
      {"minLength",
       R"({"minLength":2})",
       {"\"foo\"", "\"fo\"", "1"},
       {"\"f\"", "\"\"", "\"\xf0\x9f\x92\xa9\""}},
      {"as a double", R"({"minLength":2.0,"maxLength":3.0})", {"\"foo\""}, {"\"f\"", "\"fooo\""}},
      {"huge", R"({"maxLength":1e300})", {"\"foo\""}, {}},
      {"zero", R"({"maxLength":0})", {"\"\""}, {"\"a\"", "\"\\u0000\""}},
  });
}

TEST(SchemaValidation, Pattern) {
  expect_cases({
      {"anchored", R"({"pattern":"^a*$"})", {"\"aaa\"", "\"\"", "true", "{}"}, {"\"abc\""}},
      {"not anchored", R"({"pattern":"a+"})", {"\"xxaayy\""}, {"\"xyz\""}},
      {"end is the end", R"({"pattern":"^abc$"})", {"\"abc\""}, {"\"abc\\n\"", "\"\\nabc\""}},
      {"digits are ASCII",
       R"({"pattern":"^\\d$"})",
       {"\"0\""},
       {"\"\xdf\xbf\"", "\"\xe0\xa7\xaa\""}},
      {"not digits", R"({"pattern":"^\\D$"})", {"\"\xdf\x80\""}, {"\"0\""}},
      {"words are ASCII", R"({"pattern":"^\\w$"})", {"\"a\"", "\"_\""}, {"\"\xc3\xa9\""}},
      {"not words", R"({"pattern":"^\\W$"})", {"\"\xc3\xa9\""}, {"\"a\""}},
      {"spaces are Unicode",
       R"({"pattern":"^\\s$"})",
       {"\" \"", "\"\\t\"", "\"\\u000b\"", "\"\\u00a0\"", "\"\\ufeff\"", "\"\\n\"", "\"\\u2029\"",
        "\"\\u2003\""},
       {"\"\\u0001\"", "\"\\u2013\"", "\"a\""}},
      {"not spaces",
       R"({"pattern":"^\\S$"})",
       {"\"\\u0001\"", "\"\\u2013\""},
       {"\" \"", "\"\\u000b\"", "\"\\u2029\""}},
      {"spaces in brackets", R"({"pattern":"^[\\s\\d]+$"})", {"\"1 \\u00a0\""}, {"\"a\""}},
      {"not spaces in brackets", R"({"pattern":"^[\\S]+$"})", {"\"ab\""}, {"\"a b\""}},
      {"dot",
       R"({"pattern":"^.$"})",
       {"\"a\"", "\"\xf0\x9f\x92\xa9\""},
       {"\"\\n\"", "\"\\r\"", "\"\\u2028\""}},
      {"code points",
       R"({"pattern":"^\\u00e9\\u{1f4a9}\\x41\\ud83d\\udca9$"})",
       {"\"\xc3\xa9\xf0\x9f\x92\xa9"
        "A\xf0\x9f\x92\xa9\""},
       {"\"e\""}},
      {"control letters",
       R"({"pattern":"^\\cC\\cc\\0$"})",
       {"\"\\u0003\\u0003\\u0000\""},
       {"\"\\\\cC\""}},
      {"properties",
       R"({"pattern":"^\\p{Letter}\\p{Lu}\\p{Script=Greek}\\P{L}$"})",
       {"\"\xc3\xa9"
        "A\xce\xb1"
        "1\""},
       {"\"1A\xce\xb1"
        "1\""}},
      {"digit property",
       R"({"pattern":"^\\p{digit}+$"})",
       {"\"42\"", "\"\xe0\xa7\xaa\xe0\xa7\xa8\""},
       {"\"-%#\"", "\"\""}},
      {"ascii property",
       R"({"pattern":"^\\p{ASCII}\\p{Any}$"})",
       {"\"a\xc3\xa9\""},
       {"\"\xc3\xa9"
        "a\""}},
      {"groups",
       R"({"pattern":"^(?<year>\\d{4})-(?:0[1-9]|1[0-2])$"})",
       {"\"2024-06\""},
       {"\"2024-13\""}},
      {"escaped punctuation",
       R"({"pattern":"^\\/\\-\\.\\[\\]\\{\\}$"})",
       {"\"/-.[]{}\""},
       {"\"a\""}},
      {"braces that repeat nothing", R"({"pattern":"^{a}{2}$"})", {"\"{a}}\""}, {"\"{a}\""}},
      {"brackets in brackets", R"({"pattern":"^[[:a]+$"})", {"\"[:a\""}, {"\"b\""}},
      {"nothing and anything", R"({"pattern":"^[^]$"})", {"\"\\n\""}, {"\"\""}},
      {"never", R"({"pattern":"[]"})", {"1"}, {"\"\"", "\"a\""}},
      {"backspace", R"({"pattern":"^[\\b]\\ba\\b$"})", {"\"\\ba\""}, {"\"a\""}},
  });
}

TEST(SchemaValidation, Arrays) {
  expect_cases({
      {"maxItems", R"({"maxItems":2})", {"[1]", "[1,2]", "\"foobar\""}, {"[1,2,3]"}},
      {"minItems", R"({"minItems":1.0})", {"[1]", "\"\""}, {"[]"}},
      {"contains",
       R"({"contains":{"minimum":5}})",
       {"[3,4,5]", "[3,4,5,6]", "{}"},
       {"[2,3,4]", "[]"}},
      {"contains true", R"({"contains":true})", {"[\"foo\"]"}, {"[]"}},
      {"contains false", R"({"contains":false})", {"\"x\""}, {"[\"foo\"]", "[]"}},
      {"contains null", R"({"contains":{"type":"null"}})", {"[null]"}, {"[1]"}},
      {"maxContains",
       R"({"contains":{"const":1},"maxContains":1})",
       {"[1]", "[1,2]"},
       {"[]", "[1,1]", "[1,2,1]"}},
      {"minContains",
       R"({"contains":{"const":1},"minContains":2})",
       {"[1,1]", "[1,2,1]"},
       {"[]", "[1]", "[1,2]"}},
      {"minContains 0", R"({"contains":{"const":1},"minContains":0})", {"[]", "[2]"}, {}},
      {"minContains 0, maxContains 1",
       R"({"contains":{"const":1},"minContains":0,"maxContains":1})",
       {"[]", "[1]"},
       {"[1,1]"}},
      {"min above max",
       R"({"contains":{"const":1},"minContains":3,"maxContains":1})",
       {},
       {"[]", "[1]", "[1,1,1]"}},
      {"minContains alone", R"({"minContains":3})", {"[]", "[1]"}, {}},
      {"maxContains alone", R"({"maxContains":1})", {"[1,1]"}, {}},
  });
}

TEST(SchemaValidation, UniqueItems) {
  expect_cases({
      {"true",
       R"({"uniqueItems":true})",
       {"[1,2]", "[1,true]", "[0,false]", "[[1],[true]]", R"([{"a":1},{"a":true}])", "[\"1\",1]",
        R"([{"foo":"bar"},{"foo":"baz"}])", "[1,\"a\",null,{},[]]", "[[1,2],[2,1]]", "[]", "1",
        R"([[[1],"foo"],[[true],"foo"],[[0],"foo"],[[false],"foo"]])",
        "[\"a\\u0000b\",\"a\\u0000\"]", R"([{"a":false},{"a":0}])",
        "[9007199254740993,9007199254740992.0]",
        "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,true,\"1\",[1],{\"a\":1},null,1e400,1e401]"},
       {"[1,1]", "[1,1.0]", "[1.0,1.00,1]", "[0,-0]", "[\"foo\",\"bar\",\"foo\"]", "[[1],[1.0]]",
        R"([{"a":1,"b":2},{"b":2,"a":1}])",
        R"([{"foo":{"bar":{"baz":true}}},{"foo":{"bar":{"baz":true}}}])", "[{},[1],true,null,{},1]",
        "[1e400,10e399]",
        "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,{\"a\":1,\"b\":[1]},{\"b\":[1.0],\"a\":1}]",
        "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,1e400,10e399]",
        "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,10000000000000000000000,1e22]",
        "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,5.0]",
        "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,0,-0.0]"}},
      {"false", R"({"uniqueItems":false})", {"[1,1]"}, {}},
      {"with prefixItems",
       R"({"prefixItems":[{"type":"boolean"},{"type":"boolean"}],"uniqueItems":true})",
       {"[false,true]", "[true,false,\"foo\"]"},
       {"[false,false]", "[true,false,\"x\",\"x\"]"}},
  });
}

TEST(SchemaValidation, Objects) {
  expect_cases({
      {"maxProperties",
       R"({"maxProperties":2})",
       {R"({"a":1})", R"({"a":1,"b":2})", "[1,2,3]"},
       {R"({"a":1,"b":2,"c":3})"}},
      {"maxProperties 0", R"({"maxProperties":0})", {"{}"}, {R"({"a":1})"}},
      {"minProperties", R"({"minProperties":1.0})", {R"({"a":1})", "\"\""}, {"{}"}},
      {"required",
       R"({"properties":{"foo":{},"bar":{}},"required":["foo"]})",
       {R"({"foo":1})", "[]", "\"\"", "12"},
       {R"({"bar":1})", "{}"}},
      {"required, not described",
       R"({"required":["a","b"]})",
       {R"({"b":1,"a":null})"},
       {R"({"a":1})", "{}"}},
      {"required none", R"({"required":[]})", {"{}"}, {}},
      {"required with escapes",
       R"({"required":["foo\nbar","foo\"bar","foo\\bar","foo\rbar"]})",
       {R"({"foo\nbar":1,"foo\"bar":1,"foo\\bar":1,"foo\rbar":1})"},
       {R"({"foo\nbar":"1"})"}},
      {"names of JavaScript",
       R"({"required":["__proto__","toString","constructor"]})",
       {R"({"__proto__":"foo","toString":{"length":"foo"},"constructor":37})"},
       {"{}", R"({"__proto__":"foo"})", R"({"toString":{"length":37}})"}},
      {"dependentRequired",
       R"({"dependentRequired":{"quux":["foo","bar"]}})",
       {"{}", R"({"foo":1,"bar":2})", R"({"foo":1,"bar":2,"quux":3})", "[\"quux\"]"},
       {R"({"foo":1,"quux":2})", R"({"quux":1})"}},
      {"dependentRequired none", R"({"dependentRequired":{"bar":[]}})", {R"({"bar":2})"}, {}},
      {"dependentRequired escapes",
       R"({"dependentRequired":{"foo\nbar":["foo\rbar"]}})",
       {R"({"foo\nbar":1,"foo\rbar":2})"},
       {R"({"foo\nbar":1})"}},
      {"dependencies of older drafts",
       R"({"dependencies":{"a":["b"],"c":{"required":["d"]}}})",
       {"{}", R"({"a":1,"b":1})", R"({"c":1,"d":1})"},
       {R"({"a":1})", R"({"c":1})"}},
  });
}

TEST(SchemaValidation, ManyPropertiesAreFoundByTheIndex) {
  Json properties = Json::object();
  Json instance = Json::object();
  for (int i = 0; i < 1000; ++i) {
    properties.set("key" + std::to_string(i), Json::object({{"const", i}}));
    instance.set("key" + std::to_string(i), i);
  }
  const auto schema =
      Schema::compile(Json::object({{"properties", properties}, {"additionalProperties", false}}));
  ASSERT_TRUE(schema);
  EXPECT_TRUE(schema->valid(instance));
  instance.set("key999", 5);
  EXPECT_FALSE(schema->valid(instance));
}

TEST(SchemaValidation, AnnotationsCheckNothing) {
  expect_cases({
      {"meta-data",
       R"({"title":"t","description":"d","default":5,"deprecated":true,"readOnly":true,
           "writeOnly":false,"examples":[1],"$comment":"c","x-unknown":{"type":5}})",
       {"1", "\"x\"", "{}"},
       {}},
      {"default is not checked",
       R"({"properties":{"a":{"type":"integer","default":[]}}})",
       {"{}", R"({"a":1})"},
       {R"({"a":"x"})"}},
      {"content",
       R"({"contentMediaType":"application/json","contentEncoding":"base64",
           "contentSchema":{"type":"object","required":["foo"]}})",
       {"\"{:}\"", "\"%iJmb2\"", "100"},
       {}},
      {"format by default", R"({"format":"ipv4"})", {"\"no address\"", "5"}, {}},
      {"unknown format", R"({"format":"unknown"})", {"\"x\"", "5"}, {}},
  });
}

}  // namespace
}  // namespace tug
