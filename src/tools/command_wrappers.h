// Commands that run another one which a rule about the first would never see.
#pragma once

#include <optional>
#include <string>

#include "tools/command_words.h"

namespace tug {

// What hides behind the command, for people ("sh runs another command"); nothing when it is what it
// says. Known are shells, launchers, interpreters with code on the line or on their input, and
// options of everyday programs that name a program. A script or a program with a name of its own
// is what it says. Pure; any thread.
std::optional<std::string> hides_command(const SimpleCommand& command);

}  // namespace tug
