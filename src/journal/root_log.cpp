#include "journal/root_log.h"

#include "journal/observers.h"
#include "journal/partials.h"

namespace tug {
namespace {

// The part of a log that its commits hold on to: it may outlive the RootLog until the last verdict.
class Line final : public CommitListener,
                   public Pending,
                   public std::enable_shared_from_this<Line> {
 public:
  Line(std::shared_ptr<Outbox> outbox, RootLogStart start)
      : outbox_(std::move(outbox)),
        start_(std::move(start)),
        chain_(start_.last_hash),
        seq_(start_.last_seq),
        submitted_(start_.last_seq),
        durable_(start_.last_seq) {}

  Loop& loop() noexcept { return outbox_->loop(); }

  Seq emit(Event event) noexcept {
    event.seq = ++seq_;
    event.live = 0;
    live_ = 0;
    stamp(event);
    if (!failure_) {
      Encoded encoded = encode(event);
      const Digest hash = chain_.next(event.who, event.seq, event.ts, encoded.body);
      batch().records.push_back({event.seq, event.who, event.ts, std::move(encoded.body), hash});
      if (encoded.blob) batch().blobs.push_back(std::move(*encoded.blob));
      mark();
    }
    if (!observers_.empty()) observers_.show(std::move(event));
    return seq_;
  }

  void emit_live(Event event) noexcept {
    if (!observers_.want_live()) return;
    event.seq = seq_;
    event.live = ++live_;
    stamp(event);
    observers_.show(std::move(event));
  }

  Task<Result<void>> wait_durable(Seq seq, Until until) {
    auto self = shared_from_this();  // the log may go while we wait
    if (marked_ && outbox_->at_once()) outbox_->flush();
    while (!failure_ && durable_ < seq) {
      const Woken woken = co_await waiters_.wait(until);
      if (woken != Woken::ready && durable_ < seq && !failure_) {
        co_return Failure(wait_error(woken, until, "a commit of the journal"));
      }
    }
    if (durable_ >= seq) co_return Result<void>();
    co_return Failure(*failure_);
  }

  Task<Result<void>> wait_idle(Until until) {
    auto self = shared_from_this();
    if (marked_ && outbox_->at_once()) outbox_->flush();
    while (marked_ || in_flight_ > 0) {
      const Woken woken = co_await waiters_.wait(until);
      if (woken != Woken::ready)
        co_return Failure(wait_error(woken, until, "the last commit of a log"));
    }
    if (failure_) co_return Failure(*failure_);
    co_return Result<void>();
  }

  bool take(Submission& submission) noexcept override {
    marked_ = false;
    if (failure_ && !giving_up_) return false;
    partials_.take(batch().partials);
    batch().root = start_.who->run_id;
    batch().epoch = start_.epoch;
    batch().after = giving_up_ ? durable_ : submitted_;
    batch().now = loop().wall();
    if (start_.create) {
      // A root that never said anything leaves no trace.
      if (batch().records.empty()) return false;
      batch().create = std::move(start_.create);
      batch().owner = *start_.owner;
      start_.create.reset();
    }
    if (!batch().records.empty()) submitted_ = batch().records.back().seq;
    submission.batch = std::move(batch());
    batch_.reset();
    submission.mailbox = loop().mailbox();
    submission.listener = shared_from_this();
    ++in_flight_;
    return true;
  }

  void committed(Seq upto, const Result<void>& verdict) noexcept override {
    --in_flight_;
    if (!verdict) {
      if (!failure_) failure_ = verdict.error();
      batch_.reset();
    } else if (upto > durable_) {
      durable_ = upto;
      observers_.show_durable(upto);
    }
    waiters_.wake_all();
  }

  void keep_blob(Blob blob) noexcept {
    if (failure_ || released_) return;
    batch().blobs.push_back(std::move(blob));
    mark();
  }

  void keep_partial(const CallId& call, std::string_view bytes) noexcept {
    if (failure_ || released_) return;
    if (partials_.add(call, bytes)) return mark();
    if (!timer_.armed()) loop().arm(timer_, loop().now() + kPartialDelay);
  }

  void drop_partial(const CallId& call) noexcept {
    // Until the first record of a new root everything waits in the batch.
    if (batch_) {
      std::erase_if(batch_->partials, [&](const Partial& part) { return part.call == call; });
    }
    if (!partials_.drop(call)) return;
    batch().finished_partials.push_back(call);
    mark();
  }

  void took(std::vector<std::int64_t> commands) noexcept {
    batch().taken_commands.insert(batch().taken_commands.end(), commands.begin(), commands.end());
    mark();
  }

  void set_status(RootStatus status, Json summary) noexcept {
    batch().status = status;
    if (!summary.is_null()) batch().summary = std::move(summary);
    mark();
  }

  void release() noexcept {
    if (released_) return;
    released_ = true;
    loop().disarm(timer_);
    if (failure_) {
      // Whoever took the root over keeps it; after any other failure the root is free for the next
      // owner.
      if (failure_->kind() == ErrorKind::denied) return;
      giving_up_ = true;
      batch_.reset();
    }
    batch().release = true;
    mark();
    // At once, not after the step: when the log goes the loop may be going too.
    outbox_->flush();
  }

  Observers& observers() noexcept { return observers_; }
  Seq last_seq() const noexcept { return seq_; }
  Seq durable_seq() const noexcept { return durable_; }
  const Digest& last_hash() const noexcept { return chain_.last(); }
  const LineagePtr& lineage() const noexcept { return start_.who; }
  std::uint64_t epoch() const noexcept { return start_.epoch; }

 private:
  struct PartialTimer : Timer {
    explicit PartialTimer(Line& owner)
        : Timer([](Timer& self) noexcept { static_cast<PartialTimer&>(self).line.mark(); }),
          line(owner) {}
    Line& line;
  };

  void stamp(Event& event) const noexcept {
    if (event.ts == Time{}) event.ts = outbox_->loop().wall();
    if (!event.who) event.who = start_.who;
  }

  Batch& batch() {
    if (!batch_) batch_ = std::make_unique<Batch>();
    return *batch_;
  }

  void mark() noexcept {
    if (marked_ || (failure_ && !giving_up_)) return;
    marked_ = true;
    outbox_->mark(shared_from_this());
  }

  std::shared_ptr<Outbox> outbox_;
  RootLogStart start_;
  Chain chain_;
  Seq seq_;
  Seq submitted_;  // handed to the committer
  Seq durable_;
  std::uint32_t live_ = 0;
  std::unique_ptr<Batch> batch_;  // what is queued; a log that waits has none
  Partials partials_;
  PartialTimer timer_{*this};
  Observers observers_;
  WaitList waiters_{"a commit of the journal"};
  std::optional<Error> failure_;
  int in_flight_ = 0;
  bool marked_ = false;
  bool released_ = false;
  bool giving_up_ = false;  // released after a failure
};

class JournaledLog final : public RootLog {
 public:
  JournaledLog(std::shared_ptr<Line> line, Job gone)
      : line_(std::move(line)), gone_(std::move(gone)) {}
  ~JournaledLog() override {
    line_->release();
    gone_();
  }

