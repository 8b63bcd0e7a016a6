#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "core/try.h"
#include "tug/core/codec.h"
#include "tug/core/nearest.h"
#include "tug/model/script.h"

namespace tug {
namespace {

constexpr std::int64_t kLongestWaitMs = 24LL * 60 * 60 * 1000;
constexpr std::int64_t kMostChunks = 1'000'000;
// A turn takes a kilobyte or more, however short its line is.
constexpr std::size_t kMostTurns = 100'000;

using Keys = std::span<const std::string_view>;
constexpr std::string_view kTurnKeys[] = {"text",   "reasoning", "tool_calls",     "usage",
                                          "finish", "delay_ms",  "chunk_delay_ms", "chunks",
                                          "error",  "agent",     "when",           "repeat"};
constexpr std::string_view kCallKeys[] = {"id", "name", "arguments"};
constexpr std::string_view kErrorKeys[] = {"status", "retry_after", "body"};
constexpr std::string_view kUsageKeys[] = {"input_tokens",      "output_tokens",
                                           "cache_read_tokens", "cache_write_tokens",
                                           "reasoning_tokens",  "total_tokens"};
constexpr std::string_view kFinishes[] = {"stop",    "length", "tool_calls",
                                          "refusal", "pause",  "other"};

std::string quoted(std::string_view text) {
  std::string out;
  print_json_string(text.substr(0, 80), out);
  return out;
}

std::string_view type_name(const Json& value) {
  switch (value.type()) {
    case Json::Type::null:
      return "null";
    case Json::Type::boolean:
      return "a boolean";
    case Json::Type::number:
      return "a number";
    case Json::Type::string:
      return "a string";
    case Json::Type::array:
      return "an array";
    case Json::Type::object:
      return "an object";
  }
  return "null";
}

std::string listed(Keys names) {
  std::string out;
  for (std::string_view name : names) out += (out.empty() ? "" : ", ") + std::string(name);
  return out;
}

Failure wrong(std::string_view key, std::string_view expected, const Json& got) {
  return fail(ErrorKind::invalid,
              quoted(key) + " must be " + std::string(expected) + ", not " +
                  (got.size() > 0 || got.is_null() ? std::string(type_name(got))
                                                   : print_json(got).substr(0, 80)));
}

// An object with known keys only; what is null counts as absent everywhere.
Result<void> check_keys(std::string_view what, const Json& json, Keys known) {
  if (!json.is_object()) return wrong(what, "an object", json);
  for (const Json::Member& member : json.members()) {
    if (std::ranges::find(known, member.key()) != known.end()) continue;
    const std::string_view near = nearest_name(member.key(), known);
    return fail(ErrorKind::invalid, quoted(member.key()) + " is not a key of " + std::string(what),
                near.empty() ? "the keys are " + listed(known)
                             : "did you mean \"" + std::string(near) + "\"?");
  }
  return {};
}

Result<void> read(const Json& json, std::string_view key, std::string& into) {
  const Json& value = json[key];
  if (value.is_null()) return {};
  if (!value.is_string()) return wrong(key, "a string", value);
  into = value.as_string();
  return {};
}

struct Range {
  std::int64_t least;
  std::int64_t most;
};

template <class T>
Result<void> read(const Json& json, std::string_view key, Range range, T& into) {
  const Json& value = json[key];
  if (value.is_null()) return {};
  const std::optional<std::int64_t> number = value.as_int();
  if (!number || *number < range.least || *number > range.most) {
    return wrong(
        key,
        "a whole number from " + std::to_string(range.least) + " to " + std::to_string(range.most),
        value);
  }
  into = static_cast<T>(*number);
  return {};
}

Result<ScriptCall> read_call(const Json& json) {
  TUG_TRY(known, check_keys("a tool call", json, kCallKeys));
  ScriptCall call;
  TUG_TRY(id, read(json, "id", call.id));
  TUG_TRY(name, read(json, "name", call.name));
  if (call.name.empty())
    return fail(ErrorKind::invalid, "a tool call without \"name\"", "name the tool it calls");
  const Json& arguments = json["arguments"];
  if (arguments.is_null()) {
    call.arguments = "{}";
  } else if (arguments.is_string()) {
    call.arguments = arguments.as_string();
  } else if (arguments.is_object()) {
    call.arguments = print_json(arguments);
  } else {
    return wrong("arguments", "an object, or a string with the raw text", arguments);
  }
  return call;
}

Result<void> read_calls(const Json& json, std::vector<ScriptCall>& into) {
  const Json& calls = json["tool_calls"];
  if (calls.is_null()) return {};
  if (!calls.is_array()) return wrong("tool_calls", "an array", calls);
  if (calls.size() > kMaxCallsOfAnAnswer)
    return fail(ErrorKind::invalid,
                "\"tool_calls\" has more than " + std::to_string(kMaxCallsOfAnAnswer) + " calls");
  for (const Json& item : calls.items()) {
    TUG_TRY(call, read_call(item));
    into.push_back(std::move(call));
  }
  return {};
}

Result<void> read_usage(const Json& json, Usage& into) {
  const Json& usage = json["usage"];
  if (usage.is_null()) return {};
  TUG_TRY(known, check_keys("usage", usage, kUsageKeys));
  TUG_TRY(counts, JsonForm<Usage>::read(usage));
  into = counts;
  return {};
}

Result<void> read_finish(const Json& json, std::optional<Finish>& into) {
  std::string name;
  TUG_TRY(text, read(json, "finish", name));
  if (name.empty()) return {};
  into = finish_from(name);
  if (into) return {};
  const std::string_view near = nearest_name(name, kFinishes);
  return fail(ErrorKind::invalid, "\"finish\" is " + quoted(name) + ", which is none",
              near.empty() ? "use one of " + listed(kFinishes)
                           : "did you mean \"" + std::string(near) + "\"?");
}

Result<void> read_error(const Json& json, std::optional<ScriptError>& into) {
  const Json& error = json["error"];
  if (error.is_null()) return {};
  TUG_TRY(known, check_keys("error", error, kErrorKeys));
  ScriptError read_in;
  TUG_TRY(status, read(error, "status", Range{400, 599}, read_in.status));
  const Json& after = error["retry_after"];
  if (!after.is_null()) {
    read_in.retry_after = after.as_double();
    if (!read_in.retry_after || *read_in.retry_after < 0)
      return wrong("retry_after", "seconds, 0 or more", after);
  }
  const Json& body = error["body"];
  if (!body.is_null())
    read_in.body = body.is_string() ? std::string(body.as_string()) : print_json(body);
  into = std::move(read_in);
  return {};
}

Result<ScriptTurn> read_turn(std::string_view line) {
  TUG_TRY(json, parse_json(line));
  if (!json.is_object())
    return fail(ErrorKind::invalid, "a line must be an object, not " + std::string(type_name(json)),
                "write a turn, such as {\"text\":\"hello\"}");
  TUG_TRY(known, check_keys("a script line", json, kTurnKeys));
  ScriptTurn turn;
  TUG_TRY(text, read(json, "text", turn.text));
  TUG_TRY(reasoning, read(json, "reasoning", turn.reasoning));
  TUG_TRY(calls, read_calls(json, turn.tool_calls));
  TUG_TRY(usage, read_usage(json, turn.usage));
  TUG_TRY(finish, read_finish(json, turn.finish));
  const Range wait{0, kLongestWaitMs};
  TUG_TRY(delay, read(json, "delay_ms", wait, turn.delay_ms));
  TUG_TRY(chunk_delay, read(json, "chunk_delay_ms", wait, turn.chunk_delay_ms));
  TUG_TRY(chunks, read(json, "chunks", Range{1, kMostChunks}, turn.chunks));
  TUG_TRY(error, read_error(json, turn.error));
  TUG_TRY(agent, read(json, "agent", turn.agent));
  TUG_TRY(when, read(json, "when", turn.when));
  const Json& repeat = json["repeat"];
  if (!repeat.is_null() && !repeat.is_bool()) return wrong("repeat", "true or false", repeat);
  turn.repeat = repeat.as_bool();
  return turn;
}

// parse_json counts lines of its own text, which is one: the column is all that is worth saying.
Error placed(const Error& error, std::string_view name, std::size_t line) {
  constexpr std::string_view kOwnLine = "line 1, ";
  std::string message = error.message();
  if (const std::size_t at = message.find(kOwnLine); at != std::string::npos)
    message.erase(at, kOwnLine.size());
  return Error(ErrorKind::invalid,
               std::string(name) + ":" + std::to_string(line) + ": " + std::move(message),
               error.fix().empty() ? "correct this line of the script" : error.fix());
}

}  // namespace

Result<std::vector<ScriptTurn>> parse_script(std::string_view text, std::string_view name) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<ScriptTurn> turns;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (turns.size() == kMostTurns) {
      return fail(ErrorKind::invalid,
                  std::string(name) + ":" + std::to_string(number) + ": more than " +
                      std::to_string(kMostTurns) + " turns",
                  "put \"repeat\": true on a line that is to be served again and again");
    }
    Result<ScriptTurn> turn = read_turn(line);
    if (!turn) return Failure(placed(turn.error(), name, number));
    turns.push_back(*std::move(turn));
  }
  return turns;
}

}  // namespace tug
