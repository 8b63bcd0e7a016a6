// One answer of Anthropic as it grows: blocks by their index, counts, why it stopped. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/dialect.h"

namespace tug::anthropic {

class Answer {
 public:
  // `call` outlives this.
  explicit Answer(const WireCall& call) : call_(call) {}

  // The head of a message: id, model, input counts. Fails where the stream holds two answers.
  Result<void> begin(const Json& message, std::vector<ModelEvent>& out);
  // content_block_start; also a whole block of a reply that was not streamed.
  Result<void> open_block(const Json& event, std::vector<ModelEvent>& out);
  Result<void> extend_block(const Json& event, std::vector<ModelEvent>& out);
  void close_block(const Json& event, std::vector<ModelEvent>& out);
  // message_delta: why it stopped, and counts.
  void stop(const Json& delta);
  void count(const Json& usage, std::vector<ModelEvent>& out);

  // The closing turn; Overflow where the window was full. `raw` is null for a stream.
  Result<ModelTurn> turn(Json raw);

 private:
  enum class Kind : std::uint8_t { text, thinking, redacted, call, other };
  struct Block {
    std::int64_t index = 0;
    std::size_t place = 0;  // in which order it began
    Kind kind = Kind::other;
    std::uint32_t call = 0;  // its number among the calls
    std::string text;        // or thoughts, or arguments
    std::string signature;
    std::vector<Json> citations;
    Json start;  // as it began
  };

  Block* find(const Json& event) noexcept;
  Result<void> count_bytes(std::size_t bytes);
  Result<void> grow(std::string& text, std::string_view piece);
  void take_start(Block& block, std::vector<ModelEvent>& out);
  void add_parts(Block& block, std::vector<Part>& parts) const;
  Json raw_of(const Block& block) const;
  Json raw_message() const;
  Finish finish(bool calls) const noexcept;
  Error overflow() const;

  const WireCall& call_;
  bool begun_ = false;
  std::string id_;
  std::string model_;
  Json head_;
  std::vector<Block> blocks_;
  std::uint32_t calls_ = 0;
  std::size_t bytes_ = 0;
  std::string stop_reason_;
  Json stop_;  // the delta that named it
  Json raw_usage_;
  std::int64_t input_ = 0;  // what was neither read from nor written to the cache
  Usage usage_;
};

}  // namespace tug::anthropic
