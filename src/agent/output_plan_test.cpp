// Schemas of answers, as a model is told them.
#include "agent/output_plan.h"

#include <gtest/gtest.h>

namespace tug {
namespace {

Json told(const char* schema) {
  const auto plan = plan_output(parse_json(schema).value(), OutputMode::tool, ModelProfile{});
  return plan ? (*plan)->tool->parameters : Json(to_string(plan.error()));
}

// What is told must accept and refuse what the schema itself does, one level deeper.
void expect_same(const char* schema, const char* value) {
  const Json json = parse_json(value).value();
  const auto own = Schema::compile(parse_json(schema).value());
  const auto asked = Schema::compile(told(schema));
  ASSERT_TRUE(own) << schema;
  ASSERT_TRUE(asked) << schema << ": " << to_string(asked.error());
  EXPECT_EQ(asked->valid(Json::object({{"value", json}})), own->valid(json)) << schema << value;
}

TEST(OutputPlan, AWrappedSchemaStillRefersToItself) {
  const char* schemas[] = {
      R"({"type":"array","items":{"$ref":"#"}})",
      R"({"type":"array","items":{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#/items"}}]}})",
      R"({"type":"array","items":{"$ref":"#/$defs/a"},"$defs":{"a":{"anyOf":[{"type":"string"},{"$ref":"#"}]}}})",
      R"({"type":"array","items":{"$ref":"#/definitions/a"},"definitions":{"a":{"type":"string"}}})",
      R"({"$id":"https://example.org/a","type":"array","items":{"anyOf":[{"$ref":"#"},{"$ref":"#/$defs/s"}]},"$defs":{"s":{"type":"string"}}})",
      R"({"enum":[{"$ref":"#"},["a"]]})",
  };
  for (const char* schema : schemas) {
    for (const char* value : {"[]", "[[]]", R"(["a"])", R"([["a"],[["b"]]])", "[1]", "[[1]]", "5",
                              R"({"$ref":"#"})", R"({"value":[]})", R"([{"value":[]}])"}) {
      expect_same(schema, value);
    }
  }
}

}  // namespace
}  // namespace tug
