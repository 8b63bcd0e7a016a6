// What the words of a failure mean, where nothing better is there.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tug/model/faults.h"

namespace tug::detail {

struct FaultText {
  Fault fault = Fault::unknown;
  std::string_view code = {};  // that the provider has for the same thing; usually empty
  // Of a request that does not fit; 0 where the text does not say.
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t window = 0;
};

// The class that a text names: one that is the same whatever the status was (the request does not
// fit, its calls and results do not match, ..).
std::optional<FaultText> fault_of_text(std::string_view text);
// The class of a text that came without a status: words that are too common to count against one.
std::optional<Fault> fault_of_plain_text(std::string_view text);
// A rate limit that no wait cures: one request asks for more than a minute's worth.
bool asks_more_than_the_rate(std::string_view text);
// A quota that is spent for longer than a wait: of a day, a month, an account.
bool says_spent(std::string_view text);

// "try again in 1.3s": the length of time, as written.
std::string_view stated_wait_in(std::string_view text);

}  // namespace tug::detail
