#include "command.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "harmless_text.h"
#include "tug/core/error_json.h"
#include "tug/core/terminal_text.h"

namespace tug::cli {
namespace {

Result<std::string> user_folder(const char* variable, const char* below_home) {
  if (std::string folder = environment(variable); folder.starts_with('/')) return folder + "/tug";
  if (std::string home = environment("HOME"); !home.empty()) return home + below_home;
  return fail(
      ErrorKind::invalid,
      "there is no folder of this user: neither " + std::string(variable) + " nor HOME is set",
      "set HOME, or name a folder with --state-dir");
}

}  // namespace

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// A descriptor that is closed would be given to the next file we open, and our own output would go
// into it. Reading stdin then finds nothing, and writing to stdout fails and is reported.
void claim_standard_descriptors() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    const int opened = open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    if (opened >= 0 && opened != fd) {
      dup2(opened, fd);
      close(opened);
    }
  }
}

std::string for_stdout(std::string text) {
  static const bool terminal = isatty(STDOUT_FILENO);
  if (!terminal) return text;
  HarmlessText harmless;
  std::string shown = harmless.push(text);
  return shown + harmless.flush();
}

void print(std::string text) {
  const std::string shown = for_stdout(std::move(text));
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

int finish(int code) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
  std::fprintf(stderr, "tug: stdout: %s\n  what was to be printed is lost\n", std::strerror(errno));
  return code == ok ? failed : code;
}

int report(const Options& options, const Error& error, int code) {
  if (options.json()) print(print_json(Json::object({{"error", to_json(error)}})) + "\n");
  std::string text = "tug: " + terminal_text(error.message()) + "\n";
  if (!error.fix().empty()) text += "  " + terminal_text(error.fix()) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
  return code;
}

int exit_before_start(const Error& error) {
  return error.kind() == ErrorKind::denied && error.detail_if<Provider>() ? no_access : unusable;
}

void notice(std::string_view line) {
  const std::string text = "tug: " + terminal_text(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put > 0) bytes.remove_prefix(static_cast<std::size_t>(put));
    if (put >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN) return errno;
    pollfd ready = {fd, POLLOUT, 0};
    poll(&ready, 1, -1);
  }
  return 0;
}

Result<std::string> read_input(const std::string& path, std::size_t most) {
  const bool standard = path == "-";
  const int fd = standard ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return fail(ErrorKind::invalid, path + ": " + std::strerror(errno),
                "name a file that can be read, or - for stdin");
  }
  std::string bytes;
  char piece[65536];
  ssize_t got = 0;
  while (bytes.size() <= most && (got = read(fd, piece, sizeof piece)) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    bytes.append(piece, static_cast<std::size_t>(got));
  }
  const int reason = errno;
  if (!standard) close(fd);
  const std::string name = standard ? "stdin" : path;
  if (got < 0)
    return fail(ErrorKind::invalid, name + ": " + std::strerror(reason),
                "name a file that can be read");
  if (bytes.size() > most) {
    return fail(ErrorKind::invalid, name + ": more than " + std::to_string(most >> 20) + " MB",
                "split it into smaller pieces");
  }
  return bytes;
}

Result<std::string> user_state_folder() {
  return user_folder("XDG_STATE_HOME", "/.local/state/tug");
}
Result<std::string> user_config_folder() { return user_folder("XDG_CONFIG_HOME", "/.config/tug"); }

Result<std::string> state_folder(const Options& options) {
  if (!options.state_dir.empty()) return options.state_dir;
  if (std::string folder = environment("TUG_STATE_DIR"); !folder.empty()) return folder;
  return user_state_folder();
}

}  // namespace tug::cli
