#include "terminal_mode.h"

#include <unistd.h>

#include <atomic>

namespace tug::cli {
namespace {

// Written before `active` is set.
termios usual;
std::atomic<bool> active = false;

termios by_key() {
  termios mode = usual;
  mode.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  mode.c_cc[VMIN] = 1;
  mode.c_cc[VTIME] = 0;
  return mode;
}

}  // namespace

KeyMode::KeyMode() {
  if (tcgetattr(STDIN_FILENO, &usual) != 0) return;
  active = true;
  const termios mode = by_key();
  changed_ = tcsetattr(STDIN_FILENO, TCSAFLUSH, &mode) == 0;
}

KeyMode::~KeyMode() {
  if (changed_) tcsetattr(STDIN_FILENO, TCSADRAIN, &usual);
  active = false;
}

void KeyMode::keep() const {
  termios now = {};
  if (!changed_ || tcgetattr(STDIN_FILENO, &now) != 0 || !(now.c_lflag & ICANON)) return;
  const termios mode = by_key();
  tcsetattr(STDIN_FILENO, TCSANOW, &mode);
}

void leave_key_mode() noexcept {
  if (active) tcsetattr(STDIN_FILENO, TCSANOW, &usual);
}

}  // namespace tug::cli
