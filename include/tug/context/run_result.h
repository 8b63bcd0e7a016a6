// What a run came to, and how far it has come.
//
// Failing, being cancelled, hitting a limit and pausing are results: everything so far is in it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tug/context/transcript.h"
#include "tug/core/cost.h"
#include "tug/core/error.h"
#include "tug/core/ids.h"
#include "tug/core/json.h"
#include "tug/core/stop_reason.h"
#include "tug/core/time.h"
#include "tug/core/tool.h"
#include "tug/core/usage.h"
#include "tug/core/window.h"

namespace tug {

enum class RunStatus : std::uint8_t { pending, running, parked, completed, failed, cancelled };
std::string_view name_of(RunStatus status) noexcept;

// What a running run is busy with.
enum class RunActivity : std::uint8_t {
  building_request,
  model,
  tools,
  middleware,
  persisting,
  done,
};
std::string_view name_of(RunActivity activity) noexcept;

struct RunCounts {
  std::int64_t model_calls = 0;  // answered
  std::int64_t attempts = 0;
  std::int64_t tool_calls = 0;
  std::int64_t cancelled_tool_calls = 0;
  std::int64_t output_retries = 0;
  std::map<std::string, std::int64_t> tool_retries;

  friend bool operator==(const RunCounts&, const RunCounts&) = default;
};

struct Spending {
  Usage usage;
  Cost cost;
  friend bool operator==(const Spending&, const Spending&) = default;
};

// One call of a tool and what became of it.
struct ToolCallRecord {
  CallId id;
  std::string provider_id;
  std::string tool;
  Json arguments;  // as the model sent them; a string when they are not JSON
  ToolResult result;
  std::int64_t duration_ms = 0;
  std::optional<std::string> retry_kind;
  std::optional<bool> approved;

  friend bool operator==(const ToolCallRecord&, const ToolCallRecord&) = default;
};

// A call that waits for somebody to decide about it.
struct PendingApproval {
  CallId call;
  std::string tool;
  Json arguments;  // as they would be used
  RunId run;       // that asks: the root, or one below it
  std::string agent;
  std::string reason;  // why it asks
  std::string digest;  // of what is shown here; an approval is bound to it
  friend bool operator==(const PendingApproval&, const PendingApproval&) = default;
};
struct Denial {
  CallId call;
  std::string tool;
  std::string reason;
  friend bool operator==(const Denial&, const Denial&) = default;
};

// Where a run can be taken up again: `Harness::resume` takes it.
struct ResumeState {
  RunId run;
  Seq seq = 0;
};

struct RunResult {
  RunId id;
  RunId root;
  ThreadId thread;
  RunStatus status = RunStatus::failed;
  StopReason stop = StopReason::error;
  std::string text;  // the final answer
  Json output;       // the structured one; null without
  std::string model;
  Transcript messages;
  std::vector<Json> responses;  // raw provider replies, in order
  std::vector<ToolCallRecord> tool_calls;
  Usage usage;  // of the whole subtree
  Cost cost;
  Spending own;  // of this run alone
  RunCounts counts;
  ContextWindow window;
  std::int64_t duration_ms = 0;  // time alive
  std::optional<Error> error;
  std::vector<PendingApproval> pending;
  std::vector<Denial> denials;  // of the whole subtree
  Seq last_seq = 0;

  bool ok() const noexcept { return status == RunStatus::completed; }
  // The structured answer as a struct that codec.h can read (include it). The run's own error when
  // it has none; `invalid` with the path when it does not fit. Null is an answer where it fits.
  template <class T>
  Result<T> parse() const {
    if (auto none = output_fault()) {
      auto null = read_json<T>(output);
      if (null && ok() && !error) return null;
      return Failure(*std::move(none));
    }
    return read_json<T>(output);
  }
  // Why there is no structured answer; nothing when there is one.
  std::optional<Error> output_fault() const;
  ResumeState resume_state() const { return {root, last_seq}; }
};
// The `json` of CLI.md: without messages, responses and call records.
Json to_json(const RunResult& result);
// The code that `tug run` exits with.
int exit_code(const RunResult& result);

// The state of a run as a record beside its result; a fold over the journal, so that another
// process reads the same.
struct RunStatusRecord {
  RunId id;
  RunId parent;  // empty at a root
  std::string agent;
  RunStatus status = RunStatus::pending;
  RunActivity activity = RunActivity::building_request;
  std::uint32_t turn = 0;
  RunCounts counts;
  Usage usage;
  Time started{};
  Time updated{};
  friend bool operator==(const RunStatusRecord&, const RunStatusRecord&) = default;
};
Json to_json(const RunStatusRecord& status);

}  // namespace tug
