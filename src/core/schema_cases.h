// For the tests of schemas: one schema, what it takes and what it refuses.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tug/core/json.h"
#include "tug/core/schema.h"

namespace tug {

struct SchemaCase {
  const char* what;
  const char* schema;
  std::vector<const char*> valid;
  std::vector<const char*> invalid;
};

// `valid` and `check` must agree, and every violation must point into the value.
inline void expect_verdict(const Schema& schema, const char* text, bool expected) {
  const auto value = parse_json(text);
  ASSERT_TRUE(value) << text << ": " << value.error().message();
  EXPECT_EQ(schema.valid(*value), expected) << text;
  const auto violations = schema.check(*value);
  ASSERT_TRUE(violations) << text << ": " << violations.error().message();
  EXPECT_EQ(violations->empty(), expected) << text << ": " << verdict_line(*violations);
  for (const Violation& violation : *violations) {
    EXPECT_NE(find_pointer(*value, violation.instance_path), nullptr) << violation.instance_path;
    EXPECT_FALSE(violation.message.empty());
  }
}

inline void expect_cases(const std::vector<SchemaCase>& cases, SchemaOptions options = {}) {
  for (const SchemaCase& c : cases) {
    SCOPED_TRACE(std::string(c.what) + ": " + c.schema);
    const auto document = parse_json(c.schema);
    ASSERT_TRUE(document) << document.error().message();
    const auto schema = Schema::compile(*document, options);
    ASSERT_TRUE(schema) << to_string(schema.error());
    for (const char* text : c.valid) expect_verdict(*schema, text, true);
    for (const char* text : c.invalid) expect_verdict(*schema, text, false);
  }
}

}  // namespace tug
