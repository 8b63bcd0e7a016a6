#include "tug/tools/batch.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string_view>

#include "tug/core/scope.h"
#include "tug/core/sync.h"
#include "tug/tools/invoke.h"

namespace tug {
namespace {

// What the next call of a lane waits for.
struct Lane {
  std::vector<std::size_t> pure;  // since the last one that is not
  std::vector<std::size_t> last;  // that one, if any
};

Task<void> run_one(const BatchCall& call, std::size_t index, BatchObserver& observer) {
  const Loop& loop = call.ctx.loop();
  const Instant begun = loop.now();
  observer.on_begin(index);
  auto running = observer.run(call, index);
  ToolResult result = co_await std::move(running);
  observer.on_end(index, std::move(result), loop.now() - begun);
}

void never_began(const BatchCall& call, std::size_t index, BatchObserver& observer) {
  observer.on_end(index, cancelled_result(*call.tool, call.ctx), Duration::zero());
}

struct Batch {
  std::vector<BatchCall> calls;
  BatchObserver& observer;
  CancelToken cancel;
  std::vector<std::vector<std::size_t>> waits;
  std::deque<Signal> ended;
  Semaphore permits;
};

Task<void> run_in_turn(Batch& batch, std::size_t index) {
  bool cancelled = false;
  for (const std::size_t earlier : batch.waits[index]) {
    const Woken woken = co_await batch.ended[earlier].wait({batch.cancel});
    cancelled = cancelled || woken != Woken::ready;
  }
  const BatchCall& call = batch.calls[index];
  Permit permit;
  if (!cancelled) {
    Result<Permit> acquired = co_await batch.permits.acquire({batch.cancel});
    // A permit may have been handed over before the request came; the call has not begun.
    cancelled = !acquired || batch.cancel.requested();
    if (acquired) permit = *std::move(acquired);
  }
  if (cancelled) {
    never_began(call, index, batch.observer);
  } else {
    auto running = run_one(call, index, batch.observer);
    co_await std::move(running);
  }
  permit.release();
  batch.ended[index].set();
}

}  // namespace

Task<ToolResult> BatchObserver::run(const BatchCall& call, std::size_t) {
  return invoke(*call.tool, call.ctx, call.args);
}

std::vector<std::vector<std::size_t>> waits_of(std::span<const ToolSpec* const> tools) {
  std::vector<std::vector<std::size_t>> waits(tools.size());
  if (std::ranges::any_of(tools, [](const ToolSpec* tool) { return tool->sequential; })) {
    for (std::size_t i = 1; i < waits.size(); ++i) waits[i] = {i - 1};
    return waits;
  }
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

Task<void> run_batch(std::vector<BatchCall> calls, BatchObserver& observer, CancelToken cancel,
                     std::uint32_t cap) {
  if (calls.size() == 1) {
    if (cancel.requested()) {
      never_began(calls[0], 0, observer);
      co_return;
    }
    auto running = run_one(calls[0], 0, observer);
    co_await std::move(running);
    co_return;
  }
  std::vector<const ToolSpec*> specs;
  specs.reserve(calls.size());
  for (const BatchCall& call : calls) specs.push_back(&call.tool->spec());
  Loop& loop = co_await this_loop();
  Batch batch{.calls = std::move(calls),
              .observer = observer,
              .cancel = std::move(cancel),
              .waits = waits_of(specs),
              .ended = {},
              .permits = Semaphore(std::max(cap, 1u), "a place among the running calls")};
  for (std::size_t i = 0; i < specs.size(); ++i) batch.ended.emplace_back("an earlier call");
  Scope scope(loop, batch.cancel);
  for (std::size_t i = 0; i < specs.size(); ++i) scope.spawn(run_in_turn(batch, i));
  auto joining = scope.join();
  co_await std::move(joining);
}

}  // namespace tug
