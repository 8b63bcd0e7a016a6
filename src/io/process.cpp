#include "tug/io/process.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <stop_token>

#include "core/try.h"
#include "io/spawn.h"
#include "tug/io/engine.h"

namespace tug {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kPiece = std::size_t{64} << 10;
// More than a pipe can hold: what the command itself wrote before it exited.
constexpr std::size_t kLastWords = std::size_t{2} << 20;
constexpr int kLookAgainMs = 20;  // where the kernel does not tell when a child exits

struct Finished {
  ProcessResult result;
  bool stopped = false;  // we ended it
};

// A write to a pipe that nobody reads must not end our process. Other threads keep their signals.
class NoBrokenPipeSignal {
 public:
  NoBrokenPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoBrokenPipeSignal(const NoBrokenPipeSignal&) = delete;
  NoBrokenPipeSignal& operator=(const NoBrokenPipeSignal&) = delete;
  ~NoBrokenPipeSignal() {
    const timespec at_once{};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &at_once) == SIGPIPE) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

// What a stream said, up to a cap.
class Listener {
 public:
  Listener(Descriptor from, std::size_t cap) : from_(std::move(from)), cap_(cap) {}

  int fd() const noexcept { return from_.get(); }
  // False when there is nothing more for now, or ever.
  bool take() {
    if (!from_) return false;
    std::array<char, kPiece> piece;
    const ssize_t got = read(from_.get(), piece.data(), piece.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0) {
      from_ = {};
      return false;
    }
    const std::size_t room = std::min(cap_ - text.size(), static_cast<std::size_t>(got));
    text.append(piece.data(), room);
    cut = cut || room < static_cast<std::size_t>(got);
    return true;
  }
  // What was said before it went silent; a descendant that talks on is not waited for.
  void take_the_rest() {
    for (std::size_t taken = 0; taken < kLastWords && take(); taken += kPiece) {
    }
  }

  std::string text;
  bool cut = false;

 private:
  Descriptor from_;
  std::size_t cap_;
};

class Conversation {
 public:
  Conversation(const ProcessSpec& spec, Child child, int wake)
      : grace_(spec.grace),
        input_(spec.input),
        pid_(child.pid),
        in_(std::move(child.in)),
        exit_(std::move(child.exited)),
        out_(std::move(child.out), spec.max_output),
        err_(std::move(child.err), spec.max_output),
        wake_(wake) {
    if (input_.empty()) in_ = {};
  }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  Result<Finished> to_the_end() {
    while (!over()) serve();
    if (stopping_) kill(-pid_, SIGKILL);
    out_.take_the_rest();
    err_.take_the_rest();
    return reap();
  }

 private:
  bool over() const {
    if (stopping_ && Clock::now() >= kill_at_) return true;
    if (!exited_) return false;
    return !stopping_ || (out_.fd() < 0 && err_.fd() < 0);
  }

  void serve() {
    std::array<pollfd, 5> watched{{{.fd = in_.get(), .events = POLLOUT},
                                   {.fd = out_.fd(), .events = POLLIN},
                                   {.fd = err_.fd(), .events = POLLIN},
                                   {.fd = exited_ ? -1 : exit_.get(), .events = POLLIN},
                                   {.fd = stopping_ ? -1 : wake_, .events = POLLIN}}};
    const int ready = poll(watched.data(), watched.size(), patience());
    if (ready > 0) {
      if (watched[0].revents) give();
      if (watched[1].revents) out_.take();
      if (watched[2].revents) err_.take();
      if (watched[4].revents) terminate();
    }
    // Left unreaped, so that its number stays its group's.
    siginfo_t info{};
    const int looked = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    exited_ = exited_ || (looked == 0 ? info.si_pid == pid_ : errno == ECHILD);
  }

  int patience() const {
    int wait = exit_ || exited_ ? -1 : kLookAgainMs;
    if (!stopping_) return wait;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(kill_at_ - Clock::now()).count();
    const int until_kill = static_cast<int>(std::clamp<std::int64_t>(left, 0, 60000));
    return wait < 0 ? until_kill : std::min(wait, until_kill);
  }

  void give() {
    const ssize_t gave = write(in_.get(), input_.data() + given_, input_.size() - given_);
    if (gave < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (gave > 0) given_ += static_cast<std::size_t>(gave);
    if (gave < 0 || given_ == input_.size()) in_ = {};
  }

  void terminate() {
    stopping_ = true;
    kill_at_ = Clock::now() + grace_;
    kill(-pid_, SIGTERM);
  }

  Result<Finished> reap() {
    siginfo_t info{};
    while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0) {
      if (errno == EINTR) continue;
      return fail(ErrorKind::internal,
                  "nobody knows how it ended: the process was taken from us by whoever waits for "
                  "all children, or by SIGCHLD being ignored",
                  "leave SIGCHLD at its default, and wait for no children but your own");
    }
    Finished finished;
    finished.stopped = stopping_;
    ProcessResult& result = finished.result;
    (info.si_code == CLD_EXITED ? result.exit : result.signal) = info.si_status;
    result.out = std::move(out_.text);
    result.err = std::move(err_.text);
    result.out_cut = out_.cut;
    result.err_cut = err_.cut;
    return finished;
  }

  Duration grace_;
  const std::string& input_;
  std::size_t given_ = 0;
  pid_t pid_;
  Descriptor in_;
  Descriptor exit_;
  Listener out_;
  Listener err_;
  int wake_;
  bool exited_ = false;
  bool stopping_ = false;
  Clock::time_point kill_at_;
};

Result<Finished> converse(const ProcessSpec& spec, const std::stop_token& stop) {
  if (stop.stop_requested()) return Finished{.stopped = true};
  const Descriptor wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake)
    return fail(ErrorKind::exhausted, "no descriptor to run " + command_name(spec) + " with");
  const NoBrokenPipeSignal quiet;
  TUG_TRY(child, spawn(spec));
  Conversation conversation(spec, std::move(child), wake.get());
  const std::stop_callback told(stop, [fd = wake.get()]() noexcept {
    const std::uint64_t one = 1;
    static_cast<void>(write(fd, &one, sizeof one));
  });
  Result<Finished> finished = conversation.to_the_end();
  if (!finished) return Failure(finished.error().within(command_name(spec)));
  return finished;
}

}  // namespace

Task<Result<ProcessResult>> run_process(Engine& engine, ProcessSpec spec, Until until) {
  const std::string what = "the command " + command_name(spec);
  auto conversing = [spec = std::move(spec)](std::stop_token stop) { return converse(spec, stop); };
  auto working = engine.offload(what, std::move(conversing), until);
  Result<Finished> done = co_await std::move(working);
  if (!done) co_return Failure(done.error());
  if (done->stopped && until.cancel.requested()) {
    co_return Failure(wait_error(Woken::cancelled, until, what));
  }
  done->result.timed_out = done->stopped;
  co_return std::move(done->result);
}

}  // namespace tug
