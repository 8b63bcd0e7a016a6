#include "tug/journal/journal.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "core/try.h"
#include "journal/committer.h"
#include "journal/outbox.h"
#include "journal/root_log.h"
#include "tug/io/engine.h"

namespace tug {
namespace {

constexpr std::size_t kFollowPage = 256;
// Another process does not tell us when it commits.
constexpr Duration kFollowPoll = std::chrono::milliseconds(100);

// What one answer from the committer's thread is waited for with; used on one loop.
template <class T>
struct Slot {
  std::optional<Result<T>> value;
  WaitList waiters{"an answer of the journal"};
};

// Counts commits, so that one that comes while the follower reads is not missed.
struct News {
  std::uint64_t count = 0;
  WaitList waiters{"a record of a followed root"};
};
struct Follower {
  RunId root;
  std::shared_ptr<Mailbox> mailbox;
  std::shared_ptr<News> news;
};

class StoredJournal final : public Journal, private CommitWatcher {
 public:
  StoredJournal(Engine& engine, std::shared_ptr<RecordStore> store)
      : engine_(engine),
        store_(std::move(store)),
        owner_(std::make_shared<const Owner>(Owner{this_process(), engine.entropy() >> 1})),
        committer_(engine, store_, *this) {}
  ~StoredJournal() override { close(); }

  Task<Result<std::unique_ptr<RootLog>>> create(NewRoot root) override {
    Loop& loop = co_await this_loop();
    TUG_CO_TRY(entered, enter(root.who->run_id));
    const Base* base = root.base ? &*root.base : nullptr;
    RootLogStart start{.who = root.who,
                       .owner = owner_,
                       .last_hash = genesis_of(root.who->run_id, root.who->thread_id, base)};
    start.create = std::move(root);
    co_return open(loop, std::move(start));
  }

  Task<Result<std::unique_ptr<RootLog>>> claim(RunId root) override {
    Loop& loop = co_await this_loop();
    TUG_CO_TRY(entered, enter(root));
    auto slot = std::make_shared<Slot<RootInfo>>();
    const bool asked =
        committer_.call([this, slot, root, mailbox = loop.mailbox(), now = loop.wall()]() noexcept {
          auto claimed =
              guarded("claiming a root", [&] { return store_->claim(root, *owner_, now); });
          mailbox->post([slot, claimed = std::move(claimed)]() mutable noexcept {
            slot->value = std::move(claimed);
            slot->waiters.wake_all();
          });
        });
    if (!asked) {
      leave(root);
      co_return fail(ErrorKind::cancelled, "the journal is closed");
    }
    while (!slot->value) co_await slot->waiters.wait();
    if (!*slot->value) {
      leave(root);
      co_return Failure(slot->value->error());
    }
    const RootInfo& info = **slot->value;
    co_return open(loop, {.who = info.who,
                          .owner = owner_,
                          .epoch = info.epoch,
                          .last_seq = info.last_seq,
                          .last_hash = info.last_hash});
  }

  Task<Result<std::vector<Record>>> read(RunId root, Seq after, std::size_t limit,
                                         Until until) override {
    return read_until(std::move(root), after, limit, std::move(until));
  }

  Task<Result<std::vector<Record>>> follow(RunId root, Seq after, Until until) override {
    Loop& loop = co_await this_loop();
    auto news = std::make_shared<News>();
    const Watching watching(*this, Follower{root, loop.mailbox(), news});
    while (true) {
      const std::uint64_t seen = news->count;
      auto reading = read_until(root, after, kFollowPage, until);
      auto records = co_await std::move(reading);
      if (!records || !records->empty()) co_return records;
      if (news->count != seen) continue;
      Until poll = until;
      poll.deadline = std::min(until.deadline, loop.now() + kFollowPoll);
      const Woken woken = co_await news->waiters.wait(poll);
      const bool late = woken == Woken::timed_out && loop.now() >= until.deadline;
      if (woken == Woken::cancelled || late) {
        co_return Failure(wait_error(woken, until, "a record after " + std::to_string(after)));
      }
    }
  }

  Task<Result<Base>> base_at(RunId root, Seq seq, Until until) override {
    if (seq == 0) co_return fail(ErrorKind::invalid, "a base needs a record; the first is 1");
    auto reading = read_until(root, seq - 1, 1, std::move(until));
    TUG_CO_TRY(records, co_await std::move(reading));
    if (records.empty() || records.front().seq != seq) {
      co_return fail(ErrorKind::invalid,
                     "run " + root.text() + " has no record " + std::to_string(seq),
                     "`tug show --events` lists its records");
    }
    co_return Base{root, seq, records.front().hash};
  }

  RecordStore& store() noexcept override { return *store_; }
  void close() noexcept override { committer_.close(); }

 private:
  // In the list of followers while it lives.
  class Watching {
   public:
    Watching(StoredJournal& journal, Follower follower) : journal_(journal), news_(follower.news) {
      std::scoped_lock lock(journal_.mutex_);
      journal_.followers_.push_back(std::move(follower));
    }
    ~Watching() {
      std::scoped_lock lock(journal_.mutex_);
      std::erase_if(journal_.followers_, [&](const Follower& f) { return f.news == news_; });
    }
    Watching(const Watching&) = delete;
    Watching& operator=(const Watching&) = delete;

   private:
    StoredJournal& journal_;
    std::shared_ptr<News> news_;
  };

  Task<Result<std::vector<Record>>> read_until(RunId root, Seq after, std::size_t limit,
                                               Until until) {
    auto work = [store = store_, root = std::move(root), after, limit](std::stop_token) {
      return store->read(root, after, limit);
    };
    return engine_.offload("reading the journal", std::move(work), std::move(until));
  }

  void on_disk(const std::vector<RunId>& roots) noexcept override {
    std::scoped_lock lock(mutex_);
    for (const Follower& follower : followers_) {
      if (std::find(roots.begin(), roots.end(), follower.root) == roots.end()) continue;
      follower.mailbox->post([news = follower.news]() noexcept {
        ++news->count;
        news->waiters.wake_all();
      });
    }
  }

  Result<void> enter(const RunId& root) {
    std::scoped_lock lock(mutex_);
    if (open_.insert(root).second) return {};
    return fail(ErrorKind::denied, "root " + root.text() + " is open in this process",
                "use that run's handle, or wait for it to end",
                Denied{root.text(), "this process"});
  }

  void leave(const RunId& root) noexcept {
    std::scoped_lock lock(mutex_);
    open_.erase(root);
  }

  std::unique_ptr<RootLog> open(Loop& loop, RootLogStart start) {
    RunId root = start.who->run_id;
    return make_root_log(outbox_of(loop), std::move(start),
                         [this, root = std::move(root)]() noexcept { leave(root); });
  }

  std::shared_ptr<Outbox> outbox_of(Loop& loop) {
    std::scoped_lock lock(mutex_);
    for (const auto& outbox : outboxes_) {
      if (&outbox->loop() == &loop) return outbox;
    }
    return outboxes_.emplace_back(std::make_shared<Outbox>(loop, committer_));
  }

  Engine& engine_;
  std::shared_ptr<RecordStore> store_;
  const std::shared_ptr<const Owner> owner_;
  std::mutex mutex_;  // for the three below
  std::vector<std::shared_ptr<Outbox>> outboxes_;
  std::vector<Follower> followers_;
  std::set<RunId> open_;
  Committer committer_;  // last: it calls back
};

}  // namespace

std::unique_ptr<Journal> make_journal(Engine& engine, std::shared_ptr<RecordStore> store) {
  return std::make_unique<StoredJournal>(engine, std::move(store));
}

}  // namespace tug
