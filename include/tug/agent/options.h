// What one run may be told: plain data, with a lossless JSON form.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "tug/agent/steering.h"
#include "tug/context/type_key.h"
#include "tug/core/error.h"
#include "tug/core/json.h"
#include "tug/model/settings.h"
#include "tug/tools/permissions.h"

namespace tug {

class Middleware;
class Sink;

// Nothing means: no limit of ours here. What the harness has built in still binds one run.
struct RunLimits {
  std::optional<std::int64_t> max_turns;  // model calls
  std::optional<std::int64_t> max_tool_calls;
  std::optional<std::int64_t> max_tokens;
  std::optional<double> max_cost;  // dollars
  std::optional<double> max_time;  // seconds alive
  std::optional<std::uint32_t> max_depth;
  std::optional<std::uint32_t> max_concurrency;  // calls of one batch
  std::optional<std::uint32_t> retries;          // attempts after the first, per model call
  std::optional<std::uint32_t> output_retries;   // corrections of a structured answer
  std::optional<std::uint32_t> tool_retries;     // per tool; ToolSpec::max_retries wins

  friend bool operator==(const RunLimits&, const RunLimits&) = default;
};
inline constexpr std::int64_t kDefaultMaxTurns = 64;
inline constexpr std::int64_t kDefaultMaxToolCalls = 256;
inline constexpr std::uint32_t kDefaultMaxConcurrency = 16;
inline constexpr std::uint32_t kDefaultRetries = 3;
inline constexpr std::uint32_t kDefaultOutputRetries = 1;
inline constexpr std::uint32_t kDefaultToolRetries = 1;

// How a run with an output schema gets its answer.
enum class OutputMode : std::uint8_t {
  automatic,  // native where the model can, else tool where it can call tools, else prompted
  text,       // no schema is asked for, also where the harness has one
  native,     // the provider is told the schema
  tool,       // the model calls `final_result`
  prompted,   // the schema stands in the instructions
};
std::string_view name_of(OutputMode mode) noexcept;  // `auto` for automatic

enum class ToolExecution : std::uint8_t {
  automatic,   // a batch runs side by side as far as its tools allow
  sequential,  // one call after the other
};
std::string_view name_of(ToolExecution execution) noexcept;  // `auto` for automatic

struct RunOptions {
  std::string run_id;     // a new one when empty
  std::string thread_id;  // a new one, or the parent's, when empty
  std::string agent;      // name of the agent; "main" when empty
  std::string model;      // "provider/name"; the harness's own when empty
  std::optional<std::vector<std::string>> fallback_models;  // asked in order when a model fails
  std::optional<std::string> system_prompt;                 // instead of the harness's own
  std::optional<std::vector<std::string>> tools;            // exactly these of the harness's tools
  std::vector<std::string> tags;                            // of this run alone
  std::vector<std::string> inherited_tags;                  // of it and of everything below
  Json metadata;                                            // an object; of this run alone
  Json inherited_metadata;        // an object; of it and of everything below
  Json configurable;              // an object; values that tools and middleware read
  RunLimits limits;               // bind the run and everything below it
  std::optional<double> timeout;  // seconds alive; the shorter of it and max_time counts
  std::optional<std::int64_t> max_output_tokens;  // of one answer; the model\'s own when empty
  ModelSettings settings;             // what it leaves open, its agent and then the harness say
  std::optional<Json> output_schema;  // of the answer; the harness's own when empty
  std::optional<OutputMode> output_mode;
  std::optional<ToolExecution> tool_execution;
  std::optional<Permissions> permissions;  // of it and of everything below; the harness's own
  // What its owner may tell it and everything below it while it runs; the harness's own.
  std::optional<SteeringPolicy> steering;
  bool interactive = false;  // a person at a terminal; set by the command line alone

  // Not part of the data form.
  std::stop_token cancel;                        // the caller's own; one token can stop many runs
  std::vector<std::shared_ptr<Sink>> observers;  // see every event from the first on
  // Whether the handle keeps events from the first on for `Run::events()`. Without it a run that
  // nobody watches weighs less; records are read back when somebody asks, live ones are gone.
  bool keep_events = true;
  // Around this run alone, inside of the harness's own.
  std::vector<std::shared_ptr<Middleware>> middleware;
  // Around this run and every run below it.
  std::vector<std::shared_ptr<Middleware>> inherited_middleware;
  // Typed values that the run's context starts with and everything below it inherits: what
  // `ctx.get<T>()`, `call.get<T>()` and Injected<T> fields find. They are not recorded, so whoever
  // resumes a run gives them again.
  std::vector<std::pair<TypeKey, std::shared_ptr<const void>>> values;

  // The last one given of a type counts.
  template <class T>
  RunOptions& give(T value) {
    values.emplace_back(type_key<T>(), std::make_shared<const T>(std::move(value)));
    return *this;
  }
};

// Defaults are left out; reading takes what is missing from the defaults, and an unknown field is
// `invalid`, naming the nearest.
Json to_json(const RunOptions& options);
Result<RunOptions> run_options_from(const Json& json);

}  // namespace tug
