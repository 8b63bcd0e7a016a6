#include "agent/run_shared.h"

#include <set>

#include "agent/approvals.h"
#include "agent/commands.h"
#include "agent/holding.h"
#include "agent/inbox.h"
#include "tug/agent/run.h"
#include "tug/core/utf8.h"
#include "tug/journal/journal.h"

namespace tug {

namespace {

class OnlyBelow final : public Sink {
 public:
  OnlyBelow(RunId run, std::shared_ptr<Sink> sink) : sink_(std::move(sink)) {
    ours_.insert(std::move(run));
  }
  void on_event(const Event& event) override {
    if (!ours_.contains(event.who->run_id)) {
      if (!ours_.contains(event.who->parent_run_id)) return;
      ours_.insert(event.who->run_id);
    }
    sink_->on_event(event);
  }
  void on_durable(Seq seq) override { sink_->on_durable(seq); }
  bool wants_live() const noexcept override { return sink_->wants_live(); }
  bool wants_steps() const noexcept override { return sink_->wants_steps(); }

 private:
  std::set<RunId> ours_;
  std::shared_ptr<Sink> sink_;
};

// A root takes its tree with it.
void hold_at_next_checkpoint(LiveRun& run, const std::string& reason) {
  if (run.state.ending) return;
  if (!run.parent) return run.tree.pause_all(reason);
  payload::Steering pause{.command =
                              to_json(Steer::pause(std::string(clip_utf8(reason, kMaxSteerText))))};
  pause.sender = "owner";
  record(run, Kind::steering_applied, pause);
  for (LiveRun* other : run.tree.runs()) other->wake();
}

}  // namespace

std::shared_ptr<Sink> only_below(RunId run, std::shared_ptr<Sink> sink) {
  return std::make_shared<OnlyBelow>(std::move(run), std::move(sink));
}

// Keeps events until somebody takes them.
class RunShared::Buffer final : public Sink {
 public:
  explicit Buffer(RunShared& run) : run_(run) {}
  void on_event(const Event& event) override {
    {
      std::scoped_lock lock(run_.mutex_);
      if (event.live != 0 && run_.events_.size() >= kEventBacklog) return;
      run_.events_.push_back(event);
    }
    run_.news_.wake_all();
  }

