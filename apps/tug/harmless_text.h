// A model's words on their way to a terminal, piece by piece.
#pragma once

#include <string>
#include <string_view>

namespace tug::cli {

// terminal_text for text that comes in pieces: a character that is cut by the end of a piece waits
// for the rest of it. Line feeds and tabs pass, a carriage return right before a line feed is
// dropped, everything else that could act on a terminal becomes visible.
class HarmlessText {
 public:
  std::string push(std::string_view piece);
  // What waited for a rest that will not come.
  std::string flush();

 private:
  std::string waiting_;
};

}  // namespace tug::cli
