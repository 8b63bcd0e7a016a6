// One command, run to its end.
//
// It gets a process group of its own, `input` on its stdin, and pipes for what it says; both are
// served at once, so neither side can block the other. What it leaves running when it exits is left
// alone and not waited for.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tug/core/error.h"
#include "tug/core/task.h"
#include "tug/core/time.h"
#include "tug/core/wait.h"

namespace tug {

class Engine;

struct ProcessSpec {
  // Either a program, found on PATH, with its arguments, or a text for /bin/sh.
  std::vector<std::string> argv;
  std::string shell;
  std::string input;
  std::string cwd;                                       // ours when empty
  std::vector<std::pair<std::string, std::string>> env;  // on top of ours
  std::size_t max_output = std::size_t{1} << 20;         // of each stream; the rest is dropped
  Duration grace = std::chrono::milliseconds(1000);      // from TERM to KILL
};

struct ProcessResult {
  int exit = 0;    // meaningful when signal is 0
  int signal = 0;  // that ended it
  std::string out;
  std::string err;
  bool out_cut = false;
  bool err_cut = false;
  bool timed_out = false;  // it was killed at the deadline; out and err are what it had said

  bool ok() const noexcept { return exit == 0 && signal == 0 && !timed_out; }
};

// Runs it on a worker of the engine's pool. When `until` ends, the whole process group is
// terminated, and killed if it is still there after the grace, which should be shorter than the
// engine's own; then the answer is `timed_out` for the deadline and `cancelled` for cancellation.
//
// `invalid`: it cannot be run (no such program or folder, not executable, a zero byte in an
// argument); `exhausted`: no process, memory or descriptor to be had, or the deadline passed before
// it was begun; `overloaded`: the pool is full; `internal`: its exit status was taken by someone
// else, as happens to a program that ignores SIGCHLD. Loop thread. In simulated time the command
// itself takes real time and is not stopped by a deadline.
Task<Result<ProcessResult>> run_process(Engine& engine, ProcessSpec spec, Until until);

}  // namespace tug
