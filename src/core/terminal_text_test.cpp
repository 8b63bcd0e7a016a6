#include "tug/core/terminal_text.h"

#include <gtest/gtest.h>

namespace tug {
namespace {

TEST(TerminalText, NothingThatDrivesATerminalGetsThrough) {
  const std::pair<std::string_view, std::string_view> table[] = {
      {"plain text", "plain text"},
      {"gr\xc3\xbc\xc3\x9f, \xe4\xb8\xad, \xf0\x9f\x90\x95",
       "gr\xc3\xbc\xc3\x9f, \xe4\xb8\xad, \xf0\x9f\x90\x95"},
      {"\x1b[31mred", "\\u001b[31mred"},
      {"a\nvalid", "a\\nvalid"},
      {"a\tb", "a\\tb"},
      {"\r\x07\x7f", "\\u000d\\u0007\\u007f"},
      {"\xc2\x9b"
       "31m",
       "\\u009b31m"},
      {"abc\xe2\x80\xae"
       "cba",
       "abc\\u202ecba"},
      {"\xff", "\xef\xbf\xbd"},
  };
  for (auto [given, shown] : table) EXPECT_EQ(terminal_text(given), shown);
  EXPECT_EQ(terminal_text("a\nb", Newlines::keep), "a\nb");
}

}  // namespace
}  // namespace tug
