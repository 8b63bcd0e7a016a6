#include "tug/agent/options.h"

#include "agent/harness_core.h"
#include "core/try.h"
#include "tug/core/codec.h"
#include "tug/core/enum_names.h"

namespace tug {
namespace {

// RunOptions as it stands in JSON: everything but what only lives in this process.
struct Plain {
  std::optional<std::string> run_id;
  std::optional<std::string> thread_id;
  std::optional<std::string> agent;
  std::optional<std::string> model;
  std::optional<std::vector<std::string>> fallback_models;
  std::optional<std::string> system_prompt;
  std::optional<std::vector<std::string>> tools;
  std::optional<std::vector<std::string>> tags;
  std::optional<std::vector<std::string>> inherited_tags;
  std::optional<Json> metadata;
  std::optional<Json> inherited_metadata;
  std::optional<Json> configurable;
  std::optional<RunLimits> limits;
  std::optional<double> timeout;
  std::optional<std::int64_t> max_output_tokens;
  std::optional<Json> settings;
  std::optional<Json> output_schema;
  std::optional<std::string> output_mode;
  std::optional<std::string> tool_execution;
  std::optional<Json> permissions;
  std::optional<Json> steering;
  bool interactive = false;
};

std::optional<std::string> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}
std::optional<std::vector<std::string>> given(const std::vector<std::string>& list) {
  return list.empty() ? std::nullopt : std::optional(list);
}
std::optional<Json> given(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json);
}

template <class T>
std::optional<std::string> named(const std::optional<T>& choice) {
  if (!choice) return std::nullopt;
  return std::string(name_of(*choice));
}

template <class T>
Result<std::optional<T>> chosen(const std::optional<std::string>& name, std::string_view field,
                                std::initializer_list<T> choices) {
  if (!name) return std::optional<T>();
  std::string names;
  for (T choice : choices) {
    if (*name == name_of(choice)) return std::optional(choice);
    if (!names.empty()) names += ", ";
    names += name_of(choice);
  }
  return fail(ErrorKind::invalid,
              "$." + std::string(field) + ": \"" + *name + "\" is none of " + names);
}

Result<void> must_be_object(const std::optional<Json>& json, std::string_view field) {
  if (!json || json->is_object()) return {};
  return fail(ErrorKind::invalid, "$." + std::string(field) + ": expected an object");
}

Result<std::int64_t> seconds_to_ms(double seconds, std::string_view field) {
  if (!(seconds >= 0) || seconds > 1e9) {
    return fail(ErrorKind::invalid,
                std::string(field) + ": expected seconds from 0 to a billion, got " +
                    print_json(Json(seconds)),
                "leave it out for no limit");
  }
  return static_cast<std::int64_t>(seconds * 1000);
}

Result<void> not_negative(const std::optional<std::int64_t>& value, std::string_view field) {
  if (!value || *value >= 0) return {};
  return fail(ErrorKind::invalid,
              std::string(field) + ": expected 0 or more, got " + std::to_string(*value),
              "leave it out for no limit");
}

}  // namespace

std::string_view name_of(OutputMode mode) noexcept {
  return mode == OutputMode::automatic ? "auto" : enum_name(mode);
}
std::string_view name_of(ToolExecution execution) noexcept {
  return execution == ToolExecution::automatic ? "auto" : enum_name(execution);
}

Json to_json(const RunOptions& options) {
  // Binding all of them: a field that is added must be decided about here.
  const auto& [run_id, thread_id, agent, model, fallback_models, system_prompt, tools, tags,
               inherited_tags, metadata, inherited_metadata, configurable, limits, timeout,
               max_output_tokens, settings, output_schema, output_mode, tool_execution, permissions,
               steering, interactive, cancel, observers, keep_events, middleware,
               inherited_middleware, values] = options;
  Json json = write_json(Plain{
      .run_id = given(run_id),
      .thread_id = given(thread_id),
      .agent = given(agent),
      .model = given(model),
      .fallback_models = fallback_models,
      .system_prompt = system_prompt,
      .tools = tools,
      .tags = given(tags),
      .inherited_tags = given(inherited_tags),
      .metadata = given(metadata),
      .inherited_metadata = given(inherited_metadata),
      .configurable = given(configurable),
      .limits = limits == RunLimits{} ? std::nullopt : std::optional(limits),
      .timeout = timeout,
      .max_output_tokens = max_output_tokens,
      .settings = settings.empty() ? std::nullopt : std::optional(to_json(settings)),
      .output_schema = output_schema,
      .output_mode = named(output_mode),
      .tool_execution = named(tool_execution),
      .permissions = permissions ? std::optional(to_json(*permissions)) : std::nullopt,
      .steering = steering ? std::optional(to_json(*steering)) : std::nullopt,
      .interactive = interactive,
  });
  if (!interactive) json.erase("interactive");
  return json;
}

