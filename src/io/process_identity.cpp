#include "tug/io/process_identity.h"

#include <unistd.h>

#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

namespace tug {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Field 22 of /proc/PID/stat. The second field is the command in parentheses and may hold anything,
// so fields are counted from the last parenthesis.
std::optional<std::uint64_t> start_ticks(std::int64_t pid) {
  const std::string line = first_line("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t end = line.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(end + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number) {
    if (!(fields >> field)) return std::nullopt;
    if (number == 3 && (field == "Z" || field == "X")) return std::nullopt;  // dead, not yet reaped
  }
  std::uint64_t ticks = 0;
  const auto read = std::from_chars(field.data(), field.data() + field.size(), ticks);
  return read.ec == std::errc() ? std::optional(ticks) : std::nullopt;
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

std::string boot_id() { return first_line("/proc/sys/kernel/random/boot_id"); }

}  // namespace

ProcessIdentity this_process() {
  const auto pid = static_cast<std::int64_t>(getpid());
  return {host_name(), boot_id(), pid, start_ticks(pid).value_or(0)};
}

bool is_alive(const ProcessIdentity& process) {
  if (process.host != host_name()) return true;
  if (process.boot != boot_id()) return false;
  return start_ticks(process.pid) == process.started;
}

}  // namespace tug
