#include "tug/tools/batch.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "tug/core/scope.h"
#include "tug/tools/invoke.h"

namespace tug {
namespace {

// What the next call of a lane waits for.
struct Lane {
  std::vector<std::size_t> pure;  // since the last one that is not
  std::vector<std::size_t> last;  // that one, if any
};

std::vector<std::vector<std::size_t>> in_a_row(std::size_t count) {
  std::vector<std::vector<std::size_t>> waits(count);
  for (std::size_t i = 1; i < count; ++i) waits[i] = {i - 1};
  return waits;
}

}  // namespace

Task<ToolResult> BatchObserver::run(const BatchCall& call, std::size_t) {
  return invoke(*call.tool, call.ctx, call.args);
}

std::vector<std::vector<std::size_t>> waits_of(std::span<const ToolSpec* const> tools) {
  if (std::ranges::any_of(tools, [](const ToolSpec* tool) { return tool->sequential; })) {
    return in_a_row(tools.size());
  }
  std::vector<std::vector<std::size_t>> waits(tools.size());
  std::map<std::string_view, Lane> lanes;
  for (std::size_t i = 0; i < tools.size(); ++i) {
    if (tools[i]->lane.empty()) continue;
    Lane& lane = lanes[tools[i]->lane];
    if (tools[i]->effect == Effect::pure) {
      waits[i] = lane.last;
      lane.pure.push_back(i);
    } else {
      waits[i] = lane.pure.empty() ? lane.last : std::move(lane.pure);
      lane.pure.clear();
      lane.last = {i};
    }
  }
  return waits;
}

CallBatch::CallBatch(Loop& loop, BatchObserver& observer, CancelToken cancel, std::uint32_t cap,
                     BatchOrder order)
    : observer_(observer),
      cancel_(std::move(cancel)),
      cap_(std::max(cap, 1u)),
      order_(order),
      scope_(loop, cancel_) {}

bool CallBatch::takes_place(std::size_t index) const {
  return !entries_[index]->call.tool->spec().agent;
}

void CallBatch::add(std::vector<BatchCall> calls) {
  const std::size_t first = entries_.size();
  for (BatchCall& call : calls)
    entries_.push_back(std::make_unique<Entry>(Entry{.call = std::move(call)}));
  std::vector<const ToolSpec*> specs;
  specs.reserve(entries_.size());
  for (const auto& entry : entries_) specs.push_back(&entry->call.tool->spec());
  const auto waits = order_ == BatchOrder::sequential ? in_a_row(entries_.size()) : waits_of(specs);
  for (std::size_t i = first; i < entries_.size(); ++i) {
    for (const std::size_t earlier : waits[i]) {
      if (entries_[earlier]->ended) continue;
      entries_[earlier]->next.push_back(i);
      ++entries_[i]->before;
    }
    ++left_;
    if (entries_[i]->before == 0) ready_.push_back(i);
  }
  start_ready();
}

// Those that take no place pass those that wait for one.
void CallBatch::start_ready() {
  if (cancel_.requested() || !observer_.may_begin()) return;
  for (auto at = ready_.begin(); at != ready_.end();) {
    const bool place = takes_place(*at);
    if (place && places_ == cap_) {
      ++at;
      continue;
    }
    places_ += place;
    ++running_;
    scope_.spawn(run_one(*at));
    at = ready_.erase(at);
  }
}

Task<void> CallBatch::run_one(std::size_t index) {
  const BatchCall& call = entries_[index]->call;
  const Loop& loop = call.ctx.loop();
  const Instant begun = loop.now();
  ToolResult result;
  if (cancel_.requested()) {
    result = cancelled_result(*call.tool, call.ctx);
  } else {
    observer_.on_begin(index);
    try {
      auto running = observer_.run(call, index);
      result = co_await std::move(running);
    } catch (...) {
      result = ToolResult::error(detail::error_in_flight("the call").message(), "Exception");
    }
  }
  places_ -= takes_place(index);
  --running_;
  end(index);
  observer_.on_end(index, std::move(result), loop.now() - begun);
}

// What it frees begins before anybody can think that nothing runs any more.
void CallBatch::end(std::size_t index) {
  Entry& entry = *entries_[index];
  entry.ended = true;
  for (const std::size_t next : entry.next) {
    if (--entries_[next]->before == 0) ready_.push_back(next);
  }
  start_ready();
  if (--left_ == 0 || running_ == 0) done_.wake_all();
}

Task<void> CallBatch::join() {
  const Until until{cancel_};
  while (left_ > 0 && (running_ > 0 || observer_.may_begin())) {
    const Woken woken = co_await done_.wait(until);
    if (woken == Woken::ready) continue;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      Entry& entry = *entries_[i];
      const bool waits = entry.before > 0 || std::ranges::find(ready_, i) != ready_.end();
      if (entry.ended || !waits) continue;
      entry.ended = true;
      --left_;
      observer_.on_end(i, cancelled_result(*entry.call.tool, entry.call.ctx), Duration::zero());
    }
    ready_.clear();
    break;
  }
  auto joining = scope_.join();
  co_await std::move(joining);
}

Task<void> run_batch(std::vector<BatchCall> calls, BatchObserver& observer, CancelToken cancel,
                     std::uint32_t cap) {
  Loop& loop = co_await this_loop();
  CallBatch batch(loop, observer, std::move(cancel), cap);
  batch.add(std::move(calls));
  auto joining = batch.join();
  co_await std::move(joining);
}

}  // namespace tug
