// The terminal's input, key by key.
#pragma once

#include <termios.h>

namespace tug::cli {

// While it lives, keys are read one by one and are not echoed; what was typed before is dropped, so
// that nothing is answered which was not read. Ctrl-C stays a signal. One at a time; one thread.
class KeyMode {
 public:
  KeyMode();
  ~KeyMode();
  KeyMode(const KeyMode&) = delete;
  KeyMode& operator=(const KeyMode&) = delete;

  // Takes the mode again where somebody changed it: a shell does when it has stopped us.
  void keep() const;

 private:
  bool changed_ = false;
};

// Puts the terminal back as it was, from any thread: for an exit that runs no destructors.
void leave_key_mode() noexcept;

}  // namespace tug::cli