  Seq emit(Event event) noexcept override { return line_->emit(std::move(event)); }
  void emit_live(Event event) noexcept override { line_->emit_live(std::move(event)); }
  bool wants_live() const noexcept override { return line_->observers().want_live(); }
  bool wants_steps() const noexcept override { return line_->observers().want_steps(); }
  Task<Result<void>> durable(Seq seq, Until until) override {
    return line_->wait_durable(seq, std::move(until));
  }
  void keep_blob(Blob blob) noexcept override { line_->keep_blob(std::move(blob)); }
  void keep_partial(CallId call, std::string bytes) noexcept override {
    line_->keep_partial(call, bytes);
  }
  void drop_partial(CallId call) noexcept override { line_->drop_partial(call); }
  void took(std::vector<std::int64_t> commands) noexcept override {
    line_->took(std::move(commands));
  }
  void set_status(RootStatus status, Json summary) noexcept override {
    line_->set_status(status, std::move(summary));
  }
  void observe(std::shared_ptr<Sink> sink) override {
    line_->observers().add(std::move(sink), line_->durable_seq());
  }
  void forget(const Sink& sink) noexcept override { line_->observers().remove(sink); }
  Seq last_seq() const noexcept override { return line_->last_seq(); }
  Seq durable_seq() const noexcept override { return line_->durable_seq(); }
  Digest last_hash() const noexcept override { return line_->last_hash(); }
  const LineagePtr& lineage() const noexcept override { return line_->lineage(); }
  std::uint64_t epoch() const noexcept override { return line_->epoch(); }
  std::uint64_t removed_sinks() const noexcept override { return line_->observers().removed(); }
  Task<Result<void>> close(Until until) override {
    line_->release();
    return line_->wait_idle(std::move(until));
  }

 private:
  std::shared_ptr<Line> line_;
  Job gone_;
};

}  // namespace

std::unique_ptr<RootLog> make_root_log(std::shared_ptr<Outbox> outbox, RootLogStart start,
                                       Job gone) {
  auto line = std::make_shared<Line>(std::move(outbox), std::move(start));
  return std::make_unique<JournaledLog>(std::move(line), std::move(gone));
}

}  // namespace tug
