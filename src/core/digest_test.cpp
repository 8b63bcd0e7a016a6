#include "tug/core/digest.h"

#include <gtest/gtest.h>

namespace tug {
namespace {

TEST(Digest, IsSha256) {
  EXPECT_EQ(sha256("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc").hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Digest, InPiecesIsTheSameAndTheHasherCanBeUsedAgain) {
  Sha256 hasher;
  for (int round = 0; round < 3; ++round) {
    hasher.update("a");
    hasher.update("bc");
    EXPECT_EQ(hasher.finish(), sha256("abc"));
  }
}

TEST(Digest, FieldsCannotBeShiftedIntoEachOther) {
  Sha256 one, other;
  one.update_field("ab");
  one.update_field("c");
  other.update_field("a");
  other.update_field("bc");
  EXPECT_NE(one.finish(), other.finish());
}

TEST(Digest, HexReadsBackAndRefusesWhatIsNotADigest) {
  const Digest digest = sha256("x");
  EXPECT_EQ(Digest::from_hex(digest.hex()), digest);
  EXPECT_EQ(Digest::from_bytes(digest.view()), digest);
  EXPECT_EQ(Digest::from_hex("abc"), std::nullopt);
  EXPECT_EQ(Digest::from_hex(std::string(64, 'g')), std::nullopt);
  EXPECT_EQ(Digest::from_bytes("short"), std::nullopt);
}

TEST(Fingerprint, DiffersByOneBitAndBySeed) {
  EXPECT_EQ(fingerprint_of("abc"), fingerprint_of("abc"));
  EXPECT_NE(fingerprint_of("abc"), fingerprint_of("abd"));
  EXPECT_NE(fingerprint_of("abc"), fingerprint_of("abc", 1));
}

}  // namespace
}  // namespace tug
