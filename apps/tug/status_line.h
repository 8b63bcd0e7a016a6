// The status line on stderr, the runs below the root above it, and how text gets past them.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "progress.h"
#include "tree_progress.h"

namespace tug::cli {

// Where the cursor of the terminal stands after something was written.
enum class Cursor : bool { line_start, within_line };

// Any thread. While it is shown, a thread of its own redraws it ten times a second; the line stays
// away while the cursor stands within a line of text, and is cleared before anything is written.
class StatusLine {
 public:
  enum class Look : std::uint8_t { hidden, plain, dim };
  StatusLine(Look look, Below below);
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  bool shown() const noexcept { return look_ != Look::hidden; }
  void on_event(const Event& event);
  std::optional<std::string> call_line(const Event& event);

  // `write` puts text on the terminal and says where the cursor stands afterwards.
  void write_past(const std::function<Cursor()>& write);
  void write_line(std::string_view line);  // to stderr, harmless as it is
  // The same, and the line stays away until something else is written.
  void write_question(std::string_view text);
  // Clears it for good.
  void close();

 private:
  void tick(std::stop_token stop);
  void draw();
  void write_below(std::string_view text);
  std::string erasing() const;
  void clear();

  const Look look_;
  const Below below_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  Progress progress_;
  TreeProgress tree_;
  Cursor cursor_ = Cursor::line_start;
  bool drawn_ = false;
  std::size_t lines_above_ = 0;  // of what is drawn, the status line aside
  bool closed_ = false;
  std::jthread ticker_;  // last: ends first
};

// Whether stderr is a terminal that may be drawn on: not under CI, NO_COLOR or TERM=dumb.
bool may_draw_status();

}  // namespace tug::cli
