#include "editor.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "command.h"
#include "core/try.h"

extern char** environ;

namespace tug::cli {
namespace {

constexpr std::size_t kMostEdited = 4u << 20;

struct TempFile {
  std::string path;
  int fd = -1;
  ~TempFile() {
    if (fd >= 0) close(fd);
    if (!path.empty()) unlink(path.c_str());
  }
};

Failure cannot(const std::string& what, int reason) {
  return fail(ErrorKind::invalid, what + ": " + std::strerror(reason),
              "set VISUAL or EDITOR to an editor that is there");
}

Result<void> run_editor(const std::string& editor, std::string& path) {
  // As git does it: the variable may hold arguments.
  std::string line = editor + " \"$@\"";
  std::string shell = "sh", flag = "-c";
  char* words[] = {shell.data(), flag.data(), line.data(), shell.data(), path.data(), nullptr};
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (int number : {SIGPIPE, SIGXFSZ}) sigaddset(&usual, number);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  const int reason = posix_spawn(&child, "/bin/sh", nullptr, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  if (reason != 0) return cannot("the editor " + editor, reason);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return cannot("the editor " + editor, errno);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(ErrorKind::invalid, "the editor " + editor + " ended with an error",
              "set VISUAL or EDITOR to an editor that is there");
}

}  // namespace

Result<std::string> edit_text(std::string_view text, const char* suffix) {
  const std::string folder = environment("TMPDIR");
  TempFile file;
  file.path = (folder.empty() ? "/tmp" : folder) + "/tug-edit-XXXXXX" + suffix;
  // 0600 by itself.
  file.fd = mkostemps(file.path.data(), static_cast<int>(std::strlen(suffix)), O_CLOEXEC);
  if (file.fd < 0) {
    const int reason = errno;
    const std::string path = std::exchange(file.path, {});
    return fail(ErrorKind::invalid, path + ": " + std::strerror(reason),
                "set TMPDIR to a folder that can be written");
  }
  if (const int reason = write_all(file.fd, text)) return cannot(file.path, reason);
  std::string editor = environment("VISUAL");
  if (editor.empty()) editor = environment("EDITOR");
  if (editor.empty()) editor = "vi";
  TUG_TRY(edited, run_editor(editor, file.path));
  return read_input(file.path, kMostEdited);
}

}  // namespace tug::cli
