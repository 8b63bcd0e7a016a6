#include "core/schema_cases.h"
#include "core/schema_metaschema.h"

namespace tug {
namespace {

TEST(SchemaReference, ByPointer) {
  expect_cases({
      {"root",
       R"({"properties":{"foo":{"$ref":"#"}},"additionalProperties":false})",
       {R"({"foo":false})", R"({"foo":{"foo":false}})"},
       {R"({"bar":false})", R"({"foo":{"bar":false}})"}},
      {"sibling property",
       R"({"properties":{"foo":{"type":"integer"},"bar":{"$ref":"#/properties/foo"}}})",
       {R"({"bar":3})"},
       {R"({"bar":true})"}},
      {"item",
       R"({"prefixItems":[{"type":"integer"},{"$ref":"#/prefixItems/0"}]})",
       {"[1,2]"},
       {"[1,\"foo\"]"}},
      {"escaped",
       R"({"$defs":{"tilde~field":{"type":"integer"},"slash/field":{"type":"integer"},
           "percent%field":{"type":"integer"}},
           "properties":{"tilde":{"$ref":"#/$defs/tilde~0field"},
           "slash":{"$ref":"#/$defs/slash~1field"},"percent":{"$ref":"#/$defs/percent%25field"}}})",
       {R"({"slash":123,"tilde":1,"percent":2})"},
       {R"({"slash":"aoeu"})", R"({"tilde":"aoeu"})", R"({"percent":"aoeu"})"}},
      {"quotes in names",
       R"({"properties":{"foo\"bar":{"$ref":"#/$defs/foo%22bar"}},
           "$defs":{"foo\"bar":{"type":"number"}}})",
       {R"({"foo\"bar":1})"},
       {R"({"foo\"bar":"1"})"}},
      {"empty tokens",
       R"({"$defs":{"":{"$defs":{"":{"type":"number"}}}},"allOf":[
           {"$ref":"#/$defs//$defs/"}]})",
       {"1"},
       {"\"a\""}},
      {"chained",
       R"({"$defs":{"a":{"type":"integer"},"b":{"$ref":"#/$defs/a"},"c":{"$ref":"#/$defs/b"}},
           "$ref":"#/$defs/c"})",
       {"5"},
       {"\"a\""}},
      {"beside others",
       R"({"$defs":{"r":{"type":"array"}},"properties":{"foo":{
           "$ref":"#/$defs/r","maxItems":2}}})",
       {R"({"foo":[]})", R"({"foo":[1,2]})"},
       {R"({"foo":[1,2,3]})", R"({"foo":"string"})"}},
      {"to booleans",
       R"({"properties":{"a":{"$ref":"#/$defs/t"},"b":{"$ref":"#/$defs/f"}},
           "$defs":{"t":true,"f":false}})",
       {R"({"a":"foo"})"},
       {R"({"b":"foo"})"}},
      {"into a condition",
       R"({"allOf":[{"$ref":"#/allOf/1/then"},{"if":true,"then":{"type":"integer"}}]})",
       {"1"},
       {"\"x\""}},
      {"definitions of older drafts",
       R"({"definitions":{"p":{"type":"integer","minimum":0}},"properties":{"a":{
           "$ref":"#/definitions/p"}}})",
       {R"({"a":1})"},
       {R"({"a":-1})", R"({"a":"x"})"}},
      {"into an unknown keyword",
       R"({"unknown":{"deep":[{"type":"integer"}]},"properties":{"bar":{
           "$ref":"#/unknown/deep/0"}}})",
       {R"({"bar":3})"},
       {R"({"bar":true})"}},
      {"into an unknown keyword, outer after inner",
       R"({"x":{"a":{"$id":"http://x/a","properties":{"k":{"$id":"k","type":"integer"}}}},
           "allOf":[{"$ref":"#/x/a/properties/k"},{"$ref":"#/x/a"}]})",
       {"1"},
       {"\"x\""}},
      {"not an identifier inside const",
       R"({"$defs":{"in_const":{"const":{"$id":"http://x/same","type":"null"}},
           "real":{"$id":"http://x/same","type":"string"}},"$ref":"http://x/same"})",
       {"\"a\""},
       {"null", "1"}},
      {"a tree",
       R"({"type":"object","properties":{"meta":{"type":"string"},"nodes":{"type":"array",
           "items":{"$ref":"#/$defs/node"}}},"required":["meta","nodes"],
           "$defs":{"node":{"type":"object","properties":{"value":{"type":"number"},
           "subtree":{"$ref":"#"}},"required":["value"]}}})",
       {R"({"meta":"root","nodes":[{"value":1,"subtree":{"meta":"c","nodes":[{"value":1.1}]}}]})"},
       {R"({"meta":"root","nodes":[{"value":1,"subtree":{"meta":"c","nodes":[{"value":"x"}]}}]})"}},
  });
}

