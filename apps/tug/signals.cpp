#include "signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "terminal_mode.h"

namespace tug::cli {
namespace {

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction usual = {};
    sigaction(number, nullptr, &usual);
    // Who started us with a signal ignored (nohup, a shell's background) wants it ignored; a
    // descriptor would deliver it all the same.
    if (usual.sa_handler != SIG_IGN) sigaddset(&set, number);
  }
  return set;
}

}  // namespace

void hold_signals() {
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Signals::Signals(Run run) : run_(std::move(run)) {
  const sigset_t set = ending_signals();
  signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  stop_ = eventfd(0, EFD_CLOEXEC);
  if (signals_ >= 0 && stop_ >= 0) {
    thread_ = std::jthread([this] { watch(); });
    return;
  }
  // No descriptors left: signals do what they usually do, rather than nothing.
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

Signals::~Signals() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    while (write(stop_, &one, sizeof one) < 0 && errno == EINTR) {
    }
    thread_.join();
  }
  for (const int fd : {signals_, stop_}) {
    if (fd >= 0) close(fd);
  }
}

void Signals::watch() {
  bool interrupted = false;
  while (true) {
    pollfd polled[] = {{signals_, POLLIN, 0}, {stop_, POLLIN, 0}};
    if (poll(polled, 2, -1) < 0) continue;
    if (polled[1].revents) return;
    signalfd_siginfo info = {};
    if (read(signals_, &info, sizeof info) != sizeof info) continue;
    if (info.ssi_signo == SIGTERM) {
      run_.pause("shutdown");
      continue;
    }
    if (interrupted && info.ssi_signo == SIGINT) {
      leave_key_mode();
      _exit(130);
    }
    interrupted |= info.ssi_signo == SIGINT;
    run_.cancel(info.ssi_signo == SIGINT ? "interrupted" : "the terminal went away");
  }
}

}  // namespace tug::cli
