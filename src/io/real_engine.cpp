#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <random>
#include <thread>

#include "io/offload.h"
#include "io/real_background.h"
#include "io/real_loop.h"
#include "io/root_ledger.h"
#include "io/worker_pool.h"
#include "tug/core/rng.h"
#include "tug/io/engine.h"

namespace tug {
namespace {

#ifdef NDEBUG
constexpr Duration kSlowStep{};
#else
constexpr Duration kSlowStep = std::chrono::milliseconds(20);
#endif

std::uint64_t seed_from_device() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

class RealEngine final : public Engine {
 public:
  explicit RealEngine(EngineOptions options)
      : options_(options),
        pool_(options.workers ? options.workers : std::max(4u, cores()), options.queue_cap) {
    const unsigned count = options.loops ? options.loops : cores();
    for (unsigned i = 0; i < count; ++i)
      loops_.push_back(
          std::make_unique<RealLoop>(i, ledger_, options.slow_step.value_or(kSlowStep)));
  }
  ~RealEngine() override { shutdown(); }

  std::size_t loops() const noexcept override { return loops_.size(); }
  Loop& loop(std::size_t index) noexcept override { return *loops_[index]; }
  Loop& place() noexcept override {
    auto fewer = [](const auto& a, const auto& b) {
      return a->roots().count().load(std::memory_order_relaxed) <
             b->roots().count().load(std::memory_order_relaxed);
    };
    return **std::min_element(loops_.begin(), loops_.end(), fewer);
  }

  bool start(Loop& loop, Task<void> root) override {
    auto& real = static_cast<RealLoop&>(loop);
    if (!ledger_.admit(real.roots().count())) return false;
    real.post(
        [&real, task = std::move(root)]() mutable { real.roots().start(real, std::move(task)); });
    return true;
  }

  std::vector<std::string> abandoned() const override { return pool_.abandoned(); }
  std::uint64_t abandoned_total() const noexcept override { return pool_.abandoned_total(); }

  std::unique_ptr<Background> background(std::string name, Job step) override {
    auto thread = std::make_shared<BackgroundThread>(std::move(name), std::move(step));
    std::lock_guard lock(mutex_);
    std::erase_if(backgrounds_, [](const auto& one) { return one.expired(); });
    backgrounds_.push_back(thread);
    return hold_background(std::move(thread));
  }

  std::uint64_t entropy() noexcept override {
    std::lock_guard lock(mutex_);
    return rng_.next();
  }
  Instant now() const noexcept override { return real_now(); }
  Time wall() const noexcept override { return real_wall(); }
  std::vector<Error> faults() const override { return ledger_.faults(); }
  std::uint64_t slow_steps() const noexcept override {
    std::uint64_t total = 0;
    for (const auto& loop : loops_) total += loop->slow_steps();
    return total;
  }

  Leftovers shutdown() override {
    if (on_own_thread())
      return {.stranded = {"shutdown() was called on a thread of the engine, and did nothing"}};
    std::lock_guard once(shutting_down_);
    if (down_) return leftovers_;
    ledger_.close();
    for (const auto& loop : loops_)
      loop->post([to = loop.get()] {
        to->stopping().request({CancelReason::Why::shutdown, "the engine shuts down"});
      });
    if (!ledger_.wait_until_empty(options_.drain)) leftovers_.stranded = parked();
    deliver_mail();
    pool_.close(options_.grace);
    deliver_mail();
    for (const auto& thread : living_backgrounds()) thread->close();
    for (const auto& loop : loops_) loop->stop();
    leftovers_.abandoned = pool_.abandoned();
    {
      std::lock_guard lock(mutex_);
      down_ = true;
    }
    ran_.notify_all();
    return leftovers_;
  }

 protected:
  Result<void> run_root(Loop& loop, Task<void> root) override {
    if (on_own_thread())
      return fail(ErrorKind::invalid,
                  "run() was called on a thread of its own engine, which would wait for itself",
                  "co_await the task instead (run_async, for a harness)");
    auto done = std::make_shared<bool>(false);
    if (!start(loop, then_notify(std::move(root), done)))
      return fail(ErrorKind::cancelled, "the engine has been shut down");
    std::unique_lock lock(mutex_);
    ran_.wait(lock, [&] { return *done || down_; });
    if (!*done) return fail(ErrorKind::cancelled, "the engine was shut down before the task ended");
    return {};
  }

  Task<Result<void>> perform(std::shared_ptr<detail::Offloaded> work, Until until) override {
    return perform_offload(pool_, std::move(work), std::move(until), options_.grace);
  }

 private:
  static unsigned cores() noexcept { return std::max(1u, std::thread::hardware_concurrency()); }

  Task<void> then_notify(Task<void> root, std::shared_ptr<bool> done) {
    co_await std::move(root);
    {
      std::lock_guard lock(mutex_);
      *done = true;
    }
    ran_.notify_all();
  }

  bool on_own_thread() const noexcept {
    for (const auto& loop : loops_)
      if (loop->is_current()) return true;
    if (pool_.owns(std::this_thread::get_id())) return true;
    for (const auto& thread : living_backgrounds())
      if (thread->is_current()) return true;
    return false;
  }

  std::vector<std::shared_ptr<BackgroundThread>> living_backgrounds() const {
    std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<BackgroundThread>> living;
    for (const auto& one : backgrounds_)
      if (auto thread = one.lock()) living.push_back(std::move(thread));
    return living;
  }

  // Returns when everything posted so far has run.
  void deliver_mail() {
    std::latch delivered(static_cast<std::ptrdiff_t>(loops_.size()));
    for (const auto& loop : loops_) loop->post([&] { delivered.count_down(); });
    delivered.wait();
  }

  // Asked on the loops themselves: nobody else may look.
  std::vector<std::string> parked() {
    std::vector<std::string> all;
    for (const auto& loop : loops_) {
      std::promise<std::vector<std::string>> answer;
      loop->post([&, from = loop.get()] { answer.set_value(from->parked()); });
      for (std::string& line : answer.get_future().get()) all.push_back(std::move(line));
    }
    return all;
  }

  const EngineOptions options_;
  RootLedger ledger_;
  WorkerPool pool_;
  std::vector<std::unique_ptr<RealLoop>> loops_;
  mutable std::mutex mutex_;
  std::condition_variable ran_;
  std::vector<std::weak_ptr<BackgroundThread>> backgrounds_;
  Rng rng_{seed_from_device()};
  bool down_ = false;
  std::mutex shutting_down_;
  Leftovers leftovers_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(EngineOptions options) {
  return std::make_unique<RealEngine>(options);
}

}  // namespace tug
