// One answer of Gemini as it grows: parts in order, counts, why it stopped. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/dialect.h"

namespace tug::gemini {

class Answer {
 public:
  // `call` outlives this.
  explicit Answer(const WireCall& call) : call_(call) {}

  // One GenerateContentResponse: a piece of the answer or all of it.
  Result<void> take(const Json& reply, std::vector<ModelEvent>& out);
  // Did the provider say that it is done?
  bool ended() const noexcept { return !reason_.empty() || !blocked_.empty(); }
  // Did it say anything that belongs to an answer?
  bool begun() const noexcept { return begun_; }
  // What it holds so far; of a whole reply without a finishReason, as if it were STOP.
  ModelTurn turn();

 private:
  Result<void> take_candidate(const Json& candidate, std::vector<ModelEvent>& out);
  Result<void> take_part(const Json& part, std::vector<ModelEvent>& out);
  Result<void> take_call(const Json& part, std::vector<ModelEvent>& out);
  void take_text(const Json& part, std::vector<ModelEvent>& out);
  void count(const Json& usage, std::vector<ModelEvent>& out);
  void sign(const Json& part);
  Result<void> grow(std::size_t bytes);
  void keep_raw(const Json& part, bool joins);
  Json raw() const;

  const WireCall& call_;
  bool begun_ = false;
  std::string id_;
  std::string model_;
  std::vector<Part> parts_;
  bool open_ = false;  // the last part is a text without signature: more of it may come
  std::uint32_t calls_ = 0;
  std::size_t bytes_ = 0;
  std::string reason_;   // finishReason
  std::string blocked_;  // blockReason of the prompt
  std::string message_;  // finishMessage
  Usage usage_;
  Json last_;  // reply with a candidate, or with a reason why there is none
  std::vector<Json> raw_parts_;
  std::string raw_text_;  // of the last raw part, while it is open
};

}  // namespace tug::gemini
