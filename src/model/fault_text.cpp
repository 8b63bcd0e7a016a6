#include "model/fault_text.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "core/saturate.h"

namespace tug::detail {
namespace {

struct Row {
  Fault fault;
  // RE2, whatever the case. <prompt>, <tools>, <output>, <window> and <total> stand for numbers.
  std::string_view pattern;
  std::string_view code = {};
};

// The first row that matches counts: those with numbers stand before those without.
constexpr Row kRows[] = {
    // Anthropic, Bedrock
    {Fault::context_overflow, R"(prompt is too long: <prompt> tokens > <window> maximum)"},
    {Fault::context_overflow, R"(exceed context limit: <prompt> \+ <output> > <window>)"},
    {Fault::context_overflow, R"(input is too long for requested model)"},
    {Fault::context_overflow, R"(prompt is too long)"},
    // Gemini
    {Fault::context_overflow,
     R"(input token count(?: \(?<prompt>\)?)? exceeds the maximum number of tokens allowed(?: \(?<window>\)?)?)"},
    // vLLM, OpenAI, OpenRouter
    {Fault::context_overflow,
     R"(maximum context length is <window> tokens.{0,40}requested <output> output tokens and your prompt contains at least <prompt> input tokens)"},
    {Fault::context_overflow,
     R"(passed <prompt> input tokens and requested <output> output tokens.{0,60}context length is only <window>)"},
    {Fault::context_overflow,
     R"(maximum context length is <window> tokens.{0,40}requested (?:about )?<total> tokens \(<prompt> of text input(?:, <tools> of tool input)?(?:, <output> in the output)?)"},
    {Fault::context_overflow,
     R"(maximum context length is <window> tokens.{0,40}requested <total> tokens \(<prompt> in (?:the |your )?(?:messages|prompt)[,;] <output> (?:in|for) the completion)"},
    {Fault::context_overflow,
     R"(maximum context length is <window> tokens.{0,60}(?:messages|prompt) (?:resulted in|contains|has) <prompt>)"},
    {Fault::context_overflow, R"(maximum context length (?:is|of) <window>)"},
    {Fault::context_overflow, R"(exceeds the context window)"},
    // xAI, Groq, Mistral
    {Fault::context_overflow,
     R"(maximum prompt length is <window> but the request contains <prompt> tokens)"},
    {Fault::context_overflow, R"(reduce the length of the messages or completion)"},
    {Fault::context_overflow,
     R"(contains <prompt> tokens.{0,60}too large for model with <window> maximum context length)"},
    {Fault::context_overflow, R"(too large for model with <window> maximum context length)"},
    // llama.cpp, LM Studio, Copilot, MiniMax, Kimi
    {Fault::context_overflow,
     R"(\(<prompt> tokens\) exceeds the available context size \(<window> tokens\))"},
    {Fault::context_overflow, R"(exceeds the available context size)"},
    {Fault::context_overflow, R"(loaded with context length of only <window>)"},
    {Fault::context_overflow, R"(greater than the context length)"},
    {Fault::context_overflow, R"(prompt token count of <prompt> exceeds the limit of <window>)"},
    {Fault::context_overflow, R"(context window exceeds limit)"},
    {Fault::context_overflow,
     R"(exceeded model token limit(?:: <window> \(requested: <prompt>\))?)"},
    {Fault::context_overflow, R"(context[ _]length[ _]exceeded)"},
    {Fault::request_too_large, R"(total message size <prompt> exceeds limit <window>)"},
    {Fault::request_too_large, R"(request (?:body|entity|payload)?(?: is)? ?too large)"},
    // Calls, results and items that do not belong together.
    {Fault::bad_transcript, R"(.?tool_use.? ids were found without .?tool_result)"},
    {Fault::bad_transcript, R"(unexpected .?tool_use_id.? found in)"},
    {Fault::bad_transcript, R"(tool_use.? ids must be unique)"},
    {Fault::bad_transcript, R"(no tool output found for (?:function|custom tool) call)"},
    {Fault::bad_transcript, R"(no tool call found for (?:function|custom tool) call output)"},
    {Fault::bad_transcript, R"(was provided without its required)"},
    {Fault::bad_transcript, R"(expected an id that begins with)"},
    {Fault::bad_transcript, R"(duplicate .?call_id)"},
    {Fault::bad_transcript, R"(must be followed by tool messages)"},
    {Fault::bad_transcript, R"(must be a response to a prece+ding message with)"},
    {Fault::bad_transcript, R"(number of function response parts is equal to)"},
    {Fault::bad_transcript, R"(not the same number of function calls and responses)"},
    {Fault::bad_transcript, R"(function call turn comes immediately after)"},
    {Fault::bad_transcript, R"(tool_calls\[[0-9]+\]\.id must be unique)"},
    {Fault::bad_transcript, R"(roles must alternate)"},
    {Fault::bad_transcript, R"(previous response with id .{0,200} not found)",
     "previous_response_not_found"},
    // Reasoning that is not sent back as it came.
    {Fault::bad_signature, R"(invalid .?signature.? in .?thinking)"},
    {Fault::bad_signature, R"(missing a .?thought_?signature)"},
    {Fault::bad_signature, R"((?:invalid|corrupted) thought.?signature)"},
    {Fault::bad_signature, R"(in the thinking mode must be passed back)"},
    {Fault::bad_signature, R"(redacted_thinking.? blocks .{0,80}cannot be modified)"},
    {Fault::bad_signature, R"(expected .?thinking.? or .?redacted_thinking.?, but found)"},
    {Fault::bad_signature, R"(encrypted content .{0,80}could not be (?:verified|decrypted))"},
    // Bytes.
    {Fault::bad_encoding, R"(not valid json)"},
    {Fault::bad_encoding, R"(invalid json: )"},
    {Fault::bad_encoding, R"((?:no low|lone leading|lone) surrogate)"},
    {Fault::bad_encoding, R"(could not parse the json body)"},
    {Fault::bad_encoding, R"(invalid (?:utf-?8|unicode))"},
    // Tools and answers by a schema.
    {Fault::bad_schema, R"(invalid schema for (?:function|response_format|tool))"},
    {Fault::bad_schema, R"(input_schema does not support)"},
    {Fault::bad_schema, R"(tools\.[0-9]+\.(?:custom\.)?input_schema)"},
    {Fault::bad_schema, R"(function_declarations\[[0-9]+\]\.parameters)"},
    // Accounts.
    {Fault::quota_terminal, R"(credit balance is too low)"},
    {Fault::quota_terminal, R"(insufficient (?:credits|balance|funds))"},
    {Fault::quota_terminal, R"(reached your specified (?:\w+ )?(?:api )?usage limit)"},
    {Fault::quota_terminal, R"((?:spend|spending|billing)(?: hard)? limit)"},
    // What is not to be said.
    {Fault::content_filter, R"(content (?:management|filtering) policy)"},
    {Fault::content_filter, R"(flagged .{0,60}(?:usage|content) polic)"},
    {Fault::auth, R"((?:incorrect|invalid) api key)"},
    {Fault::auth, R"(api key not valid)"},
};

constexpr Row kPlainRows[] = {
    {Fault::retry_after, R"(rate.?limit)"},
    {Fault::retry_after, R"(too many requests)"},
    {Fault::overloaded, R"(overloaded|over capacity|temporarily unavailable|loading model)"},
    {Fault::overloaded, R"(internal (?:server )?error|bad gateway|upstream error)"},
    {Fault::timeout, R"(timed? ?out)"},
    {Fault::not_found, R"(model .{0,200}(?:does not exist|not found))"},
    {Fault::auth, R"(unauthori[sz]ed)"},
};

RE2::Options options() {
  RE2::Options options;
  options.set_case_sensitive(false);
  options.set_log_errors(false);
  options.set_dot_nl(true);
  return options;
}

std::string expanded(std::string_view pattern) {
  std::string out(pattern);
  for (const std::string_view name : {"prompt", "tools", "output", "window", "total"}) {
    const std::string mark = "<" + std::string(name) + ">";
    const std::size_t at = out.find(mark);
    if (at == std::string::npos) continue;
    out.replace(at, mark.size(), "(?P<" + std::string(name) + ">[0-9][0-9,_]{0,20})");
  }
  return out;
}

// Rows that are all looked for in one pass over the text.
class Patterns {
 public:
  explicit Patterns(std::span<const Row> rows) : rows_(rows), set_(options(), RE2::UNANCHORED) {
    for (const Row& row : rows) set_.Add(expanded(row.pattern), nullptr);
    set_.Compile();
  }
  const Row* first_in(std::string_view text) const {
    std::vector<int> found;
    if (!set_.Match({text.data(), text.size()}, &found) || found.empty()) return nullptr;
    return &rows_[static_cast<std::size_t>(*std::ranges::min_element(found))];
  }

