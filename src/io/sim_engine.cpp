#include "tug/io/sim_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "io/offload.h"
#include "io/root_ledger.h"
#include "io/sim_loop.h"
#include "io/sim_pool.h"
#include "tug/core/rng.h"

namespace tug {
namespace {

// What of a background the engine sees. Outlives the engine if its holder does.
struct SimThread {
  explicit SimThread(Job todo) noexcept : step(std::move(todo)) {}
  Job step;
  bool woken = false;
  bool closed = false;

  void close() noexcept {
    if (std::exchange(closed, true)) return;
    if (std::exchange(woken, false)) step();
  }
};

class SimBackground final : public Background {
 public:
  explicit SimBackground(std::shared_ptr<SimThread> thread) noexcept : thread_(std::move(thread)) {}
  ~SimBackground() override { thread_->close(); }
  void wake() noexcept override { thread_->woken = !thread_->closed; }

 private:
  std::shared_ptr<SimThread> thread_;
};

class SeededEngine final : public SimEngine {
 public:
  explicit SeededEngine(SimOptions options)
      : options_(options),
        clock_{.start = options.start},
        rng_(options.seed),
        entropy_(rng_.split()),
        pool_(std::max(1u, options.workers), options.queue_cap, options.offload_min,
              options.offload_max, clock_) {
    for (unsigned i = 0; i < std::max(1u, options.loops); ++i)
      loops_.push_back(std::make_unique<SimLoop>(clock_, current_, ledger_));
  }
  ~SeededEngine() override { shutdown(); }

  std::size_t loops() const noexcept override { return loops_.size(); }
  Loop& loop(std::size_t index) noexcept override { return *loops_[index]; }
  Loop& place() noexcept override {
    auto fewer = [](const auto& a, const auto& b) {
      return a->roots().count() < b->roots().count();
    };
    return **std::min_element(loops_.begin(), loops_.end(), fewer);
  }

  bool start(Loop& loop, Task<void> root) override {
    auto& here = static_cast<SimLoop&>(loop);
    if (!ledger_.admit(here.roots().count())) return false;
    here.post(
        [&here, task = std::move(root)]() mutable { here.roots().start(here, std::move(task)); });
    return true;
  }

  std::vector<std::string> abandoned() const override { return pool_.abandoned(); }
  std::uint64_t abandoned_total() const noexcept override { return pool_.abandoned_total(); }

  std::unique_ptr<Background> background(std::string, Job step) override {
    auto thread = std::make_shared<SimThread>(std::move(step));
    std::erase_if(backgrounds_, [](const auto& one) { return one->closed; });
    backgrounds_.push_back(thread);
    return std::make_unique<SimBackground>(std::move(thread));
  }

  std::uint64_t entropy() noexcept override { return entropy_.next(); }
  Instant now() const noexcept override { return clock_.now; }
  Time wall() const noexcept override { return clock_.wall(); }
  std::vector<Error> faults() const override { return ledger_.faults(); }
  std::uint64_t slow_steps() const noexcept override { return 0; }
  std::uint64_t seed() const noexcept override { return options_.seed; }
  std::uint64_t order_digest() const noexcept override { return digest_; }

  bool step() override { return step_until(kNever); }
  std::uint64_t run_until_idle() override {
    std::uint64_t steps = 0;
    while (step()) ++steps;
    return steps;
  }
  void advance(Duration by) override {
    const Instant end = later(clock_.now, by);
    while (step_until(end)) {
    }
    clock_.now = std::max(clock_.now, end);
  }

  Leftovers shutdown() override {
    if (in_step_)
      return {.stranded = {"shutdown() was called on a thread of the engine, and did nothing"}};
    if (std::exchange(down_, true)) return leftovers_;
    ledger_.close();
    for (const auto& loop : loops_)
      loop->post([to = loop.get()] {
        to->stopping().request({CancelReason::Why::shutdown, "the engine shuts down"});
      });
    const Instant drained = later(clock_.now, options_.drain);
    while (ledger_.running() > 0 && step_until(drained)) {
    }
    if (ledger_.running() > 0) leftovers_.stranded = parked();
    deliver_mail();
    pool_.close();
    const Instant joined = later(clock_.now, options_.grace);
    while (!pool_.idle() && step_until(joined)) {
    }
    pool_.abandon_all();
    leftovers_.abandoned = pool_.abandoned();
    deliver_mail();
    // By index: a last step may make another one.
    for (std::size_t i = 0; i < backgrounds_.size(); ++i) {
      const auto thread = backgrounds_[i];
      thread->close();
    }
    deliver_mail();
    for (const auto& loop : loops_) loop->close();
    return leftovers_;
  }

