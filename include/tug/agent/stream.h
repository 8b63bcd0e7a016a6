// Which events of a run a reader wants: a projection of the one stream of events.
#pragma once

#include "tug/core/ids.h"
#include "tug/journal/event.h"

namespace tug {

// Any union of them. How the run ended is always shown, as the last event; with nothing chosen it
// is the only one.
struct StreamModes {
  bool messages = false;  // model.*; of the deltas those of text and reasoning
  bool tools = false;     // tool.*, progress included
  bool updates = false;   // one event per finished turn: model.completed
  bool events = false;    // everything
  bool final = false;     // the result alone: the run's last event

  friend bool operator==(const StreamModes&, const StreamModes&) = default;
};

struct StreamOptions {
  StreamModes modes{.events = true};
  // The events of the runs below. Without them the seqs that are seen have gaps; what the run
  // itself says about its children (subagent.*) is still there.
  bool subagents = true;
  bool deltas = true;  // model.delta, output.delta, tool.progress
  Seq from_seq = 0;    // nothing before this record; live events right before it are shown

  // Whether every record is shown, so that a reader may count on seqs without gaps.
  bool whole() const noexcept { return modes.events && subagents; }
  friend bool operator==(const StreamOptions&, const StreamOptions&) = default;
};

// Whether the event is one of `run` or of those below it that the reader wants.
bool shows(const StreamOptions& options, const Event& event, const RunId& run) noexcept;

// Whether it ends a segment: run.completed, run.failed, run.cancelled, run.paused.
bool ends_segment(Kind kind) noexcept;

}  // namespace tug
