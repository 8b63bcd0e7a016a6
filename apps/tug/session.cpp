#include "session.h"

#include "learned_windows.h"

#include <unistd.h>

#include <charconv>

#include "agents.h"
#include "catalogue.h"
#include "core/try.h"
#include "hooks.h"
#include "permission_settings.h"
#include "schema_input.h"
#include "signals.h"
#include "system_prompt.h"
#include "tug/core/terminal_text.h"
#include "tug/io/engine.h"
#include "tug/io/workspace.h"
#include "tug/store/record_stores.h"
#include "tug/store/response_cache.h"
#include "tug/tools/file_tools.h"

namespace tug::cli {
namespace {

// "K=V"; the place of "=" splits them.
Result<Json> pairs(const std::vector<std::string>& given, const char* flag) {
  Json object = Json::object();
  for (const std::string& pair : given) {
    const std::size_t equals = pair.find('=');
    if (equals == 0 || equals == pair.npos) {
      return fail(ErrorKind::invalid,
                  std::string(flag) + " " + pair + ": it is not of the form K=V",
                  "write it as " + std::string(flag) + " key=value");
    }
    object.set(pair.substr(0, equals), pair.substr(equals + 1));
  }
  return object;
}

Result<Json> json_pairs(const std::vector<std::string>& given) {
  TUG_TRY(texts, pairs(given, "--set"));
  Json object = Json::object();
  for (const Json::Member& member : texts.members()) {
    auto value = parse_json(member.value.as_string());
    if (!value) {
      return Failure(value.error()
                         .within("--set " + std::string(member.key()))
                         .with_fix("give JSON; a string needs its quotes: '" +
                                   std::string(member.key()) + "=\"text\"'"));
    }
    object.set(member.key(), *value);
  }
  return object;
}

Result<void> label(RunOptions& run, const LabelFlags& labels) {
  run.thread_id = labels.thread;
  run.inherited_tags = labels.tags;
  run.tags = labels.local_tags;
  TUG_TRY(inherited, pairs(labels.metadata, "--metadata"));
  TUG_TRY(local, pairs(labels.local_metadata, "--local-metadata"));
  TUG_TRY(values, json_pairs(labels.values));
  if (!inherited.empty()) run.inherited_metadata = inherited;
  if (!local.empty()) run.metadata = local;
  if (!values.empty()) run.configurable = values;
  return {};
}

bool is_given(const ConfigFlags& flags, const char* key) {
  const auto found = flags.by_key.find(key);
  return found != flags.by_key.end() && found->second.has_value();
}

// Which settings a run is told: all of them, or, for one that goes on and has its own on record,
// those that were given on the command line.
struct Told {
  const Config& config;
  const ConfigFlags& flags;
  bool goes_on = false;

