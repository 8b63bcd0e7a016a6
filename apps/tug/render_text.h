// The text of a run on a terminal, as it comes.
#pragma once

#include <string>

#include "harmless_text.h"
#include "status_line.h"
#include "tug/context/run_result.h"

namespace tug::cli {

// One thread. The root's words go to stdout, every turn's from the start of a line; a call that is
// tried again starts on a new line, after "[retrying]" on stderr, or with which model.
class TerminalText {
 public:
  explicit TerminalText(StatusLine& status) : status_(status) {}

  void on_event(const Event& event);
  // Ends the last line, and gives the structured answer where the words were not the answer itself.
  void finish(const RunResult& result);
  // What kept stdout from taking something; 0 when nothing did.
  int broken() const noexcept { return broken_; }

 private:
  void write(std::string text);
  void end_line();

  StatusLine& status_;
  HarmlessText harmless_;
  Cursor cursor_ = Cursor::line_start;
  std::string last_words_;  // of the newest turn
  bool streamed_ = false;   // something of the turn under way is on the screen
  int broken_ = 0;
};

// The answer as a program gets it: the structured one as JSON, or the text as it is, with one line
// feed at its end.
std::string final_text(const RunResult& result);

}  // namespace tug::cli
