#include "core/uri.h"

#include <gtest/gtest.h>

namespace tug::detail {
namespace {

TEST(Uri, ResolvesTheExamplesOfRfc3986) {
  // Section 5.4, normal and abnormal.
  const std::pair<const char*, const char*> cases[] = {
      {"g:h", "g:h"},
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q#s"},
      {"g#s", "http://a/b/c/g#s"},
      {"g?y#s", "http://a/b/c/g?y#s"},
      {";x", "http://a/b/c/;x"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../g", "http://a/g"},
      {"../../../g", "http://a/g"},
      {"../../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {"..g", "http://a/b/c/..g"},
      {"./../g", "http://a/b/g"},
      {"g/../h", "http://a/b/c/h"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
      {"http:g", "http:g"},
  };
  for (const auto& [reference, expected] : cases) {
    EXPECT_EQ(resolve_uri("http://a/b/c/d;p?q", reference), expected) << reference;
  }
}

TEST(Uri, ResolvesAgainstNothingAndAgainstNames) {
  EXPECT_EQ(resolve_uri("", "item.json"), "item.json");
  EXPECT_EQ(resolve_uri("", "#/a"), "#/a");
  EXPECT_EQ(resolve_uri("folder/a.json", "b.json"), "folder/b.json");
  EXPECT_EQ(resolve_uri("urn:example:x", "#/a"), "urn:example:x#/a");
  EXPECT_EQ(resolve_uri("http://a", "b"), "http://a/b");
  EXPECT_EQ(resolve_uri("http://a/b", "urn:x:../y"), "urn:x:../y");
}

TEST(Uri, DecodesPercentsAndRefusesHalfOnes) {
  EXPECT_EQ(percent_decoded("a%25b%2F"), "a%b/");
  EXPECT_EQ(percent_decoded("%"), std::nullopt);
  EXPECT_EQ(percent_decoded("%2"), std::nullopt);
  EXPECT_EQ(percent_decoded("%zz"), std::nullopt);
}

}  // namespace
}  // namespace tug::detail
