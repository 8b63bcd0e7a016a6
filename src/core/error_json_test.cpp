#include "tug/core/error_json.h"

#include <gtest/gtest.h>

namespace tug {
namespace {

TEST(ErrorJson, CarriesTheTypedDetailSoThatNobodyReadsText) {
  Error error(ErrorKind::exhausted, "spent", "raise it", Limit{LimitKind::depth, 8, 9, "r1"});
  EXPECT_EQ(
      print_json(to_json(error)),
      R"({"kind":"exhausted","message":"spent","detail":{"type":"limit","kind":"depth","limit":8,"used":9,)"
      R"("scope":"r1"},"fix":"raise it","retryable":false})");
  EXPECT_TRUE(to_json(Error(ErrorKind::overloaded, "busy"))["retryable"].as_bool());
  EXPECT_TRUE(to_json(Error(ErrorKind::invalid, "no"))["detail"].is_null());
  const ErrorDetail details[] = {Overflow{100, {{"tools", 7}}},
                                 Provider{.provider = "p", .status = 429}, Denied{"shell", "rule"},
                                 Damage{"f", "r", 3}};
  const char* types[] = {"overflow", "provider", "denied", "damage"};
  for (std::size_t i = 0; i < 4; ++i) {
    Json json = to_json(Error(ErrorKind::invalid, "x", "", details[i]));
    EXPECT_EQ(json["detail"]["type"].as_string(), types[i]);
  }
}

}  // namespace
}  // namespace tug
