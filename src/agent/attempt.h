// One attempt to get a turn from a model.
#pragma once

#include <memory>

#include "agent/run_tree.h"
#include "tug/core/task.h"

namespace tug {

// Who is asked in an attempt: a model of the plan, or one that a middleware named instead.
struct AskedModel {
  std::string id;
  ModelPtr model;
  ModelSource source = ModelSource::request;
};

// What came of an answer before it failed.
struct Received {
  bool asked = false;               // the request has left
  std::size_t bytes = 0;            // of its deltas
  Usage usage;                      // as far as the provider told
  std::int64_t limited_tokens = 0;  // that the rate limit was asked for
};

// Takes what the call may cost and records the intent. `exhausted` when a limit does not allow it.
Result<void> begin_attempt(LiveRun& run, const AskedModel& asked, ModelRequest& request);
// The same for a turn that a middleware gave without asking anybody.
Result<void> begin_served(LiveRun& run);
// Makes the open attempt. An answer leaves it open: what is recorded of it is decided by whoever
// stands around it.
Task<Result<ModelTurn>> make_attempt(LiveRun& run, const AskedModel& asked,
                                     const ModelRequest& request, Received& received);

// What an answered attempt has cost, whatever becomes of the answer.
struct Answered {
  std::string model;  // as the run knows it, or as the provider named it
  Usage usage;
  std::optional<Cost> cost;
  Json raw;
  std::optional<Amount> guess;  // where the provider tells no usage: what it must have been
  ModelSource source = ModelSource::request;
};
Answered answered(LiveRun& run, const AskedModel& asked, ModelTurn& turn, const Received& received);

// The partners of the open attempt.
void record_answer(LiveRun& run, ModelTurn turn, Answered cost);
void record_failure(LiveRun& run, const Error& error);
// The same of one that was asked: what had come of its answer is paid for.
void record_failure(LiveRun& run, const AskedModel& asked, const Error& error,
                    const Received& received);
// It was answered, and nobody wants the answer; what it cost counts.
void record_set_aside(LiveRun& run, const Error& error, const Answered& cost);

// What ends a wait of this run: its cancellation and its deadline.
Until until_of(const LiveRun& run);

}  // namespace tug