TEST(SchemaReference, ByIdentifier) {
  expect_cases({
      {"absolute",
       R"({"$id":"http://example.com/root.json","$defs":{"A":{"$id":"http://example.com/a.json",
           "type":"integer"}},"$ref":"http://example.com/a.json"})",
       {"1"},
       {"\"x\""}},
      {"relative to the base",
       R"({"$id":"http://example.com/dir/base.json","$ref":"child.json","$defs":{"a":{
           "$id":"child.json","type":"integer"}}})",
       {"1"},
       {"\"x\""}},
      {"nested bases",
       R"({"$id":"http://example.com/a.json","$defs":{"x":{"$id":"http://example.com/b/c.json",
           "not":{"$defs":{"y":{"$id":"d.json","type":"number"}}}}},
           "allOf":[{"$ref":"http://example.com/b/d.json"}]})",
       {"1"},
       {"\"a\""}},
      {"base changes below",
       R"({"$id":"http://localhost:1234/tree","properties":{"nodes":{"items":{"$ref":"node"}}},
           "$defs":{"node":{"$id":"http://localhost:1234/node","properties":{"subtree":{
           "$ref":"tree"},"value":{"type":"number"}}}}})",
       {R"({"nodes":[{"value":1,"subtree":{"nodes":[{"value":2}]}}]})"},
       {R"({"nodes":[{"value":1,"subtree":{"nodes":[{"value":"x"}]}}]})"}},
      {"pointer inside a resource",
       R"({"$id":"http://x/1","$ref":"inner#/$defs/n","$defs":{"i":{"$id":"inner","$defs":{
           "n":{"type":"integer"}}}}})",
       {"1"},
       {"\"x\""}},
      {"pointer through a resource",
       R"({"$ref":"#/$defs/i/$defs/n","$defs":{"i":{"$id":"http://x/inner","$defs":{
           "n":{"$ref":"#/$defs/m"},"m":{"type":"integer"}}}}})",
       {"1"},
       {"\"x\""}},
      {"without any base",
       R"({"$ref":"child","$defs":{"a":{"$id":"child","type":"integer"}}})",
       {"1"},
       {"\"x\""}},
      {"absolute path",
       R"({"$id":"http://example.com/ref/base.json","$defs":{"a":{
           "$id":"/other/a.json","type":"number"}},"$ref":"/other/a.json"})",
       {"1"},
       {"\"x\""}},
      {"URN",
       R"({"$id":"urn:uuid:deadbeef-1234-ffff-ffff-4321feebdaed","minProperties":30,
           "properties":{"foo":{"$ref":"urn:uuid:deadbeef-1234-ffff-ffff-4321feebdaed#/$defs/b"}},
           "$defs":{"b":{"type":"string"}}})",
       {},
       {R"({"foo":12})", R"({"foo":"x"})"}},
      {"URN with anchor",
       R"({"$id":"urn:example:x","properties":{"foo":{"$ref":"urn:example:x#something"}},
           "$defs":{"bar":{"$anchor":"something","type":"string"}}})",
       {R"({"foo":"bar"})"},
       {R"({"foo":12})"}},
      {"file",
       R"({"$id":"file:///folder/file.json","$defs":{"foo":{"type":"number"}},
           "allOf":[{"$ref":"#/$defs/foo"}]})",
       {"1"},
       {"\"a\""}},
      {"empty fragment",
       R"({"$id":"http://x/a#","$ref":"http://x/a#/$defs/i","$defs":{"i":{
           "type":"integer"}}})",
       {"1"},
       {"\"x\""}},
      {"$id beside $ref resolves first",
       R"({"$id":"https://example.com/schema-id-ref-sibling/id-2.json","$ref":"int.json",
           "$defs":{"big":{"$id":"https://example.com/other/int.json","maximum":10},
           "small":{"$id":"https://example.com/schema-id-ref-sibling/int.json","maximum":2}}})",
       {"1"},
       {"5", "50"}},
  });
}

