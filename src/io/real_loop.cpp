#include "io/real_loop.h"

#include <signal.h>
#include <time.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdio>

#include "io/thread_name.h"

namespace tug {
namespace {

// Steps between two looks at the mailbox, the timers and the reactor.
constexpr int kBatch = 256;
constexpr std::uint64_t kReported = 8;

// What this thread has computed: a busy machine that lets it wait is not its fault.
Duration busy_time() noexcept {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// A peer that went away is an error of the write, not the end of the process.
void ignore_broken_pipes() noexcept {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
}

}  // namespace

Instant real_now() noexcept { return Instant(std::chrono::steady_clock::now().time_since_epoch()); }

Time real_wall() noexcept {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

RealLoop::RealLoop(unsigned index, RootLedger& ledger, Duration slow_step)
    : index_(index),
      slow_step_(slow_step),
      mail_(std::make_shared<LoopMailbox>(
          [](void* self) noexcept {
            boost::asio::post(static_cast<RealLoop*>(self)->reactor_, [] {});
          },
          this)),
      roots_(ledger) {
  thread_ = std::thread([this] {
    id_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    run();
  });
}

RealLoop::~RealLoop() { mail_->close(); }

void RealLoop::stop() {
  post([this] { stop_ = true; });
  if (thread_.joinable()) thread_.join();
  id_.store({}, std::memory_order_relaxed);  // the system may give it to another thread
  mail_->close();
}

template <class F>
void RealLoop::step(const char* what, F&& function) noexcept {
  if (slow_step_ <= Duration::zero()) return function();
  const Duration begun = busy_time();
  function();
  const Duration took = busy_time() - begun;
  if (took < slow_step_) return;
  if (slow_steps_.fetch_add(1, std::memory_order_relaxed) >= kReported) return;
  std::fprintf(stderr, "tug: loop %u: %s took %lld ms\n", index_, what,
               static_cast<long long>(took / std::chrono::milliseconds(1)));
}

void RealLoop::take_steps() noexcept {
  for (int left = kBatch; ready() && left > 0; --left) step("a step", [&] { resume_one(); });
  if (mail_->has_mail()) {
    mail_->take(inbox_);
    for (Job& job : inbox_) {
      step("a posted job", [&] { job(); });
      job = Job();
    }
    inbox_.clear();
  }
  if (next_alarm() == kNever) return;
  const Instant due = now();
  bool fired = true;
  while (fired) step("a timer", [&] { fired = fire_one(due); });
}

void RealLoop::run() noexcept {
  name_this_thread(("tug-loop-" + std::to_string(index_)).c_str());
  ignore_broken_pipes();
  while (!stop_) {
    take_steps();
    if (ready() || mail_->has_mail())
      step("a reactor's handlers", [&] { reactor_.poll(); });
    else if (!stop_)
      sleep();
  }
  guest_.reset();
}

void RealLoop::sleep() noexcept {
  if (!mail_->may_sleep()) return;
  const Instant alarm = next_alarm();
  if (alarm == kNever) {
    reactor_.run_one();
  } else {
    const std::chrono::steady_clock::time_point until(alarm.time_since_epoch());
    reactor_.run_one_until(until);
  }
  mail_->awake();
  step("a reactor's handlers", [&] { reactor_.poll(); });
}

boost::asio::io_context* reactor_of(Loop& loop) noexcept {
  auto* real = dynamic_cast<RealLoop*>(&loop);
  return real ? &real->reactor() : nullptr;
}

}  // namespace tug
