#include "command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tug::journey {
namespace {

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) _exit(99);
  }
  void close_end(int end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
};

[[noreturn]] void exec_tug(const std::string& home, const std::vector<std::string>& arguments,
                           Pipe (&pipes)[3]) {
  dup2(pipes[0].ends[0], 0);
  dup2(pipes[1].ends[1], 1);
  dup2(pipes[2].ends[1], 2);
  const std::string home_entry = "HOME=" + home;
  const std::string state_entry = "XDG_STATE_HOME=" + home + "/state";
  const std::string config_entry = "XDG_CONFIG_HOME=" + home + "/config";
  std::vector<const char*> environment = {home_entry.c_str(),   state_entry.c_str(),
                                          config_entry.c_str(), "PATH=/usr/bin:/bin",
                                          "LANG=C.UTF-8",       nullptr};
  std::vector<const char*> words = {TUG_BINARY};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  words.push_back(nullptr);
  execve(TUG_BINARY, const_cast<char**>(words.data()), const_cast<char**>(environment.data()));
  _exit(98);
}

}  // namespace

Ran run_tug(const std::string& home, const std::vector<std::string>& arguments,
            const std::string& input) {
  signal(SIGPIPE, SIG_IGN);
  Pipe pipes[3];
  const pid_t child = fork();
  if (child == 0) exec_tug(home, arguments, pipes);
  pipes[0].close_end(0);
  pipes[1].close_end(1);
  pipes[2].close_end(1);
  Ran ran;
  std::size_t written = 0;
  std::string* const sinks[] = {&ran.out, &ran.err};
  if (input.empty()) pipes[0].close_end(1);
  while (pipes[1].ends[0] >= 0 || pipes[2].ends[0] >= 0) {
    pollfd polled[] = {{pipes[0].ends[1], POLLOUT, 0},
                       {pipes[1].ends[0], POLLIN, 0},
                       {pipes[2].ends[0], POLLIN, 0}};
    poll(polled, 3, 60'000);
    if (polled[0].revents) {
      const ssize_t put = write(pipes[0].ends[1], input.data() + written, input.size() - written);
      if (put > 0) written += static_cast<std::size_t>(put);
      if (put < 0 || written == input.size()) pipes[0].close_end(1);
    }
    for (int i = 1; i <= 2; ++i) {
      if (!polled[i].revents) continue;
      char piece[65536];
      const ssize_t got = read(pipes[i].ends[0], piece, sizeof piece);
      if (got <= 0) {
        pipes[i].close_end(0);
      } else {
        sinks[i - 1]->append(piece, static_cast<std::size_t>(got));
      }
    }
  }
  pipes[0].close_end(1);
  int status = 0;
  waitpid(child, &status, 0);
  ran.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

}  // namespace tug::journey
