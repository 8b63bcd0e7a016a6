#include "tug/journal/queued_sink.h"

#include <deque>
#include <mutex>

#include "tug/io/engine.h"

namespace tug {
namespace {

constexpr std::size_t kCatchUpPage = 256;
constexpr std::size_t kJoinedBytes = 64 * 1024;  // of one joined delta
constexpr std::size_t kJoinTries = 64;           // neighbours looked at to make room

// Joins `next` to `last` when both are pieces of the same stream of the same call.
bool join_deltas(Event& last, const Event& next) {
  if (last.kind != Kind::model_delta || next.kind != Kind::model_delta || last.who != next.who)
    return false;
  if (last.data["call"] != next.data["call"]) return false;
  for (std::string_view field : {"text", "reasoning"}) {
    const Json* before = last.data.find(field);
    const Json* after = next.data.find(field);
    if (!before || !after) continue;
    if (before->as_string().size() + after->as_string().size() > kJoinedBytes) return false;
    std::string joined(before->as_string());
    joined += after->as_string();
    last.data.set(field, joined);
    last.live = next.live;
    return true;
  }
  return false;
}

class Queue final {
 public:
  Queue(Engine& engine, std::shared_ptr<RecordStore> store, std::shared_ptr<Sink> slow,
        QueueOptions options)
      : store_(std::move(store)), slow_(std::move(slow)), options_(std::move(options)) {
    if (options_.capacity == 0) options_.capacity = 1;
    wants_live_ = slow_->wants_live();
    wants_steps_ = slow_->wants_steps();
    thread_ = engine.background(options_.name, [this]() noexcept { step(); });
  }
  ~Queue() { finish(); }

  void on_event(const Event& event) {
    std::scoped_lock lock(mutex_);
    if (finished_ || counts_.failed) return;
    if (root_.empty() && event.who) {
      root_ = event.who->root_run_id;
      // It may be attached in the middle of a run: what came before is not its business.
      delivered_ = event.live ? event.seq : event.seq - 1;
    }
    if (!event.live) newest_ = event.seq;
    if (!missed_ && (queue_.size() < options_.capacity || make_room(event))) {
      queue_.push_back(event);
    } else if (!coalesced_) {
      drop(event);
    }
    coalesced_ = false;
    if (event.live) thread_->wake();  // a record goes out when it is on disk
  }

  void on_durable(Seq seq) {
    std::scoped_lock lock(mutex_);
    durable_ = seq;
    if (!finished_) thread_->wake();
  }

  bool wants_live() const noexcept { return wants_live_; }
  bool wants_steps() const noexcept { return wants_steps_; }

  QueueCounts counts() const noexcept {
    std::scoped_lock lock(mutex_);
    return counts_;
  }

  void finish() noexcept {
    {
      std::scoped_lock lock(mutex_);
      if (finished_) return;
      finished_ = true;
      thread_->wake();
    }
    thread_.reset();
  }
  bool finished() const noexcept {
    std::scoped_lock lock(mutex_);
    return finished_;
  }

 private:
  // Called with the lock held and the queue full.
  bool make_room(const Event& event) {
    if (options_.overflow != QueueOverflow::coalesce_deltas) return false;
    if (event.live && join_deltas(queue_.back(), event)) {
      coalesced_ = true;
      ++counts_.coalesced;
      return false;
    }
    const std::size_t oldest = queue_.size() > kJoinTries ? queue_.size() - kJoinTries : 1;
    for (std::size_t i = queue_.size() - 1; i >= oldest; --i) {
      if (!join_deltas(queue_[i - 1], queue_[i])) continue;
      queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
      ++counts_.coalesced;
      return true;
    }
    return false;
  }

  void drop(const Event& event) {
    if (event.live) {
      ++counts_.dropped_live;
    } else if (options_.overflow == QueueOverflow::catch_up && store_) {
      missed_ = true;
    } else {
      ++counts_.dropped_records;
    }
  }

