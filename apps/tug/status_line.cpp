#include "status_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "command.h"

namespace tug::cli {
namespace {

constexpr auto kFrame = std::chrono::milliseconds(100);

std::size_t columns() {
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return 79;
  return size.ws_col - 1u;
}

}  // namespace

StatusLine::StatusLine(Look look) : look_(look) {
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
  const std::string line = progress_.line(std::chrono::steady_clock::now(), columns());
  const bool dim = look_ == Look::dim;
  write_all(STDERR_FILENO, "\r\x1b[K" + std::string(dim ? "\x1b[2m" : "") + line +
                               std::string(dim ? "\x1b[0m" : ""));
  drawn_ = true;
}

void StatusLine::clear() {
  if (drawn_) write_all(STDERR_FILENO, "\r\x1b[K");
  drawn_ = false;
}

void StatusLine::on_event(const Event& event) {
  const std::lock_guard lock(mutex_);
  progress_.on_event(event, std::chrono::steady_clock::now());
}

std::optional<std::string> StatusLine::call_line(const Event& event) {
  const std::lock_guard lock(mutex_);
  return progress_.call_line(event);
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
