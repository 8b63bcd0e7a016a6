// A place where what the model sees departs from what happened.
//
// The transcript is only appended to; a boundary says which part of it a view replaces, and by
// what. It is written once, is a record of the journal, and is all a view needs: no clock, no
// threshold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/json.h"
#include "tug/core/message.h"

namespace tug {

enum class BoundaryType : std::uint8_t {
  compact,       // a summary stands for what it covers
  microcompact,  // the same messages, with shortened or emptied tool outputs
  snip,          // what it covers is gone, or a short note stands for it
};
std::string_view name_of(BoundaryType type) noexcept;

struct Boundary {
  BoundaryType type = BoundaryType::compact;
  std::size_t from = 0;  // covers the messages [from, to) of the transcript
  std::size_t to = 0;
  std::vector<MessagePtr> replacement;
  std::int64_t before_tokens = 0;
  std::int64_t after_tokens = 0;
  std::string reason;

  // Replacement messages by value.
  friend bool operator==(const Boundary& a, const Boundary& b) noexcept;
};
using BoundaryPtr = std::shared_ptr<const Boundary>;

// The form in which a boundary stands in the journal, {type, covers {from, to}, replacement,
// before_tokens, after_tokens, reason}; reading it back gives an equal one.
Json to_json(const Boundary& boundary);
Result<Boundary> boundary_from_json(const Json& json);

}  // namespace tug
