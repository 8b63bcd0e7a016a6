#include "middleware/progress_ladder.h"

#include <algorithm>

#include "middleware/signature.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

constexpr std::size_t kShownError = 200;

std::string_view first_line(std::string_view text) {
  return clip_utf8(text.substr(0, text.find('\n')), kShownError);
}

std::uint32_t raised(Json& counts, std::string_view key) {
  const auto count = static_cast<std::uint32_t>(counts[key].as_uint().value_or(0)) + 1;
  counts.set(key, count);
  return count;
}

std::string times(std::uint32_t count) { return std::to_string(count) + " times"; }

Json parsed_arguments(const ToolCall& call) {
  if (call.arguments.empty()) return Json::object();
  Result<Json> value = parse_json(call.arguments);
  return value ? *std::move(value) : Json(call.arguments);
}

// One turn and its results, as the detector compares them.
struct Batch {
  std::string calls;
  std::string results;
};

// Nothing for one that begins anew.
std::optional<Batch> batch_of(const Message& turn, const Message& results,
                              const NoProgressOptions& options) {
  Batch batch;
  for (const ToolCall* call : turn.tool_calls()) {
    if (std::ranges::find(options.exempt, call->tool) != options.exempt.end()) return std::nullopt;
    batch.calls += call_signature(call->tool, parsed_arguments(*call));
  }
  for (const ToolResult* result : results.tool_results()) {
    if (!result->ok) return std::nullopt;
    batch.results += hex16(fingerprint_of(result->tool + "\n" + result->content));
  }
  return batch;
}

}  // namespace

Rung count_failure(Json& counts, const NoProgressOptions& options, std::string_view tool,
                   const Json& arguments, const ToolResult& result) {
  const std::string_view type = result.metadata["error_type"].as_string();
  const bool rejected = type == "ApprovalRejected" || type == "ToolCallCancelled";
  const std::string_view line = first_line(result.content);
  Json same = counts["same"];
  const std::uint32_t alike =
      raised(same, call_signature(tool, arguments) + ":" + hex16(fingerprint_of(line)));
  counts.set("same", std::move(same));
  // A tool that is not there says nothing about those that are.
  const std::uint32_t row = type == "UnknownTool" ? 0 : raised(counts, "row");
  const std::string call = "the same call of \"" + std::string(tool) + "\"";
  const std::string why = ": " + std::string(line);
  if (rejected && alike >= options.rejected_end) {
    return {.end = call + " was rejected " + times(alike) + why};
  }
  if (alike >= std::max(options.same_end, options.same_nudge + 1)) {
    return {.end = call + " failed the same way " + times(alike) + why};
  }
  if (row >= std::max(options.row_end, options.row_nudge + 1)) {
    return {.end = std::to_string(row) + " calls in a row failed, the last of \"" +
                   std::string(tool) + "\"" + why};
  }
  if (alike == options.same_nudge) {
    return {.nudge = "This call has failed the same way " + times(alike) +
                     ". Do not repeat it: change the arguments or go another way."};
  }
  if (row > 0 && row == options.row_nudge) {
    return {.nudge = std::to_string(row) +
                     " calls in a row have failed. Stop and think about what you know before you "
                     "call another tool, or say what is in the way."};
  }
  return {};
}

std::string repeats(const Transcript& transcript, const NoProgressOptions& options) {
  const std::size_t most = std::max(options.same_calls_end, options.same_results_end);
  std::optional<Batch> newest;
  std::uint32_t same_calls = 0;
  std::uint32_t same_results = 0;
  bool calls_go_on = true;
  bool results_go_on = true;
  std::size_t end = transcript.size();
  for (std::size_t back = 0; back < most && end >= 2; ++back, end -= 2) {
    const Message& results = *transcript[end - 1];
    if (results.role() != Role::tool) break;
    std::optional<Batch> batch = batch_of(*transcript[end - 2], results, options);
    if (!batch) break;
    if (!newest) newest = batch;
    calls_go_on = calls_go_on && batch->calls == newest->calls;
    results_go_on = results_go_on && batch->results == newest->results;
    same_calls += calls_go_on;
    same_results += results_go_on;
  }
  if (same_calls >= options.same_calls_end) {
    return "the same calls were made in " + std::to_string(same_calls) + " turns in a row";
  }
  if (same_results >= options.same_results_end) {
    return "tools gave the same results in " + std::to_string(same_results) + " turns in a row";
  }
  return "";
}

}  // namespace tug
