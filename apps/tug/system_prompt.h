// What a model is told before the prompt when nobody says otherwise.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config.h"

namespace tug::cli {

// Goes up with every change of the words, so that a run's record says which ones it had.
inline constexpr int kSystemPromptVersion = 1;

// What the agent is, the folder it works in, how it uses tools and when it stops.
std::string default_system_prompt(std::string_view root);

struct SystemPrompt {
  std::string text;
  std::string source;    // where the words come from, as `config explain` says it
  bool built_in = true;  // the default one, appended to or not
};
// `system_prompt`, or else the default one, then `append_system_prompt` after a blank line. A
// system_prompt that is set to nothing takes the default away. `root` is the real folder.
SystemPrompt system_prompt(const Config& config, std::string_view root);

// Models that answer by their own rules and read no instructions: they are not told the default
// ones, which would only take room in their window.
bool reads_instructions(std::string_view model);
// What a run with these models is told: one that reads instructions among them is enough.
std::string told_prompt(const Config& config, std::string_view root,
                        std::span<const std::string> models);

}  // namespace tug::cli
