#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tools/files/line_search.h"
#include "tools/files/testing.h"

namespace tug {
namespace {

using ::testing::HasSubstr;

// The time of a call is over while it opens its second file.
class StopAtSecondFile final : public Workspace {
 public:
  explicit StopAtSecondFile(std::shared_ptr<const Workspace> inner) : inner_(std::move(inner)) {}
  std::stop_token stop() const { return source_.get_token(); }

  Result<std::unique_ptr<FileReader>> open(std::string_view path) const override {
    if (++opened_ == 2) source_.request_stop();
    return inner_->open(path);
  }
  const std::string& root() const noexcept override { return inner_->root(); }
  Result<std::string> relative(std::string_view path) const override {
    return inner_->relative(path);
  }
  Result<std::string> real_path(std::string_view path) const override {
    return inner_->real_path(path);
  }
  Result<std::optional<FileInfo>> info(std::string_view path) const override {
    return inner_->info(path);
  }
  Result<std::vector<Entry>> list(std::string_view path, std::size_t most) const override {
    return inner_->list(path, most);
  }
  Result<WalkReport> walk(std::string_view path, const std::function<Walk(const Entry&)>& visit,
                          const std::stop_token& stop) const override {
    return inner_->walk(path, visit, stop);
  }

 private:
  std::shared_ptr<const Workspace> inner_;
  mutable std::stop_source source_;
  mutable int opened_ = 0;
};

class SearchTool : public ::testing::Test {
 protected:
  Result<ToolResult> search(const SearchArgs& args) const {
    return search_files(args, root_.workspace(), limits_, {});
  }

