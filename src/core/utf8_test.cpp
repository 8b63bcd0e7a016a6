#include "tug/core/utf8.h"

#include <gtest/gtest.h>

namespace tug {
namespace {

constexpr const char* kBad = "\xef\xbf\xbd";

std::string marks(const char* pattern) {
  std::string out;
  for (; *pattern != '\0'; ++pattern) {
    if (*pattern == '?') {
      out += kBad;
    } else {
      out += *pattern;
    }
  }
  return out;
}

TEST(Utf8, EveryMaximalIllFormedPartBecomesOneReplacement) {
  struct Case {
    std::string_view bytes;
    const char* repaired;
  };
  // The last rows are the examples of the Unicode standard, chapter 3, tables 3-8 to 3-11.
  const Case cases[] = {
      {"", ""},
      {"plain", "plain"},
      {"\x80", "?"},
      {"a\xff", "a?"},
      {"\xc0\xaf", "??"},
      {"\xc2", "?"},
      {"\xc2z", "?z"},
      {"\xe2\x82", "?"},
      {"\xe2\x82z", "?z"},
      {"\xf0\x9f\x98z", "?z"},
      {"\xf0\x9f\x98\x80\x80", "\xf0\x9f\x98\x80?"},
      {"\xf5\x80\x80\x80", "????"},
      {"\xe0\x9f\xbf", "???"},
      {"\xf0\x8f\xbf\xbf", "????"},
      {"\xf4\x90\x80\x80", "????"},
      {"\xed\xa0\x80\xed\xbf\xbf\xed\xaf"
       "A",
       "????????A"},
      {"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82"
       "A",
       "????????A"},
      {"\xf4\x91\x92\x93\xff"
       "A\x80\xbf"
       "B",
       "?????A??B"},
      {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf"
       "A",
       "????A"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(repair_utf8(c.bytes), marks(c.repaired)) << testing::PrintToString(c.bytes);
    EXPECT_EQ(is_utf8(c.bytes), repair_utf8(c.bytes) == c.bytes);
  }
}

TEST(Utf8, EveryCodePointIsWellFormedAndEverySurrogateIsNot) {
  for (unsigned code = 0x80; code <= 0x10ffff; ++code) {
    std::string bytes;
    const auto put = [&](unsigned byte) { bytes += static_cast<char>(byte); };
    if (code < 0x800) {
      put(0xc0 | code >> 6);
    } else if (code < 0x10000) {
      put(0xe0 | code >> 12);
      put(0x80 | (code >> 6 & 0x3f));
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
      put(0x80 | (code >> 6 & 0x3f));
    }
    put(0x80 | (code & 0x3f));
    ASSERT_EQ(is_utf8(bytes), code < 0xd800 || code > 0xdfff) << code;
  }
}

TEST(Utf8, FindsABadByteAtEveryPlaceOfALongText) {
  for (std::size_t place = 0; place < 100; ++place) {
    std::string text(100, 'a');
    text[place] = '\xfe';
    EXPECT_FALSE(is_utf8(text));
    std::string repaired(100, 'a');
    repaired.replace(place, 1, kBad);
    EXPECT_EQ(repair_utf8(text), repaired);
  }
}

TEST(Utf8, ClippingNeverCutsACodePoint) {
  const std::string_view text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
  const std::string_view expected[] = {
      "",
      "a",
      "a",
      "a\xc3\xa9",
      "a\xc3\xa9",
      "a\xc3\xa9",
      "a\xc3\xa9\xe2\x82\xac",
      "a\xc3\xa9\xe2\x82\xac",
      "a\xc3\xa9\xe2\x82\xac",
      "a\xc3\xa9\xe2\x82\xac",
      "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
      text,
      text,
  };
  for (std::size_t limit = 0; limit < std::size(expected); ++limit) {
    EXPECT_EQ(clip_utf8(text, limit), expected[limit]) << limit;
  }
}

TEST(Utf8, ClippingGarbageStaysWithinTheLimit) {
  const std::string garbage(50, '\x80');
  for (std::size_t limit = 0; limit < 60; ++limit) {
    EXPECT_EQ(clip_utf8(garbage, limit).size(), std::min<std::size_t>(limit, 50));
  }
}

TEST(Utf8, CountsCodePointsNotBytes) {
  EXPECT_EQ(count_code_points(""), 0u);
  EXPECT_EQ(count_code_points("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"), 5u);
}

}  // namespace
}  // namespace tug
