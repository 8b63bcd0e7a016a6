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

// The same answer through the filters, first to last; the stream itself when there are none.
//
// The closing turn keeps its usage, cost, model and raw reply, and its finish, but for `stop` where
// no call is left to wait for. Its text, reasoning and calls are those the filters let
// through. What it says beyond its deltas, of an answer without any too, goes through the filters
// and is shown as deltas before it; a turn that is not what its deltas said goes through filters of
// its own. Parts that only a provider understands stay as they are.
//
// Reasoning that is signed (ReasoningPart::opaque) passes unchanged or is dropped whole: its deltas
// may have been shown by then. A stream that fails does so at once, without what a filter kept
// back. What a filter throws is an error of the stream (`internal`).
std::unique_ptr<ModelStream> filtered(std::unique_ptr<ModelStream> stream,
                                      const std::vector<MakeDeltaFilter>& filters);

}  // namespace tug
