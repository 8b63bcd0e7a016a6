#include "io/real_background.h"

#include <utility>

#include "io/thread_name.h"

namespace tug {

BackgroundThread::BackgroundThread(std::string name, Job step)
    : name_(std::move(name)), step_(std::move(step)) {
  thread_ = std::thread([this] { run(); });
  id_ = thread_.get_id();
}

void BackgroundThread::run() noexcept {
  name_this_thread(name_.substr(0, 15).c_str());
  std::unique_lock lock(mutex_);
  while (true) {
    wanted_.wait(lock, [&] { return woken_ || closed_; });
    const bool last = closed_;
    if (std::exchange(woken_, false)) {
      lock.unlock();
      step_();
      lock.lock();
    }
    if (last) return;
  }
}

void BackgroundThread::wake() noexcept {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    woken_ = true;
  }
  wanted_.notify_one();
}

void BackgroundThread::close() noexcept {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  wanted_.notify_one();
  std::lock_guard lock(joining_);
  if (thread_.joinable()) thread_.join();
}

namespace {

class HeldBackground final : public Background {
 public:
  explicit HeldBackground(std::shared_ptr<BackgroundThread> thread) noexcept
      : thread_(std::move(thread)) {}
  ~HeldBackground() override { thread_->close(); }
  void wake() noexcept override { thread_->wake(); }

 private:
  std::shared_ptr<BackgroundThread> thread_;
};

}  // namespace

std::unique_ptr<Background> hold_background(std::shared_ptr<BackgroundThread> thread) {
  return std::make_unique<HeldBackground>(std::move(thread));
}

}  // namespace tug
