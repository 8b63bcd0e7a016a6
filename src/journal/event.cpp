#include "tug/journal/event.h"

#include <array>

#include "journal/event_text.h"

namespace tug {
namespace {

constexpr std::string_view kNames[] = {
    "run.started",
    "run.resumed",
    "run.completed",
    "run.failed",
    "run.cancelled",
    "run.paused",
    "model.started",
    "model.delta",
    "model.completed",
    "model.failed",
    "model.override_skipped",
    "model.fallback_selected",
    "model.fallback_skipped",
    "retry.scheduled",
    "rate_limit.waited",
    "tool.started",
    "tool.progress",
    "tool.completed",
    "tool.failed",
    "tool.unknown",
    "tool.invalid_args",
    "tool.denied",
    "tool.outcome_unknown",
    "tool.forged_argument",
    "approval.requested",
    "approval.decided",
    "context.window",
    "context.dropped",
    "context.trimmed",
    "context.summarized",
    "context.compacted",
    "context.spilled",
    "context.overflow",
    "context.recovered",
    "context.diagnostic",
    "context.injected",
    "cache.hit",
    "cache.miss",
    "cache.prefix_changed",
    "usage.recorded",
    "limit.warning",
    "limit.reached",
    "output.retry",
    "output.accepted",
    "output.delta",
    "subagent.started",
    "subagent.completed",
    "subagent.failed",
    "subagent.reused",
    "steering.applied",
    "steering.rejected",
    "memory.loaded",
    "memory.saved",
    "retrieval.performed",
    "middleware.started",
    "middleware.completed",
    "middleware.failed",
    "hook.failed",
    "control.applied",
    "custom",
    "workspace.violation",
    "state.set",
    "thread.diverged",
    "log",
};
constexpr std::size_t kCount = static_cast<std::size_t>(Kind::other);
static_assert(std::size(kNames) == kCount);

constexpr std::array<Kind, kCount> kAll = [] {
  std::array<Kind, kCount> kinds{};
  for (std::size_t i = 0; i < kCount; ++i) kinds[i] = static_cast<Kind>(i);
  return kinds;
}();

void field(std::string& out, std::string_view name, std::string_view text) {
  out.append(",\"").append(name).append("\":");
  print_json_string(text, out);
}

void field_or_null(std::string& out, std::string_view name, std::string_view text) {
  if (!text.empty()) return field(out, name, text);
  out.append(",\"").append(name).append("\":null");
}

}  // namespace

std::string_view name_of(Kind kind) noexcept {
  const auto index = static_cast<std::size_t>(kind);
  return index < kCount ? kNames[index] : "other";
}

Kind kind_from(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (kNames[i] == name) return kAll[i];
  }
  return Kind::other;
}

std::span<const Kind> all_kinds() noexcept { return kAll; }

bool is_live(Kind kind) noexcept {
  return kind == Kind::model_delta || kind == Kind::tool_progress || kind == Kind::output_delta ||
         kind == Kind::middleware_started || kind == Kind::middleware_completed;
}

void append_data(const Event& event, std::string& out) {
  if (!event.message) {
    if (event.data.is_null()) {
      out.append("{}");
    } else {
      print_json(event.data, out);
    }
    return;
  }
  if (event.data.empty()) {
    out.push_back('{');
  } else {
    print_json(event.data, out);
    out.back() = ',';  // the closing brace
  }
  out.append("\"message\":");
  print_json(to_json(*event.message), out);
  out.push_back('}');
}

void append_line(const Event& event, std::string& out) {
  static const Lineage kNobody;
  const Lineage& who = event.who ? *event.who : kNobody;
  out.append("{\"seq\":").append(std::to_string(event.seq));
  if (event.live) out.append(",\"live\":").append(std::to_string(event.live));
  field(out, "ts", to_rfc3339(event.ts));
  field(out, "kind", event.name());
  field(out, "run_id", who.run_id.text());
  field_or_null(out, "parent_run_id", who.parent_run_id.text());
  field_or_null(out, "parent_call_id", who.parent_call_id.text());
  field(out, "root_run_id", who.root_run_id.text());
  field(out, "thread_id", who.thread_id.text());
  out.append(",\"depth\":").append(std::to_string(who.depth));
  field(out, "agent", who.agent);
  out.append(",\"turn\":").append(std::to_string(event.turn));
  out.append(",\"data\":");
  append_data(event, out);
  out.push_back('}');
}

std::string to_line(const Event& event) {
  std::string line;
  append_line(event, line);
  return line;
}

}  // namespace tug
