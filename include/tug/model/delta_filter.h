// What edits or drops a model's words before anyone sees them.
//
// Filters stand before `collect`: what is streamed, recorded and kept in the transcript is what
// they let through. One filter serves one attempt; a request carries makers, and a retried attempt
// gets fresh ones.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tug/model/model.h"

namespace tug {

// Loop thread; returns at once. A filter sees text, reasoning and call deltas, never the turn. It
// may keep something back until it has seen more, and gives it away in `flush` at the latest.
class DeltaFilter {
 public:
  virtual ~DeltaFilter() = default;
  virtual void push(ModelEvent delta, std::vector<ModelEvent>& out) = 0;
  virtual void flush(std::vector<ModelEvent>& out) = 0;
};

// The same answer through the filters, first to last. The closing turn keeps its finish, usage,
// cost, model and raw reply; its text, reasoning and calls are those the filters let through, of an
// answer without deltas too. Signed reasoning passes unchanged or is dropped whole. What a filter
// throws is an error of the stream (`internal`).
std::unique_ptr<ModelStream> filtered(std::unique_ptr<ModelStream> stream,
                                      const std::vector<MakeDeltaFilter>& filters);

}  // namespace tug