TEST(SchemaReference, ByAnchor) {
  expect_cases({
      {"local",
       R"({"$ref":"#foo","$defs":{"A":{"$anchor":"foo","type":"integer"}}})",
       {"1"},
       {"\"a\""}},
      {"absolute",
       R"({"$ref":"http://localhost:1234/bar#foo","$defs":{"A":{
           "$id":"http://localhost:1234/bar","$anchor":"foo","type":"integer"}}})",
       {"1"},
       {"\"a\""}},
      {"in embedded resources",
       R"({"$id":"http://localhost:1234/root","$ref":"http://localhost:1234/nested.json#foo",
           "$defs":{"A":{"$id":"nested.json","$defs":{"B":{"$anchor":"foo","type":"integer"}}}}})",
       {"1"},
       {"\"a\""}},
      {"the same name in two resources",
       R"({"$id":"http://localhost:1234/foobar","$defs":{"A":{"$id":"child1","allOf":[
           {"$id":"child2","$anchor":"my_anchor","type":"number"},
           {"$anchor":"my_anchor","type":"string"}]}},"$ref":"child1#my_anchor"})",
       {"\"a\""},
       {"1"}},
      {"a dynamic anchor is an anchor too",
       R"({"$ref":"#foo","$defs":{"A":{"$dynamicAnchor":"foo","type":"integer"}}})",
       {"1"},
       {"\"a\""}},
  });
}

