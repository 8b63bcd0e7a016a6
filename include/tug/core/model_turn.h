// What a model said in one turn, whole. Data only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/cost.h"
#include "tug/core/json.h"
#include "tug/core/message.h"
#include "tug/core/usage.h"

namespace tug {

// Why a model stopped speaking, whatever its provider calls it.
enum class Finish : std::uint8_t {
  stop,        // it had nothing more to say
  length,      // it was cut: neither its text nor its calls are complete
  tool_calls,  // it waits for results
  refusal,     // it will not do this
  pause,       // it wants to be asked again, as it stands
  other,
};
std::string_view name_of(Finish finish) noexcept;
std::optional<Finish> finish_from(std::string_view name) noexcept;

struct ModelTurn {
  MessagePtr message;  // of the assistant; calls keep the provider's ids until the transcript
  Finish finish = Finish::stop;
  Usage usage;
  std::optional<Cost> cost;        // where the provider stated it
  std::string model;               // as the provider named it; may be empty
  Json raw;                        // the provider's own reply
  std::string nudge;               // not done: to be told this and asked again; usually empty
  std::string request_id;          // the provider's name for the exchange
  std::string response_id;         // the provider's name for the answer
  std::vector<std::string> notes;  // what was sent otherwise than asked for, for people
  bool from_cache = false;         // nobody was asked
};

}  // namespace tug