  TestRoot root_;
  FileToolLimits limits_;
};

TEST_F(SearchTool, LinesAreGroupedByFileInTheOrderOfPaths) {
  root_.write("b.txt", "alpha\nbeta\nalpha beta\n");
  root_.write("a/x.txt", "no\nalpha\n");
  root_.write("c.txt", "nothing");
  ToolResult expected = ToolResult::text(
      "[search for \"alpha\" in ., any case: 3 lines in 2 files]\n"
      "a/x.txt\n  2: alpha\n"
      "b.txt\n  1: alpha\n  3: alpha beta\n");
  expected.metadata = Json::object({{"query", "alpha"},
                                    {"path", "."},
                                    {"matches", 3},
                                    {"files", 2},
                                    {"shown_files", 2},
                                    {"skipped", 0},
                                    {"complete", true}});
  EXPECT_EQ(search({.query = "alpha"}).value(), expected);
  EXPECT_EQ(search({.query = "alpha", .path = "a"}).value().metadata["matches"], Json(1));
  EXPECT_EQ(search({.query = "alpha", .path = "b.txt"}).value().metadata["matches"], Json(2));
  EXPECT_EQ(search({.query = "alpha", .glob = "a/*.txt"}).value().metadata["matches"], Json(1));
  EXPECT_EQ(search({.query = "alpha", .glob = "*.md"}).value().metadata["matches"], Json(0));
}

TEST_F(SearchTool, ACapitalLetterMakesCaseMatter) {
  root_.write("a", "Word\nword\nWORD\n");
  const auto matches = [&](SearchArgs args) {
    return *search(args).value().metadata["matches"].as_int();
  };
  EXPECT_EQ(matches({.query = "word"}), 3);
  EXPECT_EQ(matches({.query = "Word"}), 1);
  EXPECT_EQ(matches({.query = "word", .case_sensitive = true}), 1);
  EXPECT_EQ(matches({.query = "Word", .case_sensitive = false}), 3);
}

TEST_F(SearchTool, AQueryIsTextUnlessItIsSaidToBeARegularExpression) {
  root_.write("a", "a.c\nabc\n\nend;\r\nlast");
  const auto matches = [&](SearchArgs args) {
    return *search(args).value().metadata["matches"].as_int();
  };
  EXPECT_EQ(matches({.query = "a.c"}), 1);
  EXPECT_EQ(matches({.query = "a.c", .regex = true}), 2);
  EXPECT_EQ(matches({.query = "^a", .regex = true}), 2);
  EXPECT_EQ(matches({.query = ";$", .regex = true}), 1);
  EXPECT_EQ(matches({.query = "^$", .regex = true}), 1);
  EXPECT_EQ(matches({.query = "x*", .regex = true}), 5);
  EXPECT_EQ(matches({.query = "c\\s+a", .regex = true}), 0);
  EXPECT_EQ(matches({.query = "c[^x]a", .regex = true}), 0);
  EXPECT_EQ(matches({.query = "last$", .regex = true}), 1);
}

TEST_F(SearchTool, ABadQueryIsExplained) {
  for (const char* query : {"(", "a)(b", "(?=x)", "\\1", "[z-a]"}) {
    const auto result = search({.query = query, .regex = true});
    EXPECT_EQ(error_type(result), "InvalidPattern") << query;
    EXPECT_THAT(result->content, HasSubstr("is no regular expression"));
  }
  EXPECT_EQ(error_type(search({.query = ""})), "InvalidPattern");
  EXPECT_EQ(error_type(search({.query = "a\nb"})), "InvalidPattern");
  EXPECT_EQ(error_type(search({.query = std::string(5'000, 'a')})), "InvalidPattern");
  EXPECT_EQ(error_type(search({.query = "((a{100}){100}){100}", .regex = true})), "InvalidPattern");
  EXPECT_EQ(error_type(search({.query = "a", .glob = "[x"})), "InvalidPattern");
  EXPECT_EQ(error_type(search({.query = "a", .max_files = 0})), "InvalidArguments");
}

TEST_F(SearchTool, NoMatchIsAnAnswerWithAHint) {
  root_.write("a", "text");
  const ToolResult result = search({.query = "absent"}).value();
  EXPECT_TRUE(result.ok);
  EXPECT_THAT(result.content, HasSubstr("no match; try a shorter query"));
}

TEST_F(SearchTool, WhatIsNotShownIsCounted) {
  for (const char* name : {"a", "b", "c"}) root_.write(name, "x1\nx2\nx3\nx4\n");
  const ToolResult result =
      search({.query = "x", .max_files = 2, .max_matches_per_file = 3}).value();
  EXPECT_EQ(result.content,
            "[search for \"x\" in ., any case: 12 lines in 3 files; showing 6 lines in 2 files: "
            "narrow it by path, glob or query to see the rest]\n"
            "a\n  1: x1\n  2: x2\n  3: x3\n  [1 more line in this file]\n"
            "b\n  1: x1\n  2: x2\n  3: x3\n  [1 more line in this file]\n");
  EXPECT_EQ(result.metadata["matches"], Json(12));
}

TEST_F(SearchTool, AResultKeepsToItsNumberOfCharacters) {
  limits_.max_chars = 3'000;
  for (int i = 0; i < 40; ++i) root_.write("f" + std::to_string(i), std::string(170, 'x') + "\n");
  const ToolResult result = search({.query = "x"}).value();
  EXPECT_LE(result.content.size(), 3'000u);
  EXPECT_EQ(result.metadata["files"], Json(40));
  EXPECT_LT(*result.metadata["shown_files"].as_int(), 15);
}

TEST_F(SearchTool, LongLinesAreCutAroundTheMatch) {
  root_.write("a", std::string(500, 'a') + "NEEDLE" + std::string(500, 'b') + "\n");
  EXPECT_THAT(search({.query = "NEEDLE", .max_line_chars = 20}).value().content,
              HasSubstr("\n  1: ..aaaaaNEEDLEbbbbbbbbb..\n"));
  root_.write("a", "NEEDLE" + std::string(500, 'b') + "\n");
  EXPECT_THAT(search({.query = "NEEDLE", .max_line_chars = 20}).value().content,
              HasSubstr("\n  1: NEEDLEbbbbbbbbbbbbbb..\n"));
  std::string wide;
  for (int i = 0; i < 100; ++i) wide += "\xe2\x82\xac";
  root_.write("a", wide + "NEEDLE" + wide);
  const std::string text = search({.query = "NEEDLE", .max_line_chars = 20}).value().content;
  EXPECT_EQ(text.find("\xef\xbf\xbd"), std::string::npos);
  EXPECT_THAT(text, HasSubstr("  1: ..\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
                              "NEEDLE\xe2\x82\xac"));
}

TEST_F(SearchTool, BinaryLargeAndHiddenFilesAreLeftOut) {
  root_.write("binary", std::string("needle\0", 7));
  root_.write("large", "needle\n");
  ASSERT_EQ(truncate(root_.path("large").c_str(), 20 << 20), 0);
  root_.write(".hidden", "needle");
  root_.write(".git/x", "needle");
  root_.write("latin1", "caf\xe9 needle");
  ASSERT_EQ(mkfifo(root_.path("fifo").c_str(), 0600), 0);
  std::ofstream(root_.outside("secret")) << "needle";
  std::filesystem::create_symlink("../secret", root_.path("link"));
  EXPECT_EQ(search({.query = "needle"}).value().content,
            "[search for \"needle\" in ., any case: 1 line in 1 file; files skipped: 1 binary, 1 "
            "larger than 16 MB]\nlatin1\n  1: caf\xef\xbf\xbd needle\n");
  EXPECT_EQ(search({.query = "needle", .glob = ".*"}).value().metadata["matches"], Json(1));
  EXPECT_EQ(search({.query = "needle", .path = ".git"}).value().metadata["matches"], Json(1));
  EXPECT_EQ(error_type(search({.query = "needle", .path = "link"})), "PathValidationError");
  EXPECT_EQ(error_type(search({.query = "needle", .path = "fifo"})), "NotAFile");
  EXPECT_EQ(error_type(search({.query = "needle", .path = "nowhere"})), "NotFound");
}

TEST_F(SearchTool, AStoppedSearchShowsWhatItHas) {
  root_.write("a", "needle\n");
  std::stop_source source;
  source.request_stop();
  const auto nothing =
      search_files({.query = "needle"}, root_.workspace(), limits_, source.get_token());
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().kind(), ErrorKind::cancelled);

  root_.write("b", "needle\n");
  root_.write("c", "needle\n");
  const StopAtSecondFile stopping(root_.shared());
  const ToolResult some =
      search_files({.query = "needle"}, stopping, limits_, stopping.stop()).value();
  EXPECT_EQ(some.content,
            "[search for \"needle\" in ., any case: 1 line in 1 file; the search is not complete, "
            "its time was over]\na\n  1: needle\n");
  EXPECT_EQ(some.metadata["complete"], Json(false));
}

TEST_F(SearchTool, ASearchLooksAtANumberOfEntriesOnly) {
  limits_.max_entries = 1;
  root_.write("a", "needle\n");
  root_.write("b", "needle\n");
  const ToolResult some = search({.query = "needle"}).value();
  EXPECT_EQ(some.metadata["complete"], Json(false));
  EXPECT_THAT(some.content, HasSubstr("not complete, it ended after 1 entry"));
}

// Every line of a text that spans many stretches, against counting by hand.
TEST(LineSearch, FindsEveryLineOfALargeText) {
  const auto query = LineSearch::compile("needle", {}).value();
  std::string text;
  std::size_t expected = 0;
  for (int i = 0; text.size() < (5u << 20); ++i) {
    const bool match = i % 7 == 0;
    expected += match ? 1 : 0;
    text += match ? "a needle here\n" : "nothing of that kind\n";
  }
  const FoundLines found = query.find(text, 3, 100, {});
  EXPECT_EQ(found.total, expected);
  ASSERT_EQ(found.shown.size(), 3u);
  EXPECT_EQ(found.shown[2].number, 15u);
}

TEST(LineSearch, TimeIsLinearInTheText) {
  const auto query = LineSearch::compile("(a*)*(a|aa)*b$", {.regex = true}).value();
  EXPECT_EQ(query.find(std::string(200'000, 'a'), 1, 100, {}).total, 0u);
}

}  // namespace
}  // namespace tug
