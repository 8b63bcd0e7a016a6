// What the tests of models share.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tug/io/sim_engine.h"
#include "tug/model/model.h"

namespace tug::testing {

// Gives these events, one per pull; an error ends it.
class FixedStream final : public ModelStream {
 public:
  using Step = Result<std::optional<ModelEvent>>;
  explicit FixedStream(std::vector<Step> steps) : steps_(std::move(steps)) {}
  Task<Result<std::optional<ModelEvent>>> next() override {
    if (at_ == steps_.size()) co_return std::optional<ModelEvent>();
    co_return steps_[at_++];
  }

 private:
  std::vector<Step> steps_;
  std::size_t at_ = 0;
};

// Every event as one line: "text:..", "reasoning:..", "call 0 id tool args", "turn finish".
inline std::string line_of(const ModelEvent& event) {
  struct Lines {
    std::string operator()(const TextDelta& delta) const { return "text:" + delta.text; }
    std::string operator()(const ReasoningDelta& delta) const { return "reasoning:" + delta.text; }
    std::string operator()(const ToolCallDelta& delta) const {
      return "call " + std::to_string(delta.index) + " " + delta.provider_id + " " + delta.tool +
             " " + delta.arguments;
    }
    std::string operator()(const UsageDelta&) const { return "usage"; }
    std::string operator()(const ModelTurn& turn) const {
      return "turn " + std::string(name_of(turn.finish));
    }
  };
  return std::visit(Lines{}, event);
}

struct Heard {
  std::vector<std::string> lines;
  std::vector<std::int64_t> at_ms;  // when each came
};

inline Task<Result<Heard>> hear(std::shared_ptr<ModelStream> stream) {
  Loop& loop = co_await this_loop();
  const Instant start = loop.now();
  Heard heard;
  while (true) {
    auto reading = stream->next();
    auto event = co_await std::move(reading);
    if (!event) co_return Failure(std::move(event).error());
    if (!*event) break;
    heard.lines.push_back(line_of(**event));
    heard.at_ms.push_back((loop.now() - start) / std::chrono::milliseconds(1));
  }
  co_return heard;
}

// Reserves, asks and collects, as a run does; remembers what was reserved.
class Conversation {
 public:
  explicit Conversation(ModelPtr model) : model_(std::move(model)) {}

  ModelRequest request;

  Result<ModelTurn> ask(Until until = {}) {
    request.reserved = std::make_shared<const std::vector<Json>>(reserved_);
    request.reservation = model_->reserve(request);
    if (!request.reservation.is_null()) reserved_.push_back(request.reservation);
    std::shared_ptr<ModelStream> stream = model_->ask(request, std::move(until));
    return engine_->run(engine_->loop(0), collect(*stream));
  }
  // The text of the next turn, or the kind of its error.
  std::string text() {
    Result<ModelTurn> turn = ask();
    if (!turn) return "error " + std::string(name_of(turn.error().kind()));
    return turn->message->text();
  }
  Result<Heard> listen(Until until = {}) {
    request.reserved = std::make_shared<const std::vector<Json>>(reserved_);
    request.reservation = model_->reserve(request);
    std::shared_ptr<ModelStream> stream = model_->ask(request, std::move(until));
    return engine_->run(engine_->loop(0), hear(stream));
  }
  void user(std::string text) {
    ASSERT_TRUE(request.transcript.append_user(Message::user(std::move(text))));
  }

  const std::vector<Json>& reserved() const noexcept { return reserved_; }
  SimEngine& engine() noexcept { return *engine_; }
  Model& model() noexcept { return *model_; }

 private:
  std::unique_ptr<SimEngine> engine_ = make_sim_engine();
  ModelPtr model_;
  std::vector<Json> reserved_;
};

}  // namespace tug::testing