 protected:
  Result<void> run_root(Loop& loop, Task<void> root) override {
    if (in_step_)
      return fail(ErrorKind::invalid,
                  "run() was called on a thread of its own engine, which would wait for itself",
                  "co_await the task instead (run_async, for a harness)");
    auto done = std::make_shared<bool>(false);
    if (!start(loop, then_mark(std::move(root), done)))
      return fail(ErrorKind::cancelled, "the engine has been shut down");
    while (!*done && step()) {
    }
    if (!*done) return stuck();
    return {};
  }

  Task<Result<void>> perform(std::shared_ptr<detail::Offloaded> work, Until until) override {
    return perform_offload(pool_, std::move(work), std::move(until), options_.grace);
  }

 private:
  enum class What : std::uint8_t { loop, background, begin, end, clock };
  struct Choice {
    What what;
    std::size_t which;
  };

  void deliver_mail() {
    while (step_until(clock_.now)) {
    }
  }

  static Task<void> then_mark(Task<void> root, std::shared_ptr<bool> done) {
    co_await std::move(root);
    *done = true;
  }

  std::vector<std::string> parked() const {
    std::vector<std::string> all;
    for (const auto& loop : loops_)
      for (std::string& line : loop->parked()) all.push_back(std::move(line));
    return all;
  }

  Failure stuck() const {
    std::string waits;
    for (const std::string& line : parked()) waits += (waits.empty() ? "" : ", ") + line;
    if (waits.empty()) waits = "none in a wait of tug";
    return fail(ErrorKind::internal,
                fmt::format("the simulation (seed {}) is stuck at {}: the task has not ended and "
                            "nothing can happen any more; waiting: {}",
                            options_.seed, to_rfc3339(clock_.wall()), waits),
                "somebody must wake what waits, or give the wait a deadline");
  }

  void note(What what, std::uint64_t which) noexcept {
    digest_ = Rng(digest_ ^ (static_cast<std::uint64_t>(what) << 56) ^ which).next();
  }

  // Draws among what can happen now; if nothing can, moves the clock, but not beyond `limit`.
  bool step_until(Instant limit) {
    choices_.clear();
    for (std::size_t i = 0; i < loops_.size(); ++i)
      if (loops_[i]->runnable()) choices_.push_back({What::loop, i});
    for (std::size_t i = 0; i < backgrounds_.size(); ++i)
      if (backgrounds_[i]->woken) choices_.push_back({What::background, i});
    if (pool_.can_begin()) choices_.push_back({What::begin, 0});
    const std::size_t due = pool_.due();
    for (std::size_t i = 0; i < due; ++i) choices_.push_back({What::end, i});
    if (choices_.empty()) return move_clock(limit);

    const Choice choice = choices_[rng_.below(choices_.size())];
    note(choice.what, choice.which);
    in_step_ = true;
    switch (choice.what) {
      case What::loop:
        current_ = loops_[choice.which].get();
        note(What::loop, loops_[choice.which]->step(rng_));
        current_ = nullptr;
        break;
      case What::background:
        take_background_step(backgrounds_[choice.which]);
        break;
      case What::begin:
        pool_.begin_one(rng_);
        break;
      case What::end:
        pool_.end_one(choice.which);
        break;
      case What::clock:
        break;
    }
    in_step_ = false;
    return true;
  }

  // By value: the step may end its own background.
  static void take_background_step(std::shared_ptr<SimThread> thread) {
    thread->woken = false;
    thread->step();
  }

  bool move_clock(Instant limit) {
    Instant next = pool_.next_due();
    for (const auto& loop : loops_) next = std::min(next, loop->next_alarm());
    if (next == kNever || next > limit) return false;
    clock_.now = next;
    note(What::clock, static_cast<std::uint64_t>(next.time_since_epoch().count()));
    return true;
  }

  const SimOptions options_;
  SimClock clock_;
  Rng rng_;
  Rng entropy_;
  RootLedger ledger_;
  SimPool pool_;
  const Loop* current_ = nullptr;
  bool in_step_ = false;
  std::vector<std::unique_ptr<SimLoop>> loops_;
  std::vector<std::shared_ptr<SimThread>> backgrounds_;
  std::vector<Choice> choices_;
  std::uint64_t digest_ = 0;
  bool down_ = false;
  Leftovers leftovers_;
};

}  // namespace

std::unique_ptr<SimEngine> make_sim_engine(SimOptions options) {
  return std::make_unique<SeededEngine>(options);
}

}  // namespace tug
