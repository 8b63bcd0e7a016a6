// A thread that runs one step whenever it was woken.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tug/core/job.h"
#include "tug/io/engine.h"

namespace tug {

// Shared by the holder's Background and the engine, because either may end it first.
class BackgroundThread {
 public:
  BackgroundThread(std::string name, Job step);
  ~BackgroundThread() { close(); }

  void wake() noexcept;
  // Runs a last step if woken, joins. Again: does nothing.
  void close() noexcept;
  bool is_current() const noexcept { return id_ == std::this_thread::get_id(); }

 private:
  void run() noexcept;

  std::string name_;
  Job step_;
  std::mutex mutex_;
  std::condition_variable wanted_;
  bool woken_ = false;
  bool closed_ = false;
  std::mutex joining_;
  std::thread thread_;
  std::thread::id id_;
};

std::unique_ptr<Background> hold_background(std::shared_ptr<BackgroundThread> thread);

}  // namespace tug