 private:
  RunShared& run_;
};

RunShared::RunShared(RunId id, std::shared_ptr<Engine> engine, Loop& loop,
                     std::shared_ptr<RecordStore> store)
    : id_(std::move(id)),
      engine_(std::move(engine)),
      loop_(loop),
      mailbox_(loop.mailbox()),
      store_(std::move(store)),
      complete_(!store_) {}

RunShared::~RunShared() = default;

// From here on events are kept; on the loop, while the run is live.
void RunShared::watch() {
  buffer_ = only_below(id_, std::make_shared<Buffer>(*this));
  live_->ctx.events().observe(buffer_);
}

// What the journal holds of the run, up to `upto`, in front of what was kept since. Any thread.
void RunShared::read_back(Seq upto) {
  std::list<Event> before;
  Seq after = 0;
  {
    std::scoped_lock lock(mutex_);
    after = before_;
  }
  while (after < upto) {
    auto records = store_->read(id_, after, std::min<Seq>(512, upto - after));
    if (!records || records->empty()) break;
    for (const Record& record : *records) {
      if (auto event = decode(record, *store_)) before.push_back(*std::move(event));
    }
    after = records->back().seq;
  }
  std::scoped_lock lock(mutex_);
  events_.splice(events_.begin(), std::move(before));
  complete_ = true;
}

std::shared_ptr<const RunResult> RunShared::result() const {
  std::scoped_lock lock(mutex_);
  return result_;
}

// On the run's own loop at once, from anywhere else by mail. Mail does not keep a run: the run
// keeps its engine, and the engine its mail.
void RunShared::cancel(CancelReason reason) noexcept {
  auto act = [weak = weak_from_this(), reason = std::move(reason)]() noexcept {
    const auto self = weak.lock();
    if (!self) return;
    if (self->live_) return self->live_->ctx.cancel().request(reason);
    if (!self->ended()) self->cancelled_early_ = reason;
  };
  if (loop_.is_current()) return act();
  mailbox_->post(std::move(act));
}

void RunShared::pause(std::string reason) noexcept {
  auto act = [weak = weak_from_this(), reason = std::move(reason)]() noexcept {
    const auto self = weak.lock();
    if (!self) return;
    if (self->live_) {
      hold_at_next_checkpoint(*self->live_, reason);
    } else {
      self->paused_early_ = reason;
    }
  };
  if (loop_.is_current()) return act();
  mailbox_->post(std::move(act));
}

void RunShared::steer(std::vector<Steer> batch) {
  auto act = [weak = weak_from_this(), batch = std::move(batch)]() noexcept {
    const auto self = weak.lock();
    if (!self || self->ended()) return;
    if (self->live_) {
      enqueue(*self->live_, {batch, "owner"});
    } else {
      self->steered_early_.push_back({batch, "owner"});
    }
  };
  if (loop_.is_current()) return act();
  mailbox_->post(std::move(act));
}

void RunShared::hear(std::vector<InboxCommand> commands) {
  auto act = [weak = weak_from_this(), commands = std::move(commands)]() noexcept {
    const auto self = weak.lock();
    if (self && self->live_) tug::hear(*self->live_, commands);
  };
  if (loop_.is_current()) return act();
  mailbox_->post(std::move(act));
}

Result<void> RunShared::decide(const std::vector<Decision>& decisions) {
  if (live_ && !live_->state.ending) return decide_calls(*live_, decisions);
  return fail(ErrorKind::invalid, "run " + id_.text() + " is not under way",
              "Harness::approve decides about a run that is parked");
}

std::vector<PendingApproval> RunShared::pending() const {
  if (live_) return pending_of(*live_);
  std::scoped_lock lock(mutex_);
  return result_ ? result_->pending : std::vector<PendingApproval>{};
}

std::vector<RunStatusRecord> RunShared::tree() const {
  std::vector<RunStatusRecord> runs;
  if (!live_) return {status()};
  for (const LiveRun* run : live_->tree.runs()) {
    for (const LiveRun* at = run; at; at = at->parent) {
      if (at != live_) continue;
      runs.push_back(status_of(run->state));
      break;
    }
  }
  return runs;
}

std::shared_ptr<RunShared> RunShared::node(const RunId& run) {
  if (run == id_) return shared_from_this();
  LiveRun* found = live_ ? live_->tree.find(run) : nullptr;
  if (!found) return nullptr;
  if (auto known = found->shared.lock()) return known;
  auto shared = std::make_shared<RunShared>(run, engine_, loop_, nullptr);
  shared->begin(*found);
  found->shared_kept = shared;
  return shared;
}

std::optional<Event> RunShared::take_event() {
  std::unique_lock lock(mutex_);
  if (!watched_ && ended() && store_) {
    watched_ = true;
    lock.unlock();
    read_back(~Seq{0});
    lock.lock();
  }
  if (!complete_ || events_.empty()) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

Task<RunResult> RunShared::wait(Until until) {
  auto self = shared_from_this();
  Loop& here = co_await this_loop();
  if (&here == &loop_) {
    while (!ended()) {
      const Woken woken = co_await done_.wait(until);
      if (woken != Woken::ready) {
        co_return failed_result(wait_error(woken, until, "the end of run " + id_.text()));
      }
    }
    co_return *result();
  }
  // Another loop's run: it tells us through our mailbox.
  struct Word {
    bool said = false;
    WaitList waiters{"the end of a run on another loop"};
  };
  auto word = std::make_shared<Word>();
  auto tell = [word, mailbox = here.mailbox()]() noexcept {
    mailbox->post([word]() noexcept {
      word->said = true;
      word->waiters.wake_all();
    });
  };
  mailbox_->post([weak = weak_from_this(), tell]() noexcept {
    const auto run = weak.lock();
    if (!run || run->ended()) return tell();
    run->told_.push_back(tell);
  });
  while (!word->said && !ended()) {
    const Woken woken = co_await word->waiters.wait(until);
    if (woken != Woken::ready && !ended()) {
      co_return failed_result(wait_error(woken, until, "the end of run " + id_.text()));
    }
  }
  co_return *result();
}

void RunShared::belongs_to(LiveRun& owner, CallId call) {
  owners_tree_ = owner.tree.weak_from_this();
  owner_ = owner.ctx.id().run_id;
  begun_by_ = std::move(call);
}

// Code of a run waits for one of its children. It can move again the moment that one has ended.
class RunShared::Attending {
 public:
  Attending(RunShared& child, const CallId& call)
      : child_(child), tree_(child.owners_tree_), run_(child.owner_) {
    LiveRun* owner = find();
    if (!owner || child.ended()) return;
    const OpenCall* open = find_call(owner->state, call.text());
    if (open && open->started && !open->result) call_ = call;
    in_batch_ = owner->batch != nullptr;
    if (in_batch_) {
      ++owner->attended[call_.text()];
    } else {
      ++owner->awaited_elsewhere;
    }
    child.attending_.push_back(this);
    waits_ = true;
    owner->tree.look_later();
  }
  Attending(const Attending&) = delete;
  Attending& operator=(const Attending&) = delete;
  ~Attending() {
    if (waits_) std::erase(child_.attending_, this);
    release();
  }

  void release() {
    LiveRun* owner = find();
    if (!std::exchange(waits_, false) || !owner) return;
    if (!in_batch_) {
      --owner->awaited_elsewhere;
    } else if (auto found = owner->attended.find(call_.text()); --found->second == 0) {
      owner->attended.erase(found);
    }
  }

  // What cannot be run again says itself what became of it.
  void leave_open() const {
    LiveRun* owner = find();
    const OpenCall* open = owner ? find_call(owner->state, call_.text()) : nullptr;
    const Tool* tool = open ? owner->plan->tools.find(open->call.tool) : nullptr;
    if (!tool) return;
    const Effect effect = tool->spec().effect;
    if (effect != Effect::pure && effect != Effect::idempotent) return;
    owner->tree.left_open.push_back(call_);
  }

 private:
  LiveRun* find() const {
    const auto tree = tree_.lock();
    return tree ? tree->find(run_) : nullptr;
  }
  RunShared& child_;
  std::weak_ptr<RunTree> tree_;
  RunId run_;
  CallId call_;  // empty when nobody knows
  bool in_batch_ = false;
  bool waits_ = false;
};

Task<RunResult> RunShared::attend(Until until, CallId by) {
  const auto self = shared_from_this();
  Loop& here = co_await this_loop();
  std::optional<Attending> attending;
  if (&here == &loop_ && !owner_.empty()) attending.emplace(*this, by.empty() ? begun_by_ : by);
  auto waiting = wait(std::move(until));
  RunResult result = co_await std::move(waiting);
  if (attending && result.status == RunStatus::parked) attending->leave_open();
  co_return result;
}

Task<Result<void>> RunShared::wait_event(Until until) {
  auto self = shared_from_this();
  bool first = false;
  {
    std::scoped_lock lock(mutex_);
    first = !std::exchange(watched_, true);
    // Not begun: it will be watched from its first event on.
    if (first && !live_ && !ended()) complete_ = true;
  }
  if (first && live_ && !store_) {
    watch();
  } else if (first && live_) {
    watch();
    RootLog& log = live_->ctx.events();
    const Seq upto = log.last_seq();
    {
      auto writing = log.durable(upto, until);
      Result<void> written = co_await std::move(writing);
      (void)written;  // what is not on disk by now never will be
    }
    auto reading = engine_->offload(
        "reading the events of a run", [self, upto](std::stop_token) { self->read_back(upto); },
        until);
    Result<void> read = co_await std::move(reading);
    if (!read) co_return Failure(std::move(read).error());
  } else if (first && ended() && store_) {
    auto reading = engine_->offload(
        "reading the events of a run", [self](std::stop_token) { self->read_back(~Seq{0}); },
        until);
    Result<void> read = co_await std::move(reading);
    if (!read) co_return Failure(std::move(read).error());
  }
  while (true) {
    {
      std::scoped_lock lock(mutex_);
      if (complete_ && !events_.empty()) co_return Result<void>();
    }
    if (ended()) co_return Result<void>();
    const Woken woken = co_await news_.wait(until);
    if (woken != Woken::ready) co_return Failure(wait_error(woken, until, "an event of a run"));
  }
}

RunStatusRecord RunShared::status() const {
  if (live_) return status_of(live_->state);
  std::scoped_lock lock(mutex_);
  if (last_status_) return *last_status_;
  return {.id = id_, .status = result_ ? result_->status : RunStatus::pending};
}

Json RunShared::snapshot() const {
  if (live_) return live_->ctx.snapshot();
  std::scoped_lock lock(mutex_);
  return last_snapshot_;
}

void RunShared::begin(LiveRun& live) {
  live_ = &live;
  bool watched = false;
  {
    std::scoped_lock lock(mutex_);
    watched = watched_;
    before_ = live.ctx.events().last_seq();
  }
  if (watched) watch();
  if (cancelled_early_) live.ctx.cancel().request(*cancelled_early_);
  live.shared = weak_from_this();
}

void RunShared::hear_early() {
  for (SteerBatch& batch : std::exchange(steered_early_, {})) enqueue(*live_, std::move(batch));
  if (auto reason = std::exchange(paused_early_, {})) hold_at_next_checkpoint(*live_, *reason);
}

void RunShared::retire() {
  if (!live_) return;
  if (buffer_) live_->ctx.events().forget(*buffer_);
  std::scoped_lock lock(mutex_);
  if (held_) {
    last_status_ = std::make_unique<RunStatusRecord>(status_of(live_->state));
    last_snapshot_ = live_->ctx.snapshot();
  }
  live_ = nullptr;
}

void RunShared::end(RunResult result) {
  {
    std::scoped_lock lock(mutex_);
    result_ = std::make_shared<const RunResult>(std::move(result));
  }
  ended_.store(true, std::memory_order_release);
  for (Attending* waiting : std::exchange(attending_, {})) waiting->release();
  done_.wake_all();
  news_.wake_all();
  for (auto& tell : std::exchange(told_, {})) tell();
}

RunResult failed_result(Error error) {
  RunResult result;
  result.status = RunStatus::failed;
  result.stop = error.kind() == ErrorKind::cancelled ? StopReason::cancelled : StopReason::error;
  if (error.kind() == ErrorKind::cancelled) result.status = RunStatus::cancelled;
  result.error = std::move(error);
  return result;
}

namespace detail {

Run RunHandle::make(std::shared_ptr<RunShared> shared, Holds holds) {
  return Run(std::make_shared<RunHandle>(std::move(shared), holds));
}

RunHandle::~RunHandle() {
  if (holds_ == Holds::looks_on || shared_->ended() || shared_->detached()) return;
  shared_->cancel({CancelReason::Why::dropped, "nobody holds the run any more"});
  // On a thread of the engine this answers at once: there the run ends by itself.
  auto waiting = shared_->wait({});
  (void)shared_->engine().run(shared_->loop(), std::move(waiting));
}

}  // namespace detail

const RunId& Run::id() const noexcept { return handle_->shared().id(); }
bool Run::ended() const noexcept { return handle_->shared().ended(); }

RunResult Run::wait() const {
  RunShared& shared = handle_->shared();
  if (auto result = shared.result()) return *result;
  auto waiting = shared.wait({});
  Result<RunResult> result = shared.engine().run(shared.loop(), std::move(waiting));
  if (result) return *std::move(result);
  if (auto ended = shared.result()) return *ended;
  return failed_result(result.error().with_fix("on a loop, co_await run.result() instead"));
}

Task<RunResult> Run::result(Until until) const {
  return handle_->shared().attend(std::move(until));
}

std::optional<Event> Run::next_event() const {
  RunShared& shared = handle_->shared();
  while (true) {
    const bool over = shared.ended();
    if (auto event = shared.take_event()) return event;
    if (over) return std::nullopt;
    auto waiting = shared.wait_event({});
    Result<void> ready = shared.engine().run(shared.loop(), std::move(waiting));
    if (!ready && !shared.ended()) return std::nullopt;
  }
}

std::vector<Event> Run::next_events() const {
  std::vector<Event> events;
  if (auto first = next_event()) events.push_back(*std::move(first));
  while (auto more = handle_->shared().take_event()) events.push_back(*std::move(more));
  return events;
}

Task<std::optional<Event>> Run::next_event_async(Until until) const {
  auto shared = handle_->share();
  while (true) {
    const bool over = shared->ended();
    if (auto event = shared->take_event()) co_return event;
    if (over) co_return std::nullopt;
    auto waiting = shared->wait_event(until);
    Result<void> ready = co_await std::move(waiting);
    if (!ready) co_return std::nullopt;
  }
}

void Run::cancel(std::string text) const noexcept {
  handle_->shared().cancel({CancelReason::Why::user, std::move(text)});
}
void Run::pause(std::string reason) const noexcept { handle_->shared().pause(std::move(reason)); }
void Run::detach() const noexcept { handle_->shared().detach(); }

void Run::steer(Steer command) const { steer(std::vector<Steer>{std::move(command)}); }
void Run::steer(std::vector<Steer> batch) const { handle_->shared().steer(std::move(batch)); }

namespace {

template <class T>
Task<T> on_loop(std::function<T()> f) {
  co_return f();
}

// What only the loop may look at, asked from wherever we are; `otherwise` when it is gone.
template <class F, class T = std::invoke_result_t<F, RunShared&>>
T ask_loop(const std::shared_ptr<RunShared>& shared, F f, const T& otherwise) {
  if (shared->ended() || shared->loop().is_current()) return f(*shared);
  // By reference: the caller waits, and the last to keep an engine must not be one of its threads.
  auto looking = on_loop<T>([&run = *shared, &f] { return f(run); });
  auto found = shared->engine().run(shared->loop(), std::move(looking));
  if constexpr (std::is_same_v<decltype(found), T>) {
    return found;
  } else {
    return found ? *std::move(found) : otherwise;
  }
}

}  // namespace

std::vector<PendingApproval> Run::pending() const {
  return ask_loop(handle_->share(), [](RunShared& run) { return run.pending(); }, {});
}

std::vector<RunStatusRecord> Run::tree() const {
  return ask_loop(handle_->share(), [](RunShared& run) { return run.tree(); }, {});
}

Result<void> Run::approve(std::vector<Decision> decisions) const {
  const Result<void> gone = fail(ErrorKind::cancelled, "the engine is shut down");
  return ask_loop(handle_->share(), [&](RunShared& run) { return run.decide(decisions); }, gone);
}

Task<Result<void>> Run::approve_async(std::vector<Decision> decisions) const {
  auto shared = handle_->share();
  Loop& here = co_await this_loop();
  if (&here == &shared->loop()) co_return shared->decide(decisions);
  co_return fail(ErrorKind::invalid, "approve_async is for the run's own loop",
                 "call approve from a thread that is none of the engine's");
}

Run Run::node(const RunId& run) const {
  using Node = std::shared_ptr<RunShared>;
  auto found = ask_loop(handle_->share(), [&](RunShared& self) { return self.node(run); }, Node());
  if (!found) return {};
  return detail::RunHandle::make(std::move(found), detail::RunHandle::Holds::looks_on);
}

RunStatusRecord Run::status() const {
  return ask_loop(
      handle_->share(), [](RunShared& run) { return run.status(); }, RunStatusRecord{.id = id()});
}

Json Run::snapshot() const {
  return ask_loop(handle_->share(), [](RunShared& run) { return run.snapshot(); }, Json());
}

}  // namespace tug
