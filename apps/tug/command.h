// What the commands share: where output goes, how an error is shown, and the exit codes of the
// contract.
#pragma once

#include <string>
#include <string_view>

#include "tug/core/error.h"
#include "tug/core/json.h"

namespace tug::cli {

enum Exit : int {
  ok = 0,
  failed = 1,
  unusable = 2,
  no_access = 4,  // to a provider
  denied = 6,
  invalid = 7,
  parked = 8
};

struct Options {
  std::string state_dir;  // as given; empty for the usual one
  std::string format = "text";
  bool json_flag = false;  // --json: beats `format`
  bool json() const { return json_flag || format != "text"; }
  bool stream() const { return !json_flag && format == "stream-json"; }
};

// First thing in main.
void claim_standard_descriptors();

// What stdout may have of `text`: on a terminal everything in it that could act becomes visible. In
// JSON that changes nothing: there it can only be within strings, and becomes their escape.
std::string for_stdout(std::string text);
void print(std::string text);  // for_stdout, to stdout
// The exit code, or `failed` when stdout did not take everything.
int finish(int code);
// For people on stderr; with a JSON format also as {"error":..} on stdout. Answers with `code`.
int report(const Options& options, const Error& error, int code);
// What a command that could not begin ends with: no_access without a key, else unusable.
int exit_before_start(const Error& error);
// One line on stderr, made harmless for a terminal.
void notice(std::string_view line);

// All of `bytes`, past signals and full pipes; what went wrong, or 0.
int write_all(int fd, std::string_view bytes);

// A file, or stdin for "-"; at most kMaxInput bytes.
inline constexpr std::size_t kMaxInput = 64u << 20;
Result<std::string> read_input(const std::string& path, std::size_t most = kMaxInput);

std::string environment(const char* name);  // empty when it is not set
// $XDG_STATE_HOME/tug (when absolute), ~/.local/state/tug; and the same for configuration.
Result<std::string> user_state_folder();
Result<std::string> user_config_folder();
// --state-dir, TUG_STATE_DIR, then user_state_folder().
Result<std::string> state_folder(const Options& options);

}  // namespace tug::cli
