// The in-process observers of one log, told in strict order. Loop thread only.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "tug/journal/sink.h"

namespace tug {

class Observers {
 public:
  // It is told at once what is on disk already.
  void add(std::shared_ptr<Sink> sink, Seq durable);
  void remove(const Sink& sink) noexcept;
  // An event that an observer emits while it is told of another waits until everybody was told of
  // the first.
  void show(Event event) noexcept;
  void show_durable(Seq seq) noexcept;

  bool empty() const noexcept { return sinks_.empty(); }
  bool want_live() const noexcept { return live_ > 0; }
  bool want_steps() const noexcept { return steps_ > 0; }
  std::uint64_t removed() const noexcept { return removed_; }

 private:
  struct Entry {
    std::shared_ptr<Sink> sink;
    bool wants_live = false;
    bool wants_steps = false;
  };
  template <class Tell>
  void tell_all(Tell tell) noexcept;
  void drop_dead() noexcept;

  std::vector<Entry> sinks_;  // an entry without a sink is dead and goes after the telling
  std::list<Event> waiting_;  // rarely any, and an empty list weighs nothing
  int live_ = 0;
  int steps_ = 0;
  bool telling_ = false;
  bool dead_ = false;
  std::uint64_t removed_ = 0;
};

}  // namespace tug