 private:
  std::span<const Row> rows_;
  RE2::Set set_;
};

// They are made when the first failure comes and live as long as the program.
const Patterns& patterns() {
  static const auto* const kept = new Patterns(kRows);
  return *kept;
}
const Patterns& plain_patterns() {
  static const auto* const kept = new Patterns(kPlainRows);
  return *kept;
}

std::int64_t number_in(re2::StringPiece digits) {
  std::int64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') continue;
    if (value > (std::int64_t{1} << 52)) return value;
    value = value * 10 + (c - '0');
  }
  return value;
}

FaultText with_numbers(const Row& row, std::string_view text) {
  FaultText out{.fault = row.fault, .code = row.code};
  const RE2 pattern(expanded(row.pattern), options());
  const auto& names = pattern.CapturingGroupNames();
  if (row.fault != Fault::context_overflow || names.empty()) return out;
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(pattern.NumberOfCapturingGroups()) +
                                       1);
  if (!pattern.Match({text.data(), text.size()}, 0, text.size(), RE2::UNANCHORED, groups.data(),
                     static_cast<int>(groups.size())))
    return out;
  for (const auto& [index, name] : names) {
    const std::int64_t number = number_in(groups[static_cast<std::size_t>(index)]);
    if (name == "prompt" || name == "tools")
      out.prompt_tokens = saturated_sum(out.prompt_tokens, number);
    if (name == "output") out.output_tokens = number;
    if (name == "window") out.window = number;
  }
  return out;
}

}  // namespace

