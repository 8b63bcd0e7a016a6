#include "io/worker_pool.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <utility>

#include "io/thread_name.h"

namespace tug {

struct WorkerPool::Shared {
  struct Worker {
    std::uint64_t id;
    std::thread thread;
    std::shared_ptr<OffloadTicket> running;
  };
  struct Abandoned {
    std::uint64_t id;
    std::thread::id thread;
    std::string name;
  };

  auto worker(std::uint64_t id) {
    return std::find_if(workers.begin(), workers.end(),
                        [&](const Worker& worker) { return worker.id == id; });
  }
  bool busy() const {
    return std::any_of(workers.begin(), workers.end(),
                       [](const Worker& worker) { return worker.running != nullptr; });
  }
  // Lets the thread go; its place must be filled by the caller.
  void let_go(std::vector<Worker>::iterator worker) {
    abandoned.push_back({worker->id, worker->thread.get_id(), worker->running->name()});
    ++abandoned_total;
    worker->thread.detach();
    workers.erase(worker);
  }

  mutable std::mutex mutex;
  std::condition_variable wanted;  // work, or the end
  std::condition_variable rested;  // a function ended
  std::deque<std::shared_ptr<OffloadTicket>> queue;
  std::vector<Worker> workers;
  std::vector<Abandoned> abandoned;
  std::uint64_t abandoned_total = 0;
  std::uint64_t next_id = 0;
  std::size_t cap = 0;
  bool closed = false;
};

WorkerPool::WorkerPool(unsigned workers, std::size_t queue_cap)
    : shared_(std::make_shared<Shared>()) {
  shared_->cap = queue_cap;
  std::lock_guard lock(shared_->mutex);
  for (unsigned i = 0; i < workers; ++i) add_worker();
}

WorkerPool::~WorkerPool() { close(Duration::zero()); }

void WorkerPool::add_worker() {
  const std::uint64_t id = shared_->next_id++;
  // The thread's first act is to take the mutex we hold, so it finds itself in the list.
  shared_->workers.push_back({id, std::thread(&WorkerPool::work, shared_, id), nullptr});
}

void WorkerPool::work(std::shared_ptr<Shared> shared, std::uint64_t worker) noexcept {
  name_this_thread("tug-worker");
  std::unique_lock lock(shared->mutex);
  while (true) {
    shared->wanted.wait(lock, [&] { return shared->closed || !shared->queue.empty(); });
    if (shared->queue.empty()) return;
    std::shared_ptr<OffloadTicket> ticket = std::move(shared->queue.front());
    shared->queue.pop_front();
    if (!ticket->begin()) {
      lock.unlock();
      ticket.reset();
      lock.lock();
      continue;
    }
    shared->worker(worker)->running = ticket;
    lock.unlock();
    ticket->call();
    lock.lock();
    // Under the mutex, as abandon() is: whoever comes second sees that the other was there.
    auto self = shared->worker(worker);
    if (self == shared->workers.end()) {
      // The last holder of the user's function may be us, and its destructor may call the engine.
      lock.unlock();
      ticket.reset();
      lock.lock();
      break;
    }
    self->running.reset();
    shared->rested.notify_all();
    lock.unlock();
    OffloadTicket::finish(ticket);
    lock.lock();
  }
  std::erase_if(shared->abandoned, [&](const auto& one) { return one.id == worker; });
}

Result<void> WorkerPool::submit(std::shared_ptr<OffloadTicket> ticket) {
  {
    std::lock_guard lock(shared_->mutex);
    if (shared_->closed) return queue_closed(*ticket);
    if (shared_->queue.size() >= shared_->cap) return queue_full(*ticket);
    shared_->queue.push_back(std::move(ticket));
  }
  shared_->wanted.notify_one();
  return {};
}

bool WorkerPool::abandon(const std::shared_ptr<OffloadTicket>& ticket) noexcept {
  std::lock_guard lock(shared_->mutex);
  auto worker = std::find_if(shared_->workers.begin(), shared_->workers.end(),
                             [&](const auto& one) { return one.running == ticket; });
  if (worker == shared_->workers.end() || !ticket->abandon()) return false;
  shared_->let_go(worker);
  try {
    if (!shared_->closed) add_worker();
  } catch (const std::system_error&) {
    // No thread to be had: the pool is one smaller until the process is restarted.
  }
  return true;
}

std::vector<std::string> WorkerPool::abandoned() const {
  std::lock_guard lock(shared_->mutex);
  std::vector<std::string> names;
  for (const auto& one : shared_->abandoned) names.push_back(one.name);
  return names;
}

std::uint64_t WorkerPool::abandoned_total() const noexcept {
  std::lock_guard lock(shared_->mutex);
  return shared_->abandoned_total;
}

bool WorkerPool::owns(std::thread::id thread) const noexcept {
  std::lock_guard lock(shared_->mutex);
  for (const auto& worker : shared_->workers)
    if (worker.thread.get_id() == thread) return true;
  for (const auto& one : shared_->abandoned)
    if (one.thread == thread) return true;
  return false;
}

void WorkerPool::close(Duration grace) {
  std::deque<std::shared_ptr<OffloadTicket>> dropped;
  std::vector<std::shared_ptr<OffloadTicket>> running;
  std::unique_lock lock(shared_->mutex);
  shared_->closed = true;
  dropped.swap(shared_->queue);
  for (const auto& worker : shared_->workers)
    if (worker.running) running.push_back(worker.running);
  shared_->wanted.notify_all();
  lock.unlock();
  // Outside the mutex: a stop callback is the user's code.
  for (const auto& ticket : running) ticket->stop().request_stop();
  running.clear();
  lock.lock();
  shared_->rested.wait_for(lock, grace, [&] { return !shared_->busy(); });
  for (auto worker = shared_->workers.begin(); worker != shared_->workers.end();) {
    if (worker->running && worker->running->abandon()) {
      shared_->let_go(worker);
      worker = shared_->workers.begin();
    } else {
      ++worker;
    }
  }
  // Joined one by one without the mutex; a worker still looks itself up in the list, so it stays.
  while (true) {
    std::thread ending;
    for (auto& worker : shared_->workers) {
      if (!worker.thread.joinable()) continue;
      ending = std::move(worker.thread);
      break;
    }
    if (!ending.joinable()) break;
    lock.unlock();
    ending.join();
    lock.lock();
  }
  shared_->workers.clear();
}

}  // namespace tug
