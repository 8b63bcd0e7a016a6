// What a tool is and what one call of it asks and answers: data only. Handlers live with the tools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/ids.h"
#include "tug/core/json.h"
#include "tug/core/time.h"

namespace tug {

// What a call does to the world. It drives default approval, retry, crash recovery and replay.
enum class Effect : std::uint8_t {
  pure,          // reads; may be run again
  idempotent,    // running it twice is running it once
  probed,        // the tool can find out afterwards whether it happened
  at_most_once,  // never repeated by itself; the default
};
std::string_view name_of(Effect effect) noexcept;

enum class Visibility : std::uint8_t { model, code, hidden };
std::string_view name_of(Visibility visibility) noexcept;

// Where a definition came from: `file:///..`, `mcp://server/tool`, or no uri for what is built in.
struct Origin {
  std::string uri;
  Json metadata;
};

// What a failure of a tool means to the run.
enum class OnError : std::uint8_t {
  tell_model,  // the model reads what went wrong
  fail_run,    // the run ends with `error`
  say,         // the model reads ToolSpec::error_text instead
};
std::string_view name_of(OnError policy) noexcept;

// What is kept of a tool's answers.
struct ResultPolicy {
  // Longer content is cut in the middle, with a note. Nothing: the most that any tool may give.
  std::optional<std::size_t> max_bytes;
};

// What the patterns of permissions are matched against.
struct Subject {
  enum class Kind : std::uint8_t { arguments, path, command };
  Kind kind = Kind::arguments;
  std::string field;  // of the arguments, for the other two
  friend bool operator==(const Subject&, const Subject&) = default;
};

// The declaration of a tool. A closed type: what an app wants to keep with it goes into `metadata`,
// which no model ever sees.
struct ToolSpec {
  std::string name;
  std::string description;
  Json parameters;  // a JSON Schema
  Json returns;     // a JSON Schema, checked when given
  Effect effect = Effect::at_most_once;
  std::string lane;         // calls whose tools name the same lane keep call order among themselves
  bool sequential = false;  // puts the whole batch in call order
  bool requires_approval = false;
  Subject subject;
  bool agent = false;  // its calls are runs: they take no place among the calls of a batch
  bool needs_terminal = false;
  Visibility visibility = Visibility::model;
  std::optional<std::vector<std::string>> allowed_tools;  // what an invocation may call in turn
  std::string role;
  std::vector<std::string> tags;
  Origin origin;
  std::optional<int> max_retries;  // results that the model may repair, per run
  std::optional<Duration> timeout;
  OnError on_error = OnError::tell_model;
  std::string error_text;  // of OnError::say
  ResultPolicy result;
  Json metadata;
};

// One call a model asked for. Arguments stay the text the model wrote until they are checked.
struct ToolCall {
  CallId id;
  std::string provider_id;
  std::string tool;
  std::string arguments;
  friend bool operator==(const ToolCall&, const ToolCall&) = default;
};

// What became of one call: the one envelope that every handler's answer ends up in.
struct ToolResult {
  CallId call;
  std::string tool;
  bool ok = true;
  std::string content;
  Json metadata;  // `error_type`, `retry_kind`, ...; null when there is nothing to say

  static ToolResult text(std::string content);
  static ToolResult json(const Json& value);
  static ToolResult error(std::string content, std::string_view error_type);
  bool is_error() const noexcept { return !ok; }
  friend bool operator==(const ToolResult&, const ToolResult&) = default;
};

}  // namespace tug
