// One function per command. Each says what the command takes and what runs; `options` outlives it.
#pragma once

#include <span>

#include "command_line.h"

namespace tug::cli {

Command run_command(Options& options);
Command resume_command(Options& options);
Command approve_command(Options& options);
Command fork_command(Options& options);
Command steer_command(Options& options);
Command runs_command(Options& options);
Command show_command(Options& options);
Command replay_command(Options& options);
Command tools_command(Options& options);
Command models_command(Options& options);
Command schema_command(Options& options);
Command config_command(Options& options);
Command doctor_command(Options& options);
Command version_command(Options& options);
// For the commands that there are, itself among them: `all` is filled when it runs.
Command completion_command(Options& options, std::span<const Command> const& all);

}  // namespace tug::cli
