// One thing that happened. The same struct is a live event, a record of the journal and a line of
// `stream-json`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tug/core/ids.h"
#include "tug/core/json.h"
#include "tug/core/message.h"
#include "tug/core/time.h"

namespace tug {

// The kinds that this version knows, in the order of docs/events.md. Names on the wire have a dot
// where the enumerator has its first underscore (`run_started` is `run.started`).
enum class Kind : std::uint8_t {
  run_started,
  run_resumed,
  run_completed,
  run_failed,
  run_cancelled,
  run_paused,
  model_started,
  model_delta,
  model_completed,
  model_failed,
  model_override_skipped,
  model_fallback_selected,
  model_fallback_skipped,
  retry_scheduled,
  rate_limit_waited,
  tool_started,
  tool_progress,
  tool_completed,
  tool_failed,
  tool_unknown,
  tool_invalid_args,
  tool_denied,
  tool_outcome_unknown,
  tool_forged_argument,
  approval_requested,
  approval_decided,
  context_window,
  context_dropped,
  context_trimmed,
  context_summarized,
  context_compacted,
  context_spilled,
  context_overflow,
  context_recovered,
  context_diagnostic,
  context_injected,
  cache_hit,
  cache_miss,
  cache_prefix_changed,
  usage_recorded,
  limit_warning,
  limit_reached,
  output_retry,
  output_accepted,
  output_delta,
  subagent_started,
  subagent_completed,
  subagent_failed,
  subagent_reused,
  steering_applied,
  steering_rejected,
  memory_loaded,
  memory_saved,
  retrieval_performed,
  middleware_started,
  middleware_completed,
  middleware_failed,
  hook_failed,
  control_applied,
  custom,
  workspace_violation,
  state_set,
  thread_diverged,
  log,
  other,  // a kind this version does not know: its name is in Event::other and it is kept as it
          // came
};

std::string_view name_of(Kind kind) noexcept;
// `other` for what is not a known name.
Kind kind_from(std::string_view name) noexcept;
// Every known kind in order, without `other`.
std::span<const Kind> all_kinds() noexcept;
// Kinds that are never stored. A `log` event is live or a record by its level.
bool is_live(Kind kind) noexcept;

// Who did it: shared by all contexts and events of one run.
struct Lineage {
  RunId run_id;
  ThreadId thread_id;
  RunId root_run_id;
  RunId parent_run_id;    // empty at a root
  CallId parent_call_id;  // the call that started this run; empty at a root
  std::uint32_t depth = 0;
  std::string agent;
  friend bool operator==(const Lineage&, const Lineage&) = default;
};
using LineagePtr = std::shared_ptr<const Lineage>;

struct Event {
  Kind kind = Kind::custom;
  Seq seq = 0;             // given by the log
  std::uint32_t live = 0;  // 0 for a record; counted from 1 after each record
  std::uint32_t turn = 0;  // 1-based model call of this run; 0 before the first
  Time ts{};               // given by the log when it is left at zero
  LineagePtr who;
  Json data;
  MessagePtr message;  // carried by pointer, written as data.message
  std::string other;   // the name, when kind is `other`

  std::string_view name() const noexcept {
    return kind == Kind::other ? std::string_view(other) : name_of(kind);
  }
};

// One line of `stream-json`, without the newline.
std::string to_line(const Event& event);
void append_line(const Event& event, std::string& out);

}  // namespace tug
