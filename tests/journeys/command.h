// Runs the real binary as a user would, in a home of its own.
#pragma once

#include <string>
#include <vector>

namespace tug::journey {

struct Ran {
  int exit = -1;
  std::string out;
  std::string err;
};

// With `input` on stdin; HOME and the XDG folders point into `home`.
Ran run_tug(const std::string& home, const std::vector<std::string>& arguments,
            const std::string& input = "");

}  // namespace tug::journey
