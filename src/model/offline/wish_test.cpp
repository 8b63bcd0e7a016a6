#include "model/offline/wish.h"

#include <gtest/gtest.h>

#include "tug/core/enum_names.h"

namespace tug {
namespace {

// "list(src,docs)", "search(TODO; src)", "sum(1+1)".
std::string line_of(const Wish& wish) {
  std::string out(enum_name(wish.kind));
  if (wish.recursive) out += "/recursive";
  out += "(";
  if (!wish.agent.empty()) out += wish.agent + ": ";
  out += wish.text;
  for (std::size_t i = 0; i < wish.targets.size(); ++i) {
    out += i > 0 ? "," : wish.text.empty() ? "" : "; ";
    out += wish.targets[i];
  }
  return out + ")";
}

std::string understood(std::string_view request) {
  std::string out;
  for (const Wish& wish : read_wishes(request)) out += (out.empty() ? "" : " ") + line_of(wish);
  return out;
}

struct Row {
  const char* request;
  const char* expected;
};

void check(std::span<const Row> rows) {
  for (const Row& row : rows) EXPECT_EQ(understood(row.request), row.expected) << row.request;
}

TEST(Wishes, FilesAreListedReadAndFound) {
  const Row rows[] = {
      {"list the files here", "list()"},
      {"List files", "list()"},
      {"ls src", "list(src)"},
      {"list src/", "list(src)"},
      {"Please list all the files in the src folder.", "list(src)"},
      {"list the markdown files in docs", "list(docs/*.md)"},
      {"list *.cpp", "list(*.cpp)"},
      {"list everything in src recursively", "list/recursive(src)"},
      {"what files are in docs?", "list(docs)"},
      {"Which files are there?", "list()"},
      {"show me the files in include/tug", "list(include/tug)"},
      {"list the files and folders", "list()"},
      {"find files named *.h", "list/recursive(*.h)"},
      {"read README.md", "read(README.md)"},
      {"Can you read the file README.md, please?", "read(README.md)"},
      {"show me README.md", "read(README.md)"},
      {"open Makefile", "read(Makefile)"},
      {"read \"my notes.txt\"", "read(my notes.txt)"},
      {"what is in docs/notes.md?", "read(docs/notes.md)"},
      {"read a.md and b.md", "read(a.md,b.md)"},
      {"read a.md, b.md and c.md", "read(a.md,b.md,c.md)"},
  };
  check(rows);
}

TEST(Wishes, SearchesKeepTheirWords) {
  const Row rows[] = {
      {"search for TODO", "search(TODO)"},
      {"search for \"to do\" in src", "search(to do; src)"},
      {"find budget in src/context", "search(budget; src/context)"},
      {"grep hello", "search(hello)"},
      {"look for the word context in docs", "search(context; docs)"},
      {"where is make_engine defined?", "search(make_engine)"},
      {"search src for loop", "search(loop; src)"},
      {"search for cats and dogs", "search(cats and dogs)"},
      {"search for cats and dogs in src", "search(cats and dogs; src)"},
      {"search for all occurrences of foo bar in src", "search(foo bar; src)"},
      {"search for \"list and read\" then list src", "search(list and read) list(src)"},
  };
  check(rows);
}

TEST(Wishes, CountsAndHeadings) {
  const Row rows[] = {
      {"count the lines of README.md", "count_lines(README.md)"},
      {"How many lines are in README.md?", "count_lines(README.md)"},
      {"how many lines does docs/a.md have", "count_lines(docs/a.md)"},
      {"tell me how many words README.md has", "count_words(README.md)"},
      {"count the files in src", "count_files(src)"},
      {"how many files are there", "count_files()"},
      {"how many folders are in src?", "count_folders(src)"},
      {"count the files in src recursively", "count_files/recursive(src)"},
      {"count the lines and words of README.md", "count_lines(README.md) count_words(README.md)"},
      {"count the lines of a.md and b.md", "count_lines(a.md,b.md)"},
      {"count the lines of all markdown files", "count_lines(*.md)"},
      {"what is the number of lines in README.md", "count_lines(README.md)"},
      {"summarise the headings of README.md", "headings(README.md)"},
      {"summarize README.md", "headings(README.md)"},
      {"show the headings of the files in docs", "headings(docs)"},
      {"list the headings of README.md", "headings(README.md)"},
      {"summarise the headings of files", "headings()"},
  };
  check(rows);
}

TEST(Wishes, SumsAreFoundInWordsAndSigns) {
  const Row rows[] = {
      {"what is 2+2?", "sum(2+2)"},
      {"(3 + 4) * 5", "sum((3 + 4) * 5)"},
      {"What's 12 times 12", "sum(12 * 12)"},
      {"calculate 7 divided by 2", "sum(7 / 2)"},
      {"how much is 1,000 minus 1", "sum(1,000 - 1)"},
      {"2 + 2 =", "sum(2 + 2)"},
      {"what is 9 squared plus 1", "sum(9 ^2 + 1)"},
      {"compute sqrt(2)", "sum(sqrt(2))"},
      {"what is 1 / 0", "sum(1 / 0)"},
  };
  check(rows);
}

TEST(Wishes, SeveralComeInTheirOrder) {
  const Row rows[] = {
      {"list the files here and count the lines of README.md", "list() count_lines(README.md)"},
      {"Hello, list src then read a.md; what is 1+1?", "list(src) read(a.md) sum(1+1)"},
      {"First read a.md. Then search for x in b.md.", "read(a.md) search(x; b.md)"},
      {"ask reviewer to read README.md", "delegate(reviewer: read README.md)"},
      {"ask a sub-agent to list the files in src", "delegate(subagent: list the files in src)"},
      {"delegate the review of a.md to a sub-agent", "delegate(subagent: the review of a.md)"},
      {"delegate the review of a.md to reviewer", "delegate(reviewer: the review of a.md)"},
  };
  check(rows);
}

TEST(Wishes, WhatIsNotKnownIsSaidToBeUnknown) {
  const Row rows[] = {
      {"hello", "greeting()"},
      {"Hi there!", "greeting()"},
      {"thank you", "greeting()"},
      {"help", "help()"},
      {"what can you do?", "help()"},
      {"who are you", "help()"},
      {"write me a poem", "unknown(write me a poem)"},
      {"list src and paint it blue", "list(src) unknown(paint it blue)"},
      {"why is the sky blue?", "unknown(why is the sky blue)"},
      {"", ""},
      {" \n ", ""},
      {"... !!! ???", ""},
  };
  check(rows);
}

TEST(Wishes, HostileTextIsOnlyText) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "list a and ";
  EXPECT_EQ(read_wishes(many).size(), 16u);
  EXPECT_EQ(read_wishes(std::string(100'000, '"')).size(), 1u);
  EXPECT_EQ(read_wishes("\xff\xfe read \x01").size(), 1u);
}

}  // namespace
}  // namespace tug
