#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tools/files/testing.h"

namespace tug {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ReadTool : public ::testing::Test {
 protected:
  Result<ToolResult> read(const ReadArgs& args) const {
    return read_file(args, root_.workspace(), limits_, {});
  }
  static std::string numbers(int from, int to) {
    std::string text;
    for (int i = from; i <= to; ++i) text += "line " + std::to_string(i) + "\n";
    return text;
  }

  TestRoot root_;
  FileToolLimits limits_;
};

TEST_F(ReadTool, AFileIsShownWithNumberedLines) {
  root_.write("src/a.txt", "one\ntwo\n\nfour");
  ToolResult expected = ToolResult::text(
      "[src/a.txt: lines 1-4 of 4]\n"
      "1\tone\n2\ttwo\n3\t\n4\tfour\n");
  expected.metadata = Json::object({{"path", "src/a.txt"},
                                    {"total_lines", 4},
                                    {"returned_lines", 4},
                                    {"size_bytes", 13},
                                    {"truncated", false}});
  EXPECT_EQ(read({.path = "src/a.txt"}).value(), expected);
  EXPECT_EQ(read({.path = root_.path("src/../src/a.txt")}).value(), expected);
}

TEST_F(ReadTool, ARangeSaysHowToGoOn) {
  root_.write("a.txt", numbers(1, 10));
  const ToolResult part = read({.path = "a.txt", .offset = 3, .limit = 2}).value();
  EXPECT_EQ(part.content,
            "[a.txt: lines 3-4 of 10; 6 more lines, go on with offset=5]\n3\tline 3\n4\tline 4\n");
  EXPECT_EQ(part.metadata["truncated"], Json(false));
  EXPECT_EQ(read({.path = "a.txt", .offset = 9, .limit = 1}).value().content,
            "[a.txt: lines 9-9 of 10; 1 more line, go on with offset=10]\n9\tline 9\n");
  EXPECT_EQ(read({.path = "a.txt", .offset = 10, .limit = 99}).value().content,
            "[a.txt: lines 10-10 of 10]\n10\tline 10\n");
}

TEST_F(ReadTool, AnOffsetBeyondTheEndNamesTheNumberOfLines) {
  root_.write("a.txt", numbers(1, 10));
  root_.write("empty", "");
  const ToolResult beyond = read({.path = "a.txt", .offset = 11}).value();
  EXPECT_FALSE(beyond.ok);
  EXPECT_EQ(beyond.content, "'a.txt' has 10 lines, offset 11 lies beyond its end");
  EXPECT_EQ(error_type(read({.path = "a.txt", .offset = 0})), "InvalidArguments");
  EXPECT_EQ(error_type(read({.path = "a.txt", .limit = 0})), "InvalidArguments");
  EXPECT_EQ(read({.path = "empty"}).value().content, "[empty: empty file]\n");
  EXPECT_FALSE(read({.path = "empty", .offset = 2}).value().ok);
}

TEST_F(ReadTool, ALargeFileNeedsALimitAndIsNotReadToItsEnd) {
  limits_.max_read_bytes = 100'000;
  root_.write("big", numbers(1, 50'000));
  const auto whole = read({.path = "big"});
  EXPECT_EQ(error_type(whole), "TooLarge");
  EXPECT_THAT(whole->content, HasSubstr("limit"));

  const ToolResult part = read({.path = "big", .offset = 20'000, .limit = 2}).value();
  EXPECT_EQ(part.content,
            "[big: lines 20000-20001 of 538.9 kB; more lines follow, go on with offset=20002]\n"
            "20000\tline 20000\n20001\tline 20001\n");
  EXPECT_EQ(part.metadata["total_lines"], Json());
  // At the end the number of lines is known after all.
  EXPECT_THAT(read({.path = "big", .offset = 50'000, .limit = 5}).value().content,
              StartsWith("[big: lines 50000-50000 of 50000]\n"));
  EXPECT_THAT(read({.path = "big", .offset = 50'001, .limit = 5}).value().content,
              HasSubstr("has 50000 lines"));
}

TEST_F(ReadTool, AResultKeepsToItsNumberOfCharacters) {
  limits_.max_chars = 4'000;
  std::string text;
  for (int i = 0; i < 1'000; ++i) text += "0123456789\n";
  root_.write("a.txt", text);
  const ToolResult result = read({.path = "a.txt"}).value();
  EXPECT_LE(result.content.size(), 4'000u);
  EXPECT_EQ(result.metadata["truncated"], Json(true));
  const std::int64_t shown = *result.metadata["returned_lines"].as_int();
  EXPECT_GT(shown, 150);
  EXPECT_THAT(result.content, HasSubstr("go on with offset=" + std::to_string(shown + 1) + "]"));
  EXPECT_EQ(result.metadata["total_lines"], Json(1'000));
}

TEST_F(ReadTool, LongLinesAreCutBetweenCodePoints) {
  std::string line;
  for (int i = 0; i < 3'000; ++i) line += "\xc3\xa9";
  root_.write("a.txt", "x" + line + "\nnext\n");
  const ToolResult result = read({.path = "a.txt"}).value();
  EXPECT_EQ(result.metadata["truncated"], Json(true));
  EXPECT_THAT(result.content, HasSubstr("\xc3\xa9 [.. 4002 more bytes in this line]\n2\tnext\n"));
  EXPECT_EQ(result.content.find("\xef\xbf\xbd"), std::string::npos);
}

TEST_F(ReadTool, BadUtf8IsRepairedAndCarriageReturnsAreNamed) {
  root_.write("a.txt", "caf\xe9\r\nx\r\n");
  EXPECT_EQ(read({.path = "a.txt"}).value().content,
            "[a.txt: lines 1-2 of 2; lines end in CRLF]\n1\tcaf\xef\xbf\xbd\n2\tx\n");
}

TEST_F(ReadTool, ABinaryFileIsRefusedByName) {
  root_.write("image.bin", std::string("\x7f"
                                       "ELF\0\0",
                                       6));
  const auto result = read({.path = "image.bin"});
  EXPECT_EQ(error_type(result), "NotText");
  EXPECT_EQ(result->content, "'image.bin' is a binary file of 6 bytes (only text can be read)");
}

TEST_F(ReadTool, WhatIsNotThereComesWithTheNearestName) {
  root_.write("src/main.cpp", "");
  const auto result = read({.path = "src/mian.cpp"});
  EXPECT_EQ(error_type(result), "NotFound");
  EXPECT_EQ(result->content,
            "there is no 'src/mian.cpp'; did you mean 'src/main.cpp'? (list 'src' to see what is "
            "there)");
  EXPECT_THAT(read({.path = "scr/main.cpp"})->content, HasSubstr("did you mean 'src'?"));
  EXPECT_THAT(read({.path = "zzzzzzz"})->content, testing::Not(HasSubstr("did you mean")));
  EXPECT_THAT(read({.path = "~/notes"})->content, HasSubstr("~ is not expanded"));
}

TEST_F(ReadTool, WhatIsNoFileOrLeadsOutIsNamed) {
  root_.make_folder("src");
  ASSERT_EQ(mkfifo(root_.path("fifo").c_str(), 0600), 0);
  std::ofstream(root_.outside("secret")) << "SECRET";
  std::filesystem::create_symlink("../secret", root_.path("link"));
  EXPECT_EQ(error_type(read({.path = "src"})), "NotAFile");
  EXPECT_EQ(error_type(read({.path = "fifo"})), "NotAFile");
  for (const char* path : {"../secret", "/etc/passwd", "link", "", "src/../../secret"}) {
    EXPECT_EQ(error_type(read({.path = path})), "PathValidationError") << path;
  }
}

TEST_F(ReadTool, AFileWithoutASizeIsReadAsFarAsAllowed) {
  limits_.max_read_bytes = 2'000;
  const auto proc = open_workspace("/proc").value();
  const auto version = read_file({.path = "version"}, *proc, limits_, {});
  EXPECT_THAT(version->content, HasSubstr("1\tLinux"));
  const auto symbols = read_file({.path = "kallsyms"}, *proc, limits_, {});
  EXPECT_EQ(error_type(symbols), "TooLarge");
  const auto part = read_file({.path = "kallsyms", .offset = 5, .limit = 3}, *proc, limits_, {});
  EXPECT_EQ(part->metadata["returned_lines"], Json(3));
}

TEST_F(ReadTool, AStoppedReadEnds) {
  root_.write("a.txt", numbers(1, 10));
  std::stop_source source;
  source.request_stop();
  const auto result = read_file({.path = "a.txt"}, root_.workspace(), limits_, source.get_token());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::cancelled);
}

}  // namespace
}  // namespace tug
