#include "tug/core/nearest.h"

#include <gtest/gtest.h>

#include <string>

namespace tug {
namespace {

TEST(NearestName, FindsWhatWasProbablyMeant) {
  const std::string_view known[] = {"city", "days", "file_path", "max_results", "ok"};
  const struct {
    std::string_view wanted, nearest;
  } cases[] = {
      {"citty", "city"},  // one letter too many
      {"ctiy", "city"},   // swapped
      {"City", "city"},   // case
      {"maxResults", "max_results"},
      {"max-result", "max_results"},
      {"path", "file_path"},  // a part
      {"file_path_name", "file_path"},
      {"day", "days"},
      {"temperature", ""},
      {"xyz", ""},
      {"k", ""},  // too short to be near
      {"", ""},
  };
  for (const auto& [wanted, nearest] : cases) {
    EXPECT_EQ(nearest_name(wanted, known), nearest) << wanted;
  }
  EXPECT_EQ(nearest_name(std::string(100, 'c'), known), "");
  EXPECT_EQ(nearest_name("city", {}), "");
}

TEST(NearestName, PrefersTheNearerAndThenTheFirst) {
  const std::string_view known[] = {"cities", "city", "cite"};
  EXPECT_EQ(nearest_name("cit", known), "city");
  EXPECT_EQ(nearest_name("citi", known), "city");
}

}  // namespace
}  // namespace tug
