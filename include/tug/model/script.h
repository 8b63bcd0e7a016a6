// Models that say what they were told to: the turns of `script/PATH`, and of tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tug/model/model.h"

namespace tug {

struct ScriptCall {
  std::string id;  // the provider's; "call_<n>", counted through the script, when empty
  std::string name;
  std::string arguments;  // as the model would write them
};

struct ScriptError {
  int status = 500;
  std::optional<double> retry_after;  // seconds
  std::string body;
};

// One line of a script. A turn with an error says its parts and then fails, as a cut stream does.
struct ScriptTurn {
  std::string text;
  std::string reasoning;
  std::vector<ScriptCall> tool_calls;
  Usage usage;
  std::optional<Finish> finish;  // tool_calls when there are any, else stop
  std::int64_t delay_ms = 0;     // before the turn
  std::int64_t chunk_delay_ms = 0;
  std::uint32_t chunks = 1;  // how many deltas the text comes in, cut between characters
  std::optional<ScriptError> error;
  std::string agent;  // only for runs of this agent, when not empty
  std::string when;   // only when the newest message contains this, when not empty
  bool repeat = false;
};

// Blank lines are skipped, null counts as absent. `invalid` begins with "NAME:LINE: " and says what
// is wrong and, for a key nobody knows, the nearest one. At most 100,000 turns.
Result<std::vector<ScriptTurn>> parse_script(std::string_view text, std::string_view name);

// The first fitting turn that the root has not used answers; it is chosen by `reserve`, which says
// {"line": N}, counted from 1 without blank lines, so a resumed run goes on where it stood. When
// none is left it says {"line": 0} and the attempt fails: `invalid`, so not retryable, with the
// fault "script_exhausted". Where the last turn served was a failure that may pass (429, 5xx), it
// is served again instead: a provider that was down when the script ended stays down. Asked without
// a reservation, the model chooses the same line itself. Turns are built here, once; serving one
// parses and prints nothing.
ModelPtr make_script_model(std::vector<ScriptTurn> turns, ModelProfile profile);

// The model of `script/PATH`: reads the file and checks every line. Blocks. `invalid` for what is
// not a readable regular file of at most 64 MB.
Result<ModelPtr> load_script_model(std::string_view path);

// A status as providers send it, as the error that classify_fault (tug/model/faults.h) makes of it.
// `retry_after` is in seconds.
Error provider_error(const ModelProfile& profile, int status, std::string_view body,
                     std::optional<double> retry_after);

}  // namespace tug
