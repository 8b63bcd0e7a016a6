// The configuration of one command, put together from its layers. Highest first: flags, TUG_*
// variables, --config FILE, .tug/config.local.toml and .tug/config.toml of a trusted folder,
// config.toml of the user, what is built in.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tug/core/error.h"
#include "tug/core/json.h"

namespace tug::cli {

struct ConfigRequest {
  std::string folder = ".";  // whose .tug is looked at
  std::string file;          // --config
  bool bare = false;         // neither the user's nor the folder's files
  struct Given {
    std::string key;
    std::string flag;
    Json value;  // a string is read as the key needs it; a list is taken as it is
  };
  std::vector<Given> flags;
  std::vector<std::string> agents;  // --agents: Markdown files, and folders of them
};

struct Setting {
  Json value;          // null: nothing is built in
  std::string source;  // "config.toml:3", "TUG_MODEL", "--model", "built in"
};

struct ConfigFile {
  std::string path;
  bool exists = false;
  bool read = false;
  std::string why;  // it was not read
};

struct Config {
  // By key. Rows of [[models]] and the like of all layers, numbered with the lowest layer first.
  std::map<std::string, Setting, std::less<>> settings;
  std::vector<ConfigFile> files;  // highest layer first
  // Nobody named a model, and one was chosen because this key is there.
  std::string model_by_key;

  // Null for a key that has no value.
  const Json& value(std::string_view key) const;
  std::string text(std::string_view key) const;
  bool built_in(std::string_view key) const;
  // What people may see of a value: not what is secret.
  Json shown(std::string_view key) const;
  // rows("models"), rows("agents[0].hooks")
  std::size_t rows(std::string_view list) const;
  // names("providers"): of the tables below a key, sorted.
  std::vector<std::string> names(std::string_view section) const;
  // "config.toml:3": where a key was set, or the first of a row ("agents[0].").
  std::string source(std::string_view key) const;
  // What a person should know: files that are there and were not read.
  std::vector<std::string> notices() const;
};

// `invalid`, naming file and line (or the variable, or the flag), for a key that is not known, with
// the nearest one, and for a value that does not fit, with what was expected.
Result<Config> load_config(const ConfigRequest& request);

// Whether the user trusts a folder's own files: its real path is a line of the file `trusted` in
// the user's state folder.
bool trusted(const std::string& folder);

}  // namespace tug::cli
