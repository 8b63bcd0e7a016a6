// The signals that end a run.
#pragma once

#include <thread>

#include "tug/agent/run.h"

namespace tug::cli {

// Takes SIGINT, SIGTERM and SIGHUP, as far as they are not ignored, away from their usual meaning.
// Before the first thread: they inherit it.
void hold_signals();

// While it lives: SIGINT and SIGHUP cancel the run, SIGTERM pauses it at its next checkpoint; a
// second SIGINT ends the process at once with 130.
class Signals {
 public:
  explicit Signals(Run run);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  void watch();

  Run run_;
  int signals_ = -1;
  int stop_ = -1;
  std::jthread thread_;
};

}  // namespace tug::cli