std::optional<FaultText> fault_of_text(std::string_view text) {
  const Row* row = patterns().first_in(text);
  if (!row) return std::nullopt;
  return with_numbers(*row, text);
}

std::optional<Fault> fault_of_plain_text(std::string_view text) {
  const Row* row = plain_patterns().first_in(text);
  return row ? std::optional(row->fault) : std::nullopt;
}

bool asks_more_than_the_rate(std::string_view text) {
  static const auto* const pattern = new RE2(
      R"((?:too large|exceed)(?:.{0,300})limit:? ([0-9][0-9,]{0,15}),.{0,40}requested:? ([0-9][0-9,]{0,15}))",
      options());
  re2::StringPiece limit;
  re2::StringPiece requested;
  return RE2::PartialMatch({text.data(), text.size()}, *pattern, &limit, &requested) &&
         number_in(requested) > number_in(limit);
}

bool says_spent(std::string_view text) {
  static const auto* const pattern = new RE2(
      R"(per.?day|daily|per.?month|monthly|credits?\b|plan and billing|regain access|prepa(?:id|y))",
      options());
  return RE2::PartialMatch({text.data(), text.size()}, *pattern);
}

std::string_view stated_wait_in(std::string_view text) {
  static const auto* const pattern = new RE2(
      R"((?:try again|retry|resets?|available|wait)(?: again)? (?:in|after|for)(?: about| approximately)? ((?:[0-9]+(?:\.[0-9]+)? ?(?:ms|milliseconds?|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)\b ?|[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d))+))",
      options());
  re2::StringPiece found;
  if (!RE2::PartialMatch({text.data(), text.size()}, *pattern, &found)) return {};
  return {found.data(), found.size()};
}

}  // namespace tug::detail