  // On the thread of the queue. The lock is never held while the exporter works.
  void step() noexcept {
    while (true) {
      Event event;
      {
        std::scoped_lock lock(mutex_);
        if (counts_.failed) return;
        const bool ready = !queue_.empty() && queue_.front().seq <= durable_;
        if (!ready) {
          if (!missed_ || !queue_.empty()) return;
          break;
        }
        event = std::move(queue_.front());
        queue_.pop_front();
      }
      if (!deliver(event)) return;
    }
    catch_up();
  }

  bool deliver(const Event& event) noexcept {
    const Result<void> delivered = guarded("an exporter", [&] { slow_->on_event(event); });
    std::scoped_lock lock(mutex_);
    if (!event.live) delivered_ = event.seq;
    if (delivered) {
      ++counts_.delivered;
      return true;
    }
    counts_.failed = true;
    queue_.clear();
    return false;
  }

  void catch_up() noexcept {
    while (true) {
      Seq after = 0;
      Seq upto = 0;
      {
        std::scoped_lock lock(mutex_);
        if (delivered_ >= newest_) missed_ = false;
        if (!missed_ || delivered_ >= durable_) return;
        after = delivered_;
        upto = durable_;
      }
      auto records = store_->read(root_, after, kCatchUpPage);
      if (!records || records->empty()) return give_up();
      for (const Record& record : *records) {
        if (record.seq > upto) break;
        auto event = decode(record, *store_);
        if (!event) return give_up();
        if (!deliver(*event)) return;
        std::scoped_lock lock(mutex_);
        ++counts_.caught_up;
      }
    }
  }

  void give_up() noexcept {
    std::scoped_lock lock(mutex_);
    counts_.dropped_records += newest_ - delivered_;
    delivered_ = newest_;
    missed_ = false;
  }

  std::shared_ptr<RecordStore> store_;
  std::shared_ptr<Sink> slow_;
  QueueOptions options_;
  bool wants_live_ = true;
  bool wants_steps_ = false;
  mutable std::mutex mutex_;
  std::deque<Event> queue_;
  QueueCounts counts_;
  RunId root_;
  Seq newest_ = 0;     // emitted
  Seq durable_ = 0;    // on disk
  Seq delivered_ = 0;  // handed to the exporter
  bool missed_ = false;
  bool coalesced_ = false;
  bool finished_ = false;
  std::unique_ptr<Background> thread_;  // last: its step uses the rest
};

Task<void> finish_elsewhere(Engine& engine, std::shared_ptr<Queue> queue) {
  auto work = [queue = std::move(queue)](std::stop_token) { queue->finish(); };
  auto finishing = engine.offload("finishing a queue", std::move(work), {});
  (void)co_await std::move(finishing);
}

// The side that logs and users hold. Its last holder may be a loop, which must not wait for an
// exporter.
class QueueHandle final : public QueuedSink {
 public:
  QueueHandle(Engine& engine, std::shared_ptr<Queue> queue)
      : engine_(engine), queue_(std::move(queue)) {}
  ~QueueHandle() override {
    if (queue_->finished()) return;
    engine_.start(engine_.place(), finish_elsewhere(engine_, std::move(queue_)));
  }

  void on_event(const Event& event) override { queue_->on_event(event); }
  void on_durable(Seq seq) override { queue_->on_durable(seq); }
  bool wants_live() const noexcept override { return queue_->wants_live(); }
  bool wants_steps() const noexcept override { return queue_->wants_steps(); }
  QueueCounts counts() const noexcept override { return queue_->counts(); }
  void finish() noexcept override { queue_->finish(); }

 private:
  Engine& engine_;
  std::shared_ptr<Queue> queue_;
};

}  // namespace

std::shared_ptr<QueuedSink> make_queued_sink(Engine& engine, std::shared_ptr<RecordStore> store,
                                             std::shared_ptr<Sink> slow, QueueOptions options) {
  auto queue =
      std::make_shared<Queue>(engine, std::move(store), std::move(slow), std::move(options));
  return std::make_shared<QueueHandle>(engine, std::move(queue));
}

}  // namespace tug
