// Runs the real binary as a user would, in a home of its own.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace tug::journey {

struct Ran {
  int exit = -1;  // 128 + the signal when one ended it
  std::string out;
  std::string err;
};

// Where a command runs: HOME and the XDG folders point into `home`.
struct Place {
  std::string home;
  std::string folder = {};                    // the working directory; ours when empty
  std::vector<std::string> environment = {};  // "NAME=value", beside the usual ones
};

// With `input` on stdin.
Ran run_tug(const Place& place, const std::vector<std::string>& arguments,
            const std::string& input = "");

// One that is under way; ended by force when it is dropped.
class Running {
 public:
  enum class Face : bool { pipes, terminal };
  Running(const Place& place, const std::vector<std::string>& arguments, Face face = Face::pipes);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // Ends stdin, then reads until stdout holds `text` so many times; false when it ends first, or
  // after a minute.
  bool wait_for(const std::string& text, int times = 1);
  void type(const std::string& bytes);  // into stdin
  void close_stdin();
  void close_stdout();  // the reader goes away
  void hang_up();       // the terminal goes away
  void send(int signal);
  // To its end. On a terminal `err` is part of `out`.
  Ran wait();

 private:
  bool read_some(int timeout_ms);

  pid_t child_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
  bool terminal_ = false;
  Ran ran_;
};

}  // namespace tug::journey
