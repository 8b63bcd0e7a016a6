// How often calls failed, and how often turns repeated themselves: pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tug/context/transcript.h"
#include "tug/middleware/no_progress.h"

namespace tug {

// What a failure comes to.
struct Rung {
  std::string nudge;  // empty: none
  std::string end;    // why the run ends; empty: it goes on
};

// Counts of failures since the last success: {"row": n, "same": {signature: n}}; null for none.
// `arguments` as text or as JSON, whichever there is.
Rung count_failure(Json& counts, const NoProgressOptions& options, std::string_view tool,
                   const Json& arguments, const ToolResult& result);

// Why the successful turns at the end of the transcript lead nowhere; empty when they may.
std::string repeats(const Transcript& transcript, const NoProgressOptions& options);

}  // namespace tug
