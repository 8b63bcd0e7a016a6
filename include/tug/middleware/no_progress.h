// Ends runs that turn in circles.
//
// Failures. A call that fails like one before it (same tool, same arguments, same first line of the
// error) is answered with a nudge the second time and ends the run the third time; one that was
// rejected (ApprovalRejected, ToolCallCancelled) ends it the second time. Failures of any kind in a
// row give a nudge at the fourth and end the run at the sixth; calls of a tool that does not exist
// are none of the row. A call that succeeds clears all of it, and so does ending the run.
//
// Success. The same calls with good results in three turns in a row end the run, and so do the same
// results in four; a turn with a failure or an exempt tool begins anew, and so does a user's word.
//
// A nudge is text added to the result that the model reads; for a call that was refused before it
// began, a message behind the conversation, of that request alone. The run ends as `error`, kind
// `denied`, with the detail Denied{tool, "no_progress"}. What was counted is remembered and goes on
// after a resume. It belongs before all that refuses calls: first in the list.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tug/middleware/middleware.h"

namespace tug {

// An end is always later than its nudge.
struct NoProgressOptions {
  std::uint32_t same_nudge = 2;
  std::uint32_t same_end = 3;
  std::uint32_t rejected_end = 2;
  std::uint32_t row_nudge = 4;
  std::uint32_t row_end = 6;
  std::uint32_t same_calls_end = 3;
  std::uint32_t same_results_end = 4;
  std::vector<std::string> exempt;  // tools that may well be asked the same again
};

MiddlewarePtr make_no_progress(NoProgressOptions options = {});

}  // namespace tug
