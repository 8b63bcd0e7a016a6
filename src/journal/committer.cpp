#include "journal/committer.h"

#include <utility>

namespace tug {
namespace {

struct Ack {
  std::shared_ptr<CommitListener> listener;
  Seq upto;
  Result<void> verdict;
};

// Keeps the first-seen order of loops and of roots within a loop, so that a simulation replays.
// Listeners move in: they must die on their loops, not on the committer's thread.
class Acks {
 public:
  void add(Submission submission, Result<void> verdict) {
    Post* post = nullptr;
    for (Post& known : posts_) {
      if (known.mailbox == submission.mailbox) post = &known;
    }
    if (!post) post = &posts_.emplace_back(Post{std::move(submission.mailbox), {}});
    const auto& records = submission.batch.records;
    post->acks.push_back({std::move(submission.listener), records.empty() ? 0 : records.back().seq,
                          std::move(verdict)});
  }

  void send() noexcept {
    for (Post& post : posts_) {
      post.mailbox->post([acks = std::move(post.acks)]() noexcept {
        for (const Ack& ack : acks) ack.listener->committed(ack.upto, ack.verdict);
      });
    }
  }

 private:
  struct Post {
    std::shared_ptr<Mailbox> mailbox;
    std::vector<Ack> acks;
  };
  std::vector<Post> posts_;
};

}  // namespace

Committer::Committer(Engine& engine, std::shared_ptr<RecordStore> store, CommitWatcher& watcher)
    : store_(std::move(store)), watcher_(watcher), at_once_(store_->commits_at_once()) {
  thread_ = engine.background("journal committer", [this]() noexcept { step(); });
}

Committer::~Committer() { close(); }

void Committer::submit(std::vector<Submission> submissions) noexcept {
  {
    std::unique_lock lock(mutex_);
    if (!closed_ && at_once_) {
      lock.unlock();
      return commit_here(std::move(submissions));
    }
    if (!closed_) {
      for (Submission& submission : submissions) queue_.emplace_back(std::move(submission));
      return thread_->wake();  // under the lock: close() takes the thread away once it had it
    }
  }
  Acks acks;
  for (Submission& submission : submissions) {
    acks.add(std::move(submission), fail(ErrorKind::cancelled, "the journal is closed"));
  }
  acks.send();
}

bool Committer::call(Job job) noexcept {
  std::scoped_lock lock(mutex_);
  if (closed_) return false;
  queue_.emplace_back(std::move(job));
  thread_->wake();
  return true;
}

void Committer::close() noexcept {
  {
    std::scoped_lock lock(mutex_);
    if (closed_) return;
    closed_ = true;
  }
  thread_->wake();
  thread_.reset();
}

void Committer::step() noexcept {
  std::vector<Item> items;
  {
    std::scoped_lock lock(mutex_);
    items.swap(queue_);
  }
  std::vector<Submission> group;
  group.reserve(items.size());
  for (Item& item : items) {
    if (auto* submission = std::get_if<Submission>(&item)) {
      group.push_back(std::move(*submission));
      continue;
    }
    commit(std::exchange(group, {}));
    std::get<Job>(item)();
  }
  commit(std::move(group));
}

std::vector<Result<void>> Committer::write(std::vector<Submission>& group,
                                           std::vector<RunId>& written) {
  std::vector<Batch> batches;
  batches.reserve(group.size());
  for (Submission& submission : group) batches.push_back(std::move(submission.batch));
  auto verdicts = guarded("committing to the store", [&] { return store_->commit(batches); });
  std::vector<Result<void>> answers;
  answers.reserve(group.size());
  for (std::size_t i = 0; i < group.size(); ++i) {
    answers.push_back(verdicts ? std::move((*verdicts)[i]) : Failure(verdicts.error()));
    if (answers.back() && !batches[i].records.empty()) written.push_back(batches[i].root);
    group[i].batch = std::move(batches[i]);
  }
  return answers;
}

void Committer::commit(std::vector<Submission> group) noexcept {
  if (group.empty()) return;
  std::vector<RunId> written;
  auto verdicts = write(group, written);
  Acks acks;
  for (std::size_t i = 0; i < group.size(); ++i) {
    acks.add(std::move(group[i]), std::move(verdicts[i]));
  }
  acks.send();
  watcher_.on_disk(written);
}

void Committer::commit_here(std::vector<Submission> group) noexcept {
  std::vector<RunId> written;
  const auto verdicts = write(group, written);
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto& records = group[i].batch.records;
    group[i].listener->committed(records.empty() ? 0 : records.back().seq, verdicts[i]);
  }
  watcher_.on_disk(written);
}

}  // namespace tug
