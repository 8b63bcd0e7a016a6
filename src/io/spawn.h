// A child process with pipes to it.
#pragma once

#include <sys/types.h>

#include "io/rooted_open.h"
#include "tug/io/process.h"

namespace tug {

// Our ends never block. Whoever spawns reaps.
struct Child {
  pid_t pid = -1;
  Descriptor in;
  Descriptor out;
  Descriptor err;
  Descriptor exited;  // readable once it has exited; empty on kernels without pidfd
};

// Leads a process group of its own, with default signals.
Result<Child> spawn(const ProcessSpec& spec);

// Known by its first words.
std::string command_name(const ProcessSpec& spec);

}  // namespace tug
