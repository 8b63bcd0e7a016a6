#include "model/wire_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tug {
namespace {

TEST(WireWords, NamesOfToolsAreLegalAndNoTwoAreTheSame) {
  const std::string long_name(200, 'a');
  const std::vector<std::string> names = {"look",
                                          "read_file",
                                          "a.b",
                                          "a_b",
                                          "a-b",
                                          "a b",
                                          "",
                                          "9lives",
                                          "_x",
                                          long_name,
                                          long_name + "b",
                                          "\xC3\xA9t\xC3\xA9",
                                          std::string(64, 'a')};
  std::set<std::string> seen;
  for (const std::string& name : names) {
    const std::string wire = wire_tool_name(name);
    EXPECT_TRUE(seen.insert(wire).second) << wire;
    EXPECT_LE(wire.size(), 64u);
    EXPECT_TRUE(wire[0] == '_' || std::isalpha(static_cast<unsigned char>(wire[0]))) << wire;
    EXPECT_TRUE(std::ranges::all_of(wire, [](unsigned char c) {
      return std::isalnum(c) || c == '_' || c == '-';
    })) << wire;
    EXPECT_EQ(wire_tool_name(wire), wire);
  }
  EXPECT_EQ(wire_tool_name("read_file"), "read_file");
}

TEST(WireWords, TheNearestEffortIsTheNextBelowThenTheLowest) {
  const auto nearest = [](std::vector<std::string> efforts, std::string_view wanted) {
    return std::string(nearest_effort(ModelProfile{.efforts = std::move(efforts)}, wanted));
  };
  EXPECT_EQ(nearest({}, "xhigh"), "xhigh");
  EXPECT_EQ(nearest({}, "enormous"), "");
  EXPECT_EQ(nearest({"low", "high"}, "medium"), "low");
  EXPECT_EQ(nearest({"low", "high"}, "max"), "high");
  EXPECT_EQ(nearest({"low", "high"}, "minimal"), "low");
  EXPECT_EQ(nearest({"low", "high"}, "none"), "low");
  EXPECT_EQ(nearest({"none", "high"}, "low"), "high");
  EXPECT_EQ(nearest({"none", "high"}, "none"), "none");
  EXPECT_EQ(nearest({"odd"}, "low"), "");
}

}  // namespace
}  // namespace tug