TEST(SchemaReference, ByDynamicAnchor) {
  expect_cases({
      {"like $ref when nothing overrides",
       R"({"$id":"https://test/typical","type":"array","items":{"$dynamicRef":"#items"},
           "$defs":{"foo":{"$dynamicAnchor":"items","type":"string"}}})",
       {R"(["foo","bar"])"},
       {R"(["foo",42])"}},
      {"to a plain anchor, like $ref",
       R"({"$id":"https://test/plain","type":"array","items":{"$dynamicRef":"#items"},
           "$defs":{"foo":{"$anchor":"items","type":"string"}}})",
       {R"(["foo"])"},
       {"[42]"}},
      {"$ref to a dynamic anchor stays",
       R"({"$id":"https://test/outer","$ref":"list","$defs":{"foo":{"$dynamicAnchor":"items",
           "type":"string"},"list":{"$id":"list","type":"array","items":{"$ref":"#items"},
           "$defs":{"any":{"$dynamicAnchor":"items"}}}}})",
       {"[42]", R"(["a"])"},
       {"{}"}},
      {"the outermost wins",
       R"({"$id":"https://test/root","$ref":"list","$defs":{"foo":{"$dynamicAnchor":"items",
           "type":"string"},"list":{"$id":"list","type":"array","items":{"$dynamicRef":"#items"},
           "$defs":{"items":{"$dynamicAnchor":"items"}}}}})",
       {R"(["foo","bar"])"},
       {R"(["foo",42])"}},
      {"resources between do not matter",
       R"({"$id":"https://test/far","$ref":"intermediate","$defs":{"foo":{"$dynamicAnchor":"items",
           "type":"string"},"intermediate":{"$id":"intermediate","$ref":"list"},
           "list":{"$id":"list","type":"array","items":{"$dynamicRef":"#items"},
           "$defs":{"items":{"$dynamicAnchor":"items"}}}}})",
       {R"(["foo"])"},
       {"[42]"}},
      {"a plain anchor outside does not override",
       R"({"$id":"https://test/ignored","$ref":"list","$defs":{"foo":{"$anchor":"items",
           "type":"string"},"list":{"$id":"list","type":"array","items":{"$dynamicRef":"#items"},
           "$defs":{"items":{"$dynamicAnchor":"items"}}}}})",
       {R"(["foo",42])"},
       {}},
      {"without a dynamic anchor at its own target it is $ref",
       R"({"$id":"https://test/unbookended","$ref":"list","$defs":{"foo":{"$dynamicAnchor":"items",
           "type":"string"},"list":{"$id":"list","type":"array","items":{"$dynamicRef":"#items"},
           "$defs":{"items":{"$anchor":"items"}}}}})",
       {R"(["foo",42])"},
       {}},
      {"by pointer it is $ref",
       R"({"$id":"https://test/pointer","$defs":{"true":{"$id":"t","$dynamicAnchor":"a"},
           "list":{"$id":"l","items":{"$dynamicRef":"#/$defs/s"},"$defs":{"s":{
           "$dynamicAnchor":"a","type":"string"}}}},"$ref":"l"})",
       {R"(["x"])"},
       {"[1]"}},
      {"a scope that was left does not count",
       R"({"$id":"https://test/left/main","if":{"$id":"first_scope","$defs":{"thingy":{
           "$dynamicAnchor":"thingy","type":"number"}}},"then":{"$id":"second_scope",
           "$ref":"start","$defs":{"thingy":{"$dynamicAnchor":"thingy","type":"null"}}},
           "$defs":{"start":{"$id":"start","$dynamicRef":"inner_scope#thingy"},
           "thingy":{"$id":"inner_scope","$dynamicAnchor":"thingy","type":"string"}}})",
       {"null"},
       {"\"a string\"", "42"}},
      {"strict tree over a loose one",
       R"({"$id":"http://localhost:1234/strict-tree.json","$dynamicAnchor":"node","$ref":"tree.json",
           "unevaluatedProperties":false,"$defs":{"tree":{"$id":"tree.json",
           "$dynamicAnchor":"node","type":"object","properties":{"data":true,"children":{
           "type":"array","items":{"$dynamicRef":"#node"}}}}}})",
       {R"({"children":[{"data":1}]})", R"({"data":1,"children":[{"children":[]}]})"},
       {R"({"children":[{"daat":1}]})", R"({"daat":1})"}},
      {"overridden elements of an extendible list",
       R"({"$id":"http://x/strict-extendible.json","$ref":"extendible","$defs":{"elements":{
           "$dynamicAnchor":"elements","properties":{"a":true},"required":["a"],
           "additionalProperties":false},"e":{"$id":"extendible","type":"object","properties":{
           "elements":{"type":"array","items":{"$dynamicRef":"#elements"}}},"required":["elements"],
           "$defs":{"elements":{"$dynamicAnchor":"elements"}}}}})",
       {R"({"elements":[{"a":1}]})"},
       {R"({"a":true})", R"({"elements":[{"b":1}]})"}},
      {"through allOf of resources",
       R"({"$id":"http://x/all","allOf":[{"$ref":"extendible"},{"$defs":{"elements":{
           "$dynamicAnchor":"elements","properties":{"a":true},"required":["a"],
           "additionalProperties":false}}}],"$defs":{"e":{"$id":"extendible","type":"object",
           "properties":{"elements":{"type":"array","items":{"$dynamicRef":"#elements"}}},
           "$defs":{"elements":{"$dynamicAnchor":"elements"}}}}})",
       {R"({"elements":[{"a":1}]})"},
       {R"({"elements":[{"b":1}]})"}},
      {"a generic list, used twice",
       R"({"$id":"https://test/dyn","if":{"properties":{"kindOfList":{"const":"numbers"}},
           "required":["kindOfList"]},"then":{"$ref":"numberList"},"else":{"$ref":"stringList"},
           "$defs":{"genericList":{"$id":"genericList","properties":{"list":{"items":{
           "$dynamicRef":"#itemType"}}},"$defs":{"default":{"$dynamicAnchor":"itemType"}}},
           "numberList":{"$id":"numberList","$defs":{"itemType":{"$dynamicAnchor":"itemType",
           "type":"number"}},"$ref":"genericList"},"stringList":{"$id":"stringList","$defs":{
           "itemType":{"$dynamicAnchor":"itemType","type":"string"}},"$ref":"genericList"}}})",
       {R"({"kindOfList":"numbers","list":[1.1]})", R"({"kindOfList":"strings","list":["foo"]})"},
       {R"({"kindOfList":"numbers","list":["foo"]})", R"({"kindOfList":"strings","list":[1.1]})"}},
  });
}

