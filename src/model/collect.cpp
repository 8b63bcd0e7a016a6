#include <memory>
#include <optional>
#include <utility>

#include "model/collected.h"
#include "tug/model/model.h"

namespace tug {
namespace {

using detail::Collected;

// A stream that waits for its first word is what most of a run's memory would be: what it adds up
// to is made when something comes, and nothing large lives across the wait.
struct Reading {
  std::unique_ptr<Collected> collected;
  std::optional<Error> failed;
  bool over = false;

  [[gnu::noinline]] void take(Result<std::optional<ModelEvent>>&& event, DeltaObserver* observer) {
    if (!collected) collected = std::make_unique<Collected>();
    if (!event) {
      failed = std::move(event).error();
    } else if (!*event) {
      over = true;
    } else if (!collected->ended()) {
      if (observer && !std::holds_alternative<ModelTurn>(**event)) observer->on_delta(**event);
      Result<void> taken =
          std::visit([&](auto& what) { return collected->take(std::move(what)); }, **event);
      if (!taken) failed = std::move(taken).error();
    }
  }
  [[gnu::noinline]] void throw_in_flight() {
    failed = detail::error_in_flight("the model's stream");
  }
  [[gnu::noinline]] Result<ModelTurn> turn() {
    if (failed) return Failure(*std::move(failed));
    return std::move(*collected).turn();
  }
};

}  // namespace

Task<Result<ModelTurn>> collect(ModelStream& stream, DeltaObserver* observer) {
  Reading reading;
  while (!reading.over && !reading.failed) {
    try {
      auto next = stream.next();
      reading.take(co_await std::move(next), observer);
    } catch (...) {
      reading.throw_in_flight();
    }
  }
  co_return reading.turn();
}

}  // namespace tug
