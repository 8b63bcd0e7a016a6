#include "status_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "command.h"

namespace tug::cli {
namespace {

constexpr auto kFrame = std::chrono::milliseconds(100);

// What stays free above a tree that fills the screen.
constexpr std::size_t kRowsLeft = 4;

struct Room {
  std::size_t columns = 79;
  std::size_t rows = 20;  // for runs below the root
};
Room room() {
  Room room;
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0) return room;
  if (size.ws_col >= 2) room.columns = size.ws_col - 1u;
  if (size.ws_row > 0) room.rows = size.ws_row > kRowsLeft + 1 ? size.ws_row - kRowsLeft : 1;
  return room;
}

}  // namespace

StatusLine::StatusLine(Look look, Below below) : look_(look), below_(below) {
  if (shown()) ticker_ = std::jthread([this](std::stop_token stop) { tick(std::move(stop)); });
}

StatusLine::~StatusLine() { close(); }

void StatusLine::tick(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wake_.wait_for(lock, stop, kFrame, [] { return false; });
    if (!stop.stop_requested() && !closed_) draw();
  }
}

void StatusLine::draw() {
  if (cursor_ == Cursor::within_line) return;
  const auto now = std::chrono::steady_clock::now();
  const Room room = tug::cli::room();
  const std::string_view on = look_ == Look::dim ? "\x1b[2m" : "";
  const std::string_view off = look_ == Look::dim ? "\x1b[0m" : "";
  std::string frame = erasing();
  const std::vector<std::string> tree = tree_.lines(now, room.columns, room.rows);
  for (const std::string& line : tree) frame.append(on).append(line).append(off).append("\n");
  frame.append(on).append(progress_.line(now, room.columns)).append(off);
  write_all(STDERR_FILENO, frame);
  drawn_ = true;
  lines_above_ = tree.size();
}

// From the end of what is drawn to its start, with nothing left of it.
std::string StatusLine::erasing() const {
  if (lines_above_ == 0) return "\r\x1b[K";
  return "\r\x1b[" + std::to_string(lines_above_) + "A\x1b[J";
}

void StatusLine::clear() {
  if (drawn_) write_all(STDERR_FILENO, erasing());
  drawn_ = false;
  lines_above_ = 0;
}

void StatusLine::on_event(const Event& event) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  progress_.on_event(event, now);
  if (below_ == Below::shown) tree_.on_event(event, now);
}

std::optional<std::string> StatusLine::call_line(const Event& event) {
  const std::lock_guard lock(mutex_);
  return progress_.call_line(event, below_);
}

void StatusLine::write_past(const std::function<Cursor()>& write) {
  const std::lock_guard lock(mutex_);
  clear();
  cursor_ = write();
}

void StatusLine::write_below(std::string_view text) {
  clear();
  const bool within = cursor_ == Cursor::within_line && shown();
  write_all(STDERR_FILENO, (within ? "\n" : "") + std::string(text) + "\n");
}

void StatusLine::write_line(std::string_view line) {
  const std::lock_guard lock(mutex_);
  write_below(line);
  cursor_ = Cursor::line_start;
}

void StatusLine::write_question(std::string_view text) {
  const std::lock_guard lock(mutex_);
  write_below(text);
  cursor_ = Cursor::within_line;
}

void StatusLine::close() {
  {
    const std::lock_guard lock(mutex_);
    clear();
    closed_ = true;
  }
  if (!ticker_.joinable()) return;
  ticker_.request_stop();
  ticker_.join();
}

bool may_draw_status() {
  return isatty(STDERR_FILENO) && environment("CI").empty() && environment("NO_COLOR").empty() &&
         environment("TERM") != "dumb";
}

}  // namespace tug::cli
