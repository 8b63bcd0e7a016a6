// What the body of a failure says: the error objects of all providers, unwrapped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tug::detail {

struct FaultBody {
  std::vector<std::string> codes;  // structured ones in lower case, the outermost first
  std::string code;                // the first of them that says more than "error", as it came
  std::string message;             // of the innermost error, for people; may be empty
  std::string text;                // all that was said, for patterns
  std::string request_id;
  std::optional<std::int64_t> wait_ms;  // a typed statement of how long to wait
  std::int64_t prompt_tokens = 0;       // members, not text; 0: unsaid
  std::int64_t window = 0;
  int status = 0;             // a number of the error object; for errors inside a stream
  bool quota_of_day = false;  // a typed detail says that the quota is one of a day
  bool is_html = false;
};

// Gateways put the error of the provider behind them into a string of their own: such strings are
// read up to three levels deep. Reads at most 256 KiB.
FaultBody read_fault_body(std::string_view body);

}  // namespace tug::detail
