// Requests that carry less than the whole conversation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tug/middleware/middleware.h"

namespace tug {

// What of a conversation is sent. Messages of role system always are, but for `max_tokens`, which
// takes them last; so is the newest message. No call is ever cut from its results: a count that
// would do so keeps the turn too at the end, and leaves it out at the start; `max_tokens` leaves
// the results out with it.
struct TrimPolicy {
  std::size_t keep_first = 0;    // with keep_last only
  std::size_t keep_last = 0;     // 0: all
  std::int64_t max_tokens = 0;   // of all messages, by estimate; 0: any. Oldest go first
  std::optional<Role> start_on;  // older messages than the first one of this role that is
                                 // kept go too; nothing goes for `tool`, or when there is none
};

// Which messages a policy keeps, by place, in order. Pure.
std::vector<std::size_t> kept_messages(const std::vector<MessagePtr>& messages,
                                       const TrimPolicy& policy);

// Trims the transcript of each request, not that of the run. What boundaries replace is replaced
// first. Emits `context.trimmed` for each request that lost something.
MiddlewarePtr make_message_trim(TrimPolicy policy);

}  // namespace tug
