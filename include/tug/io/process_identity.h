// Which process this is, in a way that survives pid reuse and reboots.
#pragma once

#include <cstdint>
#include <string>

namespace tug {

struct ProcessIdentity {
  std::string host;
  std::string boot;
  std::int64_t pid = 0;
  std::uint64_t started = 0;  // clock ticks after boot
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

ProcessIdentity this_process();
// True while that very process runs. One on another host counts as alive: only a lease can tell.
bool is_alive(const ProcessIdentity& process);

}  // namespace tug
