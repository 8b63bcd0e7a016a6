// What `run`, `resume` and `fork` may be told on the command line.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "config.h"

namespace tug::cli {

// Flags that set a key of the configuration for this command.
struct ConfigFlags {
  std::map<std::string, std::optional<std::string>> by_key;
  std::vector<std::string> fallback_models;
  std::vector<std::string> allow, ask, deny;  // patterns
  std::vector<std::string> agents;            // files, and folders of them
  std::string system_prompt_file;
  std::string file;
  bool bare = false;
};

// What a run is known by.
struct LabelFlags {
  std::string thread;
  std::vector<std::string> tags, local_tags;
  std::vector<std::string> metadata, local_metadata;  // K=V
  std::vector<std::string> values;                    // K=JSON
};

struct OutputFlags {
  std::string stream;         // modes, with stream-json
  bool no_subagents = false;  // in stream-json and among the lines of -v
  std::string color = "auto";
  bool quiet = false;
  bool verbose = false;
};

struct RunFlags {
  ConfigFlags config;
  LabelFlags labels;
  OutputFlags output;
  std::optional<std::string> json_schema;  // a file, or the schema itself
  std::string seed;
  bool no_session = false;
  bool fail_on_deny = false;
};

std::vector<Flag> config_flags(ConfigFlags& flags);
std::vector<Flag> run_flags(RunFlags& flags);

// Reads --system-prompt-file; `invalid` when it cannot be read, or beside --system-prompt.
Result<ConfigRequest> config_request(const ConfigFlags& flags);

}  // namespace tug::cli
