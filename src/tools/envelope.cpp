#include "tools/envelope.h"

#include <algorithm>

#include "tug/core/utf8.h"
#include "tug/tools/invoke.h"

namespace tug {
namespace {

constexpr std::size_t kNoteRoom = 96;
constexpr std::size_t kShownOutput = 2000;  // of an answer that is not what was promised

bool continues(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

std::string_view last_utf8(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit) return text;
  std::size_t from = text.size() - limit;
  for (int on = 0; on < 3 && from < text.size() && continues(text[from]); ++on) ++from;
  return text.substr(from);
}

// Repairing may make three bytes of one, so both halves are cut twice.
std::string head_of(std::string_view content, std::size_t limit) {
  std::string head = repair_utf8(clip_utf8(content, limit));
  head.resize(clip_utf8(head, limit).size());
  return head;
}

std::string tail_of(std::string_view content, std::size_t limit) {
  const std::string tail = repair_utf8(last_utf8(content, limit));
  return std::string(last_utf8(tail, limit));
}

void check_output(const Schema& schema, const Tool& tool, ToolResult& result) {
  Result<Json> value = parse_json(result.content);
  const Json answer = value ? *std::move(value) : Json(result.content);
  if (schema.valid(answer)) return;
  std::string wrong;
  if (auto violations = schema.check(answer)) {
    for (const Violation& violation : *violations) wrong += "\n- " + to_string(violation);
  } else {
    wrong = " " + violations.error().message();
  }
  std::string shown(clip_utf8(result.content, kShownOutput));
  if (shown.size() < result.content.size()) shown += "...";
  result.ok = false;
  result.content = "the tool \"" + tool.name() +
                   "\" ran, but its answer is not what its schema promises:" + wrong +
                   "\nThe answer was: " + shown;
  set_error_type(result, "InvalidToolOutput");
}

}  // namespace

void set_metadata(ToolResult& result, std::string_view key, Json value) {
  if (!result.metadata.is_null() && !result.metadata.is_object()) {
    result.metadata = Json::object({{"metadata", std::move(result.metadata)}});
  }
  result.metadata.set(key, std::move(value));
}

void set_error_type(ToolResult& result, std::string_view name) {
  set_metadata(result, "error_type", name);
}

void let_model_retry(ToolResult& result) {
  set_metadata(result, "retry", true);
  set_metadata(result, "retry_kind", result.metadata["error_type"]);
}

ToolResult thrown_result() noexcept {
  try {
    throw;
  } catch (const ModelRetry& retry) {
    ToolResult result = ToolResult::error(retry.what(), "ModelRetry");
    let_model_retry(result);
    return result;
  } catch (const std::exception& thrown) {
    return ToolResult::error(std::string("the tool failed: ") + thrown.what(), "Exception");
  } catch (...) {
    return ToolResult::error("the tool failed: it threw something that is not a std::exception",
                             "Exception");
  }
}

bool bound_content(std::string& content, std::size_t limit) {
  if (content.size() <= limit) {
    if (is_utf8(content)) return false;
    content = repair_utf8(content);
    if (content.size() <= limit) return false;
  }
  const std::size_t half = limit > 2 * kNoteRoom ? (limit - kNoteRoom) / 2 : 0;
  std::string kept = head_of(content, half);
  const std::string tail = tail_of(content, half);
  kept += "\n[... the middle of " + std::to_string(content.size()) + " bytes was left out ...]\n";
  kept += tail;
  content = std::move(kept);
  return true;
}

ToolResult sealed(const Tool& tool, const CallId& call, ToolResult result) {
  result.call = call;
  result.tool = tool.name();
  const std::size_t bytes = result.content.size();
  const std::size_t most = tool.spec().result.max_bytes.value_or(kMaxToolOutput);
  const bool cut = bound_content(result.content, std::min(most, kMaxToolOutput));
  if (cut) {
    set_metadata(result, "truncated", true);
    set_metadata(result, "bytes", bytes);
  }
  if (result.ok && !cut && tool.returns()) check_output(*tool.returns(), tool, result);
  if (!result.ok && !result.metadata["error_type"].is_string()) set_error_type(result, "Exception");
  if (!result.ok && result.metadata["retry"].as_bool()) let_model_retry(result);
  return result;
}

}  // namespace tug
