#include "journal/observers.h"

#include <algorithm>

namespace tug {
namespace {

bool is_step(Kind kind) noexcept {
  return kind == Kind::middleware_started || kind == Kind::middleware_completed;
}

}  // namespace

void Observers::add(std::shared_ptr<Sink> sink, Seq durable) {
  const bool wants_live = sink->wants_live();
  if (durable && !guarded("an observer", [&] { sink->on_durable(durable); })) {
    ++removed_;
    return;
  }
  const bool wants_steps = wants_live && sink->wants_steps();
  live_ += wants_live;
  steps_ += wants_steps;
  sinks_.push_back({std::move(sink), wants_live, wants_steps});
}

void Observers::remove(const Sink& sink) noexcept {
  for (Entry& entry : sinks_) {
    if (entry.sink.get() != &sink) continue;
    entry.sink.reset();
    live_ -= entry.wants_live;
    steps_ -= entry.wants_steps;
    dead_ = true;
  }
  if (!telling_) drop_dead();
}

template <class Tell>
void Observers::tell_all(Tell tell) noexcept {
  // By index and by count: an observer may add observers, which then see only what comes after.
  const std::size_t count = sinks_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::shared_ptr<Sink> sink = sinks_[i].sink;
    if (!sink) continue;
    bool failed = false;
    try {
      tell(*sink, sinks_[i]);
    } catch (...) {
      failed = true;
    }
    if (!failed) continue;
    ++removed_;
    remove(*sink);
  }
}

void Observers::show(Event event) noexcept {
  if (sinks_.empty()) return;
  if (telling_) {
    waiting_.push_back(std::move(event));
    return;
  }
  telling_ = true;
  while (true) {
    tell_all([&](Sink& sink, const Entry& entry) {
      if (!event.live || (is_step(event.kind) ? entry.wants_steps : entry.wants_live))
        sink.on_event(event);
    });
    if (waiting_.empty()) break;
    event = std::move(waiting_.front());
    waiting_.pop_front();
  }
  telling_ = false;
  drop_dead();
}

void Observers::show_durable(Seq seq) noexcept {
  if (sinks_.empty()) return;
  telling_ = true;
  tell_all([&](Sink& sink, const Entry&) { sink.on_durable(seq); });
  telling_ = false;
  drop_dead();
  if (waiting_.empty()) return;
  Event next = std::move(waiting_.front());
  waiting_.pop_front();
  show(std::move(next));
}

void Observers::drop_dead() noexcept {
  if (!dead_) return;
  std::erase_if(sinks_, [](const Entry& entry) { return !entry.sink; });
  dead_ = false;
}

}  // namespace tug