Result<RunOptions> run_options_from(const Json& json) {
  TUG_TRY(plain, read_json<Plain>(json));
  TUG_TRY(metadata, must_be_object(plain.metadata, "metadata"));
  TUG_TRY(inherited, must_be_object(plain.inherited_metadata, "inherited_metadata"));
  TUG_TRY(configurable, must_be_object(plain.configurable, "configurable"));
  TUG_TRY(mode, chosen(plain.output_mode, "output_mode",
                       {OutputMode::automatic, OutputMode::text, OutputMode::native,
                        OutputMode::tool, OutputMode::prompted}));
  TUG_TRY(execution, chosen(plain.tool_execution, "tool_execution",
                            {ToolExecution::automatic, ToolExecution::sequential}));
  std::optional<Permissions> permissions;
  if (plain.permissions) {
    TUG_TRY(read, permissions_from(*plain.permissions));
    permissions = std::move(read);
  }
  std::optional<SteeringPolicy> steering;
  if (plain.steering) {
    TUG_TRY(read, steering_policy_from(*plain.steering));
    steering = read;
  }
  ModelSettings settings;
  if (plain.settings) {
    TUG_TRY(read, model_settings_from(*plain.settings));
    settings = std::move(read);
  }
  return RunOptions{.run_id = plain.run_id.value_or(""),
                    .thread_id = plain.thread_id.value_or(""),
                    .agent = plain.agent.value_or(""),
                    .model = plain.model.value_or(""),
                    .fallback_models = plain.fallback_models,
                    .system_prompt = plain.system_prompt,
                    .tools = plain.tools,
                    .tags = plain.tags.value_or(std::vector<std::string>{}),
                    .inherited_tags = plain.inherited_tags.value_or(std::vector<std::string>{}),
                    .metadata = plain.metadata.value_or(Json()),
                    .inherited_metadata = plain.inherited_metadata.value_or(Json()),
                    .configurable = plain.configurable.value_or(Json()),
                    .limits = plain.limits.value_or(RunLimits{}),
                    .timeout = plain.timeout,
                    .max_output_tokens = plain.max_output_tokens,
                    .settings = std::move(settings),
                    .output_schema = plain.output_schema,
                    .output_mode = mode,
                    .tool_execution = execution,
                    .permissions = permissions,
                    .steering = steering,
                    .interactive = plain.interactive};
}

Result<RunOptions> merged(const Json& under, const RunOptions& over) {
  TUG_TRY(options, run_options_from(overlaid(under, to_json(over))));
  options.cancel = over.cancel;
  options.observers = over.observers;
  options.keep_events = over.keep_events;
  options.middleware = over.middleware;
  options.inherited_middleware = over.inherited_middleware;
  options.values = over.values;
  return options;
}

Result<Limits> limits_of(const RunOptions& options) {
  const RunLimits& given = options.limits;
  TUG_TRY(turns, not_negative(given.max_turns, "limits.max_turns"));
  TUG_TRY(calls, not_negative(given.max_tool_calls, "limits.max_tool_calls"));
  TUG_TRY(tokens, not_negative(given.max_tokens, "limits.max_tokens"));
  Limits limits{.model_calls = given.max_turns,
                .tool_calls = given.max_tool_calls,
                .tokens = given.max_tokens,
                .depth = given.max_depth};
  if (given.max_cost) {
    if (!(*given.max_cost >= 0)) {
      return fail(ErrorKind::invalid, "limits.max_cost: expected dollars, 0 or more",
                  "leave it out for no limit");
    }
    TUG_TRY(nanos, nanos_from_dollars(Json(*given.max_cost)));
    limits.cost = nanos;
  }
  TUG_TRY(output, not_negative(options.max_output_tokens, "max_output_tokens"));
  std::optional<std::int64_t> ms;
  if (given.max_time) {
    TUG_TRY(time, seconds_to_ms(*given.max_time, "limits.max_time"));
    ms = time;
  }
  if (options.timeout) {
    TUG_TRY(time, seconds_to_ms(*options.timeout, "timeout"));
    ms = ms ? std::min(*ms, time) : time;
  }
  if (ms) limits.wall_clock = std::chrono::milliseconds(*ms);
  if (given.max_concurrency && *given.max_concurrency == 0) {
    return fail(ErrorKind::invalid, "limits.max_concurrency: expected 1 or more, got 0");
  }
  return limits;
}

}  // namespace tug
