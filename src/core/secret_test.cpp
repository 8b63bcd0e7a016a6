#include "tug/core/secret.h"

#include <gtest/gtest.h>

namespace tug {
namespace {

TEST(Secret, IsReplacedWhereverItStands) {
  const Secret key("sk-\"quoted\"/key");
  EXPECT_EQ(key.redact("Bearer sk-\"quoted\"/key."), "Bearer [redacted].");
  EXPECT_EQ(key.redact(R"({"key":"sk-\"quoted\"/key"})"), R"({"key":"[redacted]"})");
  EXPECT_EQ(key.redact("?key=sk-%22quoted%22%2Fkey&x=1"), "?key=[redacted]&x=1");
  EXPECT_EQ(key.redact("nothing here"), "nothing here");
}

TEST(Secret, ThatIsShortOrEmptyMatchesNothing) {
  EXPECT_EQ(Secret("x").redact("xxx"), "xxx");
  EXPECT_EQ(Secret().redact("text"), "text");
}

TEST(Secret, FingerprintsTellSecretsApartWithoutShowingThem) {
  EXPECT_EQ(Secret("sk-alpha").fingerprint().size(), 16u);
  EXPECT_NE(Secret("sk-alpha").fingerprint(), Secret("sk-beta").fingerprint());
  EXPECT_EQ(Secret("sk-alpha").fingerprint(), Secret("sk-alpha").fingerprint());
  EXPECT_EQ(Secret().fingerprint(), "");
}

}  // namespace
}  // namespace tug