TEST(SchemaReference, ToTheMetaschemas) {
  expect_cases({
      {"the whole",
       R"({"$ref":"https://json-schema.org/draft/2020-12/schema"})",
       {"true", "{}", R"({"minLength":1})", R"({"$defs":{"foo":{"type":"integer"}}})",
        R"({"properties":{"a":{"items":{"anyOf":[{"type":["null","string"]}]}}}})",
        R"({"dependencies":{"a":["b"],"c":{}}})", R"({"definitions":{"x":true}})"},
       {"5", R"({"minLength":-1})", R"({"$defs":{"foo":{"type":1}}})",
        R"({"properties":{"a":{"items":{"anyOf":[{"type":"nil"}]}}}})", R"({"anyOf":[]})",
        R"({"required":["a","a"]})", R"({"$id":"a#b"})", R"({"$anchor":"1"})",
        R"({"not":{"multipleOf":0}})", R"({"title":1})", R"({"contentSchema":5})",
        R"({"unevaluatedItems":[]})", R"({"format":1})"}},
      {"one vocabulary",
       R"({"$ref":"https://json-schema.org/draft/2020-12/meta/validation"})",
       {R"({"type":"string"})", R"({"properties":5})"},
       {R"({"type":"x"})"}},
      {"a place inside",
       R"({"$ref":"https://json-schema.org/draft/2020-12/meta/validation#/$defs/stringArray"})",
       {R"(["a"])"},
       {R"(["a","a"])", "[1]"}},
      {"as dialect",
       R"({"$schema":"https://json-schema.org/draft/2020-12/schema","type":"integer"})",
       {"1"},
       {"\"x\""}},
      {"as dialect with an empty fragment",
       R"({"$schema":"https://json-schema.org/draft/2020-12/schema#"})",
       {"1"},
       {}},
      {"extended",
       R"({"$id":"http://x/strict","$dynamicAnchor":"meta",
           "$ref":"https://json-schema.org/draft/2020-12/schema","required":["type"]})",
       {R"({"type":"object","properties":{"a":{"type":"string"}}})"},
       {R"({"type":"object","properties":{"a":{}}})"}},
  });
}

TEST(SchemaReference, EveryMetaschemaIsValidUnderTheWhole) {
  const auto whole =
      Schema::compile(Json::object({{"$ref", "https://json-schema.org/draft/2020-12/schema"}}));
  ASSERT_TRUE(whole);
  for (const char* name :
       {"schema", "meta/core", "meta/applicator", "meta/unevaluated", "meta/validation",
        "meta/meta-data", "meta/format-annotation", "meta/format-assertion", "meta/content"}) {
    const std::string uri = std::string("https://json-schema.org/draft/2020-12/") + name;
    const auto text = parse_json(detail::metaschema_text(uri));
    ASSERT_TRUE(text) << uri << ": " << text.error().message();
    EXPECT_EQ((*text)["$id"].as_string(), uri);
    EXPECT_TRUE(whole->valid(*text)) << uri;
    const auto schema = Schema::compile(Json::object({{"$ref", uri}}));
    ASSERT_TRUE(schema) << uri << ": " << schema.error().message();
    EXPECT_FALSE(schema->valid(5));
  }
}

}  // namespace
}  // namespace tug
