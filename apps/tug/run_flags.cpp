#include "run_flags.h"

#include <algorithm>
#include <tuple>

#include "core/try.h"

namespace tug::cli {
namespace {

struct KeyFlag {
  const char* key;
  const char* names;
  const char* value;
  const char* help;
  std::initializer_list<const char*> choices = {};
};

constexpr KeyFlag kKeyFlags[] = {
    {"model", "-m,--model", "PROVIDER/NAME",
     "Who answers: anthropic/claude-sonnet-5-5, openai/gpt-6-sol:high, offline/demo, script/FILE"},
    {"base_url", "--base-url", "URL", "Where the model's provider is asked"},
    {"api_key_env", "--api-key-env", "VAR",
     "The variable that holds the key of the model's provider"},
    {"workspace.root", "-C,--root", "DIR", "The folder that the tools see (default: this one)"},
    {"tools", "--tools", "NAME,..|none", "Exactly these tools"},
    {"system_prompt", "--system-prompt", "TEXT",
     "What the model is told before the prompt, instead of the built-in words"},
    {"append_system_prompt", "--append-system-prompt", "TEXT", "Added to the system prompt"},
    {"limits.max_turns", "--max-turns", "N", "Model calls"},
    {"limits.max_tool_calls", "--max-tool-calls", "N", "Tool calls"},
    {"limits.max_tokens", "--max-tokens", "N", "Tokens of the whole tree"},
    {"limits.max_cost", "--max-cost", "USD", "Dollars of the whole tree"},
    {"limits.max_time", "--max-time", "SECONDS", "Time alive"},
    {"limits.max_depth", "--max-depth", "N", "Levels of runs below this one"},
    {"limits.max_concurrency", "--max-concurrency", "N", "Tool calls at a time"},
    {"limits.retries", "--retries", "N", "Attempts after the first, per model call"},
    {"limits.output_retries", "--output-retries", "N", "Corrections of an answer with a schema"},
    {"limits.tool_retries", "--tool-retries", "N", "Calls of one tool that the model may repair"},
    {"output.mode",
     "--output-mode",
     "MODE",
     "How a schema is asked for: auto, native, tool or prompted",
     {"auto", "native", "tool", "prompted"}},
    {"permissions.mode",
     "--permission-mode",
     "MODE",
     "What is asked about: ask (whatever may change something), accept-edits, read-only, yolo",
     {"ask", "accept-edits", "read-only", "yolo"}},
    {"permissions.on_ask",
     "--on-ask",
     "WHAT",
     "What becomes of a call that is asked about: park (the run waits for `tug approve`) or deny",
     {"park", "deny"}},
};

}  // namespace

std::vector<Flag> config_flags(ConfigFlags& flags) {
  std::vector<Flag> list;
  for (const KeyFlag& row : kKeyFlags)
    list.push_back({row.names, row.value, row.help, &flags.by_key[row.key], row.choices});
  list.push_back({"--fallback-model", "PROVIDER/NAME",
                  "Who answers when the model fails; may be given again", &flags.fallback_models});
  list.push_back({"--allow", "PATTERN", "Never asked about: tool or tool(glob); may be given again",
                  &flags.allow});
  list.push_back({"--ask", "PATTERN", "Always asked about", &flags.ask});
  list.push_back({"--deny", "PATTERN", "Always refused", &flags.deny});
  list.push_back({"--system-prompt-file", "FILE", "The system prompt, from a file",
                  &flags.system_prompt_file});
  list.push_back({"--agents", "FILE|DIR",
                  "An agent as a Markdown file, or a folder of them; may be given again",
                  &flags.agents});
  list.push_back({"--config", "FILE", "Read this file too, above the others", &flags.file});
  list.push_back(
      {"--bare", nullptr, "Read no configuration of the user or the folder", &flags.bare});
  return list;
}

std::vector<Flag> run_flags(RunFlags& flags) {
  LabelFlags& labels = flags.labels;
  OutputFlags& output = flags.output;
  return config_flags(flags.config) +
         std::vector<Flag>{
             {"--stream", "MODES",
              "Of stream-json: messages, tools, updates (a line per turn), events (all), final",
              &output.stream},
             {"--no-subagents", nullptr, "Leave out the events of the runs below",
              &output.no_subagents},
             {"--json-schema", "FILE|JSON", "The answer is JSON that fits this schema",
              &flags.json_schema},
             {"--thread", "ID", "The conversation it belongs to", &labels.thread},
             {"--tag", "TAG", "A tag of the whole tree", &labels.tags},
             {"--metadata", "K=V", "A value of the whole tree", &labels.metadata},
             {"--local-tag", "TAG", "A tag of this run alone", &labels.local_tags},
             {"--local-metadata", "K=V", "A value of this run alone", &labels.local_metadata},
             {"--set", "K=JSON", "A value that tools may read", &labels.values},
             {"--fail-on-deny", nullptr, "Exit with 6 when a call was refused",
              &flags.fail_on_deny},
             {"--no-session", nullptr, "Keep nothing on disk", &flags.no_session},
             {"--seed", "N", "Of ids and random numbers", &flags.seed},
             {"--color",
              "WHEN",
              "auto, always or never",
              &output.color,
              {"auto", "always", "never"}},
             {"-q,--quiet", nullptr, "Only the answer and errors", &output.quiet},
             {"-v,--verbose", nullptr, "A line for every tool call", &output.verbose}};
}

Result<ConfigRequest> config_request(const ConfigFlags& flags) {
  ConfigRequest request{.file = flags.file, .bare = flags.bare, .agents = flags.agents};
  for (const KeyFlag& row : kKeyFlags) {
    const auto given = flags.by_key.find(row.key);
    if (given == flags.by_key.end() || !given->second) continue;
    const std::string names = row.names;
    request.flags.push_back({row.key, names.substr(names.rfind("--")), *given->second});
    if (given->first == "workspace.root") request.folder = *given->second;
  }
  if (!flags.fallback_models.empty()) {
    Json list = Json::array();
    const bool none = flags.fallback_models == std::vector<std::string>{"none"};
    for (const std::string& model : flags.fallback_models) {
      if (!none) list.push_back(model);
    }
    request.flags.push_back({"fallback_models", "--fallback-model", std::move(list)});
  }
  const std::tuple<const char*, const char*, const std::vector<std::string>&> patterns[] = {
      {"permissions.allow", "--allow", flags.allow},
      {"permissions.ask", "--ask", flags.ask},
      {"permissions.deny", "--deny", flags.deny}};
  for (const auto& [key, flag, given] : patterns) {
    if (given.empty()) continue;
    Json list = Json::array();
    for (const std::string& pattern : given) list.push_back(pattern);
    request.flags.push_back({key, flag, std::move(list)});
  }
  if (flags.system_prompt_file.empty()) return request;
  const bool twice = std::ranges::any_of(
      request.flags, [](const auto& given) { return given.key == "system_prompt"; });
  if (twice) {
    return fail(ErrorKind::invalid, "both --system-prompt and --system-prompt-file are given",
                "give one of them");
  }
  auto text = read_input(flags.system_prompt_file, 1u << 20);
  if (!text) return Failure(text.error().within("--system-prompt-file"));
  request.flags.push_back({"system_prompt", "--system-prompt-file", *text});
  return request;
}

}  // namespace tug::cli
