#include "command.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
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
};

// Made before the fork: the child only calls what is safe there.
struct Start {
  std::vector<std::string> environment;
  std::vector<std::string> words;
  std::vector<char*> environment_list, word_list;
  std::string folder;

  Start(const Place& place, const std::vector<std::string>& arguments) : folder(place.folder) {
    environment = place.environment;  // of two with one name the first counts
    for (const std::string& usual :
         {"HOME=" + place.home, "XDG_STATE_HOME=" + place.home + "/state",
          "XDG_CONFIG_HOME=" + place.home + "/config", std::string("PATH=/usr/bin:/bin"),
          std::string("LANG=C.UTF-8"), std::string("TERM=xterm")}) {
      environment.push_back(usual);
    }
    words = {TUG_BINARY};
    words.insert(words.end(), arguments.begin(), arguments.end());
    for (std::string& entry : environment) environment_list.push_back(entry.data());
    for (std::string& word : words) word_list.push_back(word.data());
    environment_list.push_back(nullptr);
    word_list.push_back(nullptr);
  }

  [[noreturn]] void exec() {
    if (!folder.empty() && chdir(folder.c_str()) != 0) _exit(97);
    signal(SIGPIPE, SIG_DFL);
    execve(TUG_BINARY, word_list.data(), environment_list.data());
    _exit(98);
  }
};

void close_end(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

bool append_from(int& fd, std::string& to) {
  char piece[65536];
  const ssize_t got = read(fd, piece, sizeof piece);
  if (got > 0) to.append(piece, static_cast<std::size_t>(got));
  if (got <= 0) close_end(fd);  // a terminal that nobody writes to any more answers EIO
  return got > 0;
}

}  // namespace

Running::Running(const Place& place, const std::vector<std::string>& arguments, Face face)
    : terminal_(face == Face::terminal) {
  signal(SIGPIPE, SIG_IGN);
  Start start(place, arguments);
  if (terminal_) {
    winsize size = {.ws_row = 40, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
    child_ = forkpty(&out_, nullptr, nullptr, &size);
    if (child_ == 0) start.exec();
    fcntl(out_, F_SETFD, FD_CLOEXEC);
    return;
  }
  Pipe in, out, err;
  child_ = fork();
  if (child_ == 0) {
    dup2(in.ends[0], 0);
    dup2(out.ends[1], 1);
    dup2(err.ends[1], 2);
    start.exec();
  }
  close(in.ends[0]);
  close(out.ends[1]);
  close(err.ends[1]);
  in_ = in.ends[1];
  out_ = out.ends[0];
  err_ = err.ends[0];
}

Running::~Running() {
  if (child_ > 0) {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  close_end(in_);
  close_end(out_);
  close_end(err_);
}

bool Running::read_some(int timeout_ms) {
  pollfd polled[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  if (poll(polled, 2, timeout_ms) <= 0) return false;
  if (polled[0].revents) append_from(out_, ran_.out);
  if (polled[1].revents) append_from(err_, ran_.err);
  return true;
}

bool Running::wait_for(const std::string& text, int times) {
  close_stdin();
  std::size_t from = 0;
  while (times > 0) {
    const std::size_t at = ran_.out.find(text, from);
    if (at != std::string::npos) {
      from = at + text.size();
      --times;
    } else if (out_ < 0 || !read_some(60'000)) {
      return false;
    }
  }
  return true;
}

void Running::type(const std::string& bytes) {
  const int fd = terminal_ ? out_ : in_;
  for (std::size_t written = 0; written < bytes.size();) {
    pollfd polled[] = {{fd, POLLOUT, 0}, {out_, POLLIN, 0}, {err_, POLLIN, 0}};
    poll(polled, 3, 60'000);
    if (polled[1].revents & POLLIN) append_from(out_, ran_.out);
    if (polled[2].revents & POLLIN) append_from(err_, ran_.err);
    if (!polled[0].revents) continue;
    const std::size_t piece = std::min<std::size_t>(bytes.size() - written, 4096);
    const ssize_t put = write(fd, bytes.data() + written, piece);
    if (put <= 0) return;
    written += static_cast<std::size_t>(put);
  }
}

void Running::close_stdin() { close_end(in_); }
void Running::close_stdout() { close_end(out_); }
void Running::hang_up() { close_end(out_); }
void Running::send(int signal) { kill(child_, signal); }

Ran Running::wait() {
  close_stdin();
  while (out_ >= 0 || err_ >= 0) {
    if (!read_some(60'000)) break;
  }
  int status = 0;
  waitpid(child_, &status, 0);
  child_ = -1;
  ran_.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return std::move(ran_);
}

Ran run_tug(const Place& place, const std::vector<std::string>& arguments,
            const std::string& input) {
  Running running(place, arguments);
  running.type(input);
  return running.wait();
}

}  // namespace tug::journey
