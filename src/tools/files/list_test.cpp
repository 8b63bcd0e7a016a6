#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/files/testing.h"

namespace tug {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class FolderTools : public ::testing::Test {
 protected:
  Result<ToolResult> list(const ListArgs& args) const {
    return list_folder(args, root_.workspace(), limits_, {});
  }
  Result<ToolResult> glob(const GlobArgs& args) const {
    return glob_files(args, root_.workspace(), limits_, {});
  }
  void write_at(std::string_view name, std::int64_t second) const {
    root_.write(name, "x");
    const timespec times[] = {{second, 0}, {second, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, root_.path(name).c_str(), times, 0), 0);
  }

  TestRoot root_;
  FileToolLimits limits_;
};

TEST_F(FolderTools, AListHasFoldersFirstAndSizes) {
  root_.write("a.txt", "hello");
  root_.write("zoo/inner.txt", "");
  root_.write(".hidden", "x");
  std::filesystem::create_symlink("a.txt", root_.path("link"));
  ASSERT_EQ(mkfifo(root_.path("pipe").c_str(), 0600), 0);
  ToolResult expected = ToolResult::text(
      "[.: 1 folder, 4 files]\n"
      "zoo/\n.hidden\t1 byte\na.txt\t5 bytes\nlink\tlink\npipe\tnot a file\n");
  expected.metadata =
      Json::object({{"path", "."}, {"total", 5}, {"shown", 5}, {"folders", 1}, {"files", 4}});
  EXPECT_EQ(list({}).value(), expected);
  EXPECT_EQ(list({.path = "zoo"}).value().content,
            "[zoo: 0 folders, 1 file]\nzoo/inner.txt\t0 bytes\n");
}

TEST_F(FolderTools, ARecursiveListGoesIntoFoldersButNotIntoHiddenOnes) {
  root_.write("src/a.cpp", "");
  root_.write("src/deep/b.cpp", "");
  root_.write(".git/config", "");
  EXPECT_EQ(list({.recursive = true}).value().content,
            "[.: 3 folders, 2 files]\n"
            ".git/\nsrc/\nsrc/deep/\nsrc/a.cpp\t0 bytes\nsrc/deep/b.cpp\t0 bytes\n");
  EXPECT_EQ(list({.path = ".git", .recursive = true}).value().content,
            "[.git: 0 folders, 1 file]\n.git/config\t0 bytes\n");
  EXPECT_EQ(list({.glob = "*.cpp", .recursive = true}).value().content,
            "[.: 0 folders, 2 files]\nsrc/a.cpp\t0 bytes\nsrc/deep/b.cpp\t0 bytes\n");
  EXPECT_EQ(list({.glob = "src/*.cpp", .recursive = true}).value().content,
            "[.: 0 folders, 1 file]\nsrc/a.cpp\t0 bytes\n");
}

TEST_F(FolderTools, WhatIsLeftOutIsCounted) {
  limits_.max_results = 3;
  for (int i = 0; i < 5; ++i) root_.write("f" + std::to_string(i), "");
  root_.make_folder("d0");
  root_.make_folder("d1");
  const ToolResult result = list({}).value();
  EXPECT_EQ(result.content,
            "[.: 2 folders, 5 files; showing 3, 4 left out: list a folder below or give a glob]\n"
            "d0/\nd1/\nf0\t0 bytes\n");
  EXPECT_EQ(result.metadata["total"], Json(7));

  limits_.max_entries = 4;
  EXPECT_THAT(list({}).value().content, HasSubstr("looked at the first 4 entries only"));
  EXPECT_THAT(glob({.pattern = "*"}).value().content, HasSubstr("the first 4 entries only"));
}

TEST_F(FolderTools, ThousandsOfEntriesFitIntoOneResult) {
  root_.make_folder("many");
  root_.write("one", "");
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = root_.path("many/f" + std::to_string(i));
    ASSERT_EQ(link(root_.path("one").c_str(), name.c_str()), 0);
  }
  const ToolResult listed = list({.path = "many"}).value();
  EXPECT_EQ(listed.metadata["total"], Json(20'000));
  EXPECT_EQ(listed.metadata["shown"], Json(200));
  EXPECT_LT(listed.content.size(), 40'000u);
  EXPECT_EQ(glob({.pattern = "many/*7"}).value().metadata["total"], Json(2'000));
  // Too many neighbours to look for a near name.
  EXPECT_EQ(error_type(list({.path = "many/x/y"})), "NotFound");
}

TEST_F(FolderTools, NamesCannotBreakTheList) {
  root_.write("two\nlines", "");
  root_.write("esc\x1b[2J", "");
  root_.write("bad\xff", "");
  const std::string text = list({}).value().content;
  EXPECT_THAT(text, HasSubstr("two\\nlines\t"));
  EXPECT_THAT(text, HasSubstr("esc\\u001b[2J\t"));
  EXPECT_THAT(text, HasSubstr("bad\xef\xbf\xbd\t"));
  EXPECT_THAT(glob({.pattern = "*lines"}).value().content, HasSubstr("\ntwo\\nlines\n"));
}

TEST_F(FolderTools, AGlobFindsTheNewestFirst) {
  write_at("old.h", 100);
  write_at("src/new.h", 300);
  write_at("src/b.h", 200);
  write_at("src/a.h", 200);
  write_at("src/a.cpp", 400);
  ToolResult expected = ToolResult::text(
      "[**/*.h in .: 4 files, newest first]\nsrc/new.h\nsrc/a.h\nsrc/b.h\nold.h\n");
  expected.metadata =
      Json::object({{"pattern", "**/*.h"}, {"path", "."}, {"total", 4}, {"shown", 4}});
  EXPECT_EQ(glob({.pattern = "**/*.h"}).value(), expected);
  limits_.max_results = 2;
  EXPECT_EQ(glob({.pattern = "**/*.h"}).value().content,
            "[**/*.h in .: 4 files, newest first; showing 2, 2 left out: use a narrower pattern]\n"
            "src/new.h\nsrc/a.h\n");
  EXPECT_EQ(glob({.pattern = "*.cpp", .path = "src"}).value().content,
            "[*.cpp in src: 1 file]\nsrc/a.cpp\n");
  EXPECT_EQ(glob({.pattern = "s*/"}).value().content, "[s*/ in .: 1 folder]\nsrc/\n");
}

TEST_F(FolderTools, AGlobSeesHiddenNamesAndGitOnlyWhenAsked) {
  root_.write(".env", "");
  root_.write(".git/config", "");
  root_.write(".github/ci.yml", "");
  EXPECT_EQ(glob({.pattern = "**"}).value().metadata["total"], Json(0));
  EXPECT_THAT(glob({.pattern = "**"}).value().content, HasSubstr("hidden names need their dot"));
  EXPECT_EQ(glob({.pattern = ".*"}).value().metadata["total"], Json(1));
  EXPECT_EQ(glob({.pattern = ".*/*"}).value().metadata["total"], Json(1));
  EXPECT_EQ(glob({.pattern = ".git/*"}).value().metadata["total"], Json(1));
  EXPECT_EQ(glob({.pattern = "*", .path = ".git"}).value().metadata["total"], Json(1));
}

TEST_F(FolderTools, ErrorsNameThePlace) {
  root_.write("file.txt", "");
  for (const char* pattern : {"", "/etc/*", "../*", "[a", "a/../../b"}) {
    EXPECT_EQ(error_type(glob({.pattern = pattern})), "InvalidPattern") << pattern;
    EXPECT_EQ(error_type(list({.glob = pattern})), "InvalidPattern") << pattern;
  }
  EXPECT_EQ(error_type(glob({.pattern = "*", .path = ".."})), "PathValidationError");
  EXPECT_EQ(error_type(list({.path = "/"})), "PathValidationError");
  EXPECT_EQ(error_type(list({.path = "file.txt"})), "NotAFolder");
  EXPECT_EQ(error_type(list({.path = "file.txt/x"})), "NotFound");
  EXPECT_THAT(list({.path = "fil.txt"}).value().content, HasSubstr("did you mean 'file.txt'?"));
}

}  // namespace
}  // namespace tug
