#include "tools/files/glob_pattern.h"

#include <gtest/gtest.h>

namespace tug {
namespace {

struct Case {
  const char* pattern;
  const char* path;
  bool matches;
};

TEST(GlobPattern, MatchesAsItsSyntaxSays) {
  const Case table[] = {
      {"a.cpp", "a.cpp", true},
      {"a.cpp", "b/a.cpp", false},
      {"./a.cpp", "a.cpp", true},
      {"*.cpp", "a.cpp", true},
      {"*.cpp", "src/a.cpp", false},
      {"a*", "a", true},
      {"a?c", "abc", true},
      {"a?c", "a/c", false},
      {"a?c",
       "a\xc3\xa9"
       "c",
       true},
      {"a?c",
       "a\xff"
       "c",
       true},
      {"[abc].h", "b.h", true},
      {"[a-c].h", "d.h", false},
      {"[!a-c].h", "d.h", true},
      {"[^a].h", "a.h", false},
      {"[]x]", "]", true},
      {"[a\\]]", "]", true},
      {"x[!a]y", "x/y", false},
      {"*.{h,cpp}", "a.h", true},
      {"*.{h,cpp}", "a.cpp", true},
      {"*.{h,cpp}", "a.c", false},
      {"{src,test/{a,b}}/*.c", "test/b/x.c", true},
      {"{src,test/{a,b}}/*.c", "test/x.c", false},
      {"a{,b}c", "ac", true},
      {"a{,b}c", "abc", true},
      {"**", "a", true},
      {"**", "a/b/c", true},
      {"**/*.h", "a.h", true},
      {"**/*.h", "x/y/a.h", true},
      {"src/**", "src/a/b", true},
      {"src/**", "src", false},
      {"src/**/a", "src/a", true},
      {"src/**/a", "src/x/y/a", true},
      {"src/**/a", "srcx/a", false},
      {"{**/a,b}", "x/y/a", true},
      {"a**b", "axxb", true},
      {"a**b", "ax/xb", false},
      {"**/**/**/z", "z", true},
      {"\\*", "*", true},
      {"\\*", "a", false},
      {"a,b}", "a,b}", true},
  };
  for (const Case& c : table) {
    const auto pattern = GlobPattern::compile(c.pattern);
    ASSERT_TRUE(pattern) << c.pattern << ": " << pattern.error().message();
    EXPECT_EQ(pattern->matches(c.path), c.matches) << c.pattern << " on " << c.path;
  }
}

TEST(GlobPattern, HiddenNamesAreMatchedOnlyByTheirDot) {
  const Case table[] = {
      {"*", ".env", false},       {".*", ".env", true},    {"?env", ".env", false},
      {"[.]env", ".env", false},  {"**", ".a/b", false},   {"**/*", "a/.b", false},
      {"**/.b", "a/.b", true},    {".a/**", ".a/b", true}, {"a.*", "a.b", true},
      {"{.a,b}/*", ".a/x", true}, {"**/x", ".a/x", false}, {"*/.*", "a/.b", true},
  };
  for (const Case& c : table) {
    EXPECT_EQ(GlobPattern::compile(c.pattern)->matches(c.path), c.matches)
        << c.pattern << " on " << c.path;
  }
}

TEST(GlobPattern, FoldersThatCannotHoldAMatchAreKnown) {
  const Case table[] = {
      {"src/*.cpp", "src", true},      {"src/*.cpp", "docs", false}, {"src/*.cpp", "src/a", false},
      {"**/*.cpp", "any/where", true}, {"*.cpp", "src", false},      {"**", ".hidden", false},
      {"**", ".git", false},           {".*/x", ".git", false},      {".git/config", ".git", true},
      {".*/x", ".github", true},       {"a/**", "a/b/c", true},
  };
  for (const Case& c : table) {
    EXPECT_EQ(GlobPattern::compile(c.pattern)->may_match_below(c.path), c.matches)
        << c.pattern << " below " << c.path;
  }
}

TEST(GlobPattern, AFilterWithoutASlashIsForNamesAtAnyDepth) {
  EXPECT_TRUE(GlobPattern::compile_filter("*.h")->matches("a/b/c.h"));
  EXPECT_FALSE(GlobPattern::compile_filter("a/*.h")->matches("x/a/c.h"));
  EXPECT_TRUE(GlobPattern::compile_filter("tests/")->folders_only());
  EXPECT_TRUE(GlobPattern::compile_filter("tests/")->matches("a/tests"));
}

TEST(GlobPattern, WhatIsNoPatternSaysWhy) {
  const std::pair<std::string, std::string> table[] = {
      {"", "is empty"},
      {"./", "is empty"},
      {"/etc/*", "is absolute"},
      {"../*", "\"..\""},
      {"a/../b", "\"..\""},
      {"a/..", "\"..\""},
      {"[a", "[ without ]"},
      {"[", "[ without ]"},
      {"{a,b", "{ without }"},
      {"a\\", "ends in a backslash"},
      {"[z-a]", "backwards"},
      {std::string("a\0b", 3), "NUL"},
      {std::string(600, 'a'), "too long"},
      {std::string(20, '{') + std::string(20, '}'), "too deep"},
  };
  for (const auto& [pattern, why] : table) {
    const auto compiled = GlobPattern::compile(pattern);
    ASSERT_FALSE(compiled) << pattern;
    EXPECT_EQ(compiled.error().kind(), ErrorKind::invalid);
    EXPECT_NE(compiled.error().message().find(why), std::string::npos)
        << compiled.error().message();
  }
}

// Backtracking matchers need centuries for these.
TEST(GlobPattern, TimeIsLinearInThePath) {
  std::string stars;
  for (int i = 0; i < 100; ++i) stars += "a*";
  EXPECT_FALSE(GlobPattern::compile(stars + "b")->matches(std::string(4000, 'a')));
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "**/";
  std::string path;
  for (int i = 0; i < 1500; ++i) path += "a/";
  EXPECT_FALSE(GlobPattern::compile(deep + "b")->matches(path + "a"));
  std::string braces;
  for (int i = 0; i < 50; ++i) braces += "{a,aa}";
  EXPECT_FALSE(GlobPattern::compile(braces + "b")->matches(std::string(100, 'a')));
}

}  // namespace
}  // namespace tug
