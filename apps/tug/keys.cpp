#include "keys.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "core/try.h"
#include "io/spawn.h"

namespace tug::cli {
namespace {

constexpr std::size_t kMaxKey = 64 << 10;
constexpr std::chrono::seconds kMostTime{30};

Failure refuse(const std::string& provider, std::string what, std::string fix) {
  return Failure(Error(ErrorKind::denied, "the key of " + provider + ": " + std::move(what),
                       std::move(fix), Provider{.provider = provider, .fault = "auth"}));
}

Result<Secret> first_line(const std::string& provider, std::string text, const std::string& from) {
  text.resize(std::min(text.size(), text.find('\n')));
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.pop_back();
  if (text.empty())
    return refuse(provider, from + " has nothing in its first line", "put it there");
  return Secret(std::move(text));
}

// Reads both pipes until the command has closed them; false when that takes too long.
bool hear(Child& child, std::string& out) {
  const auto end = std::chrono::steady_clock::now() + kMostTime;
  pollfd ends[2] = {{child.out.get(), POLLIN, 0}, {child.err.get(), POLLIN, 0}};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    if (poll(ends, 2, static_cast<int>(left.count())) < 0 && errno != EINTR) return false;
    for (pollfd& each : ends) {
      if (each.fd < 0 || each.revents == 0) continue;
      char piece[4096];
      const ssize_t got = read(each.fd, piece, sizeof piece);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) each.fd = -1;
      if (got > 0 && &each == &ends[0] && out.size() < kMaxKey)
        out.append(piece, static_cast<std::size_t>(got));
    }
  }
  return true;
}

Result<Secret> run(const std::string& provider, const std::string& command) {
  ProcessSpec spec;
  spec.shell = command;
  auto child = spawn(spec);
  if (!child) {
    // The error would name the command.
    return refuse(provider, "key_cmd cannot be run", "change providers." + provider + ".key_cmd");
  }
  child->in = Descriptor();
  std::string out;
  const bool heard = hear(*child, out);
  if (!heard) kill(-child->pid, SIGKILL);
  int status = 0;
  while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string fix = "run it by hand; it must print the key and exit with 0";
  if (!heard) return refuse(provider, "key_cmd took longer than 30 seconds", fix);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return refuse(provider,
                  WIFEXITED(status)
                      ? "key_cmd ended with " + std::to_string(WEXITSTATUS(status))
                      : "key_cmd was ended by signal " + std::to_string(WTERMSIG(status)),
                  fix);
  }
  return first_line(provider, std::move(out), "key_cmd");
}

std::string in_home(const std::string& path) {
  if (!path.starts_with("~/")) return path;
  const char* home = std::getenv("HOME");
  return home ? home + path.substr(1) : path;
}

Result<Secret> read_key(const std::string& provider, const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) {
    return refuse(provider, path + ": " + std::strerror(errno),
                  "put the key there, or change providers." + provider + ".key_file");
  }
  if (!S_ISREG(status.st_mode)) return refuse(provider, path + " is not a file", "name a file");
  if (status.st_uid != geteuid())
    return refuse(provider, path + " belongs to another user", "make it yours");
  if ((status.st_mode & 077) != 0)
    return refuse(provider, path + " can be read by others", "chmod 600 " + path);
  std::string text(kMaxKey, '\0');
  const ssize_t got = read(file.get(), text.data(), text.size());
  if (got < 0) return refuse(provider, path + ": " + std::strerror(errno), "make it readable");
  text.resize(static_cast<std::size_t>(got));
  return first_line(provider, std::move(text), path);
}

}  // namespace

LoadKey key_from_command(std::string provider, std::string command) {
  return [provider = std::move(provider), command = std::move(command)] {
    return run(provider, command);
  };
}

LoadKey key_from_file(std::string provider, std::string path) {
  return
      [provider = std::move(provider), path = in_home(path)] { return read_key(provider, path); };
}

}  // namespace tug::cli