  bool counts(const char* key) const {
    return !config.built_in(key) && (!goes_on || is_given(flags, key));
  }
  template <class T>
  std::optional<T> number(const char* key) const {
    if (!counts(key)) return std::nullopt;
    if constexpr (std::is_same_v<T, double>) {
      return config.value(key).as_double();
    } else {
      const auto value = config.value(key).as_int();
      return value ? std::optional<T>(static_cast<T>(*value)) : std::nullopt;
    }
  }
};

RunLimits limits(const Told& told) {
  RunLimits limits;
  limits.max_turns = told.number<std::int64_t>("limits.max_turns");
  limits.max_tool_calls = told.number<std::int64_t>("limits.max_tool_calls");
  limits.max_tokens = told.number<std::int64_t>("limits.max_tokens");
  limits.max_cost = told.number<double>("limits.max_cost");
  limits.max_time = told.number<double>("limits.max_time");
  limits.max_depth = told.number<std::uint32_t>("limits.max_depth");
  limits.max_concurrency = told.number<std::uint32_t>("limits.max_concurrency");
  limits.retries = told.number<std::uint32_t>("limits.retries");
  limits.output_retries = told.number<std::uint32_t>("limits.output_retries");
  limits.tool_retries = told.number<std::uint32_t>("limits.tool_retries");
  return limits;
}

RetryPolicy retry_policy(const Config& config) {
  const auto ms = [&](const char* key) {
    return std::chrono::milliseconds(config.value(key).as_int().value_or(0));
  };
  return {.attempts = static_cast<std::uint32_t>(*config.value("retry.attempts").as_int()),
          .initial = ms("retry.initial_ms"),
          .multiplier = *config.value("retry.multiplier").as_double(),
          .most = ms("retry.max_ms"),
          .longest = ms("retry.max_wait_ms"),
          .jitter = *config.value("retry.jitter").as_double()};
}

OutputMode output_mode(std::string_view name) {
  for (OutputMode mode : {OutputMode::native, OutputMode::tool, OutputMode::prompted}) {
    if (name_of(mode) == name) return mode;
  }
  return OutputMode::automatic;
}

Result<void> set_answer(RunOptions& run, const Told& told, const RunFlags& flags) {
  if (flags.json_schema) {
    TUG_TRY(schema, read_answer_schema(*flags.json_schema));
    run.output_schema = schema;
  }
  if (told.counts("output.mode")) run.output_mode = output_mode(told.config.text("output.mode"));
  if (told.counts("tool_execution")) {
    const bool in_turn = told.config.text("tool_execution") == "sequential";
    run.tool_execution = in_turn ? ToolExecution::sequential : ToolExecution::automatic;
  }
  return {};
}

// Every one of them must be there: the worst moment to learn of a wrong name is when the first
// model has failed.
Result<std::vector<std::string>> fallback_models(const Config& config, Models& models) {
  std::vector<std::string> names;
  for (const Json& name : config.value("fallback_models").items()) {
    auto found = models.find(name.as_string());
    if (!found)
      return Failure(found.error().within(config.settings.find("fallback_models")->second.source));
    names.emplace_back(name.as_string());
  }
  return names;
}

bool gives_system_prompt(const ConfigFlags& flags) {
  return is_given(flags, "system_prompt") || is_given(flags, "append_system_prompt") ||
         !flags.system_prompt_file.empty();
}

// Who answers, where nobody said so.
void tell_choice(const Config& config, const std::string& model) {
  if (config.built_in("model")) {
    notice("no model is named: " + model +
           " answers, a small planner, not a language model (name one with -m)");
  } else if (!config.model_by_key.empty()) {
    notice("no model is named: " + model + " answers, since " + config.model_by_key +
           " is set (name one with -m)");
  }
}

Result<std::uint64_t> seed_from(const std::string& text) {
  if (text.empty()) return 0;
  std::uint64_t seed = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (problem == std::errc() && end == text.data() + text.size()) return seed;
  return fail(ErrorKind::invalid, "--seed " + text + ": it is not a whole number from 0",
              "give a number");
}

Result<Config> configured(const RunFlags& flags) {
  TUG_TRY(request, config_request(flags.config));
  TUG_TRY(config, load_config(request));
  if (!flags.output.quiet) {
    for (const std::string& line : config.notices()) notice(line);
  }
  return config;
}

Result<void> add_tools(Session& session, const Told& told, const std::vector<ToolPtr>& tools) {
  for (const ToolPtr& tool : tools) session.harness->tool(tool);
  TUG_TRY(agents, add_agents(*session.harness, told.config, *session.models));
  if (!told.counts("tools")) return {};
  TUG_TRY(names, chosen_tools(*session.harness, told.config));
  session.options.tools = std::move(names);
  return {};
}

Result<std::shared_ptr<RecordStore>> open_journal(const Options& options, const RunFlags& flags) {
  if (flags.no_session) return std::shared_ptr<RecordStore>(make_memory_record_store());
  TUG_TRY(folder, state_folder(options));
  TUG_TRY(store, open_sqlite_record_store(folder));
  return std::shared_ptr<RecordStore>(std::move(store));
}

// [cache]
Result<void> set_cache(HarnessOptions& made, const Session& session, const Options& options) {
  const CacheSettings& cache = session.cache;
  made.settings.cache_policy.protect_prefix = cache.protect_prefix;
  made.cache_ttl = cache.ttl.value_or(Duration());
  if (cache.responses == CacheSettings::Responses::off) return {};
  made.settings.cache_policy.responses = true;
  if (cache.responses == CacheSettings::Responses::memory || !session.kept) {
    made.response_cache = make_memory_response_cache();
    return {};
  }
  TUG_TRY(folder, state_folder(options));
  const std::string file = folder + "/responses.db";
  auto opened = open_response_cache(file);
  if (opened) {
    made.response_cache = *opened;
  } else {
    std::fprintf(stderr, "tug: no answers are kept: %s (remove %s)\n",
                 opened.error().message().c_str(), file.c_str());
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<RecordStore>> find_journal(const Options& options) {
  TUG_TRY(folder, state_folder(options));
  const bool there = access((folder + "/journal.db").c_str(), F_OK) == 0 ||
                     access((folder + "/journal.db-wal").c_str(), F_OK) == 0;
  if (!there && access(folder.c_str(), F_OK) != 0) return std::shared_ptr<RecordStore>();
  if (!there && access(folder.c_str(), R_OK | X_OK) == 0) return std::shared_ptr<RecordStore>();
  TUG_TRY(store, open_sqlite_record_store(folder));
  return std::shared_ptr<RecordStore>(std::move(store));
}

Result<std::vector<ToolPtr>> built_in_tools(const std::string& root) {
  TUG_TRY(workspace, open_workspace(root));
  return make_file_tools(workspace);
}

Result<Session> open_session(const Options& options, const RunFlags& flags,
                             std::shared_ptr<RecordStore> store, const Recorded& recorded) {
  TUG_TRY(config, configured(flags));
  TUG_TRY(seed, seed_from(flags.seed));
  Session session;
  session.output = flags.output;
  session.kept = !flags.no_session;
  const bool goes_on = !recorded.model.empty();
  const bool named = is_given(flags.config, "model");
  std::string model = named || !goes_on ? config.text("model") : recorded.model;
  // A conversation goes on where it was held, and nowhere else.
  if (goes_on && !named && !recorded.address.empty() && config.built_in("base_url"))
    config.settings["base_url"] = {recorded.address, "the run"};
  TUG_TRY(models, configured_models(options, config, model));
  session.models = models.models;
  session.cache = configured_cache(config);
  TUG_TRY(labelled, label(session.options, flags.labels));
  const Told told{config, flags.config, goes_on};
  session.options.limits = limits(told);
  TUG_TRY(hooks, configured_hooks(config));
  TUG_TRY(steering, configured_steering(config));
  if (told.counts("steering.allow")) session.options.steering = steering;
  TUG_TRY(answer, set_answer(session.options, told, flags));
  session.options.interactive = !options.json() && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);

  const bool person = session.options.interactive && isatty(STDERR_FILENO);
  const Asked asked = person ? Asked::person : flags.no_session ? Asked::nobody : Asked::later;
  TUG_TRY(permissions, configured_permissions(config, flags.config, asked, recorded.permissions));
  // Told again only where it is something else.
  if (recorded.permissions != permissions) session.options.permissions = permissions;
  session.prompts = permissions.on_ask == OnAsk::wait;
  session.fail_on_deny = flags.fail_on_deny;

  if (named) session.options.model = model;
  TUG_TRY(found, session.models->find(model));
  TUG_TRY(fallbacks, fallback_models(config, *session.models));
  if (goes_on ? !flags.config.fallback_models.empty() : !config.built_in("fallback_models"))
    session.options.fallback_models = fallbacks;
  TUG_TRY(workspace, open_workspace(config.text("workspace.root")));
  std::vector<std::string> answering = fallbacks;
  answering.push_back(model);
  const std::string system = told_prompt(config, workspace->root(), answering);
  // A run keeps its system prompt: one that goes on has it in its record.
  if (goes_on ? gives_system_prompt(flags.config) : !system.empty()) {
    session.options.system_prompt = system;
  }
  if (!flags.output.quiet && !goes_on) tell_choice(config, model);

  if (!store) {
    TUG_TRY(journal, open_journal(options, flags));
    store = journal;
  }
  session.store = std::move(store);
  hold_signals();
  session.engine = make_engine({.loops = 1});
  HarnessOptions made{.model = std::move(model),
                      .fallback_models = fallbacks,
                      .system_prompt = system,
                      .retry = retry_policy(config),
                      .steering = steering,
                      .seed = seed,
                      .engine = session.engine,
                      .store = session.store,
                      .models = session.models};
  TUG_TRY(cached, set_cache(made, session, options));
  if (session.kept) {
    TUG_TRY(folder, state_folder(options));
    remember_windows(*session.models, folder);
    session.options.observers.push_back(make_window_keeper(folder));
  }
  // Commands run where the tools look, however the folder was named: a hook that is a relative path
  // must not be looked for in another one.
  made.root = made.cwd = session.root = workspace->root();
  session.harness = std::make_unique<Harness>(std::move(made));
  session.hooks = hooks != nullptr || agents_have_hooks(config);
  if (hooks) session.harness->use(hooks);
  TUG_TRY(added, add_tools(session, told, make_file_tools(workspace)));
  TUG_TRY(meant, check_pattern_flags(flags.config, session.harness->tools()));
  return session;
}

}  // namespace tug::cli
