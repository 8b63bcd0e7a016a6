#include "tug/core/base64.h"

#include <gtest/gtest.h>

namespace tug {
namespace {

TEST(Base64, FollowsTheTableOfTheStandard) {
  const std::pair<std::string_view, std::string_view> table[] = {{"", ""},
                                                                 {"f", "Zg=="},
                                                                 {"fo", "Zm8="},
                                                                 {"foo", "Zm9v"},
                                                                 {"foob", "Zm9vYg=="},
                                                                 {"fooba", "Zm9vYmE="},
                                                                 {"foobar", "Zm9vYmFy"}};
  for (auto [bytes, text] : table) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, EveryByteComesBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  for (std::size_t cut = 0; cut < 4; ++cut) {
    std::string_view part = std::string_view(bytes).substr(cut);
    EXPECT_EQ(from_base64(to_base64(part)), part);
  }
}

TEST(Base64, RefusesWhatIsNotOneSpellingOfBytes) {
  for (std::string_view bad :
       {"Zg=", "Zg", "Z===", "====", "Zm9v\n", "Zh==", "Zm9=", "Z=9v", "Zm-v"}) {
    EXPECT_EQ(from_base64(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace tug
