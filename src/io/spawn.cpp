#include "io/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "core/try.h"
#include "core/words.h"

namespace tug {
namespace {

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Failure no_process(const ProcessSpec& spec, int reason) {
  const bool ours = reason == EMFILE || reason == ENFILE || reason == ENOMEM || reason == EAGAIN;
  std::string where = spec.cwd.empty() ? "" : " in " + quoted_path(spec.cwd);
  return fail(
      ours ? ErrorKind::exhausted : ErrorKind::invalid,
      "cannot run " + command_name(spec) + where + ": " + std::generic_category().message(reason),
      ours ? "" : "check that the program and the folder are there");
}

// Above the standard three, so that giving one to the child never closes another.
int raised(int fd) noexcept {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int reason = errno;
  close(fd);
  errno = reason;
  return higher;
}

bool open_pipe(Pipe& made) noexcept {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  made.read = Descriptor(raised(ends[0]));
  made.write = Descriptor(raised(ends[1]));
  return made.read && made.write;
}

bool never_block(const Descriptor& fd) noexcept {
  const int flags = fcntl(fd.get(), F_GETFL);
  return flags >= 0 && fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) == 0;
}

class SpawnSettings {
 public:
  SpawnSettings() {
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_init(&actions_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  // 0, or why it cannot be done.
  int prepare(const ProcessSpec& spec, int in, int out, int err) {
    sigset_t none;
    sigset_t usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    for (int each : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD,
                     SIGTSTP, SIGTTIN, SIGTTOU}) {
      sigaddset(&usual, each);
    }
    const short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    const std::array steps{
        posix_spawnattr_setflags(&attributes_, flags),
        posix_spawnattr_setpgroup(&attributes_, 0),
        posix_spawnattr_setsigmask(&attributes_, &none),
        posix_spawnattr_setsigdefault(&attributes_, &usual),
        posix_spawn_file_actions_adddup2(&actions_, in, STDIN_FILENO),
        posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO),
        posix_spawn_file_actions_adddup2(&actions_, err, STDERR_FILENO),
        posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1),
        spec.cwd.empty() ? 0 : posix_spawn_file_actions_addchdir_np(&actions_, spec.cwd.c_str())};
    const auto wrong = std::ranges::find_if(steps, [](int step) { return step != 0; });
    return wrong == steps.end() ? 0 : *wrong;
  }

  int start(pid_t& pid, const std::vector<char*>& argv, const std::vector<char*>& env) const {
    return posix_spawnp(&pid, argv[0], &actions_, &attributes_, argv.data(), env.data());
  }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

std::vector<std::string> environment(const ProcessSpec& spec) {
  std::vector<std::string> made;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const bool replaced =
        std::ranges::any_of(spec.env, [&](const auto& added) { return added.first == name; });
    if (!replaced) made.emplace_back(text);
  }
  for (const auto& [name, value] : spec.env) made.push_back(name + "=" + value);
  return made;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> made;
  made.reserve(texts.size() + 1);
  for (std::string& text : texts) made.push_back(text.data());
  made.push_back(nullptr);
  return made;
}

Result<void> check(const ProcessSpec& spec, const std::vector<std::string>& argv) {
  const auto has_zero = [](const std::string& text) { return text.contains('\0'); };
  if (spec.argv.empty() == spec.shell.empty()) {
    return fail(ErrorKind::invalid,
                "a command is either a program with arguments or a text for the "
                "shell",
                "give exactly one of argv and shell");
  }
  bool zero = std::ranges::any_of(argv, has_zero) || has_zero(spec.cwd);
  for (const auto& [name, value] : spec.env) {
    zero = zero || has_zero(name) || has_zero(value);
    if (name.empty() || name.contains('=')) {
      return fail(ErrorKind::invalid, "cannot run " + command_name(spec) + ": " +
                                          detail::quoted(name) +
                                          " is no name of an environment variable");
    }
  }
  if (!zero) return {};
  return fail(ErrorKind::invalid, "cannot run " + command_name(spec) +
                                      ": an argument, the folder or the environment has a zero "
                                      "byte in it");
}

}  // namespace

std::string command_name(const ProcessSpec& spec) {
  return detail::quoted(spec.argv.empty() ? spec.shell : spec.argv.front());
}

Result<Child> spawn(const ProcessSpec& spec) {
  std::vector<std::string> argv = spec.argv;
  if (argv.empty()) argv = {"/bin/sh", "-c", spec.shell};
  TUG_TRY(checked, check(spec, argv));
  std::vector<std::string> env = environment(spec);
  Pipe in;
  Pipe out;
  Pipe err;
  if (!open_pipe(in) || !open_pipe(out) || !open_pipe(err) || !never_block(in.write) ||
      !never_block(out.read) || !never_block(err.read)) {
    return no_process(spec, errno);
  }
  SpawnSettings settings;
  int reason = settings.prepare(spec, in.read.get(), out.write.get(), err.write.get());
  Child child;
  if (reason == 0) reason = settings.start(child.pid, pointers(argv), pointers(env));
  if (reason != 0) return no_process(spec, reason);
  child.in = std::move(in.write);
  child.out = std::move(out.read);
  child.err = std::move(err.read);
  child.exited = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, child.pid, 0)));
  return child;
}

}  // namespace tug
